// The selected completion: the text exactly as scored, what it was paid for, and its group.
'use strict';

(() => {
  const { el, $, number, signed } = RW;
  const COLOURS = 8;
  let request = null;
  let current = null; // { row, detail, credits }
  let invisible = false;

  RW.showDetail = async (row) => {
    if (!RW.state?.shown) return;
    request?.abort();
    const mine = request = new AbortController();
    const same = current?.row === row;
    try {
      const detail = await RW.get('row', { row }, mine.signal);
      if (detail.stopped) return; // the next run asks again
      current = { row, detail, credits: same ? current.credits : null, why: null, old: true }; // credits of the run before stay until the new ones come
      if (!same) draw();
      else { const at = $('rw-text').scrollTop; drawText(); $('rw-text').scrollTop = at; drawSide(); }
      const slow = setTimeout(() => $('rw-detail').classList.add('rw-busy'), 200);
      try {
        const found = await RW.post('explain', { row }, mine.signal);
        if (found.stopped || mine !== request) return;
        current.credits = found.why ? null : found;
        current.why = found.why ?? null;
        current.old = false;
      } catch (error) {
        if (error.name === 'AbortError') return;
        RW.trouble(error);
        return;
      } finally { clearTimeout(slow); $('rw-detail').classList.remove('rw-busy'); }
      if (mine !== request) return;
      draw(same);
      $('rw-detail').dataset.shown = `${detail.run}:${row}`;
    } catch (error) {
      if (error.name !== 'AbortError') RW.trouble(error);
    }
  };

  const draw = (keepPlace = false) => {
    const places = [$('rw-text').scrollTop, $('rw-credits').scrollTop];
    drawText();
    drawSide();
    [$('rw-text').scrollTop, $('rw-credits').scrollTop] = keepPlace ? places : [0, 0];
  };

  // ---------------------------------------------------------------- text

  const SHOWN = new Map([[' ', '\u00b7'], ['\t', '\u2192\t'], ['\n', '\u23ce\n'], ['\r', '\u240d'], ['\u00a0', '\u237d'],
    ['\u200b', '[ZWSP]'], ['\u200c', '[ZWNJ]'], ['\u200d', '[ZWJ]'], ['\ufeff', '[BOM]'], ['\u202e', '[RLO]'], ['\u202d', '[LRO]'], ['\u2028', '[LS]'], ['\u00ad', '[SHY]']]);
  const ODD = /[ \t\n\r\u00a0\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u0000-\u0008\u000b\u000c\u000e-\u001f]/gu;
  const put = (node, text) => {
    if (!invisible) { node.append(text); return; }
    let from = 0;
    for (const match of text.matchAll(ODD)) {
      node.append(text.slice(from, match.index));
      const sign = SHOWN.get(match[0]) ?? `[U+${match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`;
      node.append(el('i', { class: 'rw-odd' }, sign));
      from = match.index + match[0].length;
    }
    node.append(text.slice(from));
  };

  const drawText = () => {
    const { detail, credits } = current;
    const head = el('div', { class: 'rw-text-head' },
      el('b', {}, `#${detail.row}`), el('span', { class: 'rw-shrinks', title: detail.group.name }, `group ${detail.group.name}`),
      el('span', { class: 'rw-gap' }), labelButtons(detail), el('span', { class: 'rw-shrinks' }, RW.plural(detail.length, 'character')),
      el('button', { type: 'button', class: 'rw-button rw-quiet', id: 'rw-invisible', 'aria-pressed': String(invisible), title: 'Show invisible characters (i)', onclick: () => RW.toggleInvisible() }, '\u00b6'));
    const prompt = el('details', { class: 'rw-prompt', open: RW.keep(localStorage, 'rw-prompt') === 'open' },
      el('summary', {}, el('span', { class: 'rw-key' }, 'prompt'), el('span', { class: 'rw-first' }, detail.prompt.at(-1)?.[1] ?? '')),
      ...detail.prompt.map(([role, text]) => el('div', { class: 'rw-message' }, el('span', { class: 'rw-key' }, role), el('p', {}, text))));
    prompt.addEventListener('toggle', () => RW.keep(localStorage, 'rw-prompt', prompt.open ? 'open' : 'closed'));
    const values = el('dl', { class: 'rw-values' }, ...detail.values.map(([name, text]) =>
      el('div', {}, el('dt', {}, name), el('dd', { title: text }, text.length > 300 ? `${text.slice(0, 300)}\u2026` : text))));
    const body = el('div', { class: 'rw-completion', dir: 'auto' });
    for (const [text, numbers] of credits?.pieces ?? [[detail.text, []]]) body.append(piece(text, numbers));
    if (!detail.text) body.append(el('em', { class: 'rw-none' }, 'empty completion'));
    if (detail.length > detail.text.length) body.append(el('em', { class: 'rw-none' }, ` \u2026 ${RW.plural(detail.length - detail.text.length, 'more character')}`));
    const turns = detail.turns ?? [];
    const earlier = turns.at(-1)?.[0] === 'assistant' ? turns.slice(0, -1) : turns; // the last one is the text below
    const before = earlier.length ? [el('div', { class: 'rw-turns' },
      ...earlier.map(([role, text]) => el('div', { class: 'rw-message' }, el('span', { class: 'rw-key' }, role), el('p', {}, text))))] : [];
    $('rw-text').replaceChildren(head, prompt, values, ...before, body);
  };

  // ---------------------------------------------------------------- what a person says of the row

  RW.LABELS = ['right', 'partial', 'wrong', 'hack'];
  const labelButtons = (detail) => el('span', { class: 'rw-labels', role: 'group', 'aria-label': 'Label of this completion' },
    ...RW.LABELS.map((label, index) => el('button', {
      type: 'button', class: `rw-press rw-say-${label}`, 'aria-pressed': String(detail.label === label), 'data-say': label,
      title: `${label} (${index + 1})`, onclick: () => RW.pressLabel(label),
    }, label)));
  // The label it has, pressed again, is taken back, if it was given here and does not stand in the user's own file.
  RW.pressLabel = (label) => {
    if (!current) return;
    const { row, detail } = current;
    if (detail.label === label && !detail.pinned) return;
    const said = detail.label === label ? { forget: true } : { label };
    RW.post('say', { row, of: detail.of, ...said }).catch(RW.trouble);
  };
  // What is typed but not sent: the pane is drawn anew whenever the state is, and must not take it away.
  let typed = null;
  const expectation = (score) => {
    const known = 'expected' in score;
    const same = known && (score.expected === null ? score.score === null : typeof score.score === 'number' && Math.abs(score.score - score.expected) < 1e-6);
    const input = el('input', { class: `rw-expected${known && !same ? ' rw-bad' : ''}`, type: 'text', autocomplete: 'off', placeholder: 'exp.', 'aria-label': `Expected score of ${score.name}`, title: 'What this score should be; Enter keeps it, "none" for None' });
    if (known) input.value = score.expected === null ? 'None' : String(score.expected);
    if (typed && typed.row === current.row && typed.name === score.name) {
      const { at, focused } = typed;
      input.value = typed.text;
      if (focused) queueMicrotask(() => { input.focus(); input.setSelectionRange(at, at); });
    }
    const keep = () => { typed = { row: current.row, name: score.name, text: input.value, at: input.selectionStart, focused: true }; };
    input.addEventListener('input', keep);
    input.addEventListener('blur', () => { if (typed && input.isConnected) typed.focused = false; });
    const say = (value) => { typed = null; return RW.post('say', { row: current.row, of: current.detail.of, expected: { [score.name]: value } }).catch(RW.trouble); };
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') { typed = null; input.blur(); return; }
      if (event.key !== 'Enter') return;
      const text = input.value.trim();
      const value = text.toLowerCase() === 'none' ? null : Number(text.replace(',', '.'));
      const right = text !== '' && (value === null || Number.isFinite(value));
      input.setAttribute('aria-invalid', String(!right));
      if (right) { say(value); $('rw-grid').focus(); }
    });
    const given = score.score === null || typeof score.score === 'number';
    const tick = el('button', { type: 'button', class: 'rw-press rw-tick', 'aria-pressed': String(same), disabled: !given, 'aria-label': `The score of ${score.name} is as it should be`, title: 'As it should be: expect this score', onclick: () => say(score.score) }, '\u2713');
    return [input, tick];
  };

  // `find` gives a credit by its number, `lit` lights those under the pointer.
  const piece = (text, numbers, find = creditOf, lit = light) => {
    if (!numbers.length) { const plain = document.createDocumentFragment(); put(plain, text); return plain; }
    const node = el('mark', { class: text ? 'rw-piece' : 'rw-piece rw-caret', 'data-credits': ` ${numbers.join(' ')} ` });
    const paid = numbers.map((each) => find(each)).filter(Boolean);
    node.title = paid.map((credit) => `${credit.name || credit.condition || 'credit'} ${signed(credit.points)}`).join('\n');
    // Every credit keeps a line of its own under the text, the innermost nearest to it; the tint is the innermost one's.
    const lanes = paid.slice(-3).reverse();
    node.style.setProperty('--tint', colour(lanes[0]));
    if (text) {
      node.style.backgroundImage = lanes.map((credit) => `linear-gradient(${colour(credit)} 0 0)`).join(',');
      node.style.backgroundPosition = lanes.map((_, index) => `0 calc(100% - ${(lanes.length - 1 - index) * 3}px)`).join(',');
      node.style.setProperty('--lanes', lanes.length);
      put(node, text);
    } else node.append(el('span', { class: 'rw-sr' }, 'credit for a place without text'));
    node.addEventListener('mouseenter', () => lit(numbers, true));
    node.addEventListener('mouseleave', () => lit(numbers, false));
    return node;
  };
  RW.piece = (...given) => piece(...given);

  const creditOf = (number_) => {
    for (const reward of current.credits?.rewards ?? []) {
      const found = [...reward.credits, ...reward.missed].find((credit) => credit.number === number_);
      if (found) return found;
    }
    return null;
  };
  const colour = RW.creditColour = (credit) => {
    if (!credit || credit.colour === null) return 'var(--rw-unpaid)';
    return typeof credit.points === 'number' && credit.points < 0 ? 'var(--rw-orange)' : `var(--rw-credit-${credit.colour % COLOURS})`;
  };

  const light = (numbers, on) => {
    for (const number_ of numbers) {
      for (const node of document.querySelectorAll(`#rw-text [data-credits~="${number_}"], #rw-credits [data-credit="${number_}"]`)) node.classList.toggle('rw-lit', on);
    }
    $('rw-text').classList.toggle('rw-lighting', on);
  };

  RW.toggleInvisible = () => { invisible = !invisible; if (current) { const at = $('rw-text').scrollTop; drawText(); $('rw-text').scrollTop = at; } };

  // ---------------------------------------------------------------- credits and group

  const drawSide = () => {
    const { detail, credits, why } = current;
    const box = $('rw-credits');
    const explained = new Map((credits?.rewards ?? []).map((reward) => [reward.name, reward]));
    box.replaceChildren(...[
      ...detail.scores.map((score, index) => drawReward(score, explained.get(score.name), RW.state.shown.columns[index])),
      el('div', { class: 'rw-sum' }, el('b', {}, 'total'), el('b', { class: 'rw-figure' }, number(detail.total))),
      why ? el('p', { class: 'rw-why', role: 'alert' }, `No partial credit: ${why}`) : null,
      drawGroup(detail)].filter(Boolean));
    const paying = [...explained.values()].filter((reward) => !reward.file || reward.file === RW.file).flatMap((reward) => reward.credits.filter((credit) => credit.line && credit.points)
      .map((credit) => ({ line: credit.line, text: `${reward.name}: ${signed(credit.points)}` })));
    RW.markLines('paid', paying);
  };

  const drawReward = (score, explained, column) => {
    const value = el('b', { class: 'rw-figure rw-score-pill' }, score.score === null ? 'None' : score.score === '!' ? 'failed' : number(score.score));
    RW.shade(value, score.score, column?.low ?? 0, column?.high ?? 1);
    const times = typeof score.weight === 'number' && score.weight !== 1 && score.weighted !== null
      ? el('span', { class: 'rw-times' }, `\u00d7${Number(score.weight.toFixed(2))} = ${number(score.weighted, 2)}`) : null;
    const credits = explained?.credits ?? [];
    const missed = explained?.missed ?? [];
    const file = explained?.file ?? null;
    const inexact = explained && !current.old && !explained.exact && score.score !== '!' && score.score !== null;
    const why = score.error ?? (current.old ? null : explained?.error);
    return el('section', { class: 'rw-reward', 'data-reward': score.name },
      el('header', {}, el('b', { title: score.name }, ...RW.breakable(score.name)), el('span', { class: 'rw-weighed' }, times, ...expectation(score)), value),
      why ? el('p', { class: 'rw-why' }, why, ...lineButton(why)) : null,
      credits.length ? el('ul', {}, ...credits.map((credit) => drawCredit(credit, file))) : null,
      missed.length ? el('ul', { class: 'rw-missed', 'aria-label': 'What did not pay' }, ...missed.map((credit) => drawCredit(credit, file))) : null,
      inexact ? el('p', { class: 'rw-inexact' }, 'The parts do not add up to the score; the lines that ran are shown.') : null,
      ...(explained?.notes ?? []).map((note) => el('p', { class: 'rw-inexact' }, note)),
      explained?.lines.length ? drawLines(explained.lines, file) : null);
  };

  const lineButton = (text) => {
    const match = /\(([^()]+\.py):(\d+)\)/.exec(text);
    return match ? [' ', el('button', { type: 'button', class: 'rw-link', onclick: () => RW.jump(Number(match[2])) }, `line ${match[2]}`)] : [];
  };

  const told = (credit) => {
    const value = typeof credit.value === 'boolean' || credit.value === null || credit.value === undefined ? String(credit.value ?? '') : JSON.stringify(credit.value);
    return [credit.name, credit.condition && `${credit.condition}${value ? ` is ${value}` : ''}`, credit.compared && `compared ${credit.compared.join(' with ')}`,
      credit.note, credit.place && `in ${credit.place}`, credit.approximate && 'the place in the text was searched for'].filter(Boolean).join('\n');
  };

  const drawCredit = (credit, file) => {
    const name = credit.name || credit.condition || (credit.line ? `line ${credit.line}` : 'credit');
    const of = credit.of !== null && credit.of !== credit.points ? ` of ${signed(credit.of, 2)}` : '';
    const zero = !credit.points;
    const detail = credit.note ?? (credit.compared && zero ? `${credit.compared[0]} \u2260 ${credit.compared[1]}` : null);
    const node = el('li', { class: `rw-credit${zero ? ' rw-zero' : ''}`, 'data-credit': credit.number, tabindex: 0, title: told(credit) },
      el('i', { class: 'rw-swatch', 'aria-hidden': 'true' }), el('span', { class: 'rw-credit-name' }, name, detail ? el('small', {}, ` ${detail}`) : null),
      credit.line ? el('button', { type: 'button', class: 'rw-link', title: 'Go to this line', onclick: () => RW.jump(credit.line, file) }, `L${credit.line}`) : null,
      el('span', { class: 'rw-figure' }, signed(credit.points, 2), of ? el('small', {}, of) : null));
    node.style.setProperty('--swatch', credit.placed ? colour(credit) : 'transparent');
    for (const [event, on] of [['mouseenter', true], ['focus', true], ['mouseleave', false], ['blur', false]]) node.addEventListener(event, () => { light([credit.number], on); if (on) revealPiece(credit.number); });
    return node;
  };

  const revealPiece = (number_) => {
    const node = document.querySelector(`#rw-text [data-credits~="${number_}"]`);
    const box = $('rw-text');
    if (!node) return;
    const [a, b] = [node.getBoundingClientRect(), box.getBoundingClientRect()];
    if (a.top < b.top || a.bottom > b.bottom) box.scrollTop += a.top - b.top - b.height / 3;
  };

  const drawLines = (lines, file) => el('details', { class: 'rw-lines' }, el('summary', {}, `${RW.plural(lines.length, 'line')} ran`),
    el('ol', {}, ...lines.map((line) => el('li', {}, el('button', { type: 'button', class: 'rw-link', onclick: () => RW.jump(line.line, file) }, `L${line.line}`),
      el('code', {}, line.code), el('span', { class: 'rw-line-values' }, line.values.map(([name, text]) => `${name} = ${text}`).join(', ')), line.hits > 1 ? el('small', {}, `\u00d7${line.hits}`) : null))));

  const SCALES = { group: 'divided by the spread of the group', batch: 'divided by the spread of the batch', none: 'not scaled' };
  const drawGroup = (detail) => {
    const group = detail.group;
    const reach = Math.max(1e-9, ...group.rows.map(([, , advantage]) => Math.abs(typeof advantage === 'number' ? advantage : 0)));
    return el('section', { class: 'rw-group', title: `${group.aggregation}, ${SCALES[group.scale] ?? group.scale}` },
      el('header', {}, el('b', {}, `group ${group.name}`), el('span', {}, `mean ${number(group.mean, 2)} \u00b7 spread ${number(group.spread, 2)}`)),
      group.dead && group.size > 1 ? el('p', { class: 'rw-dead' }, 'All totals are equal: no advantage, nothing is learnt from this group.') : null,
      group.size === 1 ? el('p', { class: 'rw-dead' }, 'A group of one: there is nothing to compare it with.') : null,
      el('ul', {}, ...group.rows.map(([row, sum, advantage, label]) => {
        const size = typeof advantage === 'number' ? Math.abs(advantage) / reach * 50 : 0;
        const bar = el('i', { class: `rw-bar-fill ${advantage >= 0 ? 'rw-high' : 'rw-low'}` });
        bar.style.width = `${size}%`;
        bar.style[advantage >= 0 ? 'left' : 'right'] = '50%';
        return el('li', {}, el('button', { type: 'button', 'aria-current': row === detail.row ? 'true' : null, onclick: () => RW.goTo(row), title: label ? `labelled ${label}` : null },
          el('span', {}, `#${row}`), el('span', { class: 'rw-figure' }, number(sum, 2)), el('span', { class: 'rw-track' }, bar), el('span', { class: 'rw-figure' }, signed(advantage, 2))));
      })), group.size > group.rows.length ? el('p', { class: 'rw-dead' }, `${RW.plural(group.size - group.rows.length, 'row')} in the middle left out`) : null);
  };
})();
