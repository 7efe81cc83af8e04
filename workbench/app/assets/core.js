// What the other scripts stand on: elements, requests, numbers, colours, settings that outlive a reload.
// Text of models and users enters the page by textContent alone.
'use strict';

// The empty listener is no mistake: without it CodeMirror reads the caret one place early in a line that scrolls
// sideways, and typed characters change places.
document.addEventListener('input', () => {}, true);

window.RW = (() => {
  const el = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name === 'class') made.className = value;
      else if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? '' : String(value));
    }
    for (const child of children.flat()) {
      if (child !== null && child !== undefined) made.append(child);
    }
    return made;
  };
  const $ = (id) => document.getElementById(id);

  // A tab keeps its desk over reloads; another tab gets one of its own.
  const keep = (storage, key, value) => {
    try {
      if (value === undefined) return storage.getItem(key);
      if (value === null) storage.removeItem(key);
      else storage.setItem(key, value);
    } catch { /* storage full or switched off: the page works without */ }
    return null;
  };
  const fresh = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => (n % 36).toString(36)).join('');
  let desk = keep(sessionStorage, 'rw-desk');
  if (!/^[a-z0-9]{16}$/.test(desk || '')) {
    desk = fresh();
    keep(sessionStorage, 'rw-desk', desk);
  }
  // The tour has a desk of its own, with a project of its own.
  const touring = new URL(location.href).searchParams.has('tour');
  let ownDesk = desk;
  if (touring) desk = `tour${desk}`;

  // A tab that was duplicated brings its name along: it asks who else is there, and takes a name of its own.
  const living = new Set();
  const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel('rw-desks') : null;
  const claimed = new Promise((done) => {
    if (!channel) { done(); return; }
    channel.onmessage = ({ data }) => {
      if (data.who) channel.postMessage({ here: ownDesk, to: data.who });
      else if (data.to === me) living.add(data.here);
    };
    const me = Array.from(crypto.getRandomValues(new Uint8Array(8)), (n) => n.toString(16)).join('');
    channel.postMessage({ who: me });
    // Several short waits: while a page loads, one long one may end before the answers that came meanwhile are read.
    const wait = (left) => {
      if (left && !living.has(ownDesk)) { setTimeout(wait, 60, left - 1); return; }
      if (living.has(ownDesk)) {
        ownDesk = fresh();
        desk = touring ? `tour${ownDesk}` : ownDesk;
        keep(sessionStorage, 'rw-desk', ownDesk);
      }
      done();
    };
    wait(8);
  });

  // A refusal carries the server's sentence; `gone` marks a server that did not answer at all.
  class Refused extends Error {
    constructor(message, status) { super(message); this.status = status; }
  }
  const ask = async (name, options, query = '') => {
    let answer;
    try {
      answer = await fetch(`rw/${name}${query}`, { credentials: 'same-origin', ...options });
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      throw new Refused('The server does not answer.', 0);
    }
    if (answer.status === 403) throw new Refused('The server was started anew.', 403);
    const found = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
    if (!answer.ok) throw new Refused(found.error || `the server answered ${answer.status}`, answer.status);
    return found;
  };
  const unseen = () => (document.hidden ? { hidden: '1' } : {}); // whose desk may rest before others
  const get = (name, values = {}, signal) =>
    ask(name, { signal }, `?${new URLSearchParams({ desk, ...unseen(), ...values })}`);
  const post = (name, values = {}, signal) =>
    ask(name, {
      method: 'POST', signal, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ desk, ...unseen(), ...values }),
    });

  const send = (name, values, body) => ask(name, { method: 'POST', body, headers: { 'content-type': 'application/octet-stream' } }, `?${new URLSearchParams({ desk, ...values })}`);

  const MINUS = '\u2212';
  const number = (value, digits = 3) => {
    if (value === null || value === undefined) return '\u2013';
    if (typeof value === 'string') return value === 'nan' ? 'NaN' : value.replace('inf', '\u221e').replace('-', MINUS);
    const size = Math.abs(value);
    const text = size >= 1e6 || (size > 0 && size < 0.0005) ? size.toExponential(1)
      : size.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : digits);
    return value < 0 && Number(text) !== 0 ? MINUS + text : text;
  };
  const signed = (value, digits = 3) =>
    (typeof value === 'number' && value > 0 ? '+' : '') + number(value, digits);
  const count = (value) => value.toLocaleString('en-US').replaceAll(',', '\u202f');
  const seconds = (value) => (value < 1 ? `${Math.max(1, Math.round(value * 1000))} ms` : `${value.toFixed(value < 10 ? 1 : 0)} s`);
  const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

  // Orange at the low end of the range, nothing in the middle, blue at the high end.
  const shade = (node, value, low, high) => {
    let at = null;
    if (typeof value === 'number' && low < high) at = Math.min(1, Math.max(0, (value - low) / (high - low)));
    else if (value === 'inf') at = 1;
    else if (value === '-inf') at = 0;
    node.classList.toggle('rw-low', at !== null && at < 0.5);
    node.classList.toggle('rw-high', at !== null && at > 0.5);
    node.style.setProperty('--t', at === null ? 0 : Math.abs(at - 0.5) * 2);
  };

  return { el, $, get, post, send, keep, get desk() { return desk; }, get ownDesk() { return ownDesk; }, claimed, living, touring, Refused, number, signed, count, seconds, plural, shade, state: null };
})();
