// Train: settings, a look before, runs that go on by themselves, their curves as the server draws them.
'use strict';

(() => {
  const { el, $, plural, count } = RW;
  const TICK = 1500;
  const MOST_BESIDE = 5;
  const ASKED = ['model', 'preset', 'max_steps', 'num_generations', 'learning_rate', 'beta', 'max_completion_length'];
  let view = null;
  let chosen = null; // name of the run that is shown
  let beside = []; // other runs drawn into the same curves
  let record = null; // the panel of completions by step; it outlives the ticks
  let seen = '';
  let timer = null;
  let moving = false; // whether the run that is shown, or what was asked of it, goes on
  let waiting = null; // a run that is starting and has no folder yet
  const typed = {}; // settings that differ from the project's

  const sets = () => Object.entries(typed).filter(([, value]) => value !== '').map(([name, value]) => `${name}=${value}`);
  const STATUS = { running: 'running', done: 'done', stopped: 'stopped', failed: 'failed', gone: 'ended unexpectedly', starting: 'starting', unreadable: 'cannot be read' };

  // ---------------------------------------------------------------- a new run

  const settings = () => {
    const known = new Map(view.settings.map((setting) => [setting.name, setting]));
    const field = (name) => {
      const setting = known.get(name);
      const input = el('input', { class: 'rw-input', type: 'text', id: `rw-set-${name}`, placeholder: setting ? `${setting.value} \u00b7 ${setting.from}` : name === 'model' ? 'name one, such as toy' : 'as TRL has it', autocomplete: 'off', spellcheck: 'false', oninput: (event) => { typed[name] = event.target.value.trim(); resolve(); } });
      input.value = typed[name] ?? '';
      return el('label', { class: 'rw-field', title: setting?.help ?? '' }, el('span', {}, name), el('div', {}, input, el('small', {}, setting ? `${setting.help}` : name === 'model' ? 'A folder, a .gguf file or a hub name; toy is taught in seconds and shows the path' : '')));
    };
    const more = el('label', { class: 'rw-field' }, el('span', {}, 'others'), el('div', {}, el('input', { class: 'rw-input', type: 'text', id: 'rw-set-others', placeholder: 'temperature=0.9 seed=1', autocomplete: 'off', spellcheck: 'false', oninput: (event) => {
      for (const name of Object.keys(typed)) if (!ASKED.includes(name)) delete typed[name];
      for (const part of event.target.value.split(/\s+/)) { const [name, ...value] = part.split('='); if (name && value.length) typed[name] = value.join('='); }
      resolve();
    } }), el('small', {}, 'Any setting of TRL\u2019s GRPOConfig, as name=value')));
    return el('section', { class: 'rw-panel rw-new-run', 'aria-label': 'A new run' }, el('h3', {}, 'A new run'), ...preparations(), ...ASKED.map(field), more,
      el('p', { class: 'rw-why', id: 'rw-set-why', role: 'alert', hidden: !view.why }, view.why ?? ''),
      el('div', { class: 'rw-actions' }, el('button', { type: 'button', class: 'rw-button rw-primary', id: 'rw-train-start', onclick: (event) => start(event.target) }, 'Start'),
        RW.button('Look first', (event) => RW.busy(event.target, async () => { if (!await fit()) return; await RW.post('train-preflight', { sets: sets() }); await refresh(); }), { id: 'rw-preflight', title: 'Preflight: data, memory, signal, seal and settings; nothing is trained' })),
      el('details', { id: 'rw-resolved' }, el('summary', {}, 'Settings as resolved'), resolved(view.settings)), preflight());
  };

  const resolved = (list) => el('table', {}, el('tbody', {}, ...list.map((setting) => el('tr', { title: setting.help }, el('td', {}, setting.name), el('td', {}, String(setting.value)), el('td', {}, el('small', {}, setting.from))))));
  let pause = null;
  const judge = async () => {
    const found = await RW.post('train-resolve', { sets: sets() });
    $('rw-set-why').hidden = !found.why;
    $('rw-set-why').textContent = found.why ?? '';
    if (found.settings.length) $('rw-resolved').querySelector('table').replaceWith(resolved(found.settings));
    return found;
  };
  const resolve = () => {
    clearTimeout(pause);
    pause = setTimeout(() => judge().catch(RW.trouble), 250);
  };
  // What cannot work stands above the buttons once; a model that is missing is asked for where it is typed.
  const fit = async () => {
    clearTimeout(pause);
    const found = await judge();
    if (found.why && found.settings.length) $('rw-set-model').focus();
    return !found.why;
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
    if (!await fit()) return;
    const found = await RW.post('train-start', { sets: sets(), allow_unsealed: $('rw-unsealed')?.checked ?? false });
    waiting = found.name;
    choose(found.name);
    await refresh();
  });

  // ---------------------------------------------------------------- a run

  const choose = (name) => { chosen = name; seen = ''; beside = beside.filter((each) => each !== name); $('rw-the-run').replaceChildren(el('p', { class: 'rw-wait' }, 'Reading\u2026')); tick(); };

  const diagnosis = (each) => el('article', { class: `rw-card rw-is-${each.severity === 'critical' ? 'error' : each.severity === 'warning' ? 'warning' : 'info'}` }, el('header', {}, el('h3', {}, each.subject ? `${each.name}: ${each.subject}` : each.name), el('span', { class: 'rw-gap' }), el('span', { class: 'rw-code' }, `step ${each.step}`)),
    el('p', {}, each.seen), each.means ? el('p', { class: 'rw-advice' }, each.means) : null, each.advice ? el('p', {}, el('b', {}, each.advice)) : null);

  // Three places: what a tick draws anew stands around what it leaves alone.
  const places = (box) => {
    if (!$('rw-run-top')) {
      record ??= RW.makeRecord();
      box.replaceChildren(el('div', { id: 'rw-run-top', class: 'rw-findings' }), record.node, el('div', { id: 'rw-run-bottom', class: 'rw-findings' }));
    }
    return [$('rw-run-top'), $('rw-run-bottom')];
  };

  const ending = (found) => [
    found.status === 'running' && found.busy ? RW.button('Stop after this step', () => end('stop'), { id: 'rw-train-stop' }) : null,
    found.status === 'running' && found.busy ? RW.button('Kill', () => end('kill'), { id: 'rw-train-kill' }) : null,
    found.resumable ? RW.button('Resume', (event) => RW.busy(event.target, async () => { await RW.post('train-start', { resume: found.name }); seen = ''; tick(); }), { id: 'rw-train-resume' }) : null,
    found.status === 'done' && found.trained ? el('button', { type: 'button', class: 'rw-button rw-primary', id: 'rw-train-result', onclick: () => RW.showResult(found.name) }, 'To the result') : null].filter(Boolean);

  const legend = (found) => (found.legend.length ? el('ul', { class: 'rw-legend', 'aria-label': 'Runs in the curves' }, ...found.legend.map((run, index) => el('li', {}, RW.picture(run.svg), el('b', {}, run.name),
    index ? el('button', { type: 'button', class: 'rw-link', 'aria-label': `Take ${run.name} out of the curves`, onclick: () => overlay(run.name, false) }, '\u2715') : null))) : null);

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
    const bar = el('progress', { max: 1, value: found.steps ? found.done / found.steps : 0, 'aria-label': 'Steps done' });
    const open = Object.fromEntries([...box.querySelectorAll('details[id]')].map((each) => [each.id, each.open]));
    const [top, bottom] = places(box);
    top.replaceChildren(...[
      el('header', { class: 'rw-heading' }, el('div', {}, el('h3', {}, found.name), el('p', {}, [STATUS[found.status] ?? found.status, `step ${count(found.done)} of ${count(found.steps)}`, found.stage, found.model, found.sealed ? 'sealed' : 'unsealed', found.reason].filter(Boolean).join(' \u00b7 '))), el('span', { class: 'rw-gap' }), ...ending(found)),
      found.done < found.steps || found.status === 'running' ? el('div', { class: 'rw-progress' }, bar, el('span', {}, found.status === 'running' ? 'It goes on when this page or the server is closed.' : '')) : null,
      found.status === 'failed' || found.status === 'gone' ? el('p', { class: 'rw-why', role: 'alert' }, found.reason ?? 'The process ended without a word. Resume goes on at the last checkpoint.') : null,
      found.diagnoses.length ? el('div', { class: 'rw-findings' }, ...found.diagnoses.map(diagnosis)) : null,
      legend(found),
      found.charts.length ? el('div', { class: 'rw-charts' }, ...found.charts.map((chart) => { const picture = RW.picture(chart.svg); return el('figure', { class: 'rw-panel', 'data-chart': chart.key }, el('figcaption', {}, el('b', {}, chart.title), el('span', {}, chart.now), el('small', {}, chart.about)), picture); })) : el('p', { class: 'rw-hint' }, 'The curves come with the first step.')].filter(Boolean));
    bottom.replaceChildren(
      el('details', { class: 'rw-panel rw-log', id: 'rw-run-log', open: open['rw-run-log'] }, el('summary', {}, 'What it printed'), el('pre', { class: 'rw-shot', tabindex: 0 }, found.log || 'nothing here: it was started elsewhere')),
      el('details', { class: 'rw-panel rw-log', id: 'rw-run-settings', open: open['rw-run-settings'] }, el('summary', {}, 'Its settings as resolved'), el('div', { class: 'rw-record-scroll', tabindex: 0, role: 'region', 'aria-label': 'Settings of the run' }, el('table', {}, el('tbody', {}, ...found.settings.map(([name, value]) => el('tr', {}, el('td', {}, name), el('td', {}, value))))))));
    record.follow(found.name, found.recorded);
    const listed = document.querySelector(`.rw-runs [data-run="${CSS.escape(found.name)}"] span`);
    if (listed) listed.textContent = standing(found);
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
        const found = await RW.get('train-run', { name: chosen, beside: beside.join(), seen });
        const was = $('rw-the-run').dataset.status;
        drawRun(found);
        const status = $('rw-the-run').dataset.status;
        if (!found.same) moving = ['running', 'starting'].includes(status) || found.busy;
        if (!found.same && was !== status) { if (waiting === chosen && status !== 'starting') waiting = null; refresh(); }
      } catch (error) { moving = false; if (error.status === 400) $('rw-the-run').replaceChildren(RW.nothing('This run cannot be shown', error.message)); else RW.trouble(error); }
    }
    if (view?.preflight.running) await refresh();
    if (moving || view?.preflight.running) { clearTimeout(timer); timer = setTimeout(tick, TICK); }
  };

  const standing = (run) => `${STATUS[run.status] ?? run.status}${run.steps ? ` \u00b7 ${count(run.done)} of ${count(run.steps)}` : ''}`;
  const overlay = (name, on) => {
    beside = on ? [...beside, name].slice(-MOST_BESIDE) : beside.filter((each) => each !== name);
    seen = '';
    mark();
    tick();
  };
  const list = () => el('ul', { class: 'rw-runs', 'aria-label': 'Runs' }, ...[...(waiting && !view.runs.some((run) => run.name === waiting) ? [{ name: waiting, status: 'starting' }] : []), ...view.runs].map((run) => el('li', {}, el('button', {
    type: 'button', 'aria-current': run.name === chosen ? 'true' : null, onclick: () => { choose(run.name); mark(); }, 'data-run': run.name,
  }, el('b', {}, run.name), el('span', {}, standing(run))),
  run.steps ? el('input', { type: 'checkbox', class: 'rw-overlay', 'data-overlay': run.name, 'aria-label': `Draw ${run.name} into the curves`, title: 'Draw it into the curves of the run that is shown', onchange: (event) => overlay(run.name, event.target.checked) }) : null)));
  const mark = () => {
    for (const button of document.querySelectorAll('.rw-runs button')) { if (button.dataset.run === chosen) button.setAttribute('aria-current', 'true'); else button.removeAttribute('aria-current'); }
    for (const box of document.querySelectorAll('[data-overlay]')) { box.checked = beside.includes(box.dataset.overlay) || box.dataset.overlay === chosen; box.disabled = box.dataset.overlay === chosen; }
  };

  const refresh = async () => {
    try { view = await RW.get('train'); } catch (error) { RW.trouble(error); return; }
    $('rw-runs-box').replaceChildren(view.runs.length || waiting ? el('section', { class: 'rw-panel' }, el('header', { class: 'rw-record-head' }, el('h3', {}, 'Runs'), el('span', { class: 'rw-gap' }), view.runs.length > 1 ? el('small', { class: 'rw-none' }, 'tick to draw together') : null), list()) : '');
    beside = beside.filter((name) => view.runs.some((run) => run.name === name));
    mark();
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
    if (!chosen) $('rw-the-run').replaceChildren(RW.designed('No run yet', 'GRPO starts from a sealed set in a process of its own and goes on when this page or the server is closed.', [
      ['Look first', 'What data, memory and signal allow, before an hour is spent; nothing is trained.'],
      ['Start', 'Curves come with the first step; what goes wrong is told by name, with what it means and what to do.'],
      ['Read', 'The completions of every step, those first that are paid most for what nothing vouches for.'],
      ['Result', 'Merged with proof, beside its base, asked and taken away.']], RW.button('Look first', () => $('rw-preflight').click())));
    if (view.preflight.running) { clearTimeout(timer); timer = setTimeout(tick, TICK); }
  };

  RW.showRun = (name) => { choose(name); mark(); };
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
