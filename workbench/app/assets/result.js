// Result: a finished run merged with its proof, compared with its base, both asked the same, taken away.
'use strict';

(() => {
  const { el, $, number, signed, count, plural } = RW;
  const TICK = 1200;
  const SIDES = { base: 'base', trained: 'trained' };
  let view = null; // the runs
  let chosen = null;
  let seen = '';
  let found = null; // the run that is shown
  let timer = null;
  let drawn = {}; // what each part shows, so that a tick redraws only what moved
  let seed = 0;

  const STEPS = [
    ['merge', 'Merge', 'The adapter goes into the base model; thirteen checks prove that nothing else changed.'],
    ['compare', 'Compare', 'Base and merged model answer the held-out prompts; the run\u2019s rewards score both, prompt by prompt.'],
  ];

  const panel = (id, title, about, ...actions) => {
    const box = el('section', { class: 'rw-panel rw-result-part', id, 'aria-labelledby': `${id}-title` });
    box.append(el('header', { class: 'rw-record-head' }, el('h3', { id: `${id}-title` }, title), el('span', { class: 'rw-gap' }), ...actions), about ? el('p', { class: 'rw-hint' }, about) : '', el('div', { class: 'rw-result-body' }));
    return box;
  };

  // ---------------------------------------------------------------- a program at work

  // Once more drawn at the end: a button that was busy is free again, and may have to stay shut while it goes on.
  const begin = async (button, work) => { await RW.busy(button, async () => { await work(); seen = ''; await tick(); }); if (found) draw(); };
  const start = (what) => (event) => begin(event.target, () => RW.post('result-start', { name: chosen, what }));
  const stop = (what) => RW.button('Stop', (event) => RW.busy(event.target, async () => { await RW.post('train-end', { name: `${chosen}.${what}`, how: 'stop' }); seen = ''; await tick(); }), { id: `rw-${what}-stop` });
  const atWork = (what) => {
    const work = found.work[what];
    if (work.running) {
      const bar = work.progress === null ? el('progress', { 'aria-label': `${what} goes on` }) : el('progress', { max: 1, value: work.progress, 'aria-label': `${what}, share done` });
      const last = work.said.trim().split('\n').filter((line) => / \.\.\.$| of \d+ \w+$/.test(line)).at(-1) ?? 'torch is loading\u2026';
      return el('div', { class: 'rw-working', role: 'status' }, bar, el('span', {}, last), stop(what));
    }
    if (work.interrupted) return el('p', { class: 'rw-hint', role: 'status' }, 'Stopped. What was there before is as it was.');
    if (work.failed) {
      const why = work.said.trim().split('\n').filter((line) => line.startsWith('error: ')).at(-1)?.slice(7) ?? 'It ended without a word.';
      return el('div', {}, el('p', { class: 'rw-why', role: 'alert' }, why), el('details', { class: 'rw-log' }, el('summary', {}, 'What it printed'), el('pre', { class: 'rw-shot', tabindex: 0 }, work.said)));
    }
    return null;
  };
  const running = () => Object.values(found?.work ?? {}).some((work) => work.running);

  // ---------------------------------------------------------------- merge and proof

  const proof = () => {
    const lines = found.proof?.lines ?? [];
    const mark = { true: ['\u2713', 'rw-ok', 'passed'], false: ['\u2715', 'rw-bad', 'failed'], null: ['\u2013', 'rw-none', 'does not apply'] };
    const verdict = !found.proof ? null : el('p', { class: `rw-verdict ${found.proof.proved ? 'rw-pass' : 'rw-fail'}` }, el('b', {}, found.proof.proved ? 'Proved: base plus adapter, and nothing else' : 'Not proved: nothing was put in place'), found.proof.dtype ? el('span', {}, found.proof.dtype) : null);
    return [atWork('merge'), verdict,
      lines.length ? el('ol', { class: 'rw-proof', id: 'rw-proof' }, ...lines.map((line) => { const [sign, kind, word] = mark[String(line.passed)]; return el('li', { 'data-check': line.number }, el('i', { class: kind, title: word }, sign), el('span', { class: 'rw-code' }, String(line.number)), el('b', {}, line.name), el('span', {}, line.sentence)); })) : null,
      found.merged && !lines.length ? el('p', { class: 'rw-hint' }, 'It was merged elsewhere; there is no proof of it here.') : null];
  };

  // ---------------------------------------------------------------- the paired comparison

  const interval = (line) => {
    if (!line.places) return el('span', { class: 'rw-none' }, '\u2013');
    const [low, high, mean] = line.places;
    const kind = line.low > 0 ? 'rw-gain' : line.high < 0 ? 'rw-loss' : 'rw-level';
    const bar = el('i', {});
    bar.style.cssText = `left:${low * 100}%;width:${Math.max(0.6, (high - low) * 100)}%`;
    const dot = el('b', {});
    dot.style.left = `${mean * 100}%`;
    return el('span', { class: `rw-interval ${kind}`, 'aria-hidden': 'true' }, bar, dot);
  };
  const comparison = () => {
    const made = found.comparison;
    if (!made) return [atWork('compare')];
    const rows = made.lines.map((line) => el('tr', { 'data-line': line.name }, el('td', {}, el('b', { title: line.name }, RW.alias(line.name)), line.kind ? el('small', {}, ` ${line.kind}`) : null, line.weight === 0 ? el('small', {}, ', only watches') : null),
      el('td', { class: 'rw-figure' }, number(line.base, 3)), el('td', { class: 'rw-figure' }, number(line.trained, 3)), el('td', { class: 'rw-figure' }, el('b', {}, signed(line.difference, 3))),
      el('td', { class: 'rw-interval-cell' }, interval(line)), el('td', { class: 'rw-figure' }, line.low === null ? '\u2013' : `${signed(line.low, 3)} to ${signed(line.high, 3)}`),
      el('td', { class: 'rw-figure', title: 'prompts on which the trained model does better, worse, the same' }, `${line.counts[0]} / ${line.counts[1]} / ${line.counts[2]}`), el('td', {}, line.verdict)));
    const several = made.completions > 1;
    const side = (label, text, total) => el('div', {}, el('h4', {}, label, ' ', el('b', { class: 'rw-figure' }, number(total, 3))), el('pre', { class: 'rw-shot', tabindex: 0, dir: 'auto' }, text || '(empty)'));
    return [atWork('compare'),
      el('p', { class: 'rw-result-sentence', id: 'rw-compared-sentence' }, made.sentence),
      el('div', { class: 'rw-record-scroll', tabindex: 0, role: 'region', 'aria-label': 'Paired differences' }, el('table', { class: 'rw-differences' }, el('thead', {}, el('tr', {}, el('th', {}, 'reward'), el('th', { class: 'rw-figure' }, 'base'), el('th', { class: 'rw-figure' }, 'trained'), el('th', { class: 'rw-figure' }, 'difference'), el('th', {}, el('span', { class: 'rw-scale' }, el('span', {}, 'worse'), el('span', {}, '0'), el('span', {}, 'better'))), el('th', { class: 'rw-figure' }, '95 % interval'), el('th', { class: 'rw-figure' }, 'up / down / same'), el('th', {}, 'verdict'))), el('tbody', {}, ...rows))),
      el('p', { class: 'rw-hint' }, `${plural(made.prompts, 'prompt')} from ${made.source}, ${plural(made.completions, 'completion')} of each model to each (temperature ${made.sampling.temperature}, top_p ${made.sampling.top_p}). ${made.overlapping ? `${plural(made.overlapping, 'row')} had been trained on and ${made.overlapping === 1 ? 'was' : 'were'} left out.` : `None of them is among the ${count(made.trained_prompts)} trained on.`}`),
      ...made.notes.map((note) => el('p', { class: 'rw-hint' }, `Note: ${note}.`)), ...made.errors.map(([name, why]) => el('p', { class: 'rw-why' }, `${name} could not score some completions: ${why}`)),
      el('h4', {}, made.worst.length ? 'What got worse, the worst first' : 'No prompt lost anything of the total'),
      ...made.worst.map((one, index) => el('details', { class: 'rw-regression', open: index === 0 }, el('summary', {}, el('b', { class: 'rw-figure rw-down' }, signed((one.totals[1] ?? 0) - (one.totals[0] ?? 0), 3)), el('span', { class: 'rw-first' }, one.prompt.at(-1)?.[1] ?? '')), el('div', { class: 'rw-both' }, side(`base${several ? ', its best; mean' : ''}`, one.base, one.totals[0]), side(`trained${several ? ', its worst; mean' : ''}`, one.trained, one.totals[1]))))];
  };

  // ---------------------------------------------------------------- both asked the same

  const asking = () => {
    const box = el('textarea', { class: 'rw-area', id: 'rw-ask-prompt', rows: 3, 'aria-label': 'Prompt', placeholder: 'Type a prompt, or choose one that was held out of training', spellcheck: 'false' });
    const field = (label, id, value, attributes) => el('label', { class: 'rw-ask-field' }, el('span', {}, label), el('input', { class: 'rw-input', id, type: 'number', value, ...attributes }));
    const choose = el('select', { class: 'rw-select', id: 'rw-ask-held', 'aria-label': 'A held-out prompt', onchange: () => { const one = held(); box.value = one ? one.asks : ''; mark(); } }, el('option', { value: '' }, 'a prompt of your own'), ...found.held_out.map((one) => el('option', { value: one.number }, `${one.number}: ${one.asks.slice(-90)}`)));
    const held = () => found.held_out.find((one) => String(one.number) === choose.value);
    const exact = () => { const one = held(); return one && box.value === one.asks ? one : null; };
    const told = el('p', { class: 'rw-hint', id: 'rw-ask-told' });
    const mark = () => {
      const one = exact();
      told.textContent = one ? `As it was held out${one.values.length ? `, with ${one.values.map(([name, value]) => `${name} ${value}`).join(', ')}` : ''}: every reward can score it.` : 'Under the run\u2019s system prompt. Rewards that read a column, such as the answer, cannot score a typed prompt.';
    };
    box.addEventListener('input', () => { if (!exact()) choose.value = ''; mark(); });
    const go = el('button', { type: 'submit', class: 'rw-button rw-primary', id: 'rw-ask' }, 'Ask both');
    const form = el('form', { class: 'rw-asking', onsubmit: (event) => {
      event.preventDefault();
      const one = exact();
      begin(go, async () => {
        seed += 1;
        await RW.post('result-ask', { name: chosen, prompt: one ? null : box.value, held_out: one ? one.number : null, answers: Number($('rw-ask-answers').value) || 0, temperature: Number($('rw-ask-temperature').value), top_p: Number($('rw-ask-top-p').value), seed });
      });
    } }, choose, box, told, el('div', { class: 'rw-actions' }, field('answers', 'rw-ask-answers', 2, { min: 1, max: 8, step: 1 }), field('temperature', 'rw-ask-temperature', 0.7, { min: 0, max: 5, step: 0.05 }), field('top_p', 'rw-ask-top-p', 0.9, { min: 0.05, max: 1, step: 0.05 }), go));
    if (found.held_out.length) { choose.value = String(found.held_out[0].number); box.value = found.held_out[0].asks; }
    mark();
    return form;
  };
  const paid = (answer) => (answer.scores.length ? el('small', {}, answer.scores.map(([name, value]) => `${RW.alias(name)} ${value === null ? 'None' : number(value, 2)}`).join(' \u00b7 ')) : null);
  const answers = () => {
    const made = found.answers;
    const work = atWork('sample');
    if (!made) return [work];
    return [work, ...made.prompts.map((prompt) => el('article', { class: 'rw-answered' },
      el('div', { class: 'rw-message' }, el('span', { class: 'rw-key' }, prompt.held_out ? `held out ${prompt.held_out}` : 'asked'), el('p', {}, prompt.prompt.at(-1)?.[1] ?? '')),
      el('div', { class: 'rw-both' }, ...Object.keys(SIDES).map((name) => el('div', { 'data-side': name }, el('h4', {}, SIDES[name]), ...prompt.answers.map((both) => both.find((answer) => answer.side === name)).filter(Boolean).map((answer) => el('div', { class: 'rw-answer' }, el('pre', { class: 'rw-shot', tabindex: 0, dir: 'auto' }, answer.text || '(empty)', answer.ended ? '' : el('em', { class: 'rw-none', title: 'cut off at the longest completion of training' }, ' \u2026')), el('div', { class: 'rw-answer-paid' }, answer.total === null ? null : el('b', { class: 'rw-figure' }, number(answer.total, 2)), paid(answer))))))))),
    ...made.unscored.map(([name, why]) => el('p', { class: 'rw-hint' }, name ? `${name} scored nothing here: ${why}` : `Nothing was scored: ${why}`)),
    el('p', { class: 'rw-hint' }, `Temperature ${made.sampling.temperature}, top_p ${made.sampling.top_p}, seed ${made.sampling.seed}: both models draw from the same random numbers.`)];
  };

  // ---------------------------------------------------------------- taking it away

  const NAMES = { card: ['Model card', 'README.md'], comparison: ['Comparison', 'comparison.json'], proof: ['Proof of the merge', 'merge-proof.json'], report: ['Report', 'report.html'] };
  const address = (what, more = {}) => `rw/result-file?${new URLSearchParams({ desk: RW.desk, name: chosen, what, ...more })}`;
  const copy = async (button, text) => {
    try { await navigator.clipboard.writeText(text); button.textContent = 'Copied'; } catch { button.textContent = 'Select it and copy'; }
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  };
  const away = () => [
    el('dl', { class: 'rw-away' },
      ...Object.entries(NAMES).map(([what, [title, file]]) => el('div', {}, el('dt', {}, title), el('dd', {}, found.files.includes(what) ? [what === 'report' ? el('a', { class: 'rw-link', id: 'rw-report-show', href: address(what, { show: 1 }), target: '_blank', rel: 'noopener' }, 'Show') : null, el('a', { class: 'rw-link', href: address(what), download: `${chosen}-${file}`, 'data-file': what }, `Download ${file}`)] : el('span', { class: 'rw-none' }, { card: 'is written when training ends', comparison: 'comes with the comparison', proof: 'comes with the merge', report: 'is written when training ends' }[what])))),
      el('div', {}, el('dt', {}, 'Merged model'), el('dd', {}, found.merged ? [el('code', { class: 'rw-path', id: 'rw-merged-path' }, found.merged), RW.button('Copy', (event) => copy(event.target, found.merged), { id: 'rw-copy-path' })] : el('span', { class: 'rw-none' }, 'not merged yet'))))];

  // The card's own Markdown: headings, tables, lists, bold and code; anything else stays the text it is.
  const inline = (text) => text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((part) => (part.startsWith('**') && part.length > 4 ? el('b', {}, part.slice(2, -2)) : part.startsWith('`') && part.length > 2 ? el('code', {}, part.slice(1, -1)) : part));
  const card = (text) => {
    const body = text.replace(/^---\n[\s\S]*?\n---\n/, '');
    return body.split(/\n{2,}/).filter((block) => block.trim()).map((block) => {
      const lines = block.trim().split('\n');
      const heading = /^(#{1,3}) (.*)$/.exec(lines[0]);
      if (heading && lines.length === 1) return el(heading[1].length === 1 ? 'h3' : 'h4', {}, ...inline(heading[2]));
      if (lines.every((line) => line.startsWith('|'))) {
        const rows = lines.filter((line) => !/^\|[-|\s:]+\|$/.test(line)).map((line) => line.slice(1, -1).split('|').map((cell) => cell.trim()));
        const wide = el('table', {}, el('thead', {}, el('tr', {}, ...rows[0].map((cell) => el('th', {}, ...inline(cell))))), el('tbody', {}, ...rows.slice(1).map((row) => el('tr', {}, ...row.map((cell) => el('td', {}, ...inline(cell)))))));
        return el('div', { class: 'rw-record-scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of the model card' }, wide);
      }
      if (lines.every((line) => line.startsWith('- '))) return el('ul', {}, ...lines.map((line) => el('li', {}, ...inline(line.slice(2)))));
      return el('p', {}, ...inline(lines.join(' ')));
    });
  };

  // ---------------------------------------------------------------- all of it

  const put = (id, wanted, make) => {
    const key = JSON.stringify(wanted);
    if (drawn[id] === key) return;
    drawn[id] = key;
    const place = $(id).querySelector('.rw-result-body');
    const open = [...place.querySelectorAll('details')].map((each) => each.open);
    place.replaceChildren(...make().filter((each) => each !== null && each !== undefined));
    [...place.querySelectorAll('details')].forEach((each, index) => { if (index in open) each.open = open[index]; });
  };

  const frame = () => {
    const box = $('rw-the-result');
    drawn = {};
    box.replaceChildren(
      el('header', { class: 'rw-heading' }, el('div', {}, el('h3', {}, chosen), el('p', { id: 'rw-result-about' })), el('span', { class: 'rw-gap' }), el('button', { type: 'button', class: 'rw-button', onclick: () => { RW.showPage('train'); RW.showRun(chosen); } }, 'Its curves and completions')),
      panel('rw-part-merge', '1  Merge and proof', STEPS[0][2], el('button', { type: 'button', class: 'rw-button', id: 'rw-merge', onclick: start('merge') }, 'Merge')),
      panel('rw-part-compare', '2  Beside its base', STEPS[1][2], el('button', { type: 'button', class: 'rw-button', id: 'rw-compare-base', onclick: start('compare') }, 'Compare')),
      panel('rw-part-ask', '3  Ask both', 'Base and merged model answer the same prompt from the same random numbers; the run\u2019s rewards score it.'),
      panel('rw-part-card', '4  Model card and files', null));
    const ask = $('rw-part-ask');
    ask.querySelector('.rw-result-body').before(asking());
    ask.querySelector('.rw-result-body').id = 'rw-answers';
  };

  const draw = () => {
    if (!$('rw-part-merge') || $('rw-the-result').dataset.run !== chosen) { $('rw-the-result').dataset.run = chosen; frame(); }
    const stands = found.stands;
    $('rw-result-about').textContent = [`${count(stands.done)} of ${plural(stands.steps, 'step')}`, stands.model, stands.sealed ? 'sealed' : 'unsealed'].filter(Boolean).join(' \u00b7 ');
    const { merge, compare, sample } = found.work;
    put('rw-part-merge', [merge, found.proof, found.merged], proof);
    put('rw-part-compare', [compare, found.comparison], comparison);
    put('rw-part-ask', [sample, found.answers], answers);
    put('rw-part-card', [found.files, found.merged, found.card], () => [...away(), found.card === null ? el('p', { class: 'rw-hint' }, 'There is no model card in the run\u2019s folder; merging writes it anew.') : el('article', { class: 'rw-card-text', id: 'rw-card', tabindex: 0, 'aria-label': 'Model card' }, ...card(found.card))]);
    const none = view.missing ? `needs ${view.missing}, which is not installed` : null;
    const button = (id, label, off, first) => { const it = $(id); it.textContent = label; it.disabled = off || Boolean(none); it.title = none ?? ''; it.classList.toggle('rw-primary', first); };
    button('rw-merge', found.merged ? 'Merge anew' : 'Merge', merge.running, !found.merged);
    button('rw-compare-base', found.comparison ? 'Compare anew' : 'Compare', compare.running || !found.merged, Boolean(found.merged) && !found.comparison);
    button('rw-ask', 'Ask both', sample.running || !found.merged, Boolean(found.merged));
    for (const id of ['rw-compare-base', 'rw-ask']) if (!found.merged) $(id).title = 'Merge first';
    const box = $('rw-the-result');
    box.dataset.state = running() ? 'running' : found.comparison ? 'compared' : found.merged ? 'merged' : 'trained';
  };

  const tick = async () => {
    clearTimeout(timer);
    if (RW.page !== 'result' || document.hidden || !chosen) return;
    const name = chosen;
    try {
      const came = await RW.get('result-run', { name, seen });
      if (name !== chosen) return;
      seen = came.seen;
      if (!came.same) { found = came; draw(); }
    } catch (error) {
      if (error.status === 400) $('rw-the-result').replaceChildren(RW.nothing('This run cannot be shown', error.message)); else RW.trouble(error);
      return;
    }
    if (running()) { clearTimeout(timer); timer = setTimeout(tick, TICK); }
  };

  const choose = (name) => { chosen = name; seen = ''; found = null; delete $('rw-the-result').dataset.run; const select = $('rw-result-run'); if (select) select.value = name; tick(); };

  const refresh = async () => {
    try { view = await RW.get('result'); } catch (error) { RW.trouble(error); return; }
    const place = $('rw-result-choice');
    if (!view.runs.length) {
      chosen = null;
      place.replaceChildren();
      $('rw-the-result').dataset.state = 'empty';
      $('rw-the-result').replaceChildren(RW.designed('No run has finished yet', 'When a run is done, its trained model comes here.', [
        ['Merge', 'The adapter goes into the base model, and thirteen checks prove that nothing else changed.'],
        ['Compare', 'Base and merged model answer prompts that were held out of training; you see the paired difference with its interval, and what got worse.'],
        ['Ask', 'Both answer the same prompt side by side, scored by the rewards.'],
        ['Take away', 'The merged folder, its model card, the comparison.']], el('button', { type: 'button', class: 'rw-button rw-primary', onclick: () => RW.showPage('train') }, 'To training')));
      return;
    }
    if (!view.runs.some((run) => run.name === chosen)) chosen = view.runs[0].name;
    place.replaceChildren(el('select', { class: 'rw-select', id: 'rw-result-run', 'aria-label': 'Finished run', onchange: (event) => choose(event.target.value) }, ...view.runs.map((run) => el('option', { value: run.name, selected: run.name === chosen }, `${run.name}${run.compared ? ', compared' : run.merged ? ', merged' : ''}`))));
    if ($('rw-the-result').dataset.run !== chosen) choose(chosen); else tick();
  };

  let opened = false;
  RW.showResult = (name) => { chosen = name; opened = false; RW.showPage('result'); };
  RW.addPage({
    name: 'result', title: 'Result',
    show: () => { if (!opened) { opened = true; refresh(); } },
    hide: () => { clearTimeout(timer); opened = false; },
    make: (box) => {
      box.replaceChildren(RW.heading('Result', 'What came of a run: merged with proof, beside its base, asked, taken away.', el('div', { id: 'rw-result-choice' })), el('div', { id: 'rw-the-result', class: 'rw-findings' }, RW.nothing('Opening\u2026', '')));
      document.addEventListener('visibilitychange', () => { if (!document.hidden && RW.page === 'result') tick(); });
    },
  });
})();
