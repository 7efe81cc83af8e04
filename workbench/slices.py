"""Scores of parts of the samples: by label, by length, by any column.

A slice is compared with the whole by its means and by how its completions fare inside their groups: a mean
advantage above 0 says that training makes completions of this slice likelier.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rewards.contract import completion_text
from rewards.errors import UsageError
from rewards.groups import number
from workbench.samples.records import LABELS

if TYPE_CHECKING:
    from workbench.samples import Samples
    from workbench.scoring import ScoreTable

Floats = npt.NDArray[np.float64]

MOST = 12
"""Slices a column gets; of texts the commonest, of numbers quantiles."""

LENGTH_BINS = 8
_LARGEST = int(sys.float_info.max)
_DIGITS_SHOWN = 4000
"""Python writes integers up to so many digits as decimals (`sys.get_int_max_str_digits`), others in hexadecimals."""


@dataclass(frozen=True)
class Slice:
    """Part of the rows: its `name`, how many, the mean of each reward, of the total and of the advantage.

    Means are over finite values, NaN where there are none; `low` and `high` are the least and the most of a slice
    of numbers.
    """

    name: str
    rows: int
    means: dict[str, float]
    total: float
    advantage: float
    low: float | None = None
    high: float | None = None


def slices(
    table: ScoreTable, values: Sequence[Hashable], order: Sequence[Hashable] | None = None
) -> list[Slice]:
    """A slice for each value; rows with None are in none.

    Args:
        table: the scores.
        values: one hashable value a row; 1, 1.0 and True are three values.
        order: the values to show, in this order; None: the commonest `MOST`.
    """
    if order is None and len({*map(type, values)} - {type(None)}) > 1:
        return _of_several_types(table, values)
    codes, found = number(values)
    numbers = {value: at for at, value in enumerate(found) if value is not None}
    counts = np.bincount(codes, minlength=len(found))
    chosen = order if order is not None else sorted(numbers, key=lambda value: -counts[numbers[value]])[:MOST]
    return [
        _slice(table, str(value), np.flatnonzero(codes == numbers[value]))
        for value in chosen
        if value in numbers and counts[numbers[value]]
    ]


def _of_several_types(table: ScoreTable, values: Sequence[Hashable]) -> list[Slice]:
    """A slice for each of the commonest values, told apart by type; of two that look alike each is named as in code."""
    codes, found = number([None if value is None else (type(value), value) for value in values])
    counts = np.bincount(codes, minlength=len(found))
    known = [(at, pair[1]) for at, pair in enumerate(found) if isinstance(pair, tuple)]
    chosen = sorted(known, key=lambda one: -counts[one[0]])[:MOST]
    names = Counter(str(value) for _, value in chosen)
    return [
        _slice(table, str(value) if names[str(value)] == 1 else repr(value), np.flatnonzero(codes == at))
        for at, value in chosen
    ]


def length_bins(table: ScoreTable, lengths: Floats, bins: int = LENGTH_BINS) -> list[Slice]:
    """Slices of about equally many rows by the length of the completion; every row is in one."""
    return _by_number(table, lengths, bins)


def by_column(table: ScoreTable, samples: Samples, name: str, *, bins: int = LENGTH_BINS) -> list[Slice]:
    """Slices by a column of the samples: `bins` quantiles of numbers, else the commonest values.

    "label", "group" and "step" are those of the rows where they have any, "length" the characters of the completion,
    unless a column of that name is there.

    Raises:
        UsageError: the samples have no such column.
    """
    if name == "length" and name not in samples.columns:
        texts = (completion_text(completion) for completion in samples.completions)
        return length_bins(table, np.fromiter(map(len, texts), np.float64, len(table)), bins)
    own = _of_rows(table, samples)
    if name == "label" and name in own and name not in samples.columns:
        return slices(table, table.labels, LABELS)
    columns = own | samples.columns
    if name not in columns:
        there = ", ".join(sorted({*columns, "length"}))
        raise UsageError(f"the samples have no column '{name}'; the columns are {there}")
    values = columns[name]
    if any(value is not None for value in values) and all(
        value is None or _is_number(value) for value in values
    ):
        column = np.array([math.nan if value is None else float(value) for value in values])
        if len(np.unique(column[~np.isnan(column)])) > MOST:
            return _by_number(table, column, bins)
    return slices(table, [_hashable(value) for value in values])


def _of_rows(table: ScoreTable, samples: Samples) -> dict[str, Sequence[Any]]:
    """What every row has beside its columns, where any row has it."""
    known: dict[str, Sequence[Any]] = {"group": table.groups, "label": table.labels, "step": samples.steps}
    return {name: values for name, values in known.items() if any(value is not None for value in values)}


def _is_number(value: Any) -> bool:
    """Whether a value is a number that a float can hold."""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) <= _LARGEST
    return isinstance(value, float)


def _hashable(value: Any) -> Hashable:
    """The value itself, or a text for what is not one value as it is: NaN, a list, an integer beyond every float."""
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if isinstance(value, int) and abs(value) > _LARGEST:
        return hex(value) if value.bit_length() > _DIGITS_SHOWN * math.log2(10) else str(value)
    if isinstance(value, Hashable):
        try:
            hash(value)
        except TypeError:
            return repr(value)
        return value
    return repr(value)


def _by_number(table: ScoreTable, values: Floats, bins: int) -> list[Slice]:
    known = values[np.isfinite(values)]
    if not len(known):
        return []
    edges = np.unique(np.quantile(known, np.linspace(0, 1, bins + 1)))
    if len(edges) == 1:
        edges = np.append(edges, edges)
    found = []
    for at, (low, high) in enumerate(itertools.pairwise(edges)):
        last = at == len(edges) - 2
        rows = np.flatnonzero((values >= low) & ((values <= high) if last else (values < high)))
        if len(rows):
            # told by the values that occur: the quantiles lie between them, and two parts would share an end
            least, most = float(values[rows].min()), float(values[rows].max())
            name = f"{least:.6g}" if least == most else f"{least:.6g} to {most:.6g}"
            found.append(_slice(table, name, rows, least, most))
    return found


def _slice(
    table: ScoreTable, name: str, rows: Any, low: float | None = None, high: float | None = None
) -> Slice:
    means = {reward: _mean(table.scores[rows, at]) for at, reward in enumerate(table.names)}
    return Slice(name, len(rows), means, _mean(table.totals[rows]), _mean(table.advantages[rows]), low, high)


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else math.nan
