"""`when`: a reward that only applies to some prompts abstains on all others.

A condition names columns and the values they must have. A ground-truth column is the same for all completions
of a prompt, so a reward applies to a whole group or abstains on a whole group, which is the one way of
abstaining that leaves TRL's advantages unbiased.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rewards.contract import Batch, CallResult, Status


def rows_concerned(when: Mapping[str, Any], batch: Batch) -> list[int]:
    """The rows whose columns have the values of `when`; all rows where it is empty.

    A value may be a list of accepted values. A column that the batch lacks fits no condition.
    """
    tests = [
        (batch.columns.get(name), value if isinstance(value, list) else [value])
        for name, value in when.items()
    ]
    return [
        row
        for row in range(len(batch))
        if all(column is not None and column[row] in accepted for column, accepted in tests)
    ]


def call_where(when: Mapping[str, Any], batch: Batch, call: Callable[[Batch], CallResult]) -> CallResult:
    """Call a reward with the rows it applies to; on the others it abstains."""
    if not when:
        return call(batch)
    rows = rows_concerned(when, batch)
    if len(rows) == len(batch):
        return call(batch)
    if not rows:
        return CallResult(
            np.full(len(batch), np.nan), np.full(len(batch), int(Status.ABSTAINED), dtype=np.uint8)
        )
    return _spread(call(batch.rows(rows)), rows, len(batch))


def _spread(result: CallResult, rows: list[int], total: int) -> CallResult:
    """A result for some rows as one for all, the others abstaining."""
    scores = np.full(total, np.nan)
    status = np.full(total, int(Status.ABSTAINED), dtype=np.uint8)
    scores[rows], status[rows] = result.scores, result.status
    extra: dict[str, list[Any]] = {}
    for column, values in result.extra.items():
        if len(values) == len(rows):
            filled: list[Any] = [None] * total
            for row, value in zip(rows, values, strict=True):
                filled[row] = value
            extra[column] = filled
    credits: list[list[dict[str, Any]]] | None = None
    if result.credits is not None:
        credits = [[] for _ in range(total)]
        for row, named in zip(rows, result.credits, strict=True):
            credits[row] = named
    errors = {rows[row]: why for row, why in result.errors.items()}
    printed = {rows[row]: text for row, text in result.printed_rows.items()}
    return replace(
        result,
        scores=scores,
        status=status,
        errors=errors,
        extra=extra,
        credits=credits,
        printed_rows=printed,
    )
