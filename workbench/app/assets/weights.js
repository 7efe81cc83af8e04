// Weights to listen with: typed numbers, muted rewards, rewards heard alone. The server adds up anew, nothing is scored.
'use strict';

(() => {
  const { el, $ } = RW;
  const PAUSE = 120;
  let timer = null;
  let own = null; // what the visitor set, before the server has said it back
  const place = () => `rw-weighing:${RW.state?.project.key}`;

  const now = () => own ?? RW.state?.shown?.weighing ?? { typed: {}, muted: [], solo: [] };
  const send = async () => {
    clearTimeout(timer);
    const mine = own;
    RW.keep(sessionStorage, place(), JSON.stringify(mine));
    try { await RW.post('weigh', mine); } catch (error) { RW.trouble(error); }
    if (own === mine) own = null;
  };
  const change = (values, pause = 0) => {
    own = { ...now(), ...values };
    clearTimeout(timer);
    timer = setTimeout(send, pause);
    for (const name of ['muted', 'solo']) for (const button of document.querySelectorAll(`#rw-tiles [data-${name}]`)) button.setAttribute('aria-pressed', String(own[name].includes(button.dataset[name])));
  };
  const toggle = (list, name) => (list.includes(name) ? list.filter((each) => each !== name) : [...list, name]);

  // What a restarted server has forgotten.
  RW.restoreWeights = (state) => {
    const kept = RW.keep(sessionStorage, place());
    if (!kept || !state.shown) return;
    const { typed, muted, solo } = state.shown.weighing;
    if (Object.keys(typed).length || muted.length || solo.length) return;
    const found = JSON.parse(kept);
    if (Object.keys(found.typed).length || found.muted.length || found.solo.length) { own = found; send(); }
  };

  RW.weightControls = (tile) => {
    const { typed, muted, solo } = now();
    const value = tile.name in typed ? typed[tile.name] : tile.own;
    const input = el('input', {
      class: 'rw-weight', type: 'text', inputmode: 'decimal', autocomplete: 'off', 'data-focus': `weight:${tile.name}`,
      'aria-label': `Weight of ${tile.name}`, title: `Weight of ${tile.name}; declared: ${tile.own}. Arrow keys change it by a tenth.`,
    });
    input.value = String(Number(value.toFixed(4)));
    const take = (text, pause) => {
      const number = Number(text.replace(',', '.'));
      const right = text.trim() !== '' && Number.isFinite(number) && Math.abs(number) <= 1e6;
      input.setAttribute('aria-invalid', String(!right));
      if (!right) return;
      const left = Object.fromEntries(Object.entries(now().typed).filter(([name]) => name !== tile.name));
      change({ typed: number === tile.own ? left : { ...left, [tile.name]: number } }, pause);
    };
    input.addEventListener('input', () => take(input.value, PAUSE));
    input.addEventListener('keydown', (event) => {
      const by = { ArrowUp: 0.1, ArrowDown: -0.1 }[event.key];
      if (by) { event.preventDefault(); input.value = String(Number((Number(input.value.replace(',', '.')) + by).toFixed(4))); take(input.value, 0); }
      if (event.key === 'Enter') take(input.value, 0);
    });
    const press = (kind, letter, words, on) => el('button', {
      type: 'button', class: `rw-press rw-${kind}`, [`data-${kind}`]: tile.name, 'data-focus': `${kind}:${tile.name}`, 'aria-pressed': String(on), 'aria-label': `${words} ${tile.name}`,
      title: kind === 'muted' ? 'Mute: leave it out of the total' : 'Solo: let only this one count',
      onclick: () => change({ [kind]: toggle(now()[kind], tile.name) }),
    }, letter);
    return [el('span', { class: 'rw-weights' }, el('span', { 'aria-hidden': 'true' }, '\u00d7'), input),
      el('span', { class: 'rw-weights rw-presses' }, press('muted', 'M', 'Mute', muted.includes(tile.name)), press('solo', 'S', 'Solo', solo.includes(tile.name)))];
  };

  RW.showWeighing = (state) => {
    const box = $('rw-weighing');
    const { typed, muted, solo } = state.shown?.weighing ?? { typed: {}, muted: [], solo: [] };
    const declared = Object.fromEntries((state.shown?.columns ?? []).map((column) => [column.name, column.own]));
    const changes = Object.entries(typed).filter(([name, weight]) => name in declared && weight !== declared[name]);
    const words = [
      ...changes.map(([name, weight]) => `${RW.alias(name)} ${declared[name]} \u2192 ${weight}`),
      muted.length ? `muted: ${muted.map(RW.alias).join(', ')}` : null,
      solo.length ? `only ${solo.map(RW.alias).join(', ')}` : null].filter(Boolean);
    box.hidden = !words.length;
    if (box.hidden || box.dataset.shown === words.join()) { if (box.hidden) box.dataset.shown = ''; return; }
    box.dataset.shown = words.join();
    const keep = RW.button('Keep in rewardset.toml', () => RW.busy(keep, () => RW.post('keep-weights')), {
      id: 'rw-keep-weights', disabled: !changes.length || !state.project.manifest,
      title: !state.project.manifest ? 'There is no rewardset.toml; write @reward(weight=...) in the file' : changes.length ? 'Write these weights into the manifest; its comments stay' : 'Muted and solo are for listening; only typed weights are kept',
    });
    box.replaceChildren(el('b', {}, 'Weights'), el('span', { class: 'rw-shrinks' }, words.join(' \u00b7 ')), el('span', { class: 'rw-gap' }), keep,
      RW.button('Reset', () => change({ typed: {}, muted: [], solo: [] }), { id: 'rw-reset-weights' }));
  };
})();
