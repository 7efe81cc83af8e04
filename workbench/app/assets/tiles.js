// The row of summary tiles. Histogram bars have the colour their scores have in the table.
'use strict';

(() => {
  const { el, $, number, count } = RW;
  const SVG = 'http://www.w3.org/2000/svg';
  const HEIGHT = 30;

  const histogram = (tile, { scale = true, label } = {}) => {
    const most = Math.max(1, ...tile.bins);
    const bins = tile.bins.length;
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('viewBox', `0 0 ${bins * 6} ${HEIGHT}`);
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('class', 'rw-histogram');
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', label);
    tile.bins.forEach((n, index) => {
      if (!n) return;
      // The root keeps a bin of one visible beside a bin of thousands.
      const height = Math.max(2, Math.sqrt(n / most) * (HEIGHT - 1));
      const bar = document.createElementNS(SVG, 'rect');
      bar.setAttribute('x', index * 6 + 0.5);
      bar.setAttribute('y', HEIGHT - height);
      bar.setAttribute('width', 5);
      bar.setAttribute('height', height);
      const title = document.createElementNS(SVG, 'title');
      const low = tile.low ?? 0;
      const step = (tile.high - low) / bins;
      title.textContent = `${number(low + index * step)} to ${number(low + (index + 1) * step)}: ${count(n)}`;
      bar.append(title);
      if (scale) {
        const at = (index + 0.5) / bins;
        bar.setAttribute('class', at < 0.5 ? 'rw-low' : 'rw-high');
        bar.style.setProperty('--t', 0.25 + Math.abs(at - 0.5) * 1.5);
      }
      svg.append(bar);
    });
    return svg;
  };

  // The whole tile is a button; a weight field and its switches lie above it.
  const frame = (name, title, main, notes, picture, axis, onclick, pressed, controls = null) =>
    el('div', { class: `rw-tile${pressed ? ' rw-on' : ''}` },
      el('button', { type: 'button', class: 'rw-tile-press', title, onclick, 'aria-label': title, 'aria-pressed': pressed ? 'true' : 'false', 'data-focus': `tile:${name}` }),
      el('span', { class: 'rw-tile-top' }, el('span', { class: 'rw-tile-name', 'data-name': controls ? name : null }, name), controls?.[0]),
      el('span', { class: 'rw-tile-main' }, ...main, controls?.[1]),
      picture,
      el('span', { class: 'rw-axis' }, el('span', {}, axis[0]), ...notes, el('span', {}, axis[1])));

  const note = (text, kind = '') => el('span', { class: `rw-note ${kind}` }, text);
  const figure = (tile) => [
    el('b', {}, number(tile.mean)),
    el('span', {}, tile.spread === null ? '' : `\u03c3 ${number(tile.spread, 2)}`),
  ];

  const fit = () => RW.fitNames(document.querySelectorAll('#rw-tiles [data-name]'));
  // Names are measured again in another width, and once the font that they are set in is there.
  RW.startTiles = () => { new ResizeObserver(fit).observe($('rw-tiles')); document.fonts?.ready.then(() => { fit(); RW.refitHead(); }); };

  RW.showTiles = (shown) => {
    const { rewards, total, groups } = shown.tiles;
    const sort = RW.view.sort;
    const found = rewards.map((tile) => {
      const notes = [];
      if (tile.failed) notes.push(note(`${count(tile.failed)} failed`, 'rw-bad'));
      if (tile.none) notes.push(note(`${count(tile.none)} None`));
      const title = `${tile.name}: mean ${number(tile.mean)}, weight ${number(tile.weight, 2)}`
        + `${tile.seconds === null ? '' : `, ${RW.seconds(tile.seconds)}`}. Click to sort by it.`;
      return frame(tile.name, title, figure(tile), notes,
        histogram(tile, { label: `Histogram of ${tile.name}` }), [number(tile.low, 1), number(tile.high, 1)],
        () => RW.sortBy(`reward:${tile.name}`), sort === `reward:${tile.name}`, RW.weightControls(tile));
    });
    const last = shown.tiles.total;
    found.push(frame('total', 'Weighted total. Click to sort by it.', figure(total), [],
      histogram(last, { label: 'Histogram of totals' }), [number(total.low, 1), number(total.high, 1)],
      () => RW.sortBy('total'), sort === 'total'));
    const sizes = groups.ragged ? `${groups.sizes[0]}\u2013${groups.sizes[1]} each` : `${groups.sizes.join(', ')} each`;
    const share = groups.of ? groups.dead / groups.of : 0;
    const main = groups.of
      ? [el('b', {}, `${count(groups.dead)} dead`), el('span', {}, `of ${RW.plural(groups.of, 'group')}`)]
      : [el('b', {}, 'none'), el('span', {}, 'every prompt has one completion')];
    found.push(frame('groups', 'Groups whose totals are all equal teach nothing. Click to see them.', main,
      groups.of ? [note(sizes)] : [], histogram({ ...groups, low: 0 }, { scale: false, label: 'Histogram of the spread within groups' }),
      ['\u03c3 0', number(groups.high, 2)], () => RW.showChip('dead'), RW.view.chip === 'dead'));
    found.at(-1).classList.toggle('rw-warn', share > 0.3);
    shown.tiles.rewards.forEach((tile, index) => found[index].classList.toggle('rw-silent', tile.weight === 0));
    const box = $('rw-tiles');
    const left = box.scrollLeft;
    const held = box.contains(document.activeElement) ? document.activeElement : null;
    const typed = held?.tagName === 'INPUT' ? [held.value, held.selectionStart] : null;
    box.replaceChildren(...found);
    box.scrollLeft = left;
    fit();
    const again = held && box.querySelector(`[data-focus="${CSS.escape(held.dataset.focus ?? '')}"]`);
    if (again) { again.focus({ preventScroll: true }); if (typed) { again.value = typed[0]; again.setSelectionRange(typed[1], typed[1]); } }
  };
})();
