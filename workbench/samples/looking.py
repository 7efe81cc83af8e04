"""A first look at a file of completions: what it is, which columns it has, how they are likely meant.

Nobody should have to know a format's name: the file is read as it is, and where it lacks a prompt or a completion
the usual names for them are tried. What could not be read is said, never left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rewards.errors import SamplesError
from workbench.samples.columns import likely_column, mapped_values
from workbench.samples.format import Raw, Values
from workbench.samples.reader import read_samples, sample_files
from workbench.samples.recognise import UnknownFormat, container_of, shape_of
from workbench.samples.records import Samples

NEEDED = ("prompt", "completion")


@dataclass(frozen=True)
class Look:
    """What a file or folder is.

    `container` and `shape` name its format ("" where it has none that is known), `first` is its first record as
    written; `columns` are the names that were changed to read it, `guessed` if nobody said so. `samples` is None
    where no row could be read; then `why` says why.
    """

    files: list[Path]
    container: str
    shape: str
    first: Values
    columns: dict[str, str]
    guessed: bool
    samples: Samples | None
    why: str = ""


def look_at(path: Path, columns: Mapping[str, str] | None = None) -> Look:
    """Read a file or folder of completions.

    Args:
        path: a file of any readable format, or a folder of them.
        columns: names to change, source = target; None: as they are, and a guess where that gives no row.

    Raises:
        SamplesError: there is no such file, or a folder without any that can be read.
    """
    files = sample_files(path, columns).files
    container, shape, first = _format(files[0], dict(columns or {})) if files else ("", "", {})
    found, why = _read(path, dict(columns or {}))
    if found is not None or columns is not None:
        return Look(files, container, shape, first, dict(columns or {}), False, found, why)
    guess = guess_columns(first)
    again, why_again = _read(path, guess) if guess else (None, why)
    return Look(files, container, shape, first, guess, bool(guess), again, why_again)


def guess_columns(first: Values) -> dict[str, str]:
    """The names to change so that a record has a prompt and a completion, source = target.

    >>> guess_columns({"question": "1+1?", "output": "2", "answer": "2"})
    {'question': 'prompt', 'output': 'completion'}
    """
    found: dict[str, str] = {}
    for needed in NEEDED:
        if needed in first:
            continue
        source = likely_column(needed, first, found)
        if source is not None:
            found[source] = needed
    return found


def _format(file: Path, columns: dict[str, str]) -> tuple[str, str, Values]:
    try:
        container = container_of(file)
        for record in container.read(file):
            if isinstance(record, Raw):
                shape = shape_of(record.values, mapped_values(record.values, columns))
                return container.name, shape.name, record.values
    except (UnknownFormat, OSError, UnicodeError):
        return "", "", {}  # the reading itself says what is wrong
    return container.name, "", {}


def _read(path: Path, columns: dict[str, str]) -> tuple[Samples | None, str]:
    try:
        return read_samples([path], columns=columns), ""
    except SamplesError as error:
        return None, str(error)
