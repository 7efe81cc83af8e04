// Train: settings, a look before, runs that go on by themselves, their curves as the server draws them.
'use strict';

(() => {
  const { el, $, plural, count } = RW;
  const TICK = 1500;
  const ASKED = ['model', 'preset', 'max_steps', 'num_generations', 'learning_rate', 'beta', 'max_completion_length'];
  let view = null;
  let chosen = null; // name of the run that is shown
  let against = '';
  let seen = '';
  let timer = null;
  let moving = false; // whether the run that is shown, or what was asked of it, goes on
  let waiting = null; // a run that is starting and has no folder yet
  const typed = {}; // settings that differ from the project's

  const sets = () => Object.entries(typed).filter(([, value]) => value !== '').map(([name, value]) => `${name}=${value}`);
  const STATUS = { running: 'running', done: 'done', stopped: 'stopped', failed: 'failed', gone: 'ended unheard', starting: 'starting', unreadable: 'cannot be read' };

  // ---------------------------------------------------------------- a new run

  const settings = () => {
    const known = new Map(view.settings.map((setting) => [setting.name, setting]));
    const field = (name) => {
      const setting = known.get(name);
      const input = el('input', { class: 'rw-input', type: 'text', id: `rw-set-${name}`, placeholder: setting ? String(setting.value) : 'as TRL has it', autocomplete: 'off', spellcheck: 'false', oninput: (event) => { typed[name] = event.target.value.trim(); resolve(); } });
      input.value = typed[name] ?? '';
      return el('label', { class: 'rw-field', title: setting?.help ?? '' }, el('span', {}, name), el('div', {}, input, el('small', {}, setting ? `${setting.help}` : '')));
    };
    const more = el('label', { class: 'rw-field' }, el('span', {}, 'others'), el('div', {}, el('input', { class: 'rw-input', type: 'text', id: 'rw-set-others', placeholder: 'temperature=0.9 seed=1', autocomplete: 'off', spellcheck: 'false', oninput: (event) => {
      for (const name of Object.keys(typed)) if (!ASKED.includes(name)) delete typed[name];
      for (const part of event.target.value.split(/\s+/)) { const [name, ...value] = part.split('='); if (name && value.length) typed[name] = value.join('='); }
      resolve();
    } }), el('small', {}, 'Any setting of TRL\u2019s GRPOConfig, as name=value')));
    return el('section', { class: 'rw-panel rw-new-run', 'aria-label': 'A new run' }, el('h3', {}, 'A new run'), ...preparations(), ...ASKED.map(field), more,
      el('p', { class: 'rw-why', id: 'rw-set-why', role: 'alert', hidden: !view.why }, view.why ?? ''),
      el('div', { class: 'rw-actions' }, el('button', { type: 'button', class: 'rw-button rw-primary', id: 'rw-train-start', onclick: (event) => start(event.target) }, 'Start'),
        RW.button('Look first', (event) => RW.busy(event.target, async () => { await RW.post('train-preflight', { sets: sets() }); await refresh(); }), { id: 'rw-preflight', title: 'Preflight: data, memory, signal, seal and settings; nothing is trained' })),
      el('details', { id: 'rw-resolved' }, el('summary', {}, 'Settings as resolved'), resolved(view.settings)), preflight());
  };

  const resolved = (list) => el('table', {}, el('tbody', {}, ...list.map((setting) => el('tr', { title: setting.help }, el('td', {}, setting.name), el('td', {}, String(setting.value)), el('td', {}, el('small', {}, setting.from))))));
  let pause = null;
  const resolve = () => {
    clearTimeout(pause);
    pause = setTimeout(async () => {
      const why = $('rw-set-why');
      try {
        const found = await RW.post('train-resolve', { sets: sets() });
        why.hidden = !found.why;
        why.textContent = found.why ?? '';
        if (!found.why) $('rw-resolved').querySelector('table').replaceWith(resolved(found.settings));
      } catch (error) { RW.trouble(error); }
    }, 250);
  };

  const preparations = () => {
    const seal = { holds: ['\u2713', 'The set is sealed.'], none: ['!', 'The set is not sealed.'], broken: ['!', 'The seal is broken: the code or the weights changed.'], damaged: ['!', 'The seal is damaged.'] }[view.seal.state];
    const notes = [
      view.missing ? el('p', { class: 'rw-why', role: 'alert' }, `Training needs ${view.missing}, which is not installed: pip install 'reward-workbench[train]'`) : null,
      view.unsaved.length ? el('p', { class: 'rw-hint' }, `The saved files are trained on; ${view.unsaved.join(', ')} has changes that are not saved.`) : null,
      el('p', { class: `rw-sealed rw-seal-${view.seal.state}` }, el('b', {}, `${seal[0]} `), seal[1], ' ', view.seal.state === 'holds' ? '' : el('button', { type: 'button', class: 'rw-link', onclick: () => RW.showPage('check') }, 'To the checks')),
      view.seal.state === 'holds' ? null : el('label', { class: 'rw-switch', title: 'The run records that it had no seal' }, el('input', { type: 'checkbox', id: 'rw-unsealed' }), el('span', {}, 'Train it unsealed all the same'))];
    return notes.filter(Boolean);
  };

  const preflight = () => {
    const found = view.preflight;
    if (!found.running && !found.said) return '';
    return el('section', { class: 'rw-after', 'aria-label': 'Preflight' }, el('h3', {}, found.running ? 'Looking\u2026' : 'Before training'), el('pre', { class: 'rw-shot', id: 'rw-preflight-said', tabindex: 0 }, found.said || 'torch is loading\u2026'));
  };

  const start = (button) => RW.busy(button, async () => {
    const found = await RW.post('train-start', { sets: sets(), allow_unsealed: $('rw-unsealed')?.checked ?? false });
    waiting = found.name;
    choose(found.name);
    await refresh();
  });

  // ---------------------------------------------------------------- a run

  const choose = (name) => { chosen = name; seen = ''; against = ''; $('rw-the-run').replaceChildren(el('p', { class: 'rw-wait' }, 'Reading\u2026')); tick(); };

  const diagnosis = (each) => el('article', { class: `rw-card rw-is-${each.severity === 'critical' ? 'error' : each.severity === 'warning' ? 'warning' : 'info'}` }, el('header', {}, el('h3', {}, each.subject ? `${each.name}: ${each.subject}` : each.name), el('span', { class: 'rw-gap' }), el('span', { class: 'rw-code' }, `step ${each.step}`)),
    el('p', {}, each.seen), each.means ? el('p', { class: 'rw-advice' }, each.means) : null, each.advice ? el('p', {}, el('b', {}, each.advice)) : null);

  const after = (found, what, title) => {
    const program = found.after?.[what];
    if (!program || (!program.running && !program.said)) return null;
    return el('section', { class: 'rw-panel', 'aria-label': title }, el('h3', {}, program.running ? `${title}\u2026` : program.failed ? `${title}: not done` : title), el('pre', { class: 'rw-shot', tabindex: 0 }, program.said || 'torch is loading\u2026'));
  };

  const drawRun = (found) => {
    const box = $('rw-the-run');
    if (found.same) return;
    seen = found.seen ?? '';
    if (!found.seen) { // it has no folder yet
      box.replaceChildren(found.status === 'starting' ? RW.nothing(`${found.name} is starting`, 'torch and the model are being loaded; the curves come with the first step. It goes on when this page or the server is closed.', el('pre', { class: 'rw-shot' }, found.log), RW.button('Kill', () => end('kill')))
        : RW.nothing(`${found.name} did not start`, '', el('pre', { class: 'rw-shot', role: 'alert' }, found.log || 'It said nothing.')));
      box.dataset.status = found.status;
      return;
    }
    const share = found.steps ? found.done / found.steps : 0;
    const bar = el('progress', { max: 1, value: share, 'aria-label': 'Steps done' });
    const others = view.runs.filter((run) => run.name !== found.name && run.status !== 'unreadable');
    const buttons = [
      found.status === 'running' && found.busy ? RW.button('Stop after this step', () => end('stop'), { id: 'rw-train-stop' }) : null,
      found.status === 'running' && found.busy ? RW.button('Kill', () => end('kill'), { id: 'rw-train-kill' }) : null,
      found.resumable ? RW.button('Resume', (event) => RW.busy(event.target, async () => { await RW.post('train-start', { resume: found.name }); seen = ''; tick(); }), { id: 'rw-train-resume' }) : null,
      found.completions ? RW.button('Its completions in Write', (event) => RW.busy(event.target, async () => { await RW.post('train-open', { name: found.name }); RW.showPage('write'); }), { id: 'rw-train-open' }) : null,
      found.status === 'done' && found.trained ? RW.button('Merge', (event) => RW.busy(event.target, async () => { await RW.post('train-after', { name: found.name, what: 'merge' }); tick(); }), { id: 'rw-train-merge', disabled: found.after.merge.running }) : null,
      found.status === 'done' && found.trained ? RW.button('Compare with the base', (event) => RW.busy(event.target, async () => { await RW.post('train-after', { name: found.name, what: 'compare' }); tick(); }), { id: 'rw-train-compare', disabled: found.after.compare.running }) : null].filter(Boolean);
    const open = box.querySelector('.rw-log')?.open;
    box.replaceChildren(...[
      el('header', { class: 'rw-heading' }, el('div', {}, el('h3', {}, found.name), el('p', {}, [STATUS[found.status] ?? found.status, `step ${count(found.done)} of ${count(found.steps)}`, found.stage, found.model, found.sealed ? 'sealed' : 'unsealed', found.reason].filter(Boolean).join(' \u00b7 '))), el('span', { class: 'rw-gap' }),
        others.length ? el('select', { class: 'rw-select', 'aria-label': 'Another run drawn beside it', onchange: (event) => { against = event.target.value; seen = ''; tick(); } }, el('option', { value: '' }, 'beside no other'), ...others.map((run) => el('option', { value: run.name, selected: run.name === against }, `beside ${run.name}`))) : null, ...buttons),
      el('div', { class: 'rw-progress' }, bar, el('span', {}, found.status === 'running' ? 'It goes on when this page or the server is closed.' : '')),
      found.status === 'failed' || found.status === 'gone' ? el('p', { class: 'rw-why', role: 'alert' }, found.reason ?? 'The process ended without a word. Resume goes on at the last checkpoint.') : null,
      after(found, 'compare', 'Comparison'), after(found, 'merge', 'Merge'),
      found.diagnoses.length ? el('div', { class: 'rw-findings' }, ...found.diagnoses.map(diagnosis)) : null,
      found.charts.length ? el('div', { class: 'rw-charts' }, ...found.charts.map((chart) => { const picture = RW.picture(chart.svg); return el('figure', { class: 'rw-panel', 'data-chart': chart.key }, el('figcaption', {}, el('b', {}, chart.title), el('span', {}, chart.now), el('small', {}, chart.about)), picture); })) : el('p', { class: 'rw-hint' }, 'The curves come with the first step.'),
      el('details', { class: 'rw-panel rw-log', open }, el('summary', {}, 'What it printed'), el('pre', { class: 'rw-shot', tabindex: 0 }, found.log || 'nothing here: it was started elsewhere'))].filter(Boolean));
    box.dataset.status = found.status;
    box.dataset.run = found.name;
    box.dataset.steps = found.done;
  };

  const end = async (how) => { try { await RW.post('train-end', { name: chosen, how }); seen = ''; tick(); } catch (error) { RW.trouble(error); } };

  // Asks while something moves and the page is seen; nothing ticks behind another page.
  const tick = async () => {
    clearTimeout(timer);
    if (RW.page !== 'train' || document.hidden) return;
    if (chosen) {
      try {
        const found = await RW.get('train-run', { name: chosen, against, seen });
        const was = $('rw-the-run').dataset.status;
        drawRun(found);
        const status = $('rw-the-run').dataset.status;
        if (!found.same) moving = ['running', 'starting'].includes(status) || found.busy || found.after?.merge.running || found.after?.compare.running;
        if (!found.same && was !== status) { if (waiting === chosen && status !== 'starting') waiting = null; refresh(); }
      } catch (error) { moving = false; if (error.status === 400) $('rw-the-run').replaceChildren(RW.nothing('This run cannot be shown', error.message)); else RW.trouble(error); }
    }
    if (view?.preflight.running) await refresh();
    if (moving || view?.preflight.running) { clearTimeout(timer); timer = setTimeout(tick, TICK); }
  };

  const list = () => el('ul', { class: 'rw-runs', 'aria-label': 'Runs' }, ...[...(waiting && !view.runs.some((run) => run.name === waiting) ? [{ name: waiting, status: 'starting' }] : []), ...view.runs].map((run) => el('li', {}, el('button', {
    type: 'button', 'aria-current': run.name === chosen ? 'true' : null, onclick: () => { choose(run.name); mark(); }, 'data-run': run.name,
  }, el('b', {}, run.name), el('span', {}, `${STATUS[run.status] ?? run.status}${run.steps ? ` \u00b7 ${count(run.done)} of ${count(run.steps)}` : ''}`)))));
  const mark = () => { for (const button of document.querySelectorAll('.rw-runs button')) button.toggleAttribute('aria-current', button.dataset.run === chosen); };

  const refresh = async () => {
    try { view = await RW.get('train'); } catch (error) { RW.trouble(error); return; }
    $('rw-runs-box').replaceChildren(view.runs.length || waiting ? el('section', { class: 'rw-panel' }, el('h3', {}, 'Runs'), list()) : '');
    const { runs, ...rest } = view; // what is typed stays where it is while nothing else is new
    const wanted = JSON.stringify(rest);
    const place = $('rw-new-run-box');
    if (place.dataset.shown !== wanted) {
      place.dataset.shown = wanted;
      const held = document.activeElement?.id;
      const caret = document.activeElement?.selectionStart;
      const others = $('rw-set-others')?.value ?? '';
      const unsealed = $('rw-unsealed')?.checked ?? false;
      place.replaceChildren(settings());
      $('rw-set-others').value = others;
      if ($('rw-unsealed')) $('rw-unsealed').checked = unsealed;
      const again = held && $(held);
      if (again) { again.focus(); if (caret !== undefined && caret !== null) again.setSelectionRange?.(caret, caret); }
    }
    if (!chosen && view.runs.length) choose(view.runs[0].name);
    if (!chosen) $('rw-the-run').replaceChildren(RW.nothing('No run yet', 'GRPO starts from a sealed set in a process of its own and goes on when this page or the server is closed. Look first: it tells what data, memory and signal allow.'));
    if (view.preflight.running) { clearTimeout(timer); timer = setTimeout(tick, TICK); }
  };

  let opened = false;
  RW.addPage({
    name: 'train', title: 'Train',
    show: () => { if (!opened) { opened = true; refresh().then(tick); } },
    hide: () => { clearTimeout(timer); opened = false; },
    make: (box) => {
      box.replaceChildren(RW.heading('Train', 'GRPO from the saved set, watched by name: what is wrong, what it means, what to do.'),
        el('div', { class: 'rw-train-columns' }, el('div', { id: 'rw-train-side', class: 'rw-findings' }, el('div', { id: 'rw-runs-box' }), el('div', { id: 'rw-new-run-box' })), el('div', { id: 'rw-the-run', class: 'rw-findings' }, RW.nothing('Opening\u2026', ''))));
      document.addEventListener('visibilitychange', () => { if (!document.hidden && RW.page === 'train') tick(); });
    },
  });
})();
