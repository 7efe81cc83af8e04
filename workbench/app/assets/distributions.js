// Distributions: pictures of the shown scores. A bar leads to its rows in the table.
'use strict';

(() => {
  const { el } = RW;
  let box = null;
  let edition = null;
  let asking = false;

  const choose = (event) => {
    const bar = event.target.closest?.('[data-bar]');
    if (!bar || (event.type === 'keydown' && event.key !== 'Enter' && event.key !== ' ')) return;
    event.preventDefault();
    RW.change({ bar: bar.dataset.bar, chip: 'all' });
    RW.showPage('write');
  };

  const draw = (found) => {
    const facts = el('dl', { class: 'rw-figures' }, ...found.facts.map(([name, value, about]) => el('div', {}, el('dt', {}, name), el('dd', {}, typeof value === 'number' ? RW.number(value) : value), el('dd', { class: 'rw-about' }, about))));
    const cards = el('div', { class: 'rw-cards' });
    cards.append(...found.cards.map((html) => { const card = RW.picture(html); card.className = 'rw-panel rw-picture'; return card; }));
    const panels = found.panels.map((html) => { const panel = RW.picture(html); panel.className = 'rw-panel rw-picture'; return panel; });
    box.replaceChildren(RW.heading('Distributions', 'What the rewards pay, and what a policy would learn from it. Choose a bar to see its completions.'), facts, cards,
      el('div', { class: 'rw-panels' }, ...panels), ...found.notes.map((note) => el('p', { class: 'rw-hint' }, note)));
    box.dataset.edition = found.edition;
  };

  const show = async (state) => {
    box.classList.toggle('rw-stale-page', Boolean(state.shown?.stale));
    if (!state.shown) {
      edition = null;
      box.replaceChildren(RW.heading('Distributions'), state.status === 'running' ? RW.nothing('Scoring\u2026', 'The pictures come with the first scores.')
        : RW.nothing('No scores yet', state.problems[0]?.text ?? '', RW.button('To the editor', () => RW.showPage('write'))));
      return;
    }
    if (state.shown.edition === edition || asking) return;
    asking = true;
    if (edition === null) box.replaceChildren(RW.heading('Distributions'), RW.nothing('Drawing\u2026', 'Groups, shares and correlations are being counted.'));
    try {
      const found = await RW.get('distributions');
      edition = found.edition;
      draw(found);
    } catch (error) { RW.trouble(error); } finally { asking = false; }
    if (RW.page === 'distributions' && RW.state?.shown && RW.state.shown.edition !== edition && edition !== null) show(RW.state);
  };

  RW.addPage({
    name: 'distributions', title: 'Distributions', show,
    make: (made) => { box = made; box.addEventListener('click', choose); box.addEventListener('keydown', choose); },
  });
})();
