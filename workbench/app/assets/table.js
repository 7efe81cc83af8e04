// The completions: a virtual table that asks the server for the rows on screen and no others.
'use strict';

(() => {
  const { el, $, number, shade, count } = RW;
  const CHARACTER = 7.22; // pixels of one in the preview's font
  const ROW = 26; // pixels; the same as in app.css
  const PAGE = 60;
  const SPARE = 8;
  let pages = new Map(); // page number -> rows; of the current view and run only
  let asked = new Set();
  let total = 0;
  let key = '';
  let generation = 0;
  let shown = null;
  let textWidth = 300;
  const drawn = new Map(); // place -> element
  RW.view = { sort: 'row', down: false, chip: 'all', q: '', bar: '', preview: RW.keep(localStorage, 'rw-preview') || 'tail' };
  RW.selected = null; // row number
  RW.place_of_selected = null;

  // After a new start the server counts its runs anew.
  RW.forget = () => { key = ''; delete $('rw-results-in').dataset.shown; };

  const query = () => ({ ...RW.view, down: RW.view.down ? 1 : 0 });

  // ---------------------------------------------------------------- data

  RW.showTable = (state) => {
    shown = state.shown;
    if (!shown) { drawEmpty(state); return; }
    drawHead();
    drawChips();
    const wanted = JSON.stringify([shown.edition, query()]);
    if (wanted !== key) {
      const sameRun = key !== '' && JSON.parse(key)[0] === shown.edition;
      key = wanted;
      reload(sameRun);
    } else drawEmpty(state);
  };

  const firstPage = () => Math.floor(Math.max(0, top()) / PAGE);
  const onScreen = () => ({ ...query(), start: firstPage() * PAGE, count: PAGE, find: RW.selected ?? -1 });

  // What is on screen, for whoever waits for new scores: they come with the rows of it.
  RW.onScreen = () => ({ ...onScreen(), known: shown?.edition ?? 0 });

  // Old rows stay on screen until the new ones are here.
  const reload = async (viewChanged) => {
    const mine = ++generation;
    const first = firstPage();
    const values = onScreen();
    const sent = RW.state.table;
    let found = sent?.edition === shown.edition && sent.asked === JSON.stringify({ ...values, known: undefined }) ? sent : null;
    try { found ??= await RW.get('rows', values); } catch (error) { RW.trouble(error); return; }
    if (mine !== generation || found.stopped) return; // the next scores ask again
    pages = new Map([[first, found.rows]]);
    asked = new Set([first]);
    total = found.total;
    if (first * PAGE >= total && total) { pages.clear(); asked.clear(); }
    RW.place_of_selected = found.at;
    $('rw-fill').style.height = `${total * ROW}px`;
    $('rw-grid').setAttribute('aria-rowcount', total + 1);
    textWidth = $('rw-head').querySelector('.rw-c-text')?.clientWidth || textWidth;
    for (const node of drawn.values()) node.remove();
    drawn.clear();
    draw();
    drawEmpty(RW.state);
    $('rw-results-in').dataset.table = `${found.run}:${total}`;
    const lost = viewChanged && found.at === null; // the filter leaves the selected row out
    if ((RW.selected === null || lost) && found.rows.length && first === 0) RW.select(found.rows[0][0], 0, { quiet: true });
  };

  const fetchPage = async (page) => {
    if (asked.has(page)) return;
    asked.add(page);
    const mine = generation;
    try {
      const found = await RW.get('rows', { ...query(), start: page * PAGE, count: PAGE });
      if (found.stopped) asked.delete(page);
      if (mine !== generation || found.stopped) return;
      pages.set(page, found.rows);
      if (pages.size > 40) pages.delete(pages.keys().next().value);
      asked = new Set(pages.keys());
      draw();
    } catch (error) { asked.delete(page); if (mine === generation) RW.trouble(error); }
  };

  const rowAt = (place) => pages.get(Math.floor(place / PAGE))?.[place % PAGE] ?? null;

  // ---------------------------------------------------------------- drawing

  const top = () => Math.floor($('rw-grid').scrollTop / ROW);
  const height = () => Math.ceil($('rw-grid').clientHeight / ROW);

  const draw = () => {
    if (!shown) return;
    const first = Math.max(0, top() - SPARE);
    const last = Math.min(total - 1, top() + height() + SPARE);
    for (const [place, node] of drawn) if (place < first || place > last) { node.remove(); drawn.delete(place); }
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last) / PAGE) && last >= 0; page += 1) {
      if (!pages.has(page)) fetchPage(page);
    }
    for (let place = first; place <= last; place += 1) {
      const row = rowAt(place);
      const there = drawn.get(place);
      if (there && (there.dataset.row !== '' || !row)) continue;
      there?.remove();
      const node = row ? drawRow(row, place) : el('div', { class: 'rw-row rw-waiting', role: 'row', 'data-row': '' });
      node.style.transform = `translateY(${place * ROW}px)`;
      drawn.set(place, node);
      $('rw-fill').append(node);
    }
    markSelected();
  };

  // Of an ending only as much as fits, so that the very end is on screen.
  const fitting = (text) => {
    const fits = Math.max(8, Math.floor((textWidth - (RW.state.shown.labelled ? 46 : 18)) / CHARACTER));
    return RW.view.preview === 'tail' && !RW.view.q && text.length > fits ? `\u2026${text.slice(1 - fits)}` : text;
  };

  const drawRow = ([row, group, label, text, cells, sum, advantage], place) => {
    const gridcell = (kind, content, attributes = {}) => el('span', { role: 'gridcell', class: kind, ...attributes }, content);
    const node = el('div', {
      class: 'rw-row', role: 'row', id: `rw-r${place}`, 'data-row': row, 'aria-rowindex': place + 2, 'data-label': label,
    }, gridcell('rw-c-row', String(row)), gridcell('rw-c-group', group, { title: `group ${group}` }),
    gridcell('rw-c-text', fitting(text)), ...cells.map((value, index) => score(value, shown.columns[index])));
    const whole = gridcell('rw-c-score rw-c-total', number(sum, 2));
    shade(whole, sum, shown.total[0], shown.total[1]);
    const gain = typeof advantage === 'number' && Math.abs(advantage) > 1e-9;
    node.append(whole, gridcell(`rw-c-adv ${gain ? (advantage > 0 ? 'rw-up' : 'rw-down') : 'rw-flat'}`, RW.signed(advantage, 2)));
    if (label) node.querySelector('.rw-c-text').prepend(el('i', { class: `rw-label rw-label-${label}`, title: `labelled ${label}` }, label[0].toUpperCase()));
    node.addEventListener('mousedown', () => RW.select(row, place));
    return node;
  };

  const score = (value, column) => {
    const kind = value === null ? ' rw-none' : value === '!' ? ' rw-failed' : '';
    const content = value === null ? 'None' : value === '!' ? 'failed' : number(value, 2);
    const node = el('span', { role: 'gridcell', class: `rw-c-score${kind}` }, content);
    shade(node, value, column.low, column.high);
    return node;
  };

  const drawHead = () => {
    const columns = [['row', '#', 'rw-c-row'], ['group', 'group', 'rw-c-group'], [null, 'completion', 'rw-c-text'],
      ...shown.columns.map((column) => [`reward:${column.name}`, column.name, 'rw-c-score', column]),
      ['total', 'total', 'rw-c-score rw-c-total'], ['advantage', 'adv', 'rw-c-adv']];
    const longest = (name) => Math.max(...name.split('_').map((part, index, all) => part.length + (index < all.length - 1 ? 1 : 0)));
    const room = $('rw-grid').clientWidth || 700;
    const needed = (list) => list.reduce((sum, width) => sum + width, 0) + 156;
    const widest = (called, most) => shown.columns.map((column) => Math.min(most, Math.max(54, Math.round(longest(called(column.name)) * 6.4) + 20)));
    const full = widest((name) => name, 130);
    const wanted = needed(full) + 52 + 260 <= room ? full : widest(RW.alias, 96);
    const narrow = needed(wanted) + 52 + 170 > room; // then names are cut and the group is left out
    const [group, text] = narrow ? [0, 130] : [52, 150];
    const most = [126, 116, 106, 96, 86, 76].find((each) => needed(wanted.map((width) => Math.min(width, each))) + text + 16 <= room) ?? 66;
    const widths = narrow ? wanted.map((width) => Math.min(width, most)) : wanted;
    $('rw-grid').classList.toggle('rw-narrow', narrow);
    $('rw-grid').style.setProperty('--columns', `42px ${group}px minmax(${text}px, 1fr) ${widths.map((width) => `${width}px`).join(' ')} 58px 56px`);
    $('rw-grid').style.setProperty('--least', `${needed(widths) + group + text}px`);
    $('rw-grid').setAttribute('aria-colcount', columns.length);
    const described = JSON.stringify([columns.map((column) => column[0]), RW.view.sort, RW.view.down, shown.columns]);
    if ($('rw-head').dataset.shown === described) { fitHead(widths); return; }
    $('rw-head').dataset.shown = described;
    $('rw-head').replaceChildren(el('div', { class: 'rw-row', role: 'row', 'aria-rowindex': 1 }, ...columns.map(([sort, name, kind, column]) => {
      const active = sort !== null && RW.view.sort === sort;
      const title = column ? `${column.name}: range ${number(column.low, 2)} to ${number(column.high, 2)}${column.declared ? '' : ' (not declared)'}. Sort.` : sort ? `Sort by ${sort}` : null;
      return el('span', { role: 'columnheader', class: kind, 'aria-sort': active ? (RW.view.down ? 'descending' : 'ascending') : sort ? 'none' : null },
        sort === null ? name : el('button', { type: 'button', title, 'aria-label': column ? `${column.name}: sort by it` : null, tabindex: -1, onclick: () => RW.sortBy(sort) },
          el('span', column ? { 'data-name': name } : {}, name), el('em', { 'aria-hidden': 'true' }, active ? (RW.view.down ? '\u25be' : '\u25b4') : '')));
    })));
    fitHead(widths);
  };
  // Names are measured again only where a column has another width.
  const fitHead = (widths) => {
    const wanted = `${$('rw-head').dataset.shown}${widths.join()}`;
    if ($('rw-head').fitted === wanted) return;
    $('rw-head').fitted = wanted;
    RW.fitNames($('rw-head').querySelectorAll('[data-name]'));
  };

  RW.refitHead = () => { $('rw-head').fitted = ''; if (shown) drawHead(); };

  const CHIPS = { changed: 'Scores or totals are others than in the saved file', errors: 'A reward failed', none: 'A reward gave None or NaN', dead: 'Groups whose totals are all equal: they teach nothing', pinned: 'You said something of them: kept in labels.jsonl', off: 'A score is another than the one you expect' };
  // Filters that would show nothing are left out.
  const drawChips = () => {
    $('rw-chips').replaceChildren(...shown.chips.filter(({ key: chip, count: n }) => n || chip === 'all' || RW.view.chip === chip).map(({ key: chip, name, count: n }) => el('button', {
      type: 'button', class: `rw-chip${chip === 'errors' && n ? ' rw-bad' : ''}`, 'aria-pressed': RW.view.chip === chip ? 'true' : 'false', title: CHIPS[chip], onclick: () => RW.showChip(chip), 'data-chip': chip,
    }, name, el('span', {}, count(n)))));
    if (RW.view.bar) {
      const [name, low, high] = JSON.parse(RW.view.bar);
      const words = low === high ? `${RW.alias(name)} = ${number(low)}` : `${RW.alias(name)} ${number(low)} to ${number(high)}`;
      $('rw-chips').prepend(el('button', { type: 'button', class: 'rw-chip', 'aria-pressed': 'true', id: 'rw-bar-chip', title: 'Show all scores again', onclick: () => RW.change({ bar: '' }) }, words, el('span', {}, '\u2715')));
    }
  };

  const drawEmpty = (state) => {
    const box = $('rw-empty');
    const nothing = !state.shown;
    box.hidden = !(nothing || total === 0);
    $('rw-grid').hidden = nothing;
    if (box.hidden) { delete box.dataset.told; return; }
    if (!nothing || state.status === 'running') delete box.dataset.told;
    if (nothing && state.status === 'running') box.replaceChildren(el('div', { class: 'rw-wait' }, 'Scoring the completions\u2026'));
    else if (nothing) {
      const why = state.problems[0]?.text ?? '';
      const open = state.project.samples.length || state.read_only ? null : el('button', { type: 'button', class: 'rw-button rw-primary', onclick: RW.openSamples }, 'Open completions\u2026');
      const told = JSON.stringify([why, Boolean(open)]);
      if (box.dataset.told === told) return; // a button that is about to be pressed stays
      box.replaceChildren(el('b', {}, 'No scores yet'), el('span', { class: 'rw-why' }, why), el('span', {}, 'Scores appear here as soon as this is solved.'), ...(open ? [open] : []));
      box.dataset.told = told;
      return;
    }
    else {
      box.replaceChildren(el('b', {}, 'No completion matches'), el('span', {}, RW.view.q ? `Nothing contains \u201c${RW.view.q}\u201d here.` : 'This filter is empty.'),
        el('button', { type: 'button', class: 'rw-button', onclick: () => { $('rw-search').value = ''; RW.change({ chip: 'all', q: '', bar: '' }); } }, 'Show all'));
    }
  };

  // ---------------------------------------------------------------- moving about

  const markSelected = () => {
    for (const node of drawn.values()) {
      const on = node.dataset.row === String(RW.selected);
      if (on !== node.hasAttribute('aria-selected')) node.toggleAttribute('aria-selected', on);
      if (on) { node.setAttribute('aria-selected', 'true'); $('rw-grid').setAttribute('aria-activedescendant', node.id); }
    }
  };

  const reveal = (place) => {
    const grid = $('rw-grid');
    const head = $('rw-head').offsetHeight;
    if (place * ROW < grid.scrollTop) grid.scrollTop = place * ROW;
    else if ((place + 1) * ROW + head > grid.scrollTop + grid.clientHeight) grid.scrollTop = (place + 1) * ROW + head - grid.clientHeight;
  };

  RW.select = (row, place, { quiet = false } = {}) => {
    RW.selected = row;
    RW.place_of_selected = place ?? null;
    if (place !== null && place !== undefined && !quiet) reveal(place);
    draw();
    RW.wake(); // of a tab that rests, nobody else knows the row
    RW.showDetail(row);
  };

  // A row named elsewhere (its group, a problem) is selected and, if the view has it, scrolled to.
  RW.goTo = async (row) => {
    RW.select(row, null);
    const found = await RW.get('rows', { ...query(), start: 0, count: 0, find: row }).catch(RW.trouble);
    if (found?.stopped) return;
    if (found && found.at !== null && RW.selected === row) { RW.place_of_selected = found.at; reveal(found.at); draw(); }
    else if (found && found.at === null && RW.selected === row && (RW.view.chip !== 'all' || RW.view.q || RW.view.bar)) {
      $('rw-search').value = '';
      RW.change({ chip: 'all', q: '', bar: '' });
    }
  };

  const step = async (by) => {
    if (!total) return;
    const from = RW.place_of_selected ?? (by > 0 ? -1 : total);
    const place = Math.min(total - 1, Math.max(0, from + by));
    if (!rowAt(place)) { reveal(place); await fetchPage(Math.floor(place / PAGE)); }
    const row = rowAt(place);
    if (row) RW.select(row[0], place);
  };

  RW.change = (values) => { Object.assign(RW.view, values); RW.showTable(RW.state); if (RW.state.shown) RW.showTiles(RW.state.shown); };
  RW.sortBy = (sort) => {
    const same = RW.view.sort === sort;
    const first = sort !== 'row' && sort !== 'group'; // best first, but rows and groups in their order
    RW.change(same && RW.view.down !== first ? { sort: 'row', down: false } : { sort, down: same ? !RW.view.down : first });
  };
  RW.showChip = (chip) => RW.change({ chip: RW.view.chip === chip ? 'all' : chip });

  RW.startTable = () => {
    const grid = $('rw-grid');
    grid.addEventListener('scroll', () => requestAnimationFrame(draw), { passive: true });
    new ResizeObserver(() => {
      if (shown) drawHead();
      const width = $('rw-head').querySelector('.rw-c-text')?.clientWidth ?? textWidth;
      if (Math.abs(width - textWidth) > 4) { textWidth = width; for (const node of drawn.values()) node.remove(); drawn.clear(); }
      draw();
    }).observe(grid);
    let pause = null;
    $('rw-search').addEventListener('input', (event) => {
      clearTimeout(pause);
      pause = setTimeout(() => RW.change({ q: event.target.value.trim() }), 150);
    });
    $('rw-search').addEventListener('keydown', (event) => { if (event.key === 'Escape' || event.key === 'Enter') grid.focus(); });
    $('rw-preview').value = RW.view.preview;
    $('rw-preview').addEventListener('change', (event) => {
      RW.keep(localStorage, 'rw-preview', event.target.value);
      RW.change({ preview: event.target.value });
    });
    const moves = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target;
      if (RW.page !== 'write' || target.closest('input, select, textarea, .cm-editor, dialog')) return;
      if (RW.selected !== null && '1234'.includes(event.key) && event.key) { event.preventDefault(); RW.pressLabel(RW.LABELS[Number(event.key) - 1]); return; }
      const inGrid = target === grid || target === document.body;
      let by = event.key in moves && (inGrid || event.key.length === 1) ? moves[event.key] : null;
      if (inGrid && event.key === 'PageDown') by = height() - 2;
      if (inGrid && event.key === 'PageUp') by = 2 - height();
      if (inGrid && event.key === 'Home') by = -Infinity;
      if (inGrid && event.key === 'End') by = Infinity;
      if (by !== null) { event.preventDefault(); step(by === -Infinity ? -1e9 : by === Infinity ? 1e9 : by); return; }
      if (event.key === '/') { event.preventDefault(); $('rw-search').focus(); $('rw-search').select(); }
      if (event.key === 'i') RW.toggleInvisible();
      if (event.key === 'e') { event.preventDefault(); document.querySelector('#rw-editor .cm-content')?.focus(); }
      if (event.key === '?') $('rw-help').showModal();
    });
  };
})();
