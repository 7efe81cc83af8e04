"""Files that a command is told to write: what is there stays, unless the command wrote it or `--overwrite` is said.

A dry run is made again under the same name, and nobody means to lose anything by that; a mistyped `--out` must not
take somebody's training data. So a file is only replaced where its content says that the command wrote it, and that
nobody has worked on it since (labelled rows are somebody's work).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from rewards.errors import UsageError

WORKED_ON = ("label", "expected")
"""Keys that a person gives to rows."""


def see_free(out: Path, *, own: Callable[[Path], bool], overwrite: bool) -> None:
    """See that writing `out` loses nobody's work; a folder of that name is told too.

    Raises:
        UsageError: it is a folder, or a file that is not `own` and `overwrite` was not said.
    """
    if out.is_dir():
        raise UsageError(f"{out} cannot be written: it is a folder; give --out the name of a file")
    if overwrite or not out.exists() or not out.stat().st_size or own(out):
        return
    raise UsageError(
        f"{out} is there already, and not what this command writes; give --out another name, or replace it: --overwrite"
    )


def has_rows_with(keys: Collection[str]) -> Callable[[Path], bool]:
    """Whether each row of a JSONL or Parquet file has all these keys, and none that a person gives."""

    def own(file: Path) -> bool:
        try:
            names = _parquet_names(file) if file.suffix == ".parquet" else _jsonl_names(file)
        except (OSError, ValueError):
            return False
        return bool(names) and all(set(keys) <= row and not row & set(WORKED_ON) for row in names)

    return own


def is_object_with(keys: Collection[str]) -> Callable[[Path], bool]:
    """Whether a file is a JSON object of just these keys."""

    def own(file: Path) -> bool:
        try:
            value: Any = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return isinstance(value, dict) and set(value) == set(keys)

    return own


def _jsonl_names(file: Path) -> list[set[str]]:
    lines = file.read_text(encoding="utf-8").split("\n")  # a text may hold line ends of other kinds
    rows = [json.loads(line) for line in lines if line.strip()]
    return [set(row) if isinstance(row, dict) else set() for row in rows]


def _parquet_names(file: Path) -> list[set[str]]:
    import pyarrow
    from pyarrow import parquet

    try:
        return [set(parquet.read_schema(file).names)]
    except pyarrow.ArrowException:
        return []


__all__ = ["has_rows_with", "is_object_with", "see_free"]
