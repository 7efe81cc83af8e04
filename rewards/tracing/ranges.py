"""Ranges: what a number may be, whatever the completion, and what operations and built-in functions make of it."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Range:
    """A number between two bounds, both of which it may reach."""

    low: float
    high: float

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))


@dataclass(frozen=True)
class Items:
    """A list of any length; `each`: what every item is like, None while it is empty."""

    each: Any


@dataclass(frozen=True)
class Row:
    """A tuple, or a list whose items are known one by one."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """A dictionary with known keys, as pairs."""

    pairs: tuple[tuple[Any, Any], ...]


@dataclass(frozen=True)
class Text:
    """A text that stands in the code."""

    value: str


@dataclass(frozen=True)
class Own:
    """A function of the file, with the variables around it."""

    tree: Any
    around: Any


@dataclass(frozen=True)
class _Anything:
    pass


@dataclass(frozen=True)
class _Nothing:
    pass


@dataclass(frozen=True)
class Some:
    """Items that may each be left out."""

    items: tuple[Any, ...]


ANYTHING = _Anything()
NOTHING = _Nothing()
"""`None`: no opinion, which is no score."""

ALL = Range(-math.inf, math.inf)
TRUTH = Range(0.0, 1.0)
COUNT = Range(0.0, math.inf)


def known(value: Any) -> Any:
    """A value that stands in the code or in the settings."""
    if isinstance(value, (bool, int, float)):
        return Range(float(value), float(value)) if math.isfinite(value) else ANYTHING
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, dict):
        return Table(tuple((key, known(item)) for key, item in value.items()))
    return NOTHING if value is None else ANYTHING


def join(left: Any, right: Any) -> Any:
    """What is one or the other."""
    if left == right or right is None or right == NOTHING:
        return left
    if left is None or left == NOTHING:
        return right
    if isinstance(left, Range) and isinstance(right, Range):
        return Range(min(left.low, right.low), max(left.high, right.high))
    if isinstance(left, Row) and isinstance(right, Row) and len(left.items) == len(right.items):
        return Row(tuple(map(join, left.items, right.items)))
    if (
        isinstance(left, Table)
        and isinstance(right, Table)
        and [k for k, _ in left.pairs] == [k for k, _ in right.pairs]
    ):
        return Table(
            tuple((key, join(a, b)) for (key, a), (_, b) in zip(left.pairs, right.pairs, strict=True))
        )
    if isinstance(left, (Items, Row)) and isinstance(right, (Items, Row)):
        return Items(join(each_of(left), each_of(right)))
    return ANYTHING


def each_of(value: Any) -> Any:
    """What every item of a list is like."""
    if isinstance(value, Items):
        return value.each
    if isinstance(value, Row):
        each: Any = None
        for item in value.items:
            each = join(each, item)
        return each
    if isinstance(value, Table):
        return each_of(Row(tuple(known(key) for key, _ in value.pairs)))
    return ANYTHING


def number_of(value: Any) -> Range:
    """A value as a number, of any size where nothing is known of it."""
    return value if isinstance(value, Range) else ALL


def range_of(*values: float) -> Range:
    """The range from the least of several numbers to the most."""
    return ALL if any(map(math.isnan, values)) else Range(min(values), max(values))


def widened(before: Any, after: Any) -> Any:
    """A value that changed from round to round: without bound on the side on which it grew."""
    if isinstance(before, Range) and isinstance(after, Range):
        low = after.low if after.low >= before.low else -math.inf
        return Range(low, after.high if after.high <= before.high else math.inf)
    if isinstance(before, (Items, Row)) and isinstance(after, (Items, Row)):
        return Items(widened(each_of(before), each_of(after)))
    return after if before is None or before == after else ANYTHING


def _times(left: float, right: float) -> float:
    return 0.0 if left == 0 or right == 0 else left * right


def _over(left: float, right: float) -> float:
    return math.nan if math.isinf(left) and math.isinf(right) else left / right


def listed(value: Any) -> Sequence[Any] | None:
    """Items that are known one by one."""
    if isinstance(value, Row):
        return value.items
    return [known(key) for key, _ in value.pairs] if isinstance(value, Table) else None


def _sum(given: Sequence[Any]) -> Any:
    total = number_of(given[1]) if len(given) > 1 else Range(0.0, 0.0)
    if isinstance(given[0], (Row, Some)):
        for item in given[0].items:
            number = number_of(item)
            number = join(number, Range(0.0, 0.0)) if isinstance(given[0], Some) else number
            total = range_of(total.low + number.low, total.high + number.high)
        return total
    each = number_of(each_of(given[0]))
    return range_of(
        total.low + (0.0 if each.low >= 0 else -math.inf), total.high + (0.0 if each.high <= 0 else math.inf)
    )


def mean_of(given: Any) -> Any:
    """The mean of a list."""
    if isinstance(given, Row) and given.items:
        numbers = [number_of(item) for item in given.items]
        low, high = (math.fsum(side) / len(numbers) for side in zip(*numbers, strict=True))
        return range_of(low, high)
    return number_of(each_of(given)) if isinstance(given, Items) else ANYTHING


def _picked(pick: Callable[..., float], given: Sequence[Any]) -> Any:
    if len(given) == 1:
        return number_of(each_of(given[0])) if isinstance(given[0], (Items, Row)) else ANYTHING
    if any(isinstance(one, (Items, Row, Table, Some)) for one in given):
        return ANYTHING
    numbers = [number_of(one) for one in given]
    return Range(pick(one.low for one in numbers), pick(one.high for one in numbers))


def _max_of(given: Sequence[Any]) -> Any:
    if len(given) == 2 and isinstance(given[0], (Items, Row)):  # with a default
        return join(number_of(each_of(given[0])), number_of(given[1]))
    return _picked(max, given)


def _min_of(given: Sequence[Any]) -> Any:
    if len(given) == 2 and isinstance(given[0], (Items, Row)):
        return join(number_of(each_of(given[0])), number_of(given[1]))
    return _picked(min, given)


def _abs(given: Sequence[Any]) -> Any:
    number = number_of(given[0])
    return Range(max(0.0, number.low, -number.high), max(abs(number.low), abs(number.high)))


def _rounded(given: Sequence[Any]) -> Any:
    number = number_of(given[0])
    digits = (
        int(given[1].low)
        if len(given) > 1 and isinstance(given[1], Range) and given[1].low == given[1].high
        else 0
    )
    return Range(*(round(side, digits) if math.isfinite(side) else side for side in number))


def _zip(given: Sequence[Any]) -> Any:
    if given and all(isinstance(one, Row) for one in given) and len({len(one.items) for one in given}) == 1:
        return Row(tuple(Row(items) for items in zip(*(one.items for one in given), strict=True)))
    return Items(Row(tuple(each_of(one) for one in given)))


def _enumerate(given: Sequence[Any]) -> Any:
    if isinstance(given[0], Row):
        return Row(tuple(Row((known(at), item)) for at, item in enumerate(given[0].items)))
    return Items(Row((COUNT, each_of(given[0]))))


def _list(given: Sequence[Any]) -> Any:
    return (
        Row(()) if not given else given[0] if isinstance(given[0], (Items, Row)) else Items(each_of(given[0]))
    )


def _float(given: Sequence[Any]) -> Any:
    return given[0] if given and isinstance(given[0], Range) else ANYTHING


def _int(given: Sequence[Any]) -> Any:
    number = number_of(given[0]) if given else ALL
    return Range(*(float(math.trunc(side)) if math.isfinite(side) else side for side in number))


def combined(operation: type, left: Any, right: Any) -> Any:
    """The result of an operation."""
    lists = [side for side in (left, right) if isinstance(side, (Items, Row))]
    if lists:
        if operation is ast.Mult and len(lists) == 1:
            return Items(each_of(lists[0]))
        return (
            Items(join(each_of(left), each_of(right)))
            if operation is ast.Add and len(lists) == 2
            else ANYTHING
        )
    if not isinstance(left, Range) and not isinstance(right, Range):
        return ANYTHING
    a, b = number_of(left), number_of(right)
    if operation is ast.Add:
        return range_of(a.low + b.low, a.high + b.high)
    if operation is ast.Sub:
        return range_of(a.low - b.high, a.high - b.low)
    if operation is ast.Mult:
        return range_of(*(_times(x, y) for x in a for y in b))
    if operation is ast.Div and (b.low > 0 or b.high < 0):
        return range_of(*(_over(x, y) for x in a for y in b))
    if operation is ast.Div and a.low >= 0 and b.low >= 0:
        return COUNT
    return ANYTHING


BUILT_IN: dict[str, Callable[[Sequence[Any]], Any]] = {
    "sum": _sum, "max": _max_of, "min": _min_of, "abs": _abs, "round": _rounded, "zip": _zip, "list": _list,
    "tuple": _list, "enumerate": _enumerate, "float": _float, "int": _int,
    "len": lambda given: COUNT, "bool": lambda given: TRUTH, "any": lambda given: TRUTH,
    "all": lambda given: TRUTH, "sorted": lambda given: Items(each_of(given[0])),
    "reversed": lambda given: Items(each_of(given[0])), "range": lambda given: Items(COUNT),
    "isinstance": lambda given: TRUTH,
}  # fmt: skip
