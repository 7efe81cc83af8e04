// The samples drawer's part that asks a model for completions: a local one, or an OpenAI-compatible endpoint.
'use strict';

(() => {
  const { el, $, plural, count } = RW;
  const KEPT = 'rw-generate';
  let looked = 0; // the generation whose file is shown

  const kept = () => { try { return JSON.parse(RW.keep(localStorage, KEPT)) ?? {}; } catch { return {}; } };
  const field = (label, id, value, attributes = {}) => el('label', { class: 'rw-field' }, el('span', {}, label), el('input', { class: 'rw-input', id, value, autocomplete: 'off', spellcheck: 'false', ...attributes }));
  const number = (label, id, value, least, most, step = 1) => field(label, id, value, { type: 'number', min: least, max: most, step });

  const values = () => ({
    model: $('rw-gen-model').value, url: $('rw-gen-where').value === 'endpoint' ? $('rw-gen-url').value.trim() || '?' : '', key_env: $('rw-gen-where').value === 'endpoint' ? $('rw-gen-key').value : '',
    prompts: Number($('rw-gen-prompts').value), each: Number($('rw-gen-each').value), temperature: Number($('rw-gen-temperature').value), max_tokens: Number($('rw-gen-tokens').value),
  });
  const start = (event) => RW.busy(event.target, async () => {
    const asked = values();
    RW.keep(localStorage, KEPT, JSON.stringify({ ...asked, where: $('rw-gen-where').value }));
    await RW.post('generate', asked);
  });

  const choose = () => {
    const endpoint = $('rw-gen-where').value === 'endpoint';
    $('rw-gen-endpoint').hidden = !endpoint;
    $('rw-gen-model').placeholder = endpoint ? 'its name there' : 'toy, smollm2 or a folder';
    $('rw-gen-model').setAttribute('list', endpoint ? '' : 'rw-gen-models');
  };

  RW.generatePart = () => {
    const old = kept();
    const box = el('section', { class: 'rw-part', id: 'rw-generate' }, el('h3', {}, 'Generate completions'),
      el('p', { class: 'rw-hint' }, 'A model answers the prompts that are open. The answers go to a new file in the project; the open files stay as they are.'),
      el('label', { class: 'rw-field' }, el('span', {}, 'from'), el('select', { class: 'rw-select', id: 'rw-gen-where', onchange: choose },
        el('option', { value: 'local' }, 'a model on this machine'), el('option', { value: 'endpoint', selected: old.where === 'endpoint' }, 'an OpenAI-compatible endpoint'))),
      field('model', 'rw-gen-model', old.model ?? 'toy', { type: 'text' }), el('datalist', { id: 'rw-gen-models' }, ...['toy', 'smollm2'].map((name) => el('option', { value: name }))),
      el('div', { id: 'rw-gen-endpoint', hidden: true }, field('address', 'rw-gen-url', old.url && old.url !== '?' ? old.url : '', { type: 'url', placeholder: 'http://localhost:8000/v1' }),
        field('key', 'rw-gen-key', old.key_env ?? '', { type: 'text', placeholder: 'name of the environment variable that holds it; empty: none' })),
      el('div', { class: 'rw-numbers' }, number('prompts', 'rw-gen-prompts', old.prompts ?? 8, 1, 1000), number('each', 'rw-gen-each', old.each ?? 4, 1, 64),
        number('temperature', 'rw-gen-temperature', old.temperature ?? 1, 0, 5, 0.1), number('tokens', 'rw-gen-tokens', old.max_tokens ?? 256, 1, 8192)),
      el('div', { class: 'rw-actions' }, RW.button('Generate', start, { id: 'rw-gen-start', class: 'rw-button rw-primary' }),
        RW.button('Stop', () => RW.post('generate-stop').catch(RW.trouble), { id: 'rw-gen-stop', hidden: true })),
      el('div', { class: 'rw-progress', id: 'rw-gen-line', role: 'status', hidden: true }, el('progress', { max: 1, value: 0, 'aria-label': 'Completions generated' }), el('span', {})),
      el('p', { class: 'rw-why', id: 'rw-gen-error', role: 'alert', hidden: true }),
      el('div', { class: 'rw-actions', id: 'rw-gen-result', hidden: true }));
    requestAnimationFrame(choose);
    return box;
  };

  const showResult = (it, close) => {
    const use = (beside) => (event) => RW.busy(event.target, async () => { await RW.post('samples-use', { path: it.file, columns: {}, beside }); close(); });
    $('rw-gen-result').replaceChildren(el('span', {}, `${plural(it.done, 'completion')} in ${it.file}`), RW.button('Use them', use(false), { id: 'rw-gen-use', class: 'rw-button rw-primary' }), RW.button('Use beside the open ones', use(true)));
  };

  RW.showGenerating = (state, close) => {
    if (!$('rw-generate')) return;
    const it = state.generate;
    const running = it.state === 'running';
    $('rw-gen-start').hidden = running;
    $('rw-gen-stop').hidden = !running;
    const line = $('rw-gen-line');
    line.hidden = it.state === 'none';
    line.querySelector('progress').value = it.of ? it.done / it.of : 0;
    const lost = it.lost ? `; ${count(it.lost[0])} did not come: ${it.lost[1]}` : '';
    line.querySelector('span').textContent = `${running && !it.done && it.step ? `${it.step}: ` : ''}${count(it.done)} of ${plural(it.of, 'completion')}${it.state === 'stopped' ? ', stopped' : ''}${lost}`;
    $('rw-gen-error').hidden = !it.error;
    $('rw-gen-error').textContent = it.error ?? '';
    $('rw-gen-result').hidden = running || !it.file;
    if (it.file && looked !== it.number) { looked = it.number; showResult(it, close); }
  };
})();
