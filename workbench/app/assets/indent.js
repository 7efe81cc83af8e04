// Indentation of the editor. Gradio's CodeMirror moves by two places, wherever the line began, and offers no setting:
// in code indented by four that is an IndentationError. So Enter, Tab, Shift+Tab and Backspace are answered here, by
// way of the editor's view; where that cannot be found they stay CodeMirror's.
'use strict';

(() => {
  const DEFAULT = '    ';
  const ESCAPED = 2000; // ms after Esc in which Tab leaves the editor, as CodeMirror has it
  let escaped = 0;

  // What the file itself moves by, as its first block shows.
  const unitOf = (text) => {
    const found = /^([ \t]*)(?:async |def |class |if |for |while |with |try:|else:).*?:[ \t]*(?:#.*)?\n(?:[ \t]*\n)*([ \t]+)\S/m.exec(text);
    const by = found?.[2].startsWith(found[1]) ? found[2].slice(found[1].length) : '';
    return by === '\t' || /^ {1,8}$/.test(by) ? by : DEFAULT;
  };
  const leading = (text) => /^[ \t]*/.exec(text)[0];
  // The code of a line: its strings are emptied and its comment is gone.
  const bare = (text) => text.replace(/(["'])(?:\\.|(?!\1).)*\1/g, '""').replace(/#.*/, '').trimEnd();
  const balance = (text) => (text.match(/[([{]/g)?.length ?? 0) - (text.match(/[)\]}]/g)?.length ?? 0);

  // The indentation of a line begun at `from`: that of the statement, deeper after a colon or in an open bracket.
  const wanted = (doc, from, unit) => {
    const line = doc.lineAt(from);
    const before = line.text.slice(0, from - line.from);
    const own = leading(before);
    if ((doc.sliceString(0, from).match(/"""|'''/g)?.length ?? 0) % 2) return own; // in a text of several lines
    const code = bare(before);
    let open = balance(code);
    if (open > 0) return own + unit;
    let number = line.number;
    while (open < 0 && number > 1) open += balance(bare(doc.line((number -= 1)).text));
    const start = number === line.number ? own : leading(doc.line(number).text);
    return code.endsWith(':') && open === 0 ? start + unit : start;
  };

  const enter = (state, unit) => {
    const { from, to } = state.selection.main;
    const indent = wanted(state.doc, from, unit);
    const line = state.doc.lineAt(to);
    const after = line.text.slice(to - line.from);
    const past = leading(after).length;
    const pair = ['()', '[]', '{}'].includes(state.doc.sliceString(from - 1, from) + after.slice(past, past + 1));
    const insert = state.lineBreak + indent;
    const changes = { from, to: to + past, insert: pair ? insert + state.lineBreak + indent.slice(unit.length) : insert };
    return { changes, selection: { anchor: from + insert.length }, userEvent: 'input' };
  };

  const linesOf = (state) => {
    const { from, to, empty } = state.selection.main;
    const last = state.doc.lineAt(to);
    const end = !empty && to === last.from ? last.number - 1 : last.number; // a line only touched at its start is not meant
    const found = [];
    for (let number = state.doc.lineAt(from).number; number <= end; number += 1) found.push(state.doc.line(number));
    return found;
  };
  const deeper = (state, unit) => ({ changes: linesOf(state).filter((line) => line.text).map((line) => ({ from: line.from, insert: unit })), userEvent: 'input.indent' });
  const surplus = (indent, unit) => (indent.endsWith('\t') ? 1 : indent.length ? ((indent.length - 1) % unit.length) + 1 : 0);
  const shallower = (state, unit) => ({ changes: linesOf(state).map((line) => ({ from: line.from, to: line.from + surplus(leading(line.text), unit) })), userEvent: 'delete.dedent' });

  const tab = (state, unit) => {
    const { from, empty } = state.selection.main;
    if (!empty) return deeper(state, unit);
    const column = from - state.doc.lineAt(from).from;
    const insert = unit === '\t' ? unit : ' '.repeat(unit.length - (column % unit.length));
    return { changes: { from, insert }, selection: { anchor: from + insert.length }, userEvent: 'input' };
  };
  const backspace = (state, unit) => {
    const { from, empty } = state.selection.main;
    const line = state.doc.lineAt(from);
    const before = line.text.slice(0, from - line.from);
    if (!empty || !/^ +$/.test(before)) return null;
    return { changes: { from: from - surplus(before, unit), to: from }, userEvent: 'delete.backward' };
  };

  const answer = (event, state, unit) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (plain && event.key === 'Enter' && !event.shiftKey) return enter(state, unit);
    if (plain && event.key === 'Tab') return Date.now() - escaped < ESCAPED ? null : event.shiftKey ? shallower(state, unit) : tab(state, unit);
    if (plain && event.key === 'Backspace' && !event.shiftKey) return backspace(state, unit);
    if (!plain && !event.altKey && (event.key === ']' || event.key === '[')) return (event.key === ']' ? deeper : shallower)(state, unit);
    return null;
  };

  // `view` gives the editor's view or null. Several cursors, a list of completions and a text being composed are left alone.
  RW.startIndent = (view) => {
    document.addEventListener('keydown', (event) => {
      const editor = view();
      if (!editor || !editor.contentDOM?.contains(event.target)) return;
      const { state } = editor;
      const busy = event.isComposing || state.readOnly || state.selection.ranges.length !== 1 || document.querySelector('.cm-tooltip-autocomplete');
      const done = busy ? null : answer(event, state, unitOf(state.doc.toString()));
      if (!['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) escaped = event.key === 'Escape' ? Date.now() : 0;
      if (!done) return;
      event.preventDefault();
      event.stopPropagation();
      editor.dispatch({ ...done, scrollIntoView: true });
      RW.edited(editor.state.doc.toString());
    }, true);
  };
})();
