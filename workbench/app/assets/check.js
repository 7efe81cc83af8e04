// Check: the checks run in a process of their own; what they find is shown as cards, and what passes can be sealed.
'use strict';

(() => {
  const { el, $, plural, count } = RW;
  let box = null;
  let drawn = '';
  let asking = false;
  let view = null;

  const SIGNS = { error: '\u2715', warning: '!', info: 'i' };
  const WORDS = { error: 'error', warning: 'warning', info: 'information' };

  // ---------------------------------------------------------------- the run

  const run = (select = []) => RW.post('check-run', { select, quick: $('rw-quick').checked, assume_kinds: $('rw-kinds').checked }).catch(RW.trouble);

  const drawBar = (state) => {
    const running = state.check.state === 'running';
    $('rw-check-run').hidden = running;
    $('rw-check-stop').hidden = !running;
    for (const button of document.querySelectorAll('#rw-families button')) button.disabled = running;
    const line = $('rw-check-line');
    if (!running) { line.hidden = true; return; }
    line.hidden = false;
    const [reward, done, of, finished] = state.check.progress ?? ['', 0, 1, 0];
    const rewards = Math.max(1, state.shown?.columns.length ?? 1);
    const share = Math.min(1, (finished + (done >= of ? 0 : done / of)) / rewards);
    line.querySelector('progress').value = share;
    line.querySelector('span').textContent = reward ? (finished >= rewards ? 'checking the set\u2026' : `${RW.alias(reward)}: ${done} of ${of} checks`) : 'starting a process for the checks\u2026';
  };

  // ---------------------------------------------------------------- a finding

  const pair = (name, value, kind) => (value === null ? null : el('div', {}, el('dt', {}, name), el('dd', { class: kind }, ...folded(el('span', {}, value), value))));
  // Long evidence is cut to a few lines, of which the rest is one press away.
  const LINES = 5;
  const folded = (box, text) => {
    if (text.split('\n').length <= LINES && text.length <= 90 * LINES) return [box];
    box.classList.add('rw-folded');
    const more = RW.button('Show all of it', () => { more.textContent = box.classList.toggle('rw-folded') ? 'Show all of it' : 'Show less'; more.setAttribute('aria-expanded', String(!box.classList.contains('rw-folded'))); }, { class: 'rw-link', 'aria-expanded': 'false' });
    return [box, more];
  };
  const scoreboard = (rows) => el('table', { class: 'rw-scoreboard' }, el('thead', {}, el('tr', {}, el('th', {}, 'without doing the task'), el('th', {}, 'earns'), el('td', {}))),
    el('tbody', {}, ...rows.map(([name, share, low, high]) => {
      const bar = el('i', { class: 'rw-bar-fill rw-low' });
      bar.style.cssText = `left:0;width:${Math.max(0, Math.min(1, share ?? 0)) * 100}%`;
      return el('tr', {}, el('td', {}, name), el('td', { class: 'rw-figure', title: low === null ? null : `95 % interval: ${Math.round(low * 100)} to ${Math.round(high * 100)} %` }, share === null ? '\u2013' : `${Math.round(share * 100)} %`), el('td', {}, el('span', { class: 'rw-track' }, bar)));
    })));

  const actions = (finding) => {
    const place = el('div', { class: 'rw-actions' });
    const more = el('div', { class: 'rw-more', hidden: true });
    const number = finding.number;
    const reveal = (...content) => { more.hidden = false; more.replaceChildren(...content); more.querySelector('input, button')?.focus(); };
    if (finding.text !== null) {
      place.append(RW.button('Open in Write', (event) => RW.busy(event.target, async () => {
        const found = await RW.post('finding-open', { number });
        RW.showPage('write');
        if (found.row !== null) RW.goTo(found.row); else RW.showLast();
      })));
      place.append(RW.button('Keep as a sample', () => reveal(el('span', {}, 'It is'), ...[...RW.LABELS, null].map((label) => el('button', {
        type: 'button', class: `rw-button${label === finding.likely ? ' rw-primary' : ''}`, onclick: (event) => RW.busy(event.target, async () => { await RW.post('finding-keep', { number, label }); reveal(el('span', { role: 'status' }, 'Kept in labels.jsonl: from now on it is scored and checked with the others.')); }),
      }, label ?? 'not labelled')))));
    }
    if (!finding.waived) {
      place.append(RW.button('Waive\u2026', () => {
        const reason = el('input', { class: 'rw-input', type: 'text', maxlength: 500, placeholder: 'Why is this meant, or of no matter?', 'aria-label': 'Reason', autocomplete: 'off' });
        const go = (event) => RW.busy(event.target.closest('form').querySelector('button'), async () => { await RW.post('finding-waive', { check: finding.check, reward: finding.reward, reason: reason.value }); });
        reveal(el('form', { class: 'rw-actions', onsubmit: (event) => { event.preventDefault(); go(event); } }, reason, el('button', { class: 'rw-button' }, 'Waive')));
      }, RW.state.read_only ? { disabled: true, title: 'Nothing can be changed here' } : view.manifest ? {} : { disabled: true, title: 'There is no rewardset.toml to write the reason in' }));
    }
    place.append(el('span', { class: 'rw-gap' }), RW.button('What is this?', async (event) => {
      const found = await RW.busy(event.target, () => RW.get('check-manual', { code: finding.check }));
      if (found) reveal(el('pre', { class: 'rw-manual', tabindex: 0 }, found.text));
    }, { class: 'rw-button rw-quiet' }));
    return [place, more];
  };

  const card = (finding) => el('article', { class: `rw-card rw-is-${finding.severity}${finding.waived ? ' rw-waived' : ''}`, 'data-check': finding.check, 'aria-label': `${finding.check} ${finding.name}` },
    el('header', {}, el('i', { class: 'rw-sign', role: 'img', 'aria-label': WORDS[finding.severity] }, SIGNS[finding.severity]), el('h3', {}, finding.name), el('span', { class: 'rw-code' }, finding.check),
      el('span', { class: 'rw-gap' }), finding.reward ? el('b', {}, RW.alias(finding.reward)) : el('b', {}, 'the set'),
      finding.count > 1 ? el('span', { class: 'rw-times' }, `\u00d7${count(finding.count)}`) : null,
      finding.line ? el('button', { type: 'button', class: 'rw-link', onclick: () => { RW.showPage('write'); RW.jump(finding.line, RW.fileOf(finding.reward)); } }, `L${finding.line}`) : null),
    el('p', {}, finding.message),
    finding.waived ? el('p', { class: 'rw-hint' }, `Waived: ${finding.waived}`) : null,
    finding.prompt.length || finding.columns.length ? el('details', { class: 'rw-evidence' }, el('summary', {}, 'prompt and columns'),
      ...finding.prompt.map(([role, text]) => el('div', { class: 'rw-message' }, el('span', { class: 'rw-key' }, role), el('p', {}, text))),
      ...finding.columns.map(([name, text]) => el('div', { class: 'rw-message' }, el('span', { class: 'rw-key' }, name), el('p', {}, text)))) : null,
    ...(finding.text !== null ? folded(el('pre', { class: 'rw-shot', tabindex: 0, 'aria-label': 'The smallest completion that shows it' }, finding.text || el('em', { class: 'rw-none' }, 'empty completion'),
      finding.length > finding.text.length ? el('em', { class: 'rw-none' }, `\u2026 ${RW.plural(finding.length - finding.text.length, 'more character')}`) : null), finding.text) : []),
    finding.table ? scoreboard(finding.table) : el('dl', { class: 'rw-got' }, pair('got', finding.got, 'rw-bad'), pair('expected', finding.expected, '')),
    finding.advice ? el('p', { class: 'rw-advice' }, finding.advice) : null, ...actions(finding));

  // ---------------------------------------------------------------- the seal

  const seal = () => {
    const it = view.seal;
    const facts = it.created ? el('dl', { class: 'rw-facts' }, ...[
      ['code', it.files.join(', ') || 'installed packages'], ['rewards', it.rewards.map(RW.alias).join(', ')],
      ['samples', `${plural(it.rows, 'row')} in ${plural(it.groups, 'group')}; ${count(it.right)} right, ${count(it.wrong)} wrong or hack`],
      ['checks', `${count(it.checks)} ran${it.quick ? ' (quick)' : ''}, ${count(it.skipped)} did not, ${count(it.waivers)} waived`],
      ['evidence', it.strength === 'strong' ? 'strong: rows known to be right and wrong' : 'weak: no rows known to be right and wrong'], ['since', it.created.slice(0, 16).replace('T', ' ')],
    ].map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value)))) : null;
    const words = { none: 'Not sealed', holds: 'Sealed', broken: 'The seal is broken', damaged: 'The seal is damaged' }[it.state];
    const about = { none: 'A seal says which code was proved on which samples, and training starts from it.', holds: 'The code and the manifest are those that were checked.', broken: it.why ?? 'The code or the weights changed since. Check again and seal.', damaged: it.why }[it.state];
    const button = el('button', { type: 'button', class: `rw-button${it.state === 'holds' ? '' : ' rw-primary'}`, id: 'rw-seal', disabled: view.why_no_seal !== null, onclick: (event) => RW.busy(event.target, () => RW.post('check-seal')) }, it.state === 'holds' ? 'Seal anew' : 'Seal');
    return el('aside', { class: 'rw-panel rw-seal', 'data-state': it.state, 'aria-label': 'Seal' }, el('h3', {}, words), el('p', {}, about), facts,
      el('div', { class: 'rw-actions' }, button, el('span', { class: 'rw-hint' }, view.why_no_seal ?? `covers the code, [set] and [[reward]]; a changed learning rate or comment breaks nothing`)),
      view.refused ? el('p', { class: 'rw-why', role: 'alert' }, view.refused) : null);
  };

  // ---------------------------------------------------------------- all of it

  const verdict = (result) => {
    const { error, warning, info } = result.counts;
    const parts = [error ? plural(error, 'error') : null, warning ? plural(warning, 'warning') : null, info ? `${info} for information` : null, result.waived ? `${result.waived} waived` : null].filter(Boolean);
    const heed = result.verdict === 'pass' && warning > 0;
    const words = result.verdict !== 'pass' ? '\u2715 Does not pass' : heed ? `! No error, but ${warning === 1 ? 'a warning' : plural(warning, 'warning')}` : view.select.length ? '\u2713 Nothing against it' : '\u2713 Passes';
    return el('div', { class: `rw-verdict rw-${heed ? 'heed' : result.verdict}`, role: 'status' }, el('b', {}, words), view.select.length ? el('span', {}, `only ${view.select.join(', ')} ran`) : null,
      el('span', {}, `${parts.join(', ') || 'nothing found'} \u00b7 ${plural(result.checks, 'check')} on ${plural(result.rows, 'row')} in ${RW.seconds(result.seconds)}${result.quick ? ' (quick)' : ''}`),
      result.strength === 'weak' ? el('span', { class: 'rw-hint' }, 'Weak evidence: no rows labelled right and wrong.') : null,
      view.stale ? el('span', { class: 'rw-refusal' }, 'of an earlier text') : view.draft ? el('span', { class: 'rw-hint' }, 'of your unsaved text') : null);
  };

  const skipped = (list) => (list.length ? el('details', { class: 'rw-panel rw-skipped-checks' }, el('summary', {}, `${plural(list.reduce((sum, [, codes]) => sum + codes.length, 0), 'check')} did not run`),
    el('table', {}, el('tbody', {}, ...list.map(([why, codes]) => el('tr', {}, el('td', {}, why), el('td', {}, codes.length > 8 ? plural(codes.length, 'check') : codes.join(', '))))))) : null);

  // Findings of a run that is not over: cards that are there stay as they are, with what is open in them.
  let numberFound = null;
  const drawFound = (place, words) => {
    if (numberFound !== view.number || view.state !== 'running' || !place.querySelector('.rw-so-far')) { numberFound = view.number; place.replaceChildren(el('div', { class: 'rw-so-far', role: 'status' }, el('b', {}), el('span', {}))); }
    const [title, about] = place.firstElementChild.children;
    title.textContent = words;
    about.textContent = `${plural(view.found.length, 'finding')}; equal ones are joined when the run is complete`;
    const cards = place.querySelectorAll('.rw-card');
    view.found.slice(0, cards.length).forEach((finding, at) => { if (finding.waived && !cards[at].classList.contains('rw-waived')) cards[at].replaceWith(card(finding)); });
    for (const finding of view.found.slice(cards.length)) place.append(card(finding));
  };

  const draw = () => {
    const families = $('rw-families');
    if (!families.childElementCount) families.append(...view.families.map(([code, about]) => el('button', { type: 'button', class: 'rw-chip', title: `Run only ${code}, ${about}`, 'data-family': code, onclick: () => run([code]) }, code, el('span', {}, about.split(/[:,]/)[0]))));
    for (const chip of families.children) chip.setAttribute('aria-pressed', String(view.select.includes(chip.dataset.family)));
    const place = $('rw-findings');
    const result = view.result;
    $('rw-check-side').replaceChildren(seal());
    if (view.state === 'running') {
      if (!view.found.length) place.replaceChildren(RW.nothing('Checking\u2026', 'Each check calls your rewards as the trainer would, in a process of its own. You can go on editing; what is found appears here at once.'));
      else drawFound(place, 'Found so far');
      return;
    }
    if (view.state === 'failed') { place.replaceChildren(RW.nothing('The checks could not be run', view.error ?? '', RW.button('To the editor', () => RW.showPage('write')))); return; }
    if (view.state === 'stopped') {
      const again = RW.button('Run again', () => run(view.select));
      if (!view.found.length) place.replaceChildren(RW.nothing('Stopped', 'Nothing had been found when this run was stopped.', again));
      else { drawFound(place, 'Stopped: found until then'); place.firstElementChild.append(again); }
      return;
    }
    if (!result) { place.replaceChildren(RW.nothing('Not checked yet', 'The checks look for what breaks a run or pays for the wrong thing: contract, laws, exploits, forms of answers, signal. Every finding comes with the smallest completion that shows it.', RW.button('Run all', () => run(), { class: 'rw-button rw-primary' }))); return; }
    const live = result.findings.filter((finding) => !finding.waived);
    const waived = result.findings.filter((finding) => finding.waived);
    const held = (result.held_back ?? []).map((line) => el('p', { class: 'rw-hint rw-held-back' }, line));
    place.replaceChildren(...[verdict(result), ...held, ...live.map(card),
      !result.findings.length ? RW.nothing('Nothing found', `${plural(result.checks, 'check')} tried and did not find a fault. That is evidence, not proof.`) : null,
      waived.length ? el('details', { class: 'rw-waived-list' }, el('summary', {}, `${waived.length} waived`), ...waived.map(card)) : null, skipped(result.skipped)].filter(Boolean));
    place.dataset.number = view.number;
    place.classList.toggle('rw-stale-page', view.stale);
  };

  const show = async (state) => {
    drawBar(state);
    const wanted = JSON.stringify([state.check.state, state.check.number, state.check.findings, state.check.found, state.check.waived, state.check.sealed, state.check.refused, state.file.unsaved, state.run]);
    if (wanted === drawn || asking) return;
    asking = true;
    try { view = await RW.get('check'); drawn = wanted; draw(); } catch (error) { RW.trouble(error); } finally { asking = false; }
    if (RW.page === 'check' && RW.state && ['state', 'number', 'found', 'waived'].some((each) => RW.state.check[each] !== state.check[each])) show(RW.state);
  };

  RW.addPage({
    name: 'check', title: 'Check', show,
    mark: (state) => (state.check.state === 'running' ? '\u2026' : state.check.findings ? String(state.check.findings) : ''),
    make: (made) => {
      box = made;
      const option = (id, words, title) => el('label', { class: 'rw-switch', title }, el('input', { type: 'checkbox', id }), el('span', {}, words));
      box.replaceChildren(RW.heading('Check', 'What breaks a run or pays for the wrong thing, each with the smallest completion that shows it.',
        option('rw-quick', 'Quick', 'Leave out what takes long, use fewer rows'), option('rw-kinds', 'Assume kinds', 'Take the kind a name suggests for the declared one'),
        RW.button('Run all', () => run(), { id: 'rw-check-run', class: 'rw-button rw-primary' }), RW.button('Stop', () => RW.post('check-stop').catch(RW.trouble), { id: 'rw-check-stop', hidden: true })),
      el('div', { class: 'rw-families', id: 'rw-families', role: 'group', 'aria-label': 'Run one family' }),
      el('div', { class: 'rw-progress', id: 'rw-check-line', role: 'status', hidden: true }, el('progress', { max: 1, value: 0, 'aria-label': 'Checks done' }), el('span', {})),
      el('div', { class: 'rw-check-columns' }, el('div', { id: 'rw-findings', class: 'rw-findings' }, RW.nothing('Opening\u2026', '')), el('div', { id: 'rw-check-side' })));
    },
  });
})();
