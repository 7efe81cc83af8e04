"""What people said about rows: labels and expected scores, kept in `labels.jsonl` beside the project.

The file is a samples file like any other: a line holds a whole row (prompt, completion, columns) and what was said
of it. The user's own samples are never changed. Whenever samples are opened with a target, rows with the same
prompt, completion and columns get the label and the expected scores of the file; what it says wins.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rewards.errors import SamplesError, UsageError
from rewards.fingerprint import digest
from rewards.targets import Target
from workbench.samples import LABELS, Samples, read_samples
from workbench.samples.folders import LABELS_FILE
from workbench.samples.form import form_of, read_as, speech
from workbench.whole_files import write_whole

FILE = LABELS_FILE


def labels_file(target: Target) -> Path:
    """Where the labels of a target are kept."""
    return target.root / FILE


def row_digest(samples: Samples, row: int) -> str:
    """A name for a row by its content; columns without a value do not count."""
    columns = {name: values[row] for name, values in samples.columns.items() if values[row] is not None}
    return digest([samples.prompts[row], samples.completions[row], columns])


def with_labels(samples: Samples, file: Path, *, add: bool = False) -> Samples:
    """The samples with what the file says about their rows.

    Args:
        samples: as read.
        file: the labels; where there is no such file the samples come back as they are.
        add: append the rows of the file that the samples do not have, in groups of their own.
    """
    if not file.is_file():
        return samples
    try:
        said = read_as(read_samples([file]), form_of(samples))
    except SamplesError as error:
        return replace(samples, notes=[*samples.notes, f"{file.name} is not used: {error}"])
    known = {row_digest(said, row): row for row in range(len(said))}
    labels, expected = list(samples.labels), list(samples.expected)
    met = set()
    for row in range(len(samples)):
        at = known.get(row_digest(samples, row))
        if at is not None:
            met.add(at)
            labels[row] = said.labels[at] or labels[row]
            expected[row] = {**(expected[row] or {}), **(said.expected[at] or {})} or None
    found = replace(samples, labels=labels, expected=expected, skipped=[*samples.skipped, *said.skipped])
    missing = [row for row in range(len(said)) if row not in met]
    return appended(found, said, missing, FILE) if add and missing else found


def rows_said(samples: Samples, file: Path) -> frozenset[int]:
    """The rows that the file says something about; empty where it cannot be read."""
    if not file.is_file():
        return frozenset()
    records = map(_record, _lines_of(file.read_text(encoding="utf-8", errors="replace")))
    known = {_digest_of(record, form_of(samples)) for record in records if record is not None}
    return (
        frozenset(row for row in range(len(samples)) if row_digest(samples, row) in known)
        if known
        else frozenset()
    )


def appended(samples: Samples, said: Samples, rows: Sequence[int], name: str) -> Samples:
    """The samples with these rows of others behind them, in groups of their own whose names begin with `name`."""

    def joined(own: list[Any], other: list[Any]) -> list[Any]:
        return [*own, *(other[row] for row in rows)]

    count = len(samples)
    names = [*samples.columns, *(column for column in said.columns if column not in samples.columns)]
    return replace(
        samples,
        prompts=joined(samples.prompts, said.prompts),
        completions=joined(samples.completions, said.completions),
        columns={
            column: joined(
                samples.columns.get(column, [None] * count), said.columns.get(column, [None] * len(said))
            )
            for column in names
        },
        groups=[*samples.groups, *(f"{name}:{said.groups[row]}" for row in rows)],
        labels=joined(samples.labels, said.labels),
        expected=joined(samples.expected, said.expected),
        ids=[*samples.ids, *(f"{name}:{said.places[row].line}" for row in rows)],
        steps=[*samples.steps, *(None for _ in rows)],
        places=joined(samples.places, said.places),
        sources=[*samples.sources, *said.sources],
        recorded={column: [*values, *(None for _ in rows)] for column, values in samples.recorded.items()},
    )


def say(
    file: Path,
    samples: Samples,
    row: int,
    *,
    label: str | None = None,
    expected: Mapping[str, float | None] | None = None,
) -> None:
    """Keep a label or expected scores of a row; what was said of it before stays unless it is said again.

    Args:
        file: the labels.
        samples: the rows.
        row: the number of the row.
        label: right, partial, wrong or hack; None: as it was.
        expected: scores by reward name, None for an abstention; names that are not given stay as they were.

    Raises:
        UsageError: no such row, an unknown label, nothing to say, or the file cannot be written.
    """
    say_of_rows(file, samples, [row], label=label, expected=expected)


def say_of_rows(
    file: Path,
    samples: Samples,
    rows: Sequence[int],
    *,
    label: str | None = None,
    expected: Mapping[str, float | None] | None = None,
) -> None:
    """Keep the same of several rows, of all of them or of none; see `say`.

    Raises:
        UsageError: as `say` raises it for any of the rows.
    """
    for row in rows:
        _require_row(samples, row)
        if label is None and not expected:
            raise UsageError(
                f"say something about row {row}: --label {'|'.join(LABELS)} or --expected NAME=SCORE"
            )
    if label is not None and label not in LABELS:
        raise UsageError(f"--label {label}: must be one of {', '.join(LABELS)}")
    with _alone(file):
        lines = _lines(file)
        for row in rows:
            at = _place(lines, row_digest(samples, row), form_of(samples))
            if at is None:
                lines.append(_line({**_row(samples, row), **_said({}, label, expected)}))
            else:
                record = _record(lines[at]) or {}
                lines[at] = _line({**record, **_said(record, label, expected)})
        _write(file, lines)


def keep_row(
    file: Path, prompt: Any, completion: Any, columns: Mapping[str, Any], *, label: str | None = None
) -> None:
    """Keep a completion that is not among the samples: written by hand, or found by a check.

    Raises:
        UsageError: an unknown label, a column with a name that a row needs itself, or the file cannot be written.
    """
    if label is not None and label not in LABELS:
        raise UsageError(f"label {label}: must be one of {', '.join(LABELS)}")
    _refuse_clash(columns)
    record = {"prompt": prompt, "completion": completion}
    record |= {name: value for name, value in columns.items() if value is not None}
    with _alone(file):
        lines = _lines(file)
        at = _place(lines, _digest_of(record))
        old = (_record(lines[at]) or {}) if at is not None else {}
        line = _line({**old, **record, **_said(old, label, None)})
        if at is None:
            lines.append(line)
        else:
            lines[at] = line
        _write(file, lines)


def forget(file: Path, samples: Samples, row: int) -> bool:
    """Drop what the file says about a row; whether it said anything.

    Raises:
        UsageError: no such row, or the file cannot be written.
    """
    _require_row(samples, row)
    with _alone(file):
        lines = _lines(file)
        at = _place(lines, row_digest(samples, row), form_of(samples))
        if at is None:
            return False
        del lines[at]
        _write(file, lines)
    return True


@contextlib.contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Nobody else changes the labels meanwhile; what reads, changes and writes them does so inside.

    The folder itself is locked: the file is replaced at each writing, and a lock file would be left behind. Where a
    folder cannot be locked (Windows, some network disks) it goes on without.
    """
    descriptor = None
    try:
        import fcntl

        descriptor = os.open(file.parent, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except (ImportError, OSError):
        pass
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _require_row(samples: Samples, row: int) -> None:
    if not 0 <= row < len(samples):
        raise UsageError(f"there is no row {row}: the samples have rows 0 to {len(samples) - 1}")


def _lines(file: Path) -> list[str]:
    try:
        return _lines_of(file.read_text(encoding="utf-8")) if file.is_file() else []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error


def _lines_of(text: str) -> list[str]:
    """The lines of a JSONL file; `splitlines` would also cut at U+2028 and others that stand inside texts."""
    return text.removesuffix("\n").split("\n") if text else []


def _place(lines: Sequence[str], wanted: str, form: str = "") -> int | None:
    """Where the row with this digest stands, its record read in a form ("": as it is)."""
    for number, line in enumerate(lines):
        record = _record(line)
        if record is not None and _digest_of(record, form) == wanted:
            return number
    return None


def _write(file: Path, lines: Sequence[str]) -> None:
    try:
        write_whole(file, "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def _row(samples: Samples, row: int) -> dict[str, Any]:
    columns = {name: values[row] for name, values in samples.columns.items() if values[row] is not None}
    _refuse_clash(columns)
    return {
        "id": samples.ids[row],
        "prompt": samples.prompts[row],
        "completion": samples.completions[row],
        **columns,
    }


def _refuse_clash(columns: Mapping[str, Any]) -> None:
    clash = {"prompt", "completion", "label", "expected", "group", "id"} & set(columns)
    if clash:
        raise UsageError(
            f"the row has a column '{min(clash)}' of its own, so what is said about it cannot be kept beside it"
        )


def _said(
    record: Mapping[str, Any], label: str | None, expected: Mapping[str, float | None] | None
) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if label is not None:
        said["label"] = label
    if expected:
        said["expected"] = {**(record.get("expected") or {}), **expected}
    return said


def _record(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and {"prompt", "completion"} <= record.keys() else None


def _digest_of(record: Mapping[str, Any], form: str = "") -> str:
    columns = {
        name: value
        for name, value in record.items()
        if name not in ("prompt", "completion", "label", "expected", "group", "id") and value is not None
    }
    prompt, completion = record["prompt"], record["completion"]
    if form:
        prompt, completion = speech(prompt, form, "user"), speech(completion, form, "assistant")
    return digest([prompt, completion, columns])


def _line(record: Mapping[str, Any]) -> str:
    try:
        return json.dumps(record, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"row {record.get('id')} has a value that JSON cannot hold: {error}") from error
