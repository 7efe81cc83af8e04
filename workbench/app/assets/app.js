// The loop: wait for the desk's next state, show it. Also what belongs to the whole page.
'use strict';

(() => {
  const { el, $, plural } = RW;
  const banners = new Map();
  let gone = false;
  let refused = '';
  let restored = false;

  RW.banner = (name, text, actions = []) => {
    if (text) banners.set(name, { text, actions }); else if (!banners.delete(name)) return;
    const first = banners.values().next().value;
    const box = $('rw-banner');
    box.hidden = !first;
    if (first) box.replaceChildren(el('span', {}, first.text), ...first.actions.map(([label, onclick]) => el('button', { type: 'button', class: 'rw-button', onclick }, label)));
  };

  // No answer and a restart are shown in the banner and get better by themselves; the rest is told as it is.
  RW.trouble = (error, before = '') => {
    if (!error || error.name === 'AbortError') return;
    if (error.status === 0 || error.status === 403) {
      gone = true;
      refused = before || refused; // the loop asks again every second, and what did not happen stays told
      RW.banner('gone', refused + (error.status === 0 ? 'The server does not answer. What you type is kept in this browser and sent when it is back.' : 'The server was started anew. Open the address it printed; what you typed is kept in this browser.'));
    }
    else RW.banner('trouble', before + error.message, [['Dismiss', () => RW.banner('trouble', null)]]);
    $('rw-state').textContent = '';
  };

  // A tab that nobody looks at asks now and then: a browser has six connections to a server, for all tabs together.
  let napping = () => {};
  const nap = () => new Promise((done) => { const end = setTimeout(done, 3000); napping = () => { clearTimeout(end); done(); }; });
  let waiting = null;
  const follow = async () => {
    let after = 0;
    for (;;) {
      const mine = waiting = new AbortController();
      if (document.hidden && after) await nap();
      try {
        const asked = RW.onScreen();
        const state = await RW.get('state', { after: document.hidden ? 0 : after, ...asked, ...(waking ? { wake: 1 } : {}) }, mine.signal);
        if (state.table) state.table.asked = JSON.stringify({ ...asked, known: undefined });
        if (mine.signal.aborted) continue;
        if (state.resting) { after = 0; await rest(state); continue; }
        after = state.version;
        if (resting) goOn(state);
        RW.state = state;
        if (gone) { gone = false; reread(); refused = ''; RW.banner('gone', null); RW.forget(); RW.resend(); restored = false; }
        if (!restored && state.shown) { restored = true; RW.restoreWeights(state); }
        show(state);
      } catch (error) {
        if (mine.signal.aborted) continue;
        if (error instanceof RW.Refused) { RW.trouble(error); after = 0; await new Promise((done) => setTimeout(done, 1000)); }
        else throw error;
      }
    }
  };

  // The desk was made anew: what it has now is what its tab shows, whatever another tab did meanwhile.
  const reread = () => { if (RW.text === RW.sent) RW.placed = null; };

  // Too many tabs: this one made room. It goes on when somebody turns to it, not by itself, lest tabs take turns.
  let resting = false;
  let waking = false;
  let wake = () => {};
  RW.wake = () => wake();
  const rest = (state) => {
    resting = true;
    RW.banner('resting', `This tab rests: ${state.most} others were used since. What you typed is kept as a draft; scores are made anew when you go on.`, [['Go on here', RW.wake]]);
    return new Promise((done) => {
      const ask = setTimeout(done, 5000); // what is typed here wakes it too
      wake = () => { waking = true; clearTimeout(ask); done(); };
    });
  };
  const goOn = (state) => {
    resting = waking = false;
    reread();
    wake = () => {};
    RW.state = state;
    RW.banner('resting', null);
    RW.banner('rested', 'This tab had rested while others were used: your text is back, and its scores are made anew.', [['Fine', () => RW.banner('rested', null)]]);
    RW.forget();
  };
  // A tab that comes to the front asks anew: what it was waiting for, it had asked for as one that nobody looks at.
  document.addEventListener('visibilitychange', () => { if (!document.hidden) { wake(); napping(); waiting?.abort(); } });

  const show = (state) => {
    const results = $('rw-results-in');
    const shown = state.shown;
    if (shown) RW.learn('write', shown.columns.map((column) => column.name));
    $('rw-project').textContent = [state.project.name, state.project.samples.length > 2 ? RW.plural(state.project.samples.length, 'file') : state.project.samples.join(', ') || 'no completions'].join(' \u00b7 ');
    $('rw-project').title = `${state.project.place}: where the completions come from`;
    if (state.read_only && !document.body.dataset.readOnly) {
      document.body.dataset.readOnly = 'yes';
      $('rw-state').before(el('span', { class: 'rw-exhibit', title: 'Nothing can be edited or run here. Install Reward Workbench to do that on your own machine.' }, 'read-only'));
    }
    RW.showFile(state);
    showStatus(state);
    showProblems(state);
    RW.showMargin(state);
    RW.followGenerating();
    RW.showTour(state);
    results.classList.toggle('rw-stale', Boolean(shown?.stale));
    RW.showWeighing(state);
    if (shown) RW.showTiles(shown); else $('rw-tiles').replaceChildren(...Array.from({ length: 5 }, () => el('div', { class: `rw-tile rw-blank${state.status === 'running' ? ' rw-pulse' : ''}`, 'aria-hidden': 'true' })));
    $('rw-detail').hidden = $('rw-split-row').hidden = !shown;
    $('rw-tiles').hidden = !shown && state.status !== 'running';
    document.querySelector('.rw-tools').hidden = !shown;
    RW.showTable(state);
    if (shown && results.dataset.shown !== String(shown.edition) && RW.selected !== null) {
      if (RW.selected < shown.rows) RW.showDetail(RW.selected); else RW.selected = null;
    }
    if (shown) results.dataset.shown = shown.edition;
    results.dataset.status = state.status;
    results.dataset.run = state.status === 'running' ? results.dataset.run : state.run;
    if (shown) results.dataset.edition = shown.edition;
    RW.showPages(state);
  };

  const showStatus = (state) => {
    const line = $('rw-runline');
    const shown = state.shown;
    const place = $('rw-state');
    place.dataset.status = state.status;
    place.title = shown && state.status !== 'scored' ? `The scores on the page are those of run ${shown.run}` : '';
    showElapsed(state);
    if (state.status === 'running') {
      const name = state.progress?.name;
      place.textContent = name ? `scoring: ${RW.alias(name)}` : 'scoring\u2026';
    } else if (state.status === 'stopped') place.textContent = shown ? `stopped \u00b7 shown: run ${shown.run}` : 'stopped, not scored';
    else if (state.status === 'broken') place.textContent = shown ? `scores of run ${shown.run}, not of this text` : 'not scored';
    else place.textContent = `run ${state.run} \u00b7 ${RW.seconds(shown.seconds)}`;
    if (!shown) { line.replaceChildren(); return; }
    line.replaceChildren(el('b', {}, `run ${shown.run}`), el('span', {}, `${plural(shown.rows, 'completion')} in ${plural(shown.groups, 'group')}`),
      ...shown.tiles.rewards.filter((tile) => tile.seconds !== null).map((tile) => el('span', { title: tile.name }, `${RW.alias(tile.name)} ${RW.seconds(tile.seconds)}`)));
  };

  // A scoring that takes longer than a moment says for how long, how far it is, and can be ended.
  const MOMENT = 1;
  let since = 0;
  let ticking = null;
  const showElapsed = (state) => {
    clearInterval(ticking);
    since = performance.now() - 1000 * (state.elapsed ?? 0);
    tickElapsed();
    if (state.status === 'running') ticking = setInterval(tickElapsed, 250);
  };
  const tickElapsed = () => {
    const state = RW.state;
    const passed = (performance.now() - since) / 1000;
    const long = state.status === 'running' && passed >= MOMENT;
    $('rw-elapsed').hidden = !long;
    $('rw-stop').hidden = !long || state.read_only;
    if (!long) return;
    const { done, of, share } = state.progress ?? { of: 0 };
    const rows = state.shown?.rows ?? 0;
    const rest = [of > 1 ? `${done} of ${of} rewards` : null, share > 0 ? (rows ? `about ${RW.count(Math.round(share * rows))} of ${plural(rows, 'row')}` : `${Math.round(share * 100)} % of the rows`) : null].filter(Boolean).map((part) => ` \u00b7 ${part}`).join('');
    const passing = `${Math.floor(passed)} s`;
    if ($('rw-elapsed').textContent !== passing + rest) $('rw-elapsed').replaceChildren(passing, el('span', { class: 'rw-rest' }, rest));
  };
  const stop = () => RW.busy($('rw-stop'), () => RW.post('stop'));

  const SIGNS = { error: '\u2715', warning: '!' };
  const showProblems = (state) => {
    const list = state.problems;
    RW.markLines('wrong', list.filter((problem) => problem.line).map((problem) => ({ line: problem.line, text: problem.text })));
    $('rw-problems').replaceChildren(...list.map((problem) => el('li', { class: `rw-problem rw-${problem.kind}` },
      el('i', { 'aria-label': problem.kind, role: 'img' }, SIGNS[problem.kind] ?? ''),
      el('span', {}, problem.text),
      problem.line ? el('button', { type: 'button', class: 'rw-link', onclick: () => RW.jump(problem.line) }, `line ${problem.line}`) : null,
      problem.row !== null ? el('button', { type: 'button', class: 'rw-link', onclick: () => RW.goTo(problem.row) }, problem.count > 1 ? `${plural(problem.count, 'row')}, first #${problem.row}` : `row #${problem.row}`) : null)));
    if (!list.length && state.status === 'scored') $('rw-problems').replaceChildren(el('li', { class: 'rw-problem rw-fine' }, el('i', { 'aria-hidden': 'true' }, '\u2713'), el('span', {}, 'Every reward ran on every completion.')));
    const printed = state.shown?.printed ?? '';
    $('rw-printed').hidden = !printed;
    $('rw-printed').querySelector('pre').textContent = printed;
  };

  // Two borders that can be dragged, or moved with the arrow keys.
  const split = (handle, name, read, apply) => {
    const kept = Number(RW.keep(localStorage, name));
    if (kept) apply(kept);
    for (const [fact, value] of [['min', 20], ['max', 80], ['now', Math.round((kept || 0.46) * 100)]]) handle.setAttribute(`aria-value${fact}`, value);
    const set = (value) => { const share = Math.min(0.8, Math.max(0.2, value)); apply(share); RW.keep(localStorage, name, share); handle.setAttribute('aria-valuenow', Math.round(share * 100)); };
    handle.addEventListener('pointerdown', (event) => { event.preventDefault(); handle.setPointerCapture(event.pointerId); handle.onpointermove = (move) => set(read(move)); });
    handle.addEventListener('pointerup', () => { handle.onpointermove = null; });
    handle.addEventListener('keydown', (event) => {
      const by = { ArrowLeft: -0.02, ArrowUp: -0.02, ArrowRight: 0.02, ArrowDown: 0.02 }[event.key];
      if (by) { event.preventDefault(); event.stopPropagation(); set(Number(handle.getAttribute('aria-valuenow')) / 100 + by); }
    });
  };

  const startPage = () => {
    const root = document.documentElement;
    $('rw-theme').addEventListener('click', () => {
      const address = new URL(location.href); // the editor picks its colours when it is made, hence a reload
      address.searchParams.set('__theme', document.body.classList.contains('dark') ? 'light' : 'dark');
      location.href = address;
    });
    $('rw-stop').addEventListener('click', stop);
    $('rw-keys').addEventListener('click', () => $('rw-help').showModal());
    split($('rw-split'), 'rw-split', (move) => { const box = $('rw-main').getBoundingClientRect(); return (move.clientX - box.left) / box.width; }, (share) => root.style.setProperty('--rw-editor-share', `${share * 100}%`));
    split($('rw-split-row'), 'rw-split-row', (move) => { const box = $('rw-results-in').getBoundingClientRect(); const from = document.querySelector('.rw-table-box').getBoundingClientRect().top; return (move.clientY - from) / (box.bottom - from); }, (share) => { root.style.setProperty('--rw-table-grow', share); root.style.setProperty('--rw-detail-grow', 1 - share); });
  };

  const ready = () => $('rw-results-in') && $('rw-pages-in') && $('rw-banner') && $('rw-files') && $('rw-problems') && $('rw-place') && document.querySelector('#rw-editor .cm-content');
  const begin = async () => {
    if (!ready()) { setTimeout(begin, 30); return; }
    startPage();
    await RW.claimed;
    RW.startTabs();
    RW.startEditor();
    RW.startTable();
    RW.startTiles();
    RW.startSamples();
    for (;;) {
      try { RW.state = await RW.get('state', { wake: 1 }); await RW.openText({ first: true }); break; }
      catch (error) { RW.trouble(error); await new Promise((done) => setTimeout(done, 1000)); }
    }
    RW.startTour();
    document.body.dataset.ready = 'yes';
    follow();
  };
  begin();
})();
