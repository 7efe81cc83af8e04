"""The drafts of all files as one `Samples`: chat or text, groups, labels, columns.

What only whole files can tell is decided here: whether `label` and `expected` are what their names say or
ordinary columns, and which rows belong to one prompt.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from workbench.samples.format import Draft, Read
from workbench.samples.records import LABELS, Place, Samples, Skipped

_SPELLINGS = {**{label: label for label in LABELS}, "true": "right", "false": "wrong"}


def merge(reads: Sequence[Read]) -> Samples:
    """One `Samples` of everything read; it may be empty."""
    notes: list[str] = []
    skipped = [skip for read in reads for skip in read.skipped]
    for read in reads:
        _decide_labels(read, notes)
        _decide_expected(read, notes)
    rows = [(read, draft) for read in reads for draft in read.drafts]
    rows, odd = _one_kind(rows)
    skipped.extend(odd)
    told: dict[str, list[Read]] = {}
    for read in reads:
        for note in read.notes:
            told.setdefault(note, []).append(read)
    for note, those in told.items():
        more = f" and {len(those) - 1} more" if len(those) > 1 else ""
        notes.append(f"{those[0].file}{more}: {note}")
    drafts = [draft for _, draft in rows]
    return Samples(
        prompts=[draft.prompt for draft in drafts],
        completions=[draft.completion for draft in drafts],
        columns=_table([draft.columns for draft in drafts]),
        groups=_groups(rows),
        labels=[draft.label for draft in drafts],
        expected=[draft.expected for draft in drafts],
        ids=[str(row) if draft.id is None else str(draft.id) for row, draft in enumerate(drafts)],
        steps=[draft.step for draft in drafts],
        places=[Place(read.file, draft.line, draft.sample, draft.log_file) for read, draft in rows],
        skipped=skipped,
        sources=[read.file for read in reads],
        recorded=_table([draft.recorded for draft in drafts]),
        notes=notes,
    )


def _table(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns; None where a row lacks a name, as Arrow has it."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


# ------------------------------------------------------------------------------------ chat or text


def _one_kind(rows: list[tuple[Read, Draft]]) -> tuple[list[tuple[Read, Draft]], list[Skipped]]:
    """The rows of the commoner kind; the others are told. TRL cannot call a reward with both at once."""
    chats = sum(isinstance(draft.prompt, list) for _, draft in rows)
    if chats in (0, len(rows)):
        return rows, []
    first_is_chat = isinstance(rows[0][1].prompt, list)
    chat = first_is_chat if chats * 2 == len(rows) else chats * 2 > len(rows)
    kind, other = ("text", "chats") if chat else ("chat", "texts")
    rest = (
        f"half of the rows, and the first, are {other}"
        if chats * 2 == len(rows)
        else f"most rows are {other}"
    )
    why = f"the prompt is a {kind} where {rest}; put the two kinds into files of their own"
    kept = [row for row in rows if isinstance(row[1].prompt, list) == chat]
    odd = [
        Skipped(read.file, draft.line, why) for read, draft in rows if isinstance(draft.prompt, list) != chat
    ]
    return kept, odd


# ------------------------------------------------------------------------------ labels and expected


def _decide_labels(read: Read, notes: list[str]) -> None:
    """Turn a file's `label` into labels, or into an ordinary column if any value of it is none."""
    labels: list[str | None] = []
    for draft in read.drafts:
        spelled = None if draft.label is None else _SPELLINGS.get(str(draft.label).strip().casefold())
        if draft.label is not None and spelled is None:
            _ordinary(read, "label", f"{draft.label!r} is none of {', '.join(LABELS)}", draft.line, notes)
            return
        labels.append(spelled)
    for draft, label in zip(read.drafts, labels, strict=True):
        draft.label = label


def _decide_expected(read: Read, notes: list[str]) -> None:
    """The same for `expected`: a mapping of reward names to scores, else an ordinary column."""
    mappings = []
    for draft in read.drafts:
        mapping = None if draft.expected is None else _score_mapping(draft.expected)
        if draft.expected is not None and mapping is None:
            why = "it does not map reward names to scores"
            _ordinary(read, "expected", why, draft.line, notes)
            return
        mappings.append(mapping)
    for draft, mapping in zip(read.drafts, mappings, strict=True):
        draft.expected = mapping


def _score_mapping(value: Any) -> dict[str, float | None] | None:
    if isinstance(value, str) and value.lstrip().startswith("{"):  # a cell of a CSV file
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if not isinstance(value, dict):
        return None
    if not all(isinstance(score, (int, float, type(None))) for score in value.values()):
        return None
    try:
        return {str(name): None if score is None else float(score) for name, score in value.items()}
    except OverflowError:  # a whole number beyond every float
        return None


def _ordinary(read: Read, name: str, why: str, line: int, notes: list[str]) -> None:
    """Make `name` an ordinary column of this file, and say so."""
    for draft in read.drafts:
        draft.columns.setdefault(name, getattr(draft, name))
        setattr(draft, name, None)
    notes.append(f"{read.file}, line {line}: `{name}` is read as an ordinary column, because {why}")


# ------------------------------------------------------------------------------------------- groups


def _groups(rows: Sequence[tuple[Read, Draft]]) -> list[str]:
    """A name for each row's group: as written, else one for each step and prompt, or task file record."""
    names: dict[Any, str] = {}
    used: set[str] = set()
    texts: dict[int, str] = {}
    groups = []
    for read, draft in rows:
        file = str(read.file)  # a path is hashed anew each time, a text once
        if draft.group is not None:
            key: Any = ("named", file, draft.step, str(draft.group))
            wish = str(draft.group)
        else:
            own = (file, draft.line) if draft.sample is not None else _prompt_key(draft.prompt, texts)
            key = ("derived", draft.step, own)
            wish = f"g{len(names)}"
        name = names.get(key)
        if name is None:
            name = names[key] = _unused(wish, used)
        groups.append(name)
    return groups


def _unused(wish: str, used: set[str]) -> str:
    name, number = wish, 2
    while name in used:
        name = f"{wish}#{number}"
        number += 1
    used.add(name)
    return name


def _prompt_key(prompt: Any, texts: dict[int, str]) -> str:
    if isinstance(prompt, str):
        return prompt
    key = texts.get(id(prompt))  # the drafts of one record share its prompt
    if key is None:
        key = texts[id(prompt)] = json.dumps(prompt, sort_keys=True, default=str)
    return key
