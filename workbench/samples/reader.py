"""Reading sample files into `Samples`.

Three steps: each file gives drafts (container, then shape), each draft is checked (a prompt and a completion
that a reward can be called with), and the drafts of all files together become columns, groups and labels.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewards.errors import SamplesError, UsageError
from workbench.samples.columns import (
    likely_column,
    mapped_values,
    missing_columns_sentence,
    unmet_column_sentence,
)
from workbench.samples.flat import ROLES
from workbench.samples.folders import Chosen, choose_files
from workbench.samples.format import Draft, Raw, Read, RowError, Shape, kind_of
from workbench.samples.merging import merge
from workbench.samples.recognise import UnknownFormat, container_of, shape_of
from workbench.samples.records import Samples, Skipped

PROBED = 20
"""Records looked at to tell whether a file holds samples."""

NAME = 100
"""Characters at the end of a pipe's name that its copy has too; formats are told by the ending."""


def read_samples(
    paths: Sequence[Path], *, columns: Mapping[str, str] | None = None, named: Collection[str] = ()
) -> Samples:
    """The rows of sample files, in the order given.

    Args:
        paths: files of any readable format, or folders of them (a run's `completions/`).
        columns: names to change before anything else, source = target, as in `[data] columns`; a source
            that a file lacks is left alone.
        named: those of `columns` that some row of the files must have, because somebody said so just now.

    Returns:
        Samples with at least one row. What could not be read is in `skipped`, never silently left out.

    Raises:
        SamplesError: no such file, or no row could be read.
        UsageError: no row has one of the `named` columns.
    """
    mapping = dict(columns or {})
    chosen = [sample_files(Path(path), mapping) for path in paths]
    files = [file for choice in chosen for file in choice.files]
    if not files:
        raise SamplesError("no samples file was named")
    with _without_collections():
        reads = [_read_file(file, mapping) for file in files]
        samples = merge(reads)
    if not samples:
        raise SamplesError(_nothing_read(reads))
    _require_met(named, mapping, reads, samples)
    samples.notes.extend(choice.note for choice in chosen if choice.note)
    return samples


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """No looking for garbage: what is read is all kept, so that it would find none, in a third of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _require_met(
    named: Collection[str], mapping: Mapping[str, str], reads: Sequence[Read], samples: Samples
) -> None:
    """UsageError for the first of the `named` columns that no row has."""
    met = frozenset[str]().union(*(read.met for read in reads))
    drafts = list(itertools.chain.from_iterable(read.drafts for read in reads))
    roles = [role for role in ROLES if any(getattr(draft, role) is not None for draft in drafts)]
    there = ["prompt", "completion", *samples.columns, *roles]
    for source in named:
        if source not in met:
            raise UsageError(unmet_column_sentence(source, mapping[source], there))


def sample_files(path: Path, columns: Mapping[str, str] | None = None) -> Chosen:
    """The files that a path stands for; see `workbench.samples.folders`."""
    return choose_files(path, lambda file: holds_samples(file, columns))


def holds_samples(file: Path, columns: Mapping[str, str] | None = None) -> bool:
    """Whether one of the first `PROBED` records of a file can be read as a row."""
    mapping = dict(columns or {})
    try:
        if not file.is_file():  # a pipe can be read only once
            return False
        records = itertools.islice(container_of(file).read(file), PROBED)
        return bool(_read(file, list(records), mapping).drafts)
    except (UnknownFormat, OSError, UnicodeError):
        return False


def samples_of_records(
    records: Sequence[Mapping[str, Any]], source: Path, *, columns: Mapping[str, str] | None = None
) -> Samples:
    """The rows of records that are in memory; `source` stands for the file in messages.

    Raises:
        SamplesError: no row can be used.
        UsageError: no row has a column that is to be changed.
    """
    mapping = dict(columns or {})
    raws = [Raw(number, dict(record)) for number, record in enumerate(records)]
    read = _read(source, raws, mapping)
    samples = merge([read])
    if samples:
        _require_met(mapping, mapping, [read], samples)
        return samples
    if not read.skipped:
        raise SamplesError("there is no row in the samples")
    first = read.skipped[0]
    there = list(mapped_values(dict(records[first.line or 0]), mapping))
    advice = [
        f'"{guess}": "{needed}"'
        for needed in ("prompt", "completion")
        if needed not in there and (guess := likely_column(needed, there)) is not None
    ]
    hint = f"; if they are meant, say columns={{{', '.join(advice)}}}" if advice else ""
    raise SamplesError(f"no sample could be used: row {first.line}: {first.why}{hint}")


def _read_file(path: Path, mapping: Mapping[str, str]) -> Read:
    """Drafts and skipped rows of one file; a file that cannot be opened is one skipped entry."""
    try:
        with _readable_again(path) as file:
            container = container_of(file)
            return _read(path, container.read(file), mapping, untyped=container.untyped)
    except UnknownFormat as error:
        return Read(path, [], [Skipped(path, None, str(error))])
    except (OSError, UnicodeError) as error:
        why = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        return Read(path, [], [Skipped(path, None, why)])


@contextlib.contextmanager
def _readable_again(path: Path) -> Iterator[Path]:
    """A file that can be opened several times: the path itself, or a copy of what a pipe or device gives once."""
    if path.is_file() or path.is_dir():
        yield path
        return
    with path.open("rb") as stream, tempfile.TemporaryDirectory(prefix="reward-workbench-samples-") as folder:
        copy = Path(folder) / (path.name[-NAME:] or "samples")
        with copy.open("wb") as file:
            shutil.copyfileobj(stream, file)
        yield copy


def _read(
    path: Path, records: Iterable[Raw | Skipped], mapping: Mapping[str, str], *, untyped: bool = False
) -> Read:
    """Drafts and skipped rows of records; what breaks off in the middle is one skipped entry.

    `path` stands for the file in messages; `untyped`: see `Container`.
    """
    drafts: list[Draft] = []
    skipped: list[Skipped] = []
    met: set[str] = set()
    present: tuple[str, ...] = ()
    shape: Shape | None = None
    try:
        for record in records:
            if isinstance(record, Skipped):
                skipped.append(Skipped(path, record.line, record.why))
                continue
            raw = Raw(record.line, mapped_values(record.values, mapping)) if mapping else record
            if untyped and raw.values.get("completion", "") is None:
                raw = Raw(raw.line, {**raw.values, "completion": ""})
            if shape is None:
                shape, present = shape_of(record.values, raw.values), tuple(raw.values)
            if not shape.foreign:
                met.update(source for source in mapping if source in record.values)
            for draft in _drafts(shape, record if shape.foreign else raw, mapping, met):
                if isinstance(draft, Draft):
                    drafts.append(draft)
                else:
                    skipped.append(Skipped(path, raw.line, str(draft)))
    except (OSError, UnicodeError) as error:
        skipped.append(Skipped(path, None, f"cannot be read: {getattr(error, 'strerror', None) or error}"))
    notes = shape.finish(drafts, mapping, path, present) if shape is not None and shape.finish else ()
    return Read(path, drafts, skipped, frozenset(met), present, tuple(notes))


def _drafts(shape: Shape, raw: Raw, mapping: Mapping[str, str], met: set[str]) -> Iterator[Draft | RowError]:
    """The checked drafts of one record, and the reasons of those that cannot be used; names it has go to `met`."""
    try:
        for draft in shape.drafts(raw, {} if shape.foreign else mapping):
            if isinstance(draft, RowError):
                yield draft
                continue
            if shape.foreign and mapping:
                met.update(
                    source for source in mapping if source in draft.columns or source in draft.recorded
                )
                _rename(draft, mapping)
            try:
                _check(draft)
            except RowError as error:
                yield error
            else:
                yield draft
    except RowError as error:
        yield error


def _rename(draft: Draft, mapping: Mapping[str, str]) -> None:
    """Apply `[data] columns` to a draft: to its columns, and to a recorded score that is to be a column."""
    for source in mapping:
        if source in draft.recorded and source not in draft.columns:
            draft.columns[source] = draft.recorded.pop(source)
    draft.columns = mapped_values(draft.columns, mapping)


def _check(draft: Draft) -> None:
    """Make prompt and completion both texts or both chats; RowError where one is neither.

    A text beside a chat is that chat's single message: a user's prompt, an assistant's completion.
    """
    prompt = _speech("prompt", draft.prompt)
    completion = _speech("completion", draft.completion)
    if isinstance(prompt, list) and isinstance(completion, str):
        completion = [{"role": "assistant", "content": completion}]
    elif isinstance(completion, list) and isinstance(prompt, str):
        prompt = [{"role": "user", "content": prompt}]
    draft.prompt, draft.completion = prompt, completion


def _speech(name: str, value: Any) -> str | list[dict[str, Any]]:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and "role" in value:
        value = [value]
    if not isinstance(value, list):
        raise RowError(f"`{name}` is {kind_of(value)}, not a text or a list of chat messages")
    if not value:
        raise RowError(f"`{name}` is an empty list, not a text or a list of chat messages")
    for message in value:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise RowError(f"`{name}` is a list of something else than chat messages with a `role`")
    return value


def _nothing_read(reads: Iterable[Read]) -> str:
    """The one sentence for samples without a readable row."""
    first = next((read for read in reads if read.skipped), None)
    if first is None:
        return f"{', '.join(str(read.file) for read in reads)}: empty, there is no row to read"
    reason = first.skipped[0]
    count = sum(len(read.skipped) for read in reads)
    if not (len(first.skipped) and reason.why.startswith("no `")):
        rest = f" ({count} rows skipped, this is the first)" if count > 1 else ""
        return f"no sample could be read: {reason}{rest}"
    missing = [name for name in ("prompt", "completion") if name not in first.present]
    return f"{first.file}: {missing_columns_sentence(missing, first.present)}"
