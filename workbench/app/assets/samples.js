// The samples drawer: what is open, other files by path or upload, a completion written by hand.
'use strict';

(() => {
  const { el, $, count, plural } = RW;
  const TARGETS = ['prompt', 'completion', 'group', 'label', 'expected', 'id'];
  let dialog = null;
  let looked = null; // { path, look }

  const part = (title, ...content) => el('section', { class: 'rw-part' }, el('h3', {}, title), ...content);
  const facts = (pairs) => el('dl', { class: 'rw-facts' }, ...pairs.filter(Boolean).map(([name, value, title]) => el('div', {}, el('dt', {}, name), el('dd', { title }, value))));

  const skippedList = (skipped) => (skipped.count ? el('details', { class: 'rw-skipped' },
    el('summary', {}, `${plural(skipped.count, 'row')} could not be read`),
    el('ul', {}, ...skipped.reasons.map(([why, n]) => el('li', {}, el('b', {}, `${count(n)}\u00d7`), ` ${why}`))),
    el('table', {}, el('tbody', {}, ...skipped.first.map(([file, line, why]) => el('tr', {}, el('td', {}, line === null ? file : `${file}, line ${line}`), el('td', {}, why)))))) : null);

  const describe = (found) => {
    const sizes = found.sizes.map(([size, n]) => `${count(n)} of ${size}`).join(', ');
    const labels = Object.entries(found.labels).map(([label, n]) => `${count(n)} ${label}`).join(', ');
    return [
      facts([
        ['completions', `${count(found.rows)}, ${found.chat ? 'chats' : 'texts'}${found.steps ? `, ${plural(found.steps, 'training step')}` : ''}`],
        ['groups', `${count(found.groups)}: ${sizes}${found.sizes.length === 6 ? ' \u2026' : ''}`, 'How many groups there are of each size'],
        ['labels', labels || 'none: checks without rows known to be right and wrong prove less'],
        found.expected ? ['expected', plural(found.expected, 'row')] : null,
      ]),
      found.alone === found.groups ? el('p', { class: 'rw-hint' }, 'Every prompt has one completion: there is no group to compare it with, so advantages are all 0.')
        : found.ragged ? el('p', { class: 'rw-hint' }, 'Groups have different sizes; training has one size.') : null,
      found.columns.length ? el('table', { class: 'rw-columns' }, el('thead', {}, el('tr', {}, el('th', {}, 'column passed to rewards'), el('th', { class: 'rw-figure' }, 'rows'), el('th', {}, 'for example'))),
        el('tbody', {}, ...found.columns.map((column) => el('tr', {}, el('td', {}, column.name), el('td', { class: 'rw-figure' }, count(column.filled)), el('td', {}, column.example))))) : null,
      ...found.notes.map((note) => el('p', { class: 'rw-hint' }, note)),
      skippedList(found.skipped)].filter(Boolean);
  };

  // ---------------------------------------------------------------- what is open

  const showOpen = async () => {
    const box = $('rw-samples-open');
    const none = (why) => box.replaceChildren(el('h3', {}, 'Nothing is open'), el('p', { class: 'rw-why' }, why), el('p', { class: 'rw-hint' }, 'Open a file of completions below.'));
    if (!RW.state.project.samples.length) { none('There are no completions yet.'); return; }
    try {
      const found = await RW.get('samples');
      box.replaceChildren(el('h3', {}, 'Open now'),
        el('ul', { class: 'rw-files-open' }, ...found.files.map((file) => el('li', { title: file.place }, el('b', {}, file.name), ` ${plural(file.rows, 'row')}`))),
        ...describe(found),
        !found.own ? RW.button('Back to the project\u2019s own', (event) => RW.busy(event.target, async () => { await RW.post('samples-use'); close(); }), { id: 'rw-samples-own' }) : '');
    } catch (error) {
      if (error.status !== 400) { RW.trouble(error); return; }
      none(error.message);
    }
  };

  // ---------------------------------------------------------------- another file

  const look = async (path, columns = null) => {
    const box = $('rw-look');
    box.replaceChildren(el('p', { class: 'rw-wait' }, 'Reading\u2026'));
    try {
      looked = { path, look: await RW.post('samples-look', { path, columns }) };
      showLook();
    } catch (error) {
      looked = null;
      if (error.status === 400) box.replaceChildren(el('p', { class: 'rw-why', role: 'alert' }, error.message)); else { box.replaceChildren(); RW.trouble(error); }
    }
  };

  const mapping = (found) => el('table', { class: 'rw-columns', id: 'rw-mapping' },
    el('thead', {}, el('tr', {}, el('th', {}, 'name in the file'), el('th', {}, 'is'), el('th', {}, 'for example'))),
    el('tbody', {}, ...found.names.map(({ name, example }) => el('tr', {}, el('td', {}, name),
      el('td', {}, el('select', { class: 'rw-select', 'data-source': name, 'aria-label': `What ${name} is`, onchange: () => look(looked.path, chosen()) },
        el('option', { value: '' }, TARGETS.includes(name) ? name : 'a column of that name'),
        ...TARGETS.filter((target) => target !== name).map((target) => el('option', { value: target, selected: found.columns[name] === target }, target)))),
      el('td', {}, example)))));
  const chosen = () => Object.fromEntries([...document.querySelectorAll('#rw-mapping select')].filter((each) => each.value).map((each) => [each.dataset.source, each.value]));

  const showLook = () => {
    const { path, look: found } = looked;
    const use = (beside) => async (event) => RW.busy(event.target, async () => { await RW.post('samples-use', { path, columns: found.columns, beside }); close(); });
    $('rw-look').replaceChildren(...[
      el('p', { class: 'rw-look-head' }, el('b', {}, found.files.length > 1 ? plural(found.files.length, 'file') : found.files[0] ?? ''), found.format ? ` ${found.format}` : ''),
      found.guessed ? el('p', { class: 'rw-hint' }, `Guessed: ${Object.entries(found.columns).map(([from, to]) => `${from} is the ${to}`).join(', ')}. Change it where that is wrong.`) : null,
      found.samples ? null : el('p', { class: 'rw-why', role: 'alert' }, found.why),
      found.names.length ? mapping(found) : null,
      ...(found.samples ? describe(found.samples) : []),
      found.first.length ? el('ol', { class: 'rw-first-rows', 'aria-label': 'First rows' }, ...found.first.map(([asked, said]) => el('li', {}, el('span', {}, asked), el('span', {}, said)))) : null,
      found.samples ? el('div', { class: 'rw-actions' }, el('button', { type: 'button', class: 'rw-button rw-primary', id: 'rw-use', onclick: use(false) }, `Use ${plural(found.samples.rows, 'row')}`),
        RW.button('Use beside the open ones', use(true), { id: 'rw-use-beside' })) : null].filter(Boolean));
  };

  const upload = async (file) => {
    if (!file) return;
    if (file.size > 2e8) { $('rw-look').replaceChildren(el('p', { class: 'rw-why', role: 'alert' }, `${file.name} is larger than 200 MB; open it by its path instead.`)); return; }
    $('rw-look').replaceChildren(el('p', { class: 'rw-wait' }, `Uploading ${file.name}\u2026`));
    try { await look((await RW.send('upload', { name: file.name }, file)).path); }
    catch (error) { $('rw-look').replaceChildren(el('p', { class: 'rw-why', role: 'alert' }, error.message)); }
  };

  const opening = () => {
    const path = el('input', { class: 'rw-input', id: 'rw-path', type: 'text', placeholder: 'completions.jsonl, a folder, /path/to/run', autocomplete: 'off', spellcheck: 'false', 'aria-label': 'Path of a file or folder of completions' });
    const file = el('input', { type: 'file', id: 'rw-upload', class: 'rw-sr', 'aria-label': 'Upload a file of completions', onchange: (event) => upload(event.target.files[0]) });
    const box = part('Open other completions',
      el('p', { class: 'rw-hint' }, 'JSONL, JSON, CSV, Parquet; logs of TRL, verifiers, verl, ms-swift, NeMo Gym, OpenAI, lm-eval and Inspect; a run\u2019s completions folder. Paths start at the project.'),
      el('form', { class: 'rw-actions', onsubmit: (event) => { event.preventDefault(); look(path.value); } }, path, el('button', { class: 'rw-button', id: 'rw-look-go' }, 'Look'),
        RW.button('Upload\u2026', () => file.click()), file),
      el('div', { id: 'rw-look', 'aria-live': 'polite' }));
    box.addEventListener('dragover', (event) => event.preventDefault());
    box.addEventListener('drop', (event) => { event.preventDefault(); upload(event.dataTransfer.files[0]); });
    return box;
  };

  // ---------------------------------------------------------------- by hand

  const byHand = async () => {
    const detail = RW.selected !== null && RW.state?.shown ? await RW.get('row', { row: RW.selected }).catch(() => null) : null;
    const asked = detail?.prompt.at(-1)?.[1] ?? '';
    const area = (id, label, value, rows) => el('label', { class: 'rw-field' }, el('span', {}, label), el('textarea', { id, class: 'rw-area', rows, spellcheck: 'false' }, value));
    const fields = (detail?.values ?? []).map(([name, value]) => el('label', { class: 'rw-field' }, el('span', {}, name), el('input', { class: 'rw-input', type: 'text', 'data-column': name, value, autocomplete: 'off' })));
    const label = el('select', { class: 'rw-select', id: 'rw-hand-label', 'aria-label': 'Label' }, el('option', { value: '' }, 'no label'), ...RW.LABELS.map((each) => el('option', { value: each }, each)));
    const said = new Map((detail?.values ?? []));
    $('rw-hand').replaceChildren(el('h3', {}, 'Write a completion by hand'),
      el('p', { class: 'rw-hint' }, `${detail ? `Prompt and columns are those of row #${detail.row}. ` : ''}It is kept in labels.jsonl beside the project, in a group of its own, and scored with the others.`),
      area('rw-hand-prompt', 'prompt', asked, 2), area('rw-hand-completion', 'completion', '', 5), ...fields,
      el('div', { class: 'rw-actions' }, label, el('button', {
        type: 'button', class: 'rw-button rw-primary', id: 'rw-hand-add', onclick: (event) => RW.busy(event.target, async () => {
          const columns = Object.fromEntries([...document.querySelectorAll('#rw-hand [data-column]')].filter((each) => each.value !== said.get(each.dataset.column)).map((each) => [each.dataset.column, each.value]));
          await RW.post('row-add', { prompt: $('rw-hand-prompt').value, completion: $('rw-hand-completion').value, row: detail ? detail.row : -1, of: detail ? detail.of : null, columns, label: label.value || null });
          close();
          RW.showLast();
        }),
      }, 'Add and score')));
  };

  // The row that was added last is the last one, as soon as it is there.
  RW.showLast = () => {
    const before = RW.state?.shown?.edition ?? 0;
    const wait = () => {
      const shown = RW.state?.shown;
      if (shown && shown.edition > before && RW.state.status === 'scored') { RW.showPage('write'); RW.goTo(shown.rows - 1); } else if (!['broken', 'stopped'].includes(RW.state?.status)) setTimeout(wait, 60);
    };
    wait();
  };

  // ---------------------------------------------------------------- the drawer

  const close = () => dialog?.close();
  RW.followGenerating = () => { if (dialog && RW.state) RW.showGenerating(RW.state, close); };
  RW.openSamples = () => {
    if (!dialog) {
      dialog = el('dialog', { class: 'rw-dialog rw-drawer', id: 'rw-samples', 'aria-labelledby': 'rw-samples-title' },
        el('header', { class: 'rw-drawer-head' }, el('h2', { id: 'rw-samples-title' }, 'Completions'), el('span', { class: 'rw-gap' }), el('button', { type: 'button', class: 'rw-button rw-quiet', onclick: () => close() }, 'Close')),
        el('section', { class: 'rw-part', id: 'rw-samples-open' }, el('p', { class: 'rw-wait' }, 'Reading\u2026')), opening(), RW.generatePart(), el('section', { class: 'rw-part', id: 'rw-hand' }));
      document.querySelector('.rw-bar').after(dialog);
      dialog.addEventListener('click', (event) => { if (event.target === dialog) close(); });
    }
    dialog.showModal();
    RW.followGenerating();
    showOpen();
    byHand();
  };
  RW.startSamples = () => $('rw-project').addEventListener('click', RW.openSamples);
})();
