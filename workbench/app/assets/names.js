// How rewards are called on the page: in full where there is room, else without what all of them are called by, else
// with their middle left out; never two of them alike. The full name is always in the tooltip and in what is read aloud.
'use strict';

(() => {
  const ELLIPSIS = '\u2026';
  const short = (name) => name.replace(/^(reward|compute)_/, '').replace(/_(reward|score)(_func|_fn)?$/, '') || name;

  // The names on the page, by the place that shows them; a short name that two of them share is nobody's.
  const known = new Map();
  RW.learn = (place, names) => { known.set(place, names); };
  RW.alias = (name) => {
    const mine = short(name);
    for (const names of known.values()) if (names.some((other) => other !== name && (short(other) === mine || other === mine))) return name;
    return mine;
  };

  // A long name may take a second line after an underscore.
  RW.breakable = (name) => name.split(/(?<=[_\u2026])/).flatMap((part, index) => (index ? [document.createElement('wbr'), part] : [part]));

  const cut = (name, length) => {
    if (name.length <= length) return name;
    const head = Math.ceil((length - 1) / 2);
    return `${name.slice(0, head)}${ELLIPSIS}${name.slice(name.length - (length - 1 - head))}`;
  };
  // What tells names apart that begin and end alike stands where they first differ.
  const apart = (names) => {
    let same = 0;
    while (names.every((name) => name[same] !== undefined && name[same] === names[0][same])) same += 1;
    return names.map((name) => (same > 1 ? `${ELLIPSIS}${name.slice(same)}` : name));
  };
  const fits = (node) => node.scrollWidth <= node.clientWidth && node.scrollHeight <= node.clientHeight + 1;
  const put = (node, text) => node.replaceChildren(...(getComputedStyle(node).whiteSpace === 'nowrap' ? [text] : RW.breakable(text)));
  const squeeze = (node, text) => {
    let length = text.length;
    put(node, text);
    while (!fits(node) && length > 4) { length -= 1; put(node, cut(text, length)); }
    return node.textContent;
  };

  // `nodes` have their full name in `data-name`, and may be no larger than they are.
  RW.fitNames = (nodes) => {
    const groups = new Map();
    for (const node of nodes) {
      if (!node.clientWidth) continue;
      const { name } = node.dataset;
      put(node, name);
      if (!fits(node)) squeeze(node, RW.alias(name));
      const text = node.textContent;
      groups.set(text, [...groups.get(text) ?? [], node]);
    }
    for (const alike of groups.values()) {
      if (alike.length < 2) continue;
      const told = apart(alike.map((node) => node.dataset.name));
      const taken = new Set(groups.keys());
      alike.forEach((node, index) => {
        let text = squeeze(node, told[index]);
        if (taken.has(text)) { text = `${index + 1}${text}`; put(node, text); } // a number tells what letters cannot
        taken.add(text);
      });
    }
  };
})();
