// The editor: every keystroke is kept in the browser at once, sent after a pause, and never overwritten by the
// loop that shows scores. The editor's own text is changed only on opening a file or when the disk changed.
'use strict';

(() => {
  const { el, $, keep } = RW;
  const PAUSE = 220; // after a key that others will follow
  const SOON = 100; // after what is whole as it is
  const AGAIN = 2000; // after which what did not arrive is sent once more
  let timer = null;
  let sending = null; // the request under way
  let placing = false; // a key pressed now belongs to the text that is going away
  let again = null; // what to send after it
  RW.text = null; // as in the editor
  RW.file = null;
  RW.sent = null; // as the server has it
  RW.placed = -1;
  RW.textToPlace = '';

  const unsentOf = (file) => `rw-unsent:${RW.state?.project.key}:${file}`;
  const unsentKey = (file) => `${unsentOf(file)}:${RW.desk}`;
  // What a tab that is gone had not sent; what tabs that are there have not sent yet is theirs.
  const leftBehind = (file) => {
    const start = unsentOf(file);
    let names = [];
    try { names = Object.keys(localStorage).filter((name) => name === start || name.startsWith(`${start}:`)); } catch { return null; }
    const own = unsentKey(file);
    const found = names.filter((name) => name !== own && ![...RW.living].some((desk) => name.endsWith(desk)));
    return names.includes(own) ? own : found[0] ?? null;
  };
  const view = () => document.querySelector('#rw-editor .cm-content')?.cmTile?.view ?? null;
  RW.live = keep(localStorage, 'rw-live') !== 'off';

  // How long more is waited for: a digit, a closing bracket, a new line and what comes in one piece (pasted, replaced,
  // deleted, undone) may well be all; a letter begins or goes on with a word, and half a word is an error to show.
  RW.pauseAfter = (was, text) => {
    const least = Math.min(was.length, text.length);
    let [start, end] = [0, 0];
    while (start < least && was[start] === text[start]) start += 1;
    while (end < least - start && was[was.length - 1 - end] === text[text.length - 1 - end]) end += 1;
    const fresh = text.slice(start, text.length - end);
    return fresh.length === 1 && !/[\d)\]}\n]/.test(fresh) ? PAUSE : SOON;
  };

  RW.edited = (text) => {
    if (RW.file === null || placing || text === null || text === undefined) return;
    const pause = RW.pauseAfter(RW.text ?? '', text);
    RW.text = text;
    if (text === RW.sent) return;
    keep(localStorage, unsentKey(RW.file), JSON.stringify({ text, base: RW.state.file.disk }));
    showDirty(true);
    clearTimeout(timer);
    timer = setTimeout(() => RW.submit({ run: RW.live }), RW.live ? pause : 3 * PAUSE);
  };

  // Sends the newest text; while a request is under way the next one waits, and only the last is sent.
  // It says which text it was typed on: where another tab's came meanwhile, the server keeps both.
  RW.submit = async ({ run = true, force = false, base } = {}) => {
    clearTimeout(timer);
    if (RW.file === null) return;
    if (sending) { again = { run: run || again?.run, force: force || again?.force, base }; return; }
    await send('edit', RW.file, RW.text, { run, force, base, placed: RW.placed }).catch(RW.trouble);
    await goOn();
  };

  // Sends a text; one at a time, as two that are under way may be handled in either order.
  const send = async (name, file, text, values) => {
    sending = RW.post(name, { file, text, ...values });
    try {
      const answer = await sending;
      if (RW.file === file) { RW.sent = text; RW.placed = answer.placed ?? RW.placed; }
      if (RW.text === text) keep(localStorage, unsentKey(file), null);
      return answer;
    } catch (error) {
      if (error.status === 0) { clearTimeout(timer); timer = setTimeout(RW.resend, AGAIN); }
      throw error;
    } finally {
      sending = null;
    }
  };
  const goOn = async () => {
    if (again) { const next = again; again = null; await RW.submit(next); }
    else if (RW.state && (RW.state.file.name !== RW.file || RW.state.file.placed > RW.placed)) RW.showFile(RW.state);
  };

  RW.runNow = () => RW.submit({ run: true, force: true });

  RW.save = async (force = false) => {
    if (RW.file === null) return;
    const file = RW.file;
    let [text, placed] = [RW.text, RW.placed];
    $('rw-save').disabled = true;
    clearTimeout(timer);
    while (sending) {
      await sending.catch(() => {});
      if (RW.file === file) { [text, placed] = [RW.text, RW.placed]; clearTimeout(timer); } // what was typed meanwhile too
    }
    try {
      const answer = await send('save', file, text, { force, placed });
      if (!answer.saved && !answer.conflict) RW.banner('save', answer.error);
      else if (answer.saved) RW.banner('save', null);
    } catch (error) {
      RW.trouble(error, 'Not saved. ');
    } finally {
      $('rw-save').disabled = $('rw-dirty').hidden; // the new state may have come before the answer
    }
    await goOn();
  };

  // Puts a text into the editor by way of Gradio, which keeps its own idea of the value in step.
  RW.place = async (text, { stay = false } = {}) => {
    RW.text = RW.sent = RW.textToPlace = text;
    if (!view()) { $('rw-place').click(); return; }
    const [head, top] = [view().state.selection.main.head, view().scrollDOM.scrollTop];
    placing = true;
    if (view().state.doc.toString() !== text) {
      $('rw-place').click();
      for (let tries = 0; tries < 300 && view().state.doc.toString() !== text; tries += 1) await new Promise((done) => setTimeout(done, 10));
    }
    placing = false;
    forgetHistory();
    if (!stay) return;
    view().dispatch({ selection: { anchor: Math.min(head, text.length) } });
    view().scrollDOM.scrollTop = top;
  };

  // Undo must not lead back into the text of another file, or to the empty editor of the first moment.
  const forgetHistory = () => {
    const editor = view();
    const { state } = editor;
    if (!state.config?.base || typeof state.constructor.create !== 'function') return;
    editor.setState(state.constructor.create({ doc: state.doc, extensions: state.config.base }));
  };

  RW.openText = async ({ first = false } = {}) => {
    const before = RW.text;
    const found = await RW.get('text');
    const same = RW.file === found.file;
    if (same && (RW.text !== RW.sent || RW.text !== before)) return; // typed meanwhile: it is sent as a text of its own
    RW.file = found.file;
    RW.placed = found.placed;
    if (!same || RW.text !== found.text) await RW.place(found.text, { stay: same });
    else RW.sent = found.text;
    const place = first ? leftBehind(found.file) : unsentKey(found.file);
    const left = place && keep(localStorage, place);
    if (!left) return;
    keep(localStorage, place, null);
    const { text, base } = JSON.parse(left);
    if (text === found.text) return;
    await RW.place(text);
    keep(localStorage, unsentKey(found.file), left);
    RW.sent = null;
    RW.banner('restored', 'What you typed while the server was away has been put back.', [['Fine', () => RW.banner('restored', null)]]);
    await RW.submit({ run: true, base });
  };

  RW.resend = () => { if (RW.text !== null && RW.text !== RW.sent) RW.submit({ run: RW.live }); };

  const showDirty = (dirty) => {
    $('rw-dirty').hidden = !dirty;
    $('rw-revert').hidden = !dirty;
    $('rw-save').disabled = !dirty;
    document.title = `${dirty ? '\u2022 ' : ''}${RW.state ? `${RW.state.file.name} \u2013 ` : ''}Reward Workbench`;
  };

  RW.showFile = (state) => {
    const files = $('rw-files');
    const wanted = state.file.files.map((name) => (state.file.unsaved.includes(name) ? `${name} \u2022` : name));
    if (files.dataset.shown !== wanted.join('\n')) {
      files.dataset.shown = wanted.join('\n');
      files.replaceChildren(...state.file.files.map((name, index) => el('option', { value: name }, wanted[index])));
    }
    files.value = state.file.name;
    showDirty(state.file.unsaved.includes(state.file.name) || (RW.text !== null && RW.text !== RW.sent));
    const settle = (words, kept) => [words, () => {
      if (kept !== 'draft') { clearTimeout(timer); RW.sent = RW.text; }
      RW.post('settle', { file: RW.file, keep: kept }).catch(RW.trouble);
    }];
    const { name, conflict, changed_by: by, other, aside } = state.file;
    RW.banner('conflict', conflict ? `${name} was ${by}, and you have a draft of it.` : null, [settle('Keep my draft', 'draft'), settle('Take the file', 'file')]);
    RW.banner('other', other && !conflict ? `${name} is edited in another tab too, and the two texts differ. Each tab keeps its own.` : null, [settle('Keep mine', 'draft'), settle('Take the other', 'other')]);
    RW.banner('aside', aside && !other && !conflict ? `Your own text of ${name} was put aside.` : null, [settle('Put it back', 'aside'), settle('Drop it', 'neither')]);
    RW.banner('notice', state.notice);
    if (RW.file === null || sending) return;
    if (state.file.name !== RW.file || (state.file.placed !== RW.placed && RW.text === RW.sent)) RW.openText().catch(RW.trouble);
  };

  // Decoration only: everything it shows also stands in the lists beside the text.
  RW.jump = async (line, file = null) => {
    if (file && file !== RW.file && RW.state.file.files.includes(file)) {
      await RW.post('open', { file });
      await RW.openText();
    }
    const editor = view();
    if (!editor || !line || line > editor.state.doc.lines) return;
    editor.dispatch({ selection: { anchor: editor.state.doc.line(line).from }, scrollIntoView: true });
    editor.focus();
  };
  let marks = new Map();
  const paintGutter = () => {
    for (const number of document.querySelectorAll('#rw-editor .cm-lineNumbers .cm-gutterElement')) {
      const mark = marks.get(Number(number.textContent));
      number.classList.toggle('rw-line-paid', mark?.kind === 'paid');
      number.classList.toggle('rw-line-wrong', mark?.kind === 'wrong');
      number.classList.toggle('rw-line-found', mark?.kind === 'found');
      number.classList.toggle('rw-line-unpinned', mark?.kind === 'unpinned');
      if (mark) number.title = mark.text; else number.removeAttribute('title');
    }
  };
  RW.marks = { unpinned: [], found: [], wrong: [], paid: [] };
  RW.markLines = (kind, lines) => {
    RW.marks[kind] = lines;
    marks = new Map();
    for (const each of ['unpinned', 'found', 'paid', 'wrong']) for (const { line, text } of RW.marks[each]) if (line) marks.set(line, { kind: each, text });
    paintGutter();
  };

  // The editor's light palette is too pale to read by (WCAG asks for 4.5 to 1): each colour is darkened until it is not.
  const luminance = (rgb) => rgb.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const deepenColours = () => {
    if (document.body.classList.contains('dark')) return;
    for (const sheet of [...document.adoptedStyleSheets, ...document.styleSheets]) {
      if (sheet.href) continue;
      for (const rule of sheet.cssRules) {
        if (!rule.selectorText?.startsWith('.\u037c') || rule.selectorText.includes(' ') || !rule.style.color) continue;
        const probe = el('i', { style: `color:${rule.style.color}` });
        document.body.append(probe);
        let rgb = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
        probe.remove();
        while (1.05 / (luminance(rgb) + 0.05) < 5) rgb = rgb.map((part) => part * 0.96);
        rule.style.color = `rgb(${rgb.map(Math.round).join(',')})`;
      }
    }
  };

  RW.startEditor = () => {
    const content = document.querySelector('#rw-editor .cm-content');
    content.tabIndex = 0; // as a place with text to edit it has the focus anyway; this says so
    content.setAttribute('aria-label', 'Reward code');
    deepenColours();
    // The editor writes its whole style sheet anew when a part of it is loaded late.
    for (const style of document.querySelectorAll('style')) if (style.textContent.includes('.\u037c')) new MutationObserver(deepenColours).observe(style, { childList: true, characterData: true });
    document.addEventListener('keydown', (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      if (event.key === 'Enter') { event.preventDefault(); event.stopPropagation(); RW.runNow(); }
      else if (event.key.toLowerCase() === 's' && !event.shiftKey) { event.preventDefault(); event.stopPropagation(); RW.save(); }
    }, true); // before CodeMirror, which would insert a line
    RW.startIndent(() => (placing ? null : view()));
    $('rw-run').addEventListener('click', RW.runNow);
    $('rw-save').addEventListener('click', () => RW.save());
    $('rw-revert').addEventListener('click', () => {
      keep(localStorage, unsentKey(RW.file), null);
      clearTimeout(timer);
      RW.sent = RW.text;
      RW.post('settle', { file: RW.file, keep: 'file' }).catch(RW.trouble);
    });
    $('rw-live').checked = RW.live;
    $('rw-live').addEventListener('change', (event) => {
      RW.live = event.target.checked;
      keep(localStorage, 'rw-live', RW.live ? 'on' : 'off');
      if (RW.live) RW.submit({ run: true, force: true });
    });
    $('rw-files').addEventListener('change', async (event) => {
      await RW.submit({ run: false });
      RW.post('open', { file: event.target.value }).catch(RW.trouble);
    });
    const gutter = document.querySelector('#rw-editor .cm-gutters');
    if (gutter) new MutationObserver(paintGutter).observe(gutter, { childList: true, subtree: true, characterData: true });
    window.addEventListener('pagehide', () => {
      if (RW.text === null || RW.text === RW.sent) return;
      const body = new Blob([JSON.stringify({ desk: RW.desk, file: RW.file, text: RW.text, run: false, placed: RW.placed })], { type: 'application/json' });
      navigator.sendBeacon('rw/edit', body); // the last 300 ms of typing
    });
  };
})();
