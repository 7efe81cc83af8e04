// Compare: two versions of the rewards on the same rows; what the policy would be taught otherwise comes first.
'use strict';

(() => {
  const { el, $, number, signed, count, plural } = RW;
  const PAGE = 60;
  let drawn = '';
  let asking = false;
  let view = null;
  let table = { order: 'taught', shown: 'all', start: 0 };
  let selected = null;
  let explaining = null;
  let picked = false; // sides are proposed until somebody chooses one

  // ---------------------------------------------------------------- the two sides

  const when = (at) => (at ? at.slice(0, 16).replace('T', ' ') : '');
  const options = (wanted) => [
    el('option', { value: 'saved', selected: wanted === 'saved' }, 'the saved file'),
    el('option', { value: 'draft', selected: wanted === 'draft' }, view.unsaved ? 'the text in the editor (unsaved)' : 'the text in the editor'),
    ...view.versions.map((version) => el('option', { value: version.id, selected: wanted === version.id }, `${version.label} scored ${when(version.at)}`)),
    el('option', { value: 'other', selected: wanted === 'other' }, 'a git revision or another file\u2026')];
  const chosen = (side) => ($(`rw-side-${side}`).value === 'other' ? $(`rw-other-${side}`).value.trim() : $(`rw-side-${side}`).value);
  const picker = (side, name) => el('label', { class: 'rw-side' }, el('span', {}, name), el('select', { class: 'rw-select', id: `rw-side-${side}`, onchange: () => { picked = true; $(`rw-other-${side}`).hidden = $(`rw-side-${side}`).value !== 'other'; } }),
    el('input', { class: 'rw-input', id: `rw-other-${side}`, type: 'text', hidden: true, placeholder: 'HEAD~1, HEAD:rewards.py, other.py', 'aria-label': `${name}: git revision or path`, autocomplete: 'off', spellcheck: 'false' }));
  const run = () => RW.busy($('rw-compare-run'), () => RW.post('compare-run', { old: chosen('old'), new: chosen('new') }));

  const fill = () => {
    const first = view.versions.find((version, index) => index > 0)?.id ?? 'saved';
    const defaults = view.unsaved ? ['saved', 'draft'] : [first, 'saved'];
    const same = $('rw-side-old').value === $('rw-side-new').value;
    ['old', 'new'].forEach((side, index) => {
      const select = $(`rw-side-${side}`);
      const wanted = same || !picked ? defaults[index] : select.value;
      const shown = JSON.stringify([view.unsaved, view.versions]);
      if (select.dataset.shown === shown) return;
      select.dataset.shown = shown;
      select.replaceChildren(...options(wanted));
    });
  };

  // ---------------------------------------------------------------- what changed

  const arrow = (before, after, digits = 2) => el('span', { class: 'rw-arrow' }, number(before, digits), el('i', {}, '\u2192'), el('b', {}, number(after, digits)));
  const by = (pair) => (typeof pair[0] === 'number' && typeof pair[1] === 'number' ? pair[1] - pair[0] : null);
  const moved = (change) => el('article', { class: 'rw-panel rw-moved' }, el('h3', {}, RW.alias(change.name)), arrow(...change.mean, 3),
    el('p', {}, el('span', { class: 'rw-up' }, `\u25b2 ${count(change.better)}`), el('span', { class: 'rw-down' }, `\u25bc ${count(change.worse)}`), el('span', { class: 'rw-flat' }, `= ${count(change.equal)}`),
      change.lost ? el('span', { class: 'rw-down' }, `${count(change.lost)} lost their number`) : null, change.gained ? el('span', {}, `${count(change.gained)} got one`) : null));

  const head = (found) => [
    el('dl', { class: 'rw-figures' }, ...[
      ['rows change', count(found.changed), `of ${count(found.rows)}`],
      ['advantages change their sign', count(found.flips), 'these would be taught the opposite'],
      ['ranks in the group change', count(found.ranks), `${count(found.turned)} of ${plural(found.pairs, 'pair')} turn round; ${plural(found.ties[0], 'tie')} broken, ${count(found.ties[1])} made`],
      ['groups that teach nothing', `${count(found.dead[0])} \u2192 ${count(found.dead[1])}`, `of ${count(found.groups)}; ${count(found.silenced)} rows silenced, ${count(found.woken)} woken`],
    ].map(([name, value, about]) => el('div', {}, el('dt', {}, name), el('dd', {}, value), el('small', {}, about)))),
    el('div', { class: 'rw-moves' }, ...[...found.rewards, found.total].map(moved)),
    found.only_old.length ? el('p', { class: 'rw-hint' }, `Only before: ${found.only_old.join(', ')}`) : null,
    found.only_new.length ? el('p', { class: 'rw-hint' }, `Only after: ${found.only_new.join(', ')}`) : null];

  const code = (files) => el('section', { class: 'rw-panel rw-code-diff', 'aria-label': 'Code' }, el('h3', {}, 'Code'), ...(files.length ? files.map((file) => el('figure', {}, el('figcaption', {}, file.name),
    el('pre', { tabindex: 0, 'aria-label': `Changes of ${file.name}` }, ...file.lines.map(([kind, line]) => el('span', { class: kind ? `rw-diff-${kind}` : null }, `${line}\n`)), file.more ? el('em', {}, `${plural(file.more, 'more line')}`) : null))) : [el('p', {}, 'The code of both sides is the same.')]));

  // ---------------------------------------------------------------- rows

  const SHOWN = [['all', 'Changed'], ['better', 'Better'], ['worse', 'Worse'], ['flips', 'Sign flips']];
  const ORDERS = [['taught', 'most changed lesson first'], ['fell', 'largest fall first'], ['rose', 'largest rise first']];
  const tools = (found) => el('div', { class: 'rw-tools' }, el('div', { class: 'rw-chips', role: 'group', 'aria-label': 'Show' }, ...SHOWN.map(([key, name]) => el('button', {
    type: 'button', class: 'rw-chip', 'data-shown': key, 'aria-pressed': String(table.shown === key), onclick: () => { table = { ...table, shown: key, start: 0 }; rows(); },
  }, name, el('span', {}, count(found.shown[key]))))), el('span', { class: 'rw-gap' }),
  el('select', { class: 'rw-select', id: 'rw-compare-order', 'aria-label': 'Order of the rows', onchange: (event) => { table = { ...table, order: event.target.value, start: 0 }; rows(); } }, ...ORDERS.map(([key, name]) => el('option', { value: key, selected: table.order === key }, name))));

  const rows = async () => {
    for (const chip of document.querySelectorAll('#rw-compared-tools [data-shown]')) chip.setAttribute('aria-pressed', String(chip.dataset.shown === table.shown));
    let found;
    try { found = await RW.get('compare-rows', { ...table, count: PAGE }); } catch (error) { RW.trouble(error); return; }
    const box = $('rw-compared-rows');
    if (!found.total) { box.replaceChildren(el('p', { class: 'rw-hint' }, view.result.changed ? 'No row of this kind.' : 'Every row has the scores and the advantage it had.')); return; }
    const names = view.result.rewards.map((change) => change.name);
    RW.learn('compare', names);
    box.replaceChildren(el('table', { class: 'rw-compared' }, el('thead', {}, el('tr', {}, el('th', {}, '#'), el('th', {}, 'completion'), ...names.map((name) => el('th', { class: 'rw-figure', title: name }, RW.alias(name))), el('th', { class: 'rw-figure' }, 'total'), el('th', { class: 'rw-figure' }, 'advantage'), el('th', { class: 'rw-figure', title: 'Among the totals of its group; 1 is the lowest' }, 'rank'))),
      el('tbody', {}, ...found.rows.map((row) => el('tr', { 'data-row': row.row, 'aria-selected': String(row.row === selected), onclick: () => open(row.row) },
        el('td', {}, el('button', { type: 'button', class: 'rw-link', 'aria-label': `Row ${row.row}: both sides`, onclick: (event) => { event.stopPropagation(); open(row.row); } }, String(row.row))),
        el('td', { class: 'rw-cut' }, row.label ? el('i', { class: `rw-label rw-label-${row.label}`, title: `labelled ${row.label}` }, row.label[0].toUpperCase()) : null, row.text),
        ...row.scores.map(([, before, after]) => el('td', { class: `rw-figure${before === after ? ' rw-same' : ''}` }, before === after ? number(after, 2) : arrow(before, after))),
        el('td', { class: `rw-figure${by(row.total) === 0 ? ' rw-same' : ''}` }, by(row.total) === 0 ? number(row.total[1], 2) : arrow(...row.total), el('small', { class: by(row.total) > 0 ? 'rw-up' : 'rw-down' }, by(row.total) ? ` ${signed(by(row.total), 2)}` : '')),
        el('td', { class: 'rw-figure' }, arrow(...row.advantage), row.flips ? el('b', { class: 'rw-flip', title: 'The sign changes: the opposite would be taught' }, ' \u21c5') : null),
        el('td', { class: 'rw-figure' }, row.rank[0] === row.rank[1] ? number(row.rank[1], 0) : arrow(row.rank[0], row.rank[1], 0)))))),
    found.total > PAGE ? el('div', { class: 'rw-actions' }, RW.button('\u2190', () => { table.start = Math.max(0, table.start - PAGE); rows(); }, { disabled: table.start === 0, 'aria-label': 'Rows before' }),
      el('span', {}, `${count(table.start + 1)} to ${count(Math.min(found.total, table.start + PAGE))} of ${count(found.total)}`),
      RW.button('\u2192', () => { table.start += PAGE; rows(); }, { disabled: table.start + PAGE >= found.total, 'aria-label': 'Next rows' })) : '');
    box.dataset.shown = `${found.number}:${found.total}`;
  };

  const credits = (found) => (found === null ? el('p', { class: 'rw-hint' }, 'Partial credit cannot be shown for this side.') : el('div', {}, ...found.rewards.map((reward) => el('section', { class: 'rw-reward' },
    el('header', {}, el('b', { title: reward.name }, RW.alias(reward.name)), el('span', { class: 'rw-gap' }), el('b', { class: 'rw-figure' }, reward.score === null ? 'None' : number(reward.score))),
    reward.error ? el('p', { class: 'rw-why' }, reward.error) : null,
    el('ul', {}, ...[...reward.credits, ...reward.missed].map((credit) => el('li', { class: `rw-credit${credit.points ? '' : ' rw-zero'}` }, el('span', { class: 'rw-credit-name' }, credit.name || credit.condition || `line ${credit.line}`), credit.line ? el('small', {}, `L${credit.line}`) : null, el('span', { class: 'rw-figure' }, signed(credit.points, 2)))))))));

  const open = async (row) => {
    selected = row;
    for (const each of document.querySelectorAll('#rw-compared-rows [data-row]')) each.setAttribute('aria-selected', String(Number(each.dataset.row) === row));
    const box = $('rw-compared-detail');
    box.hidden = false;
    box.replaceChildren(el('p', { class: 'rw-wait' }, `Explaining row ${row} by both sides\u2026`));
    explaining?.abort();
    const mine = explaining = new AbortController();
    const found = await RW.post('compare-explain', { row }, mine.signal).catch((error) => { RW.trouble(error); return null; });
    if (mine !== explaining || !found || found.stopped) return;
    box.replaceChildren(el('header', { class: 'rw-heading' }, el('h3', {}, `Row ${row}`), el('span', { class: 'rw-gap' }), RW.button('Open in Write', () => { RW.showPage('write'); RW.goTo(row); }), RW.button('Close', () => { box.hidden = true; selected = null; })),
      el('p', { class: 'rw-cut' }, found.prompt.at(-1)?.[1] ?? ''), el('pre', { class: 'rw-shot', tabindex: 0 }, found.text),
      el('div', { class: 'rw-both' }, el('div', {}, el('h3', {}, view.result.old), credits(found.sides[0])), el('div', {}, el('h3', {}, view.result.new), credits(found.sides[1]))));
    box.dataset.row = row;
    box.scrollIntoView({ block: 'nearest' });
  };

  // ---------------------------------------------------------------- all of it

  const draw = () => {
    fill();
    const place = $('rw-compared');
    const found = view.result;
    if (view.state === 'failed') { place.replaceChildren(RW.nothing('Nothing to compare', view.error ?? '')); return; }
    if (!found) {
      place.replaceChildren(view.state === 'stopped' ? RW.nothing('Stopped', 'Choose two sides and compare again.')
        : RW.designed('Nothing compared yet', 'Two versions of the rewards score the same completions. Every scoring of a saved file is kept as a version; the text in the editor is one, too.', [
          ['What changes', 'Which completions are paid otherwise, and how the mean of every reward moves.'],
          ['What is taught', 'Whose advantage changes its sign or its rank: there the policy would be taught something else.'],
          ['Which line', 'The changed code beside it, and for a row the partial credit by both sides.']],
        chosen('old') === chosen('new') ? el('button', { type: 'button', class: 'rw-button rw-primary', onclick: () => RW.showPage('write') }, 'Change something in the editor')
          : el('button', { type: 'button', class: 'rw-button rw-primary', onclick: run }, 'Compare what is chosen above')));
      return;
    }
    if (place.dataset.number === String(found.number)) return;
    place.dataset.number = found.number;
    table.start = 0;
    selected = null;
    const toolbox = tools(found);
    toolbox.id = 'rw-compared-tools';
    place.replaceChildren(...[el('p', { class: 'rw-hint' }, el('b', {}, found.old), ' \u2192 ', el('b', {}, found.new)), ...head(found),
      code(found.code), el('section', { class: 'rw-panel', id: 'rw-compared-detail', hidden: true, 'aria-label': 'The row by both sides' }),
      el('section', { class: 'rw-panel rw-table-panel', 'aria-label': 'Changed rows' }, toolbox, el('div', { id: 'rw-compared-rows' }))].filter(Boolean));
    rows();
  };

  const show = async (state) => {
    const running = state.compare.state === 'running';
    $('rw-compare-stop').hidden = !running;
    $('rw-compare-run').disabled = running;
    const line = $('rw-compare-line');
    line.textContent = running ? `scoring ${state.compare.progress ? `${state.compare.progress[0]}: ${RW.alias(state.compare.progress[1])}` : 'both sides'}\u2026` : '';
    const wanted = JSON.stringify([state.compare.state, state.compare.number, state.file.unsaved, state.run, state.status]);
    if (wanted === drawn || asking) return;
    asking = true;
    try { view = await RW.get('compare'); drawn = wanted; draw(); } catch (error) { RW.trouble(error); } finally { asking = false; }
    if (RW.page === 'compare' && RW.state && RW.state.compare.state !== state.compare.state) show(RW.state);
  };

  RW.addPage({
    name: 'compare', title: 'Compare', show, mark: (state) => (state.compare.state === 'running' ? '\u2026' : ''),
    make: (box) => box.replaceChildren(RW.heading('Compare', 'Two versions of the rewards on the same completions.'),
      el('form', { class: 'rw-sides', onsubmit: (event) => { event.preventDefault(); run(); } }, picker('old', 'from'), picker('new', 'to'), el('button', { class: 'rw-button rw-primary', id: 'rw-compare-run' }, 'Compare'),
        RW.button('Stop', () => RW.post('compare-stop').catch(RW.trouble), { id: 'rw-compare-stop', hidden: true }), el('span', { id: 'rw-compare-line', role: 'status' })),
      el('div', { id: 'rw-compared', class: 'rw-findings' }, RW.nothing('Opening\u2026', ''))),
  });
})();
