// The pages: tabs in the bar. A page is made when it is opened for the first time, and told when it is seen.
'use strict';

(() => {
  const { el, $ } = RW;
  const pages = [{ name: 'write', title: 'Write' }];
  RW.page = 'write';

  // `make(box)` is called once, `show(state)` whenever the page is opened or the desk changed while it is seen.
  RW.addPage = (page) => pages.push(page);

  const panel = (page) => (page.name === 'write' ? $('rw-main') : $(`rw-page-${page.name}`));

  RW.showPage = (name, { focus = false } = {}) => {
    const page = pages.find((each) => each.name === name) ?? pages[0];
    const left = pages.find((each) => each.name === RW.page);
    if (left && left !== page) left.hide?.();
    RW.page = page.name;
    document.body.dataset.page = page.name;
    if (!panel(page)) {
      const box = el('div', { id: `rw-page-${page.name}`, class: 'rw-page', role: 'tabpanel', 'aria-labelledby': `rw-tab-${page.name}`, tabindex: -1 });
      $('rw-pages-in').append(box);
      page.make(box);
    }
    for (const each of pages) {
      const here = each === page;
      if (panel(each)) panel(each).hidden = !here;
      const tab = $(`rw-tab-${each.name}`);
      tab.setAttribute('aria-selected', String(here));
      tab.tabIndex = here ? 0 : -1;
      if (here && focus) tab.focus();
    }
    const address = new URL(location.href);
    address.hash = page.name === 'write' ? '' : page.name;
    history.replaceState(null, '', address);
    if (RW.state) page.show?.(RW.state);
  };

  const step = (by, focus) => {
    const at = pages.findIndex((each) => each.name === RW.page);
    RW.showPage(pages[(at + by + pages.length) % pages.length].name, { focus });
  };

  RW.showPages = (state) => {
    const page = pages.find((each) => each.name === RW.page);
    if (page?.name !== 'write') page?.show?.(state);
    for (const each of pages) {
      const mark = each.mark?.(state) ?? '';
      const place = $(`rw-tab-${each.name}`).querySelector('em');
      if (place.textContent !== mark) place.textContent = mark;
    }
  };

  RW.startTabs = () => {
    $('rw-tabs').replaceChildren(...pages.map((page) => el('button', {
      type: 'button', role: 'tab', id: `rw-tab-${page.name}`, class: 'rw-tab', tabindex: -1, 'aria-selected': 'false', 'aria-controls': page.name === 'write' ? 'rw-main' : `rw-page-${page.name}`, onclick: () => RW.showPage(page.name),
    }, page.title, el('em', { 'aria-hidden': 'true' }))));
    $('rw-tabs').addEventListener('keydown', (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by) { event.preventDefault(); event.stopPropagation(); step(by, true); }
    });
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea, .cm-editor, dialog')) return;
      const by = { '[': -1, ']': 1 }[event.key];
      if (by) { event.preventDefault(); step(by, false); }
    });
    RW.showPage(location.hash.slice(1) || 'write');
  };

  // ---------------------------------------------------------------- what several pages are made of

  RW.heading = (title, about, ...actions) => el('header', { class: 'rw-heading' }, el('div', {}, el('h2', {}, title), about ? el('p', {}, about) : null), el('span', { class: 'rw-gap' }), ...actions);
  RW.button = (label, onclick, attributes = {}) => el('button', { type: 'button', class: 'rw-button', onclick, ...attributes }, label);
  RW.nothing = (title, text, ...actions) => el('div', { class: 'rw-nothing' }, el('b', {}, title), el('p', {}, text), ...actions);
  // An empty page says what it does, in a few named parts, and has one button.
  RW.designed = (title, text, parts, action) => el('div', { class: 'rw-designed' }, el('b', {}, title), el('p', {}, text), el('ol', {}, ...parts.map(([name, about]) => el('li', {}, el('b', {}, name), el('span', {}, about)))), action);
  // A picture the server drew; its words were escaped there.
  RW.picture = (svg) => { const box = el('div', { class: 'rw-picture' }); box.innerHTML = svg; return box; };
  // Runs `work` while the button cannot be pressed again; a refusal is told beside it.
  RW.busy = async (button, work) => {
    button.disabled = true;
    button.parentElement?.querySelector(':scope > .rw-refusal')?.remove();
    try { return await work(); }
    catch (error) {
      if (error.status === 400) button.after(el('span', { class: 'rw-refusal', role: 'alert' }, error.message)); else RW.trouble(error);
      return null;
    } finally { button.disabled = false; }
  };
})();
