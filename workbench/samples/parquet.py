"""Parquet: read in slices of rows, so that a file never stands in memory twice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.samples.format import Container, Raw
from workbench.samples.records import Skipped

SLICE = 4096
MAGIC = b"PAR1"


def _read(path: Path) -> Iterator[Raw | Skipped]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = 0
    try:
        with pq.ParquetFile(path) as file:
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
    """An Arrow column as Python values; NaN stands for a missing value, as in pandas' files."""
    values: list[Any] = column.to_pylist()
    return [None if isinstance(value, float) and math.isnan(value) else value for value in values]


def _recognises(path: Path, head: bytes) -> bool:
    return head.startswith(MAGIC) or path.suffix.lower() in (".parquet", ".pq")


PARQUET = Container("Parquet", _recognises, _read)
