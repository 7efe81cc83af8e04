"""What a sample format is: how it is recognised and how it turns a file into drafts of rows.

Reading has two halves. A *container* (JSONL, JSON, CSV, Parquet) cuts a file into `Raw` records, dicts with
the line they stand on. A *shape* (flat rows, task file, a training log ...) knows what the keys of such a
record mean and makes `Draft`s of it, one for each completion. A new format is one file with one or both of
them, and one line in `recognise.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from workbench.samples.records import Skipped

Values = dict[str, Any]


class Raw(NamedTuple):
    """One record of a file as it stands there."""

    line: int
    values: Values


class RowError(ValueError):
    """A record that cannot be read; `str(error)` is the reason shown."""


@dataclass(slots=True)
class Draft:
    """One completion with its columns; `None` where the file says nothing.

    `label` and `expected` are as written: whether they are labels is decided when the whole file has been
    seen. `recorded` are scores the file reports; they are kept aside and never passed to rewards. `log_file` is the
    file of a log that the row stood in before it was imported.
    """

    line: int
    prompt: Any
    completion: Any
    columns: Values
    group: Any = None
    label: Any = None
    expected: Any = None
    id: Any = None
    step: int | None = None
    log_file: str = ""
    recorded: dict[str, float | None] = field(default_factory=dict)
    sample: int | None = None


@dataclass(frozen=True)
class Container:
    """A file type: `recognises(path, head)` looks at the name and the first bytes.

    `untyped`: it knows no null, so that a completion that is None is an empty text.
    """

    name: str
    recognises: Callable[[Path, bytes], bool]
    read: Callable[[Path], Iterator[Raw | Skipped]]
    untyped: bool = False


@dataclass(frozen=True)
class Shape:
    """A meaning of keys: `matches(record)` is asked once, with the first readable record of a file.

    `drafts` yields what a record holds, a RowError for a part that cannot be read, or raises one for all of
    it. It gets the record after `[data] columns` was applied, and that mapping (a mapped name stays a
    column). `finish` sees all drafts of a file at the end, with that mapping, the file and the names of its columns,
    for what only the whole file can tell; it yields notes. A
    `foreign` shape has fixed keys of its own: it gets the record as it stands and no mapping, which is
    applied to the columns and scores of its drafts instead.
    """

    name: str
    matches: Callable[[Values], bool]
    drafts: Callable[[Raw, Mapping[str, str]], Iterable[Draft | RowError]]
    finish: Callable[[list[Draft], Mapping[str, str], Path, Sequence[str]], Iterable[str]] | None = None
    foreign: bool = False


class Read(NamedTuple):
    """Everything one file gave.

    `met` are the names to change that some row of it has, `present` the column names of its first record; `notes` are
    to be shown, once where several files have the same.
    """

    file: Path
    drafts: Sequence[Draft]
    skipped: Sequence[Skipped]
    met: frozenset[str] = frozenset()
    present: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def repeated(names: Sequence[str]) -> str | None:
    """Why a table of columns with these names cannot be read: one names two, of which only one could count."""
    twice = next((name for name in names if name and names.count(name) > 1), None)
    return None if twice is None else f"{names.count(twice)} columns are called {twice!r}; rename them"


def kind_of(value: object) -> str:
    """What a value is, in a reader's words: "null", "a number", "a list", ..."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return f"a number ({value!r})"
    kinds: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}
    return kinds.get(type(value), f"a {type(value).__name__}")
