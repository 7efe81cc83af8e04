"""Parquet: read in slices of rows, so that a file never stands in memory twice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from workbench.samples.format import Container, Raw, repeated
from workbench.samples.records import Skipped

SLICE = 4096
MAGIC = b"PAR1"


def _read(path: Path) -> Iterator[Raw | Skipped]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = 0
    try:
        with pq.ParquetFile(path) as file:
            if (why := repeated(file.schema_arrow.names)) is not None:
                yield Skipped(path, None, why)
                return
            for batch in file.iter_batches(batch_size=SLICE, use_threads=False):
                names = batch.schema.names
                columns = [_column(column) for column in batch.columns]
                for cells in zip(*columns, strict=True):
                    row += 1
                    yield Raw(row, dict(zip(names, cells, strict=True)))
    except (pa.ArrowException, OSError) as error:
        why = str(error).split("\n", 1)[0].rstrip(". ")
        rest = "; the rest of the file is not read" if row else ""
        yield Skipped(path, row + 1 if row else None, f"damaged Parquet file ({why}){rest}")


def _column(column: Any) -> list[Any]:
    """An Arrow column as Python values that JSON has; NaN stands for a missing value, as in pandas' files."""
    values: list[Any] = column.to_pylist()
    if _beyond_json(column.type):
        return [_plain(value) for value in values]
    return [None if isinstance(value, float) and math.isnan(value) else value for value in values]


def _beyond_json(kind: Any) -> bool:
    """Whether an Arrow type holds dates, times or decimals, itself or further inside."""
    import pyarrow.types as of

    inner = [kind.field(number).type for number in range(kind.num_fields)]
    return of.is_temporal(kind) or of.is_decimal(kind) or any(map(_beyond_json, inner))


def _plain(value: Any) -> Any:
    """A value as JSON has it: dates and times as ISO text, durations as Python writes them, decimals as numbers."""
    if isinstance(value, (date, time)):  # a date with a time is a date too
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _recognises(path: Path, head: bytes) -> bool:
    return head.startswith(MAGIC) or path.suffix.lower() in (".parquet", ".pq")


PARQUET = Container("Parquet", _recognises, _read)
