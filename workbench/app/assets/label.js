// Label: the unlabelled rows that tell most, one after another; keys 1 to 4 label, s skips, u takes the last one back.
'use strict';

(() => {
  const { el, $, number, plural } = RW;
  let drawn = null; // edition and skipped rows of what is on screen
  let asking = false;
  let found = null;
  let skipped = [];
  let done = []; // rows labelled here, the newest last
  let reveal = RW.keep(localStorage, 'rw-label-scores') === 'shown';
  let sending = false;

  const say = async (label) => {
    if (!found?.next.length || sending) return;
    const { row, of } = found.next[0];
    sending = true;
    try {
      await RW.post('say', { row, of, label });
      done.push({ row, of });
      found.next.shift(); // the next one is here already; what the server says replaces it
      if (found.next.length) draw();
    } catch (error) { RW.trouble(error); } finally { sending = false; }
  };
  const skip = () => {
    const row = found?.next[0]?.row;
    if (row === undefined) return;
    skipped = [...skipped, row].slice(-400);
    refresh();
  };
  const undo = async () => {
    const last = done.pop();
    if (!last) return;
    skipped = skipped.filter((each) => each !== last.row);
    try { await RW.post('say', { ...last, forget: true }); } catch (error) { RW.trouble(error); }
  };

  const KEYS = { 1: 'right', 2: 'partial', 3: 'wrong', 4: 'hack' };
  const labels = () => el('div', { class: 'rw-big-labels', role: 'group', 'aria-label': 'Label of this completion' }, ...Object.entries(KEYS).map(([key, label]) => el('button', {
    type: 'button', class: `rw-button rw-say-${label}`, 'data-say': label, onclick: () => say(label) }, label, el('kbd', {}, key))),
  RW.button('Skip', skip, { id: 'rw-skip', title: 'Later (s)' }), RW.button('Take back', undo, { id: 'rw-undo', disabled: !done.length, title: 'Take the last label back (u)' }));

  const row = (detail) => el('article', { class: 'rw-panel rw-to-label', 'data-row': detail.row, 'aria-label': `Row ${detail.row}` },
    el('header', { class: 'rw-text-head' }, el('b', {}, `#${detail.row}`), el('span', { class: 'rw-shrinks' }, detail.why ? `asked because ${detail.why}` : ''), el('span', { class: 'rw-gap' }), el('span', {}, plural(detail.length, 'character'))),
    ...detail.prompt.map(([role, text]) => el('div', { class: 'rw-message' }, el('span', { class: 'rw-key' }, role), el('p', {}, text))),
    el('dl', { class: 'rw-values' }, ...detail.values.map(([name, text]) => el('div', {}, el('dt', {}, name), el('dd', { title: text }, text)))),
    reveal ? el('p', { class: 'rw-hint rw-its-scores' }, detail.scores.map((score) => `${RW.alias(score.name)} ${score.score === null ? 'None' : score.score === '!' ? 'failed' : number(score.score, 2)}`).join(' \u00b7 '), ` \u00b7 total ${number(detail.total, 2)}`) : null,
    el('div', { class: 'rw-completion', dir: 'auto', tabindex: 0, 'aria-label': 'Completion' }, detail.text || el('em', { class: 'rw-none' }, 'empty completion')));

  // From 0 to 1, with chance in the middle; the dot is the AUC, the bar its interval.
  const interval = (each) => {
    const bar = el('i', {});
    bar.style.cssText = `left:${each.low * 100}%;width:${(each.high - each.low) * 100}%`;
    const dot = el('b', {});
    if (each.auc !== null) dot.style.left = `${each.auc * 100}%`; else dot.hidden = true;
    return el('tr', { 'data-auc': each.name }, el('td', {}, RW.alias(each.name)), el('td', {}, el('span', { class: 'rw-interval', 'aria-hidden': 'true' }, bar, dot)),
      el('td', { class: 'rw-figure' }, each.auc === null ? '\u2013' : number(each.auc, 2)), el('td', { class: 'rw-figure' }, each.auc === null ? '' : `${number(each.low, 2)} to ${number(each.high, 2)}`));
  };
  const separation = () => {
    const first = found.separation[0];
    const weak = first.right < 10 || first.wrong < 10;
    return el('aside', { class: 'rw-panel', 'aria-label': 'How well the rewards tell right from wrong' }, el('h3', {}, 'Right above wrong'),
      el('p', {}, `The chance that a right completion is paid more than a wrong one ${first.prompts ? `of the same prompt (AUC, the mean over ${plural(first.prompts, 'prompt')} that ${first.prompts === 1 ? 'has' : 'have'} both)` : 'of another prompt (AUC; no prompt has both yet, so a reward that only tells prompts apart looks good here)'}, with its 95 % interval. ${first.right} right, ${first.wrong} wrong or hack so far${weak ? ': few labels, wide intervals' : ''}.`),
      first.auc === null ? el('p', { class: 'rw-hint' }, 'Label at least one completion right and one wrong.') : el('table', { class: 'rw-aucs' }, el('tbody', {}, ...found.separation.map(interval))),
      el('p', { class: 'rw-hint' }, `${plural(found.labelled, 'row')} of ${RW.count(found.rows)} labelled. Labels are kept in labels.jsonl; the checks use them.`));
  };

  const draw = () => {
    const place = $('rw-label-place');
    const next = found.next[0];
    place.replaceChildren(next ? row(next) : RW.designed('Every completion has a label', `${plural(found.labelled, 'row')}; there is nothing left to ask of these.`, [
      ['The checks', 'They ask whether right completions are paid more than wrong ones, with all of these labels.'],
      ['More rows', 'Open other completions from the bar, or send a step of a run to Write: its rows are asked for here.']],
    el('button', { type: 'button', class: 'rw-button rw-primary', onclick: () => RW.showPage('check') }, 'To the checks')));
    if (next) place.append(labels());
    $('rw-label-side').replaceChildren(separation());
    $('rw-label-left').textContent = `${plural(found.left, 'row')} left`;
    place.dataset.row = next ? next.row : '';
  };

  const refresh = async () => {
    if (asking) return;
    asking = true;
    const wanted = `${RW.state?.shown?.edition}:${skipped.join()}`;
    try { found = await RW.get('queue', { skipped: skipped.join() }); drawn = wanted; draw(); } catch (error) { RW.trouble(error); } finally { asking = false; }
    if (`${RW.state?.shown?.edition}:${skipped.join()}` !== wanted) refresh();
  };

  const show = (state) => {
    if (!state.shown) {
      drawn = null;
      $('rw-label-side').replaceChildren();
      $('rw-label-place').replaceChildren(state.status === 'running' ? RW.nothing('Scoring\u2026', 'The queue comes with the first scores.') : RW.designed('No completions to label yet', state.problems[0]?.text ?? 'Completions are labelled once they are scored.', [
        ['Ask', 'The completions whose label tells most come first: rewards disagree, best paid, near the border.'],
        ['Say', 'One key a label: right, partial, wrong or hack.'],
        ['Learn', 'How often a right completion is paid more than a wrong one, reward by reward; the checks use the labels.']],
      el('button', { type: 'button', class: 'rw-button rw-primary', onclick: () => RW.showPage('write') }, 'To the editor')));
      return;
    }
    if (drawn !== `${state.shown.edition}:${skipped.join()}`) refresh();
  };

  document.addEventListener('keydown', (event) => {
    if (RW.page !== 'label' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea, dialog')) return;
    if (event.key in KEYS) { event.preventDefault(); say(KEYS[event.key]); }
    if (event.key === 's') skip();
    if (event.key === 'u') undo();
  });

  RW.addPage({
    name: 'label', title: 'Label', show,
    make: (box) => {
      const scores = el('input', { type: 'checkbox', id: 'rw-label-scores', checked: reveal, onchange: (event) => { reveal = event.target.checked; RW.keep(localStorage, 'rw-label-scores', reveal ? 'shown' : 'hidden'); if (found) draw(); } });
      box.replaceChildren(RW.heading('Label', 'The completions whose label tells most come first: rewards disagree, best paid, near the border.',
        el('span', { id: 'rw-label-left', class: 'rw-hint', role: 'status' }), el('label', { class: 'rw-switch', title: 'Knowing the scores makes one agree with them' }, scores, el('span', {}, 'Show scores'))),
      el('div', { class: 'rw-check-columns' }, el('div', { id: 'rw-label-place', class: 'rw-findings' }, RW.nothing('Opening\u2026', '')), el('div', { id: 'rw-label-side' })));
    },
  });
})();
