// The tour: five steps that repair a real bug, in a project of its own. Offered once, brought back by the button "Tour".
'use strict';

(() => {
  const { el, $ } = RW;
  const REWARD = 'format_reward';
  const OLD = '\\s*")';
  const NEW = '\\s*", re.DOTALL)';
  let at = Math.min(4, Number(RW.keep(sessionStorage, 'rw-tour-step')) || 0);
  let card = null;
  let asked = null; // the run of the checks that is to be sealed

  // ---------------------------------------------------------------- in and out

  const remember = (what) => RW.keep(localStorage, 'rw-tour', what);
  const enter = async () => {
    try { await RW.post('tour-start', { tour: `tour${RW.ownDesk}` }); } catch (error) { RW.trouble(error); return; }
    remember('seen');
    RW.keep(sessionStorage, 'rw-tour-step', 0);
    const address = new URL(location.href);
    address.searchParams.set('tour', '1');
    address.hash = '';
    location.href = address;
  };
  const leave = () => {
    RW.keep(sessionStorage, 'rw-tour-step', null);
    const address = new URL(location.href);
    address.searchParams.delete('tour');
    address.hash = '';
    location.href = address;
  };

  const offer = () => {
    const place = $('rw-offer');
    if (RW.keep(localStorage, 'rw-tour')) return;
    place.hidden = false;
    place.replaceChildren(el('span', {}, el('b', {}, 'New here? '), 'Five steps repair a real bug, in a copy of its own.'),
      RW.button('Take the tour', enter, { class: 'rw-button rw-primary', id: 'rw-offer-take' }),
      RW.button('Not now', () => { remember('dismissed'); place.hidden = true; }, { id: 'rw-offer-no' }));
  };

  // ---------------------------------------------------------------- the steps

  const tile = (state) => state.shown?.tiles.rewards.find((each) => each.name === REWARD);
  const code = () => document.querySelector('#rw-editor .cm-content')?.cmTile?.view ?? null;
  const type = async () => {
    RW.showPage('write');
    const text = RW.text;
    const from = text.indexOf(OLD);
    if (from < 0) return;
    const to = text.slice(0, from) + NEW + text.slice(from + OLD.length);
    const editor = code();
    if (editor) editor.dispatch({ changes: { from, to: from + OLD.length, insert: NEW }, selection: { anchor: from + NEW.length }, scrollIntoView: true, userEvent: 'input.type' });
    else await RW.place(to);
    RW.edited(to);
  };
  const check = (select = []) => { RW.showPage('check'); return RW.post('check-run', { select, quick: true, assume_kinds: false }).catch(RW.trouble); };
  const prove = async () => { await RW.save(); asked = (await check())?.number ?? null; if (RW.state) update(RW.state); };

  const checked = (state) => state.check.number > 0 && state.check.state === 'done';

  const STEPS = [
    { title: 'A reward that pays nobody', page: 'write', here: () => $('rw-tiles'),
      text: 'format_reward is 0 for all eight completions, though six of them are laid out as they should be. Where every score is the same, training learns nothing from it, and no error is shown.',
      done: () => true },
    { title: 'Open a row and see why', page: 'write', here: () => $('rw-credits'), go: ['Open row 0', () => { RW.showPage('write'); RW.goTo(0); }],
      text: 'The credit of the row stands beside its text: format_reward could have given 1, and its condition, LAYOUT.fullmatch(text), did not hold. So it is the pattern, in line 5.',
      done: () => true },
    { title: 'The checks find it by themselves', page: 'check', here: () => $('rw-findings'), go: ['Run the checks of the signal', () => check(['RW6'])],
      text: (state) => (checked(state) ? 'The card on this page has the line and the smallest completion that shows it: a dot does not match the end of a line, and thinking has several lines.'
        : 'Nothing has been checked yet. The checks of the signal look for rewards from which nothing can be learnt; each finding becomes a card on this page.'),
      done: (state) => checked(state) },
    { title: 'Repair it', page: 'write', here: () => $('rw-editor'), go: ['Type the repair', type],
      text: 'In line 5 the pattern needs re.DOTALL, so that a dot matches the end of a line too. Type it, or let it be typed; the scores follow.',
      done: (state) => state.status === 'scored' && !state.shown.stale && (tile(state)?.mean ?? 0) > 0 },
    { title: 'The scores move: check and seal', page: null, here: () => $('rw-tiles'), go: ['Save, check and seal', prove],
      text: 'Six completions are paid now, two are not, which is right. What passes the checks is sealed: training starts from the seal, and a change of the code breaks it.',
      done: (state) => state.check.sealed, end: 'Sealed. In your own project it is the same five steps; Tour in the bar brings this back.' },
  ];

  // Over the free end of the code rather than the list of problems; elsewhere at the right, where the findings are not.
  const stand = () => {
    const write = RW.page === 'write';
    const under = document.querySelector('.rw-under')?.getBoundingClientRect();
    card.style.left = write ? '' : 'auto';
    card.style.right = write ? '' : '16px';
    const room = window.innerHeight - card.offsetHeight - 60;
    card.style.bottom = write && under?.height ? `${Math.max(16, Math.min(room, window.innerHeight - under.top + 8))}px` : '';
  };
  const lit = (node) => {
    document.querySelector('.rw-tour-here')?.classList.remove('rw-tour-here');
    node?.classList.add('rw-tour-here');
  };
  const go = (step) => {
    at = step;
    RW.keep(sessionStorage, 'rw-tour-step', at);
    if (STEPS[at].page) RW.showPage(STEPS[at].page);
    draw();
    card.querySelector('h2').focus();
  };
  const draw = () => {
    const step = STEPS[at];
    const last = at === STEPS.length - 1;
    const next = RW.button(last ? 'Back to your project' : 'Next', last ? leave : () => go(at + 1), { id: 'rw-tour-next' });
    card.replaceChildren(el('header', {}, el('span', { class: 'rw-hint' }, `Step ${at + 1} of ${STEPS.length}`), el('span', { class: 'rw-gap' }), el('button', { type: 'button', class: 'rw-link', id: 'rw-tour-leave', onclick: leave }, 'Leave the tour')),
      el('h2', { tabindex: -1 }, step.title), el('p', { id: 'rw-tour-text' }), el('p', { class: 'rw-hint', id: 'rw-tour-said', role: 'status' }),
      el('div', { class: 'rw-actions' }, at ? RW.button('Back', () => go(at - 1), { class: 'rw-button rw-quiet' }) : null, el('span', { class: 'rw-gap' }),
        step.go ? RW.button(step.go[0], step.go[1], { id: 'rw-tour-do', class: 'rw-button rw-primary' }) : null, next));
    update(RW.state);
  };
  const update = (state) => {
    const step = STEPS[at];
    const done = step.done(state);
    $('rw-tour-next').disabled = !done && at !== STEPS.length - 1;
    card.dataset.done = done ? 'yes' : 'no';
    const running = state.check.state === 'running';
    $('rw-tour-said').textContent = done && step.end ? step.end : running ? 'The checks are running\u2026' : at === 3 && done ? 'The scores moved.' : '';
    const text = typeof step.text === 'function' ? step.text(state) : step.text;
    if ($('rw-tour-text').textContent !== text) $('rw-tour-text').textContent = text;
    lit(step.here());
    stand();
    if (at === 4 && asked === state.check.number && state.check.state === 'done' && !state.check.sealed) { asked = null; RW.post('check-seal').catch(RW.trouble); }
  };

  RW.showTour = (state) => { if (card && state.shown) update(state); };
  RW.startTour = () => {
    for (const button of document.querySelectorAll('.rw-tour-button')) button.addEventListener('click', enter);
    if (!RW.touring) { offer(); return; }
    card = el('aside', { class: 'rw-tour', id: 'rw-tour', 'aria-label': 'Tour' });
    document.querySelector('.rw-bar').after(card);
    draw();
    const moved = new ResizeObserver(stand);
    for (const each of [document.querySelector('.rw-under'), card, document.body]) moved.observe(each);
  };
})();
