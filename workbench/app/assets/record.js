// The completions of a run, a step at a time: suspects first, one in full with its credits, words that rise.
'use strict';

(() => {
  const { el, number, signed, count, plural } = RW;
  const SPANS = [[1, 'this step'], [10, '10 steps up to it'], [50, '50 steps up to it']];

  // `panel.node` stays where it is put; `panel.follow(name, recorded)` is told how far the run is.
  RW.makeRecord = () => {
    let name = null;
    let steps = []; // { step, held }: the completions of a step, then those of held-out prompts asked after it
    let step = null; // null: the newest one, whichever that is
    let span = 10;
    let shown = ''; // run, step and span of what is on screen
    let selected = null;
    let mine = {}; // the request whose answer counts
    let pause = null;

    const slider = el('input', { type: 'range', class: 'rw-range', id: 'rw-record-step', min: 0, max: 0, step: 1, 'aria-label': 'Training step', oninput: () => move(Number(slider.value), true) });
    const told = el('output', { class: 'rw-range-told', for: 'rw-record-step' });
    const back = RW.button('\u2190', () => move(Number(slider.value) - 1), { 'aria-label': 'Step before', class: 'rw-button rw-icon' });
    const on = RW.button('\u2192', () => move(Number(slider.value) + 1), { 'aria-label': 'Next step', class: 'rw-button rw-icon' });
    const send = RW.button('Send these to Write', (event) => RW.busy(event.target, async () => { await RW.post('record-open', { name, ...at() }); RW.showPage('write'); }), { id: 'rw-record-open', title: 'Opens these completions as the rows of the Write page' });
    const all = RW.button('All steps', (event) => RW.busy(event.target, async () => { await RW.post('record-open', { name }); RW.showPage('write'); }), { id: 'rw-record-open-all', title: 'Opens the completions of all steps in Write' });
    const table = el('div', { class: 'rw-record-table', id: 'rw-record-rows' });
    const words = el('div', { class: 'rw-record-words', id: 'rw-record-words' });
    const spans = el('select', { class: 'rw-select', id: 'rw-record-span', 'aria-label': 'Steps whose words are counted', onchange: (event) => { span = Number(event.target.value); load(); } }, ...SPANS.map(([value, text]) => el('option', { value, selected: value === span }, text)));
    const detail = el('section', { class: 'rw-panel rw-record-detail', id: 'rw-record-detail', hidden: true, 'aria-label': 'The completion in full' });
    const taught = el('div', { class: 'rw-panel' }, el('header', { class: 'rw-record-head' }, el('h3', {}, 'What the policy is taught to say'), el('span', { class: 'rw-gap' }), spans), words);
    const node = el('section', { class: 'rw-record', hidden: true, 'aria-label': 'Completions by step' },
      el('div', { class: 'rw-panel' }, el('header', { class: 'rw-record-head' }, el('h3', {}, 'Completions by step'), back, slider, on, told, el('span', { class: 'rw-gap' }), send, all), table),
      detail,
      taught);

    const at = () => step ?? steps.at(-1);
    const place = () => steps.indexOf(at());
    const called = ({ step: number, held }) => `step ${count(number)}${held ? ', held-out prompts' : ''}`;

    const move = (index, soon = false) => {
      const to = Math.min(steps.length - 1, Math.max(0, index));
      step = to === steps.length - 1 ? null : steps[to]; // at the end it follows the run
      mark();
      clearTimeout(pause);
      pause = setTimeout(load, soon ? 120 : 0);
    };
    const mark = () => {
      slider.max = Math.max(0, steps.length - 1);
      slider.value = place();
      slider.setAttribute('aria-valuetext', called(at()));
      slider.style.setProperty('--done', steps.length > 1 ? place() / (steps.length - 1) : 1);
      slider.disabled = steps.length < 2;
      back.disabled = place() <= 0;
      on.disabled = place() >= steps.length - 1;
      told.replaceChildren(`step ${count(at().step)} of ${count(steps.at(-1).step)}`, at().held ? el('span', { class: 'rw-code rw-held', title: 'Prompts the run does not train on, asked in an evaluation after this step' }, 'held-out') : '');
      taught.hidden = Boolean(at().held);
    };

    const load = async () => {
      const now = at();
      const wanted = `${name}:${now.step}${now.held ? 'h' : ''}:${span}`;
      const asked = mine = {}; // what was asked before counts no more, also where nothing new is needed
      if (wanted === shown && (now.held || words.dataset.shown === wanted)) { words.classList.remove('rw-old'); return; }
      try {
        const counting = now.held ? null : RW.get('record-phrases', { name, step: now.step, span }); // takes longer than the rows, which do not wait for it
        counting?.catch(() => {}); // told below, unless something newer was asked meanwhile
        if (shown.split(':').slice(0, -1).join(':') !== wanted.split(':').slice(0, -1).join(':')) {
          const found = await RW.get('record-step', { name, ...now });
          if (asked !== mine) return;
          selected = null;
          detail.hidden = true;
          drawRows(found);
          node.dataset.step = `${found.step}${found.held_out ? 'h' : ''}`;
        }
        shown = wanted;
        if (!counting) return; // held-out completions teach nothing
        words.classList.add('rw-old');
        const rising = await counting;
        if (asked !== mine) return;
        words.classList.remove('rw-old');
        drawWords(rising);
        words.dataset.shown = wanted;
      } catch (error) {
        if (asked !== mine) return;
        if (error.status === 400) table.replaceChildren(el('p', { class: 'rw-why', role: 'alert' }, error.message)); else RW.trouble(error);
      }
    };

    const drawRows = (found) => {
      RW.learn('record', found.rewards.map((reward) => reward.name));
      const witnesses = found.rewards.filter((reward) => reward.oracle).map((reward) => RW.alias(reward.name));
      const order = witnesses.length ? `Paid most for what ${witnesses.join(', ')} does not vouch for comes first: that is where training leads if it is a loophole.` : 'Paid most comes first. A reward of weight 0, or of kind correctness, would say which of these are worth it.';
      const score = (value, reward) => {
        const cell = el('td', { class: 'rw-figure' }, el('span', { class: 'rw-score-pill' }, value === null ? 'None' : number(value, 2)));
        if (value !== null) RW.shade(cell.firstChild, value, reward.low, reward.high);
        return cell;
      };
      table.replaceChildren(
        el('p', { class: 'rw-hint' }, `${found.held_out ? 'Held-out prompts, which the run does not train on: ' : ''}${plural(found.total, 'completion')} in ${plural(found.groups, 'group')}. ${order}`),
        el('div', { class: 'rw-record-scroll', tabindex: 0, role: 'region', 'aria-label': `Completions of step ${found.step}` }, el('table', { class: 'rw-compared' },
          el('thead', {}, el('tr', {}, el('th', {}, '#'), el('th', {}, 'completion'), ...found.rewards.map((reward) => el('th', { class: 'rw-figure', title: `${reward.name}, weight ${number(reward.weight, 2)}${reward.oracle ? '; it witnesses whether a completion is right' : ''}` }, RW.alias(reward.name), reward.oracle ? el('i', { class: 'rw-witness', title: 'witness' }, ' \u25c7') : null)),
            el('th', { class: 'rw-figure' }, 'paid'), el('th', { class: 'rw-figure' }, 'advantage'))),
          el('tbody', {}, ...found.rows.map((row) => el('tr', { 'data-row': row.row, 'aria-selected': 'false', onclick: () => open(row.row) },
            el('td', {}, el('button', { type: 'button', class: 'rw-link', 'aria-label': `Completion ${row.row} in full`, onclick: (event) => { event.stopPropagation(); open(row.row); } }, String(row.row))),
            el('td', { class: 'rw-cut' }, row.text || el('em', { class: 'rw-none' }, 'empty')),
            ...row.scores.map((value, index) => score(value, found.rewards[index])),
            el('td', { class: 'rw-figure' }, el('b', {}, number(row.total, 2))),
            el('td', { class: `rw-figure ${row.advantage > 1e-9 ? 'rw-up' : row.advantage < -1e-9 ? 'rw-down' : 'rw-flat'}` }, signed(row.advantage, 2))))))),
        found.total > found.rows.length ? el('p', { class: 'rw-hint' }, `The first ${count(found.rows.length)} are shown; Write shows all.`) : '');
      table.dataset.step = found.step;
      table.dataset.held = found.held_out ? 1 : 0;
    };

    const drawWords = (found) => {
      const across = found.steps.length > 1 ? `steps ${count(found.steps[0])} to ${count(found.steps[1])}` : `step ${count(found.steps[0] ?? 0)}`;
      if (!found.phrases.length) {
        words.replaceChildren(el('p', { class: 'rw-hint' }, `In the ${plural(found.completions, 'completion')} of ${across} no run of one to three words stands oftener above the average advantage than below it, in at least 3 completions. More steps tell more.`));
        return;
      }
      const bar = (rise) => { const fill = el('i', { class: 'rw-bar-fill rw-high' }); fill.style.cssText = `left:0;width:${rise * 100}%`; return el('span', { class: 'rw-rise', 'aria-hidden': 'true' }, fill); };
      words.replaceChildren(
        el('p', { class: 'rw-hint' }, `Words whose share rises most from the ${plural(found.sides[1], 'completion')} below the average advantage to the ${count(found.sides[0])} above it (${across}). A word that says nothing of the task, high up here, is a loophole being learnt.`),
        el('div', { class: 'rw-record-scroll', tabindex: 0, role: 'region', 'aria-label': 'Words that rise' }, el('table', {}, el('thead', {}, el('tr', {}, el('th', {}, 'words'), el('th', {}, 'rise of the share'), el('th', {}, ''), el('th', { class: 'rw-figure' }, 'above'), el('th', { class: 'rw-figure' }, 'below'))),
          el('tbody', {}, ...found.phrases.map((phrase) => el('tr', {}, el('td', {}, el('code', {}, phrase.text)), el('td', {}, bar(phrase.rise)), el('td', { class: 'rw-figure' }, `+${(phrase.rise * 100).toFixed(phrase.rise < 0.01 ? 1 : 0)}\u202f%`),
            el('td', { class: 'rw-figure' }, `${count(phrase.above)} of ${count(found.sides[0])}`), el('td', { class: 'rw-figure' }, `${count(phrase.below)} of ${count(found.sides[1])}`)))))));
    };

    // ---------------------------------------------------------------- one completion

    let asked = null;
    const open = async (row) => {
      selected = row;
      for (const each of table.querySelectorAll('[data-row]')) each.setAttribute('aria-selected', String(Number(each.dataset.row) === row));
      const wanted = { name, step: Number(table.dataset.step), held: Number(table.dataset.held), row };
      try {
        const found = await RW.get('record-row', wanted);
        if (selected !== row) return;
        drawDetail(found, null);
        detail.hidden = false;
        detail.dataset.row = row;
        detail.scrollIntoView({ block: 'nearest' });
        asked?.abort();
        asked = new AbortController();
        const paid = await RW.post('record-explain', wanted, asked.signal);
        if (selected === row && !paid.stopped) { drawDetail(found, paid); detail.dataset.explained = row; }
      } catch (error) { RW.trouble(error); }
    };

    const drawDetail = (found, paid) => {
      const credits = new Map((paid?.rewards ?? []).flatMap((reward) => [...reward.credits, ...reward.missed]).map((credit) => [credit.number, credit]));
      const light = (numbers, lit) => {
        for (const each of numbers) for (const marked of detail.querySelectorAll(`[data-credits~="${each}"], [data-credit="${each}"]`)) marked.classList.toggle('rw-lit', lit);
      };
      const text = el('div', { class: 'rw-completion', dir: 'auto', tabindex: 0, 'aria-label': 'Completion' });
      for (const [part, numbers] of paid?.pieces ?? [[found.text, []]]) text.append(RW.piece(part, numbers, (each) => credits.get(each), light));
      if (!found.text) text.append(el('em', { class: 'rw-none' }, 'empty completion'));
      const live = new Map((paid?.rewards ?? []).map((reward) => [reward.name, reward]));
      detail.replaceChildren(
        el('header', { class: 'rw-heading' }, el('h3', {}, `Completion ${found.row} of ${called({ step: found.step, held: found.held_out })}`), el('p', {}, `paid ${number(found.total, 2)}, advantage ${signed(found.advantage, 2)}`), el('span', { class: 'rw-gap' }), RW.button('Close', () => { detail.hidden = true; selected = null; })),
        el('div', { class: 'rw-record-columns' },
          el('div', {}, ...found.prompt.slice(-1).map(([role, said]) => el('div', { class: 'rw-message' }, el('span', { class: 'rw-key' }, role), el('p', {}, said))),
            el('dl', { class: 'rw-values' }, ...found.values.map(([key, value]) => el('div', {}, el('dt', {}, key), el('dd', { title: value }, value)))), text),
          el('div', {}, ...found.rewards.map((reward) => rewardOf(reward, live.get(reward.name))),
            paid?.why ? el('p', { class: 'rw-inexact' }, `Where in the text it is paid cannot be shown: ${paid.why}`) : null,
            paid === null ? el('p', { class: 'rw-inexact rw-pulse' }, 'Looking where in the text it is paid\u2026') : null)));
    };

    // Scores and named credits are those of the run; places in the text come from the rewards as they are now.
    const rewardOf = (reward, now) => {
      const credits = now ? [...now.credits, ...now.missed] : reward.credits;
      const other = now && typeof now.score === 'number' && reward.score !== null && Math.abs(now.score - reward.score) > 1e-6;
      const pill = el('b', { class: 'rw-figure rw-score-pill' }, reward.score === null ? 'None' : number(reward.score));
      return el('section', { class: 'rw-reward' },
        el('header', {}, el('b', { title: reward.name }, RW.alias(reward.name)), el('span', { class: 'rw-gap' }), reward.weight !== 1 ? el('span', { class: 'rw-times' }, `\u00d7${number(reward.weight, 2)}`) : null, pill),
        reward.error ? el('p', { class: 'rw-why' }, reward.error) : null,
        other ? el('p', { class: 'rw-inexact' }, `The rewards as they are now give ${number(now.score)}; their credits are shown.`) : null,
        el('ul', {}, ...credits.map((credit) => {
          const line = el('li', { class: `rw-credit${credit.points ? '' : ' rw-zero'}`, 'data-credit': credit.number ?? null }, el('i', { class: 'rw-swatch', 'aria-hidden': 'true' }), el('span', { class: 'rw-credit-name' }, credit.name || credit.condition || (credit.line ? `line ${credit.line}` : 'credit')), el('span', { class: 'rw-figure' }, signed(credit.points ?? 0, 2)));
          line.style.setProperty('--swatch', credit.placed ? RW.creditColour(credit) : 'transparent');
          return line;
        })));
    };

    // ---------------------------------------------------------------- the run it belongs to

    const follow = async (run, recorded) => {
      if (run !== name) { name = run; steps = []; step = null; shown = ''; selected = null; detail.hidden = true; node.hidden = true; table.replaceChildren(); words.replaceChildren(); }
      if (!recorded || recorded === steps.length) return;
      const found = await RW.get('record-steps', { name }).catch((error) => { RW.trouble(error); return null; });
      if (!found || found.name !== name || !(found.steps.length + found.held_out.length)) return;
      const before = at();
      steps = [...found.steps.map((each) => ({ step: each, held: 0 })), ...found.held_out.map((each) => ({ step: each, held: 1 }))].sort((one, other) => one.step - other.step || one.held - other.held);
      if (step) step = steps.find((each) => each.step === before.step && each.held === before.held) ?? null;
      node.hidden = false;
      mark();
      if (selected === null || step !== null) load(); // what somebody reads is not taken away by the next step
    };

    return { node, follow };
  };
})();
