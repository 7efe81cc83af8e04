"""Rows that are in memory already: lists, data frames, data sets.

They go through the same shapes and checks as files, so that everything that is read from a file is read from a
list of the same records too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rewards.errors import SamplesError
from workbench.samples.records import Samples

PLACE = Path("samples")
"""What stands where a file's name stands in messages."""


def records_of(source: Any) -> list[dict[str, Any]]:
    """The rows of a list, data frame or data set as plain dicts.

    Args:
        source: a list (or other iterable) of mappings or of texts (then completions without a prompt); a pandas or
            polars data frame; a `datasets.Dataset`; a mapping of columns.

    Raises:
        SamplesError: it is none of these.
    """
    rows = _rows(source)
    records = []
    for number, row in enumerate(rows):
        if isinstance(row, str):
            row = {"prompt": "", "completion": row}
        if not isinstance(row, Mapping):
            raise SamplesError(
                f"samples, row {number}: {type(row).__name__}, neither a mapping with `prompt` and `completion` "
                "nor a text"
            )
        records.append({str(name): plain(value) for name, value in row.items()})
    return records


def _rows(source: Any) -> Iterable[Any]:
    if hasattr(source, "to_dict") and hasattr(source, "columns") and hasattr(source, "iloc"):  # pandas
        return source.to_dict("records")  # type: ignore[no-any-return]
    if hasattr(source, "to_dicts"):  # polars
        return source.to_dicts()  # type: ignore[no-any-return]
    if isinstance(source, Mapping):
        odd = next(
            (
                name
                for name, values in source.items()
                if isinstance(values, str) or not isinstance(values, Iterable)
            ),
            None,
        )
        if odd is not None:
            raise SamplesError(
                f"samples: the column {odd!r} is {type(source[odd]).__name__}, not a list of values"
            )
        columns = {name: list(values) for name, values in source.items()}
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise SamplesError(f"samples: the columns have different lengths ({sorted(lengths)})")
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if isinstance(source, (str, bytes)) or not isinstance(source, Iterable):
        raise SamplesError(
            f"samples is {type(source).__name__}; it must be a list of rows, a data frame, a data set or a file's path"
        )
    return source


def plain(value: Any) -> Any:
    """A value as JSON has it: NumPy numbers and arrays as Python's, NaN and missing values as None."""
    if value is None or isinstance(value, (str, bool, int)):
        return value if type(value) in (str, bool, int, type(None)) else _unboxed(value)
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return plain(value.tolist())
    return None if type(value).__name__ in ("NAType", "NaTType") else value


def _unboxed(value: Any) -> Any:
    for kind in (str, bool, int):
        if isinstance(value, kind):
            return kind(value)
    return value


def samples_from(source: Any, *, columns: Mapping[str, str] | None = None) -> Samples:
    """Samples of rows in memory; see `records_of`.

    Args:
        source: the rows.
        columns: names to change before anything else, source = target, as in `[data] columns`.

    Raises:
        SamplesError: no row can be used.
    """
    from workbench.samples.reader import samples_of_records

    return samples_of_records(records_of(source), PLACE, columns=columns)
