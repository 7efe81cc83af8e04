// What the checks say of single lines: marks in the margin of the code, and the same as a list under it.
'use strict';

(() => {
  const { el, $, plural } = RW;
  let asked = '';
  let asking = false;
  let drawn = '';
  let found = { lines: [], stale: false };

  RW.fileOf = (reward) => RW.state?.shown?.columns.find((column) => column.name === reward)?.file ?? null;

  const SIGNS = { unpinned: '\u25cb', found: '\u25cf' };
  const WORDS = { unpinned: 'not pinned by the samples', found: 'found by a check' };
  const draw = () => {
    const box = $('rw-margin');
    const { lines, stale } = found;
    box.hidden = !lines.length;
    for (const kind of ['unpinned', 'found']) {
      const here = stale ? [] : lines.filter((each) => each.kind === kind && (each.file ?? RW.file) === RW.file);
      const texts = new Map();
      for (const { line, text } of here) texts.set(line, texts.has(line) ? `${texts.get(line)}\n${text}` : text);
      RW.markLines(kind, [...texts].map(([line, text]) => ({ line, text })));
    }
    const now = JSON.stringify([lines, stale, RW.file]);
    if (box.hidden || now === drawn) return;
    drawn = now; // a list that is the same stays: somebody may be pressing a button in it
    const unpinned = new Set(lines.filter((each) => each.kind === 'unpinned').map((each) => `${each.file}:${each.line}`)).size;
    box.querySelector('summary').textContent = [`Checks point at ${plural(lines.length, 'place')}`, unpinned ? `${plural(unpinned, 'line')} the samples do not pin` : null, stale ? 'of an earlier text' : null].filter(Boolean).join(' \u00b7 ');
    box.classList.toggle('rw-stale-page', stale);
    box.querySelector('ul').replaceChildren(...lines.map((each) => el('li', { class: `rw-problem rw-${each.kind}`, 'data-line': each.line },
      el('i', { role: 'img', 'aria-label': WORDS[each.kind] }, SIGNS[each.kind]),
      el('span', {}, el('b', {}, each.check), ` ${each.text}`),
      el('button', { type: 'button', class: 'rw-link', onclick: () => RW.jump(each.line, each.file) }, each.file && each.file !== RW.file ? `${each.file}:${each.line}` : `line ${each.line}`))));
  };

  // Asked for when a run found something, a finding was waived, or another text or file is in the editor; one question
  // at a time, so that no answer is overtaken by an older one.
  const wish = ({ check, file }) => JSON.stringify([check.number, check.found, check.findings, check.state, check.stale, file.name]);
  RW.showMargin = async (state) => {
    if (asking || wish(state) === asked) return;
    asking = true;
    try {
      found = state.check.found ? await RW.get('check-lines') : { lines: [], stale: false };
      asked = wish(state);
      draw();
    } catch (error) { RW.trouble(error); } finally { asking = false; }
    if (RW.state && wish(RW.state) !== wish(state)) RW.showMargin(RW.state);
  };
})();
