"""What a score would have been, had some number on the way to it been another one.

Only what the code alone decides is worked out: sums, scaling by settings, limits. Where a changed number would go
into a call, a power, a product with another number of this completion, or would turn a test, nobody knows.
"""

from __future__ import annotations

import ast
import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewards.tracing.bounds import finite, is_setting, operation_of
from rewards.tracing.looking import look
from rewards.tracing.nodes import NODES
from rewards.tracing.provenance import Origin
from rewards.tracing.state import OPERATORS, STATE

_TOO_MANY = 20_000
_SMALL = 1e-9

Edge = tuple[Origin, int]
"""A number that another is a part of, and which part it is."""


class _UnknownError(Exception):
    """A number that cannot be worked out would decide the score."""


@dataclass(frozen=True)
class Change:
    """A number that would have been another: by an amount, or altogether."""

    at: Origin
    amount: float
    added: bool = True

    def of(self, value: float) -> float:
        """The new number."""
        return value + self.amount if self.added else self.amount


class Graph:
    """A score with everything it was made of, and the tests it may turn.

    Args:
        score: where the score came from.
        tests: the tests that ran.
    """

    def __init__(self, score: Origin, tests: Sequence[Origin]) -> None:
        self.score = score
        self.order: dict[int, int] = {}
        self.nodes: list[Origin] = []
        self.uses: dict[int, list[Edge]] = {}
        self.large = False
        self._walk([score], last=True)
        self.of_score = len(self.nodes)
        self._walk(tests)
        self.tests = {id(test) for test in tests}

    def __contains__(self, origin: Any) -> bool:
        return self.order.get(id(origin), self.of_score) < self.of_score

    def decides(self, part: Origin, test: Origin) -> bool:
        """Whether a test was made of a number."""
        pending, seen = [part], {id(part)}
        while pending:
            origin = pending.pop()
            if origin is test:
                return True
            new = [edge[0] for edge in self.uses.get(id(origin), ()) if id(edge[0]) not in seen]
            seen.update(map(id, new))
            pending += new
        return False

    def _walk(self, roots: Sequence[Origin], last: bool = False) -> None:
        """Number everything so that parts come before what is made of them."""
        for root in roots:
            pending: list[tuple[Origin, bool]] = [(root, False)]
            while pending:
                origin, done = pending.pop()
                if done:
                    if id(origin) not in self.order:
                        self.order[id(origin)] = len(self.nodes)
                        self.nodes.append(origin)
                        for at, part in enumerate(_parts(origin)):
                            if isinstance(part, Origin):
                                self.uses.setdefault(id(part), []).append((origin, at))
                    continue
                if id(origin) in self.order:
                    continue
                if len(self.nodes) + len(pending) > _TOO_MANY:
                    self.large = True
                    return
                pending.append((origin, True))
                pending += [(part, False) for part in _parts(origin) if isinstance(part, Origin)]

    def gain(
        self,
        changes: Sequence[Change],
        after: Callable[[Change, Edge], bool | None] = lambda change, edge: True,
    ) -> float | None:
        """How much more the score would have been; None where that is not known.

        Args:
            changes: the numbers that would have been others.
            after: whether a number was read there after the change; None where that is not known.
        """
        by_origin: dict[int, list[Change]] = {}
        for change in changes:
            by_origin.setdefault(id(change.at), []).append(change)
        new: dict[int, float] = {}
        doubtful: set[int] = set()
        waiting = [self.order[key] for key in by_origin if key in self.order]
        heapq.heapify(waiting)
        done = -1
        while waiting:
            at = heapq.heappop(waiting)
            if at == done:
                continue
            done = at
            origin = self.nodes[at]
            try:
                if id(origin) in doubtful:
                    raise _UnknownError
                value = _again(origin, new)
            except _UnknownError:
                if origin is self.score or id(origin) in self.tests:
                    return None
                value = math.nan
            for change in by_origin.get(id(origin), ()):
                value = change.of(value)
            if value == origin.value:
                continue
            new[id(origin)] = value
            own = by_origin.get(id(origin), ())
            for edge in self.uses.get(id(origin), ()):
                read = [after(change, edge) for change in own] or [True]
                if all(one is False for one in read):
                    continue
                if not all(read):
                    doubtful.add(id(edge[0]))
                heapq.heappush(waiting, self.order[id(edge[0])])
        if id(self.score) not in new:
            return 0.0
        gained = new[id(self.score)] - float(self.score.value)
        return gained if math.isfinite(gained) else None


def _parts(origin: Origin) -> Iterator[Any]:
    """Everything a value was made of that may be a number."""
    if origin.op in ("sum", "mean", "pick", "any", "all"):
        yield from (part for _, part in origin.parts[0])
        yield origin.parts[1]
    elif origin.op == "call":
        yield look(origin.parts[0], "__self__", None)
        for part in (*origin.parts[1], *origin.parts[2].values()):
            yield part
            if type(part) in (list, tuple):
                yield from STATE.origins_of(part) or ()
    else:
        yield from origin.parts


def _again(origin: Origin, new: dict[int, float]) -> Any:
    """The value once more, of the changed parts; itself where none is changed."""
    changed = [at for at, part in enumerate(_parts(origin)) if id(part) in new]
    if not changed:
        return origin.value
    method = _AGAIN.get(origin.op)
    if method is None:
        raise _UnknownError
    value = method(origin, new)
    if isinstance(value, float) and math.isnan(value):
        raise _UnknownError
    return value


def _now(part: Any, new: dict[int, float]) -> Any:
    return new.get(id(part), part.value if isinstance(part, Origin) else part)


def _through(origin: Origin, new: dict[int, float]) -> Any:
    return _now(origin.parts[0], new)


def _if(origin: Origin, new: dict[int, float]) -> Any:
    if id(origin.parts[1]) in new:
        raise _UnknownError
    return _now(origin.parts[0], new)


def _operation(origin: Origin, new: dict[int, float]) -> Any:
    left, right = origin.parts
    operation = operation_of(origin)
    if operation is ast.Mult:
        _by_settings(origin, new)
    if operation is ast.Div and (not _is_fixed(right) or id(right) in new):
        raise _UnknownError
    if operation not in (ast.Add, ast.Sub, ast.Mult, ast.Div):
        raise _UnknownError
    if not (finite(_now(left, new)) and finite(_now(right, new))):
        raise _UnknownError
    return OPERATORS[operation](_now(left, new), _now(right, new))


def _by_settings(origin: Origin, new: dict[int, float]) -> None:
    """A factor of a changed number has to be a setting: any other says something of this completion."""
    for factor, other in (origin.parts, reversed(origin.parts)):
        if id(other) in new and (id(factor) in new or not _is_fixed(factor)):
            raise _UnknownError


def _is_fixed(part: Any) -> bool:
    """True for a setting, and for a sum or pick of settings."""
    if isinstance(part, Origin) and part.op in ("sum", "mean", "pick"):
        parts = [one for one in _parts(part) if not isinstance(one, str) and one is not None]
        return all(isinstance(one, Origin) and is_setting(one) for one in parts)
    return is_setting(part)


def _times(origin: Origin, new: dict[int, float]) -> Any:
    _by_settings(origin, new)
    return _now(origin.parts[0], new) * _now(origin.parts[1], new)


def _unary(origin: Origin, new: dict[int, float]) -> Any:
    return (
        -_now(origin.parts[0], new)
        if isinstance(origin.place.extra, ast.USub)
        else _now(origin.parts[0], new)
    )


def _sum(origin: Origin, new: dict[int, float]) -> Any:
    more = math.fsum(_now(part, new) - part.value for part in _parts(origin) if id(part) in new)
    return origin.value + (more / len(origin.parts[0]) if origin.op == "mean" else more)


def _pick(origin: Origin, new: dict[int, float]) -> Any:
    pick = {"min": min, "max": max}.get(origin.parts[1])
    before = [value for value, _ in origin.parts[0]]
    if pick is None or not all(map(finite, before)) or pick(before) != origin.value:
        raise _UnknownError
    now = [_now(part, new) if isinstance(part, Origin) else value for value, part in origin.parts[0]]
    if any(number != number for number in now):
        raise _UnknownError
    return pick(now)


def _call(origin: Origin, new: dict[int, float]) -> Any:
    function, arguments, named = origin.parts
    whole = function is int and isinstance(arguments[0], Origin) and type(arguments[0].value) is bool
    if (function is float or whole) and len(arguments) == 1:
        return float(_now(arguments[0], new))
    if function is bool and finite(_now(arguments[0], new)):
        return bool(_now(arguments[0], new))
    if function is round and not named and id(arguments[0]) in new:
        return round(_now(arguments[0], new), *(_now(part, new) for part in arguments[1:]))
    raise _UnknownError


def _compared(origin: Origin, new: dict[int, float]) -> Any:
    left, right = (_now(part, new) for part in origin.parts)
    return _unturned(
        origin, OPERATORS[origin.place.extra](left, right) if finite(left) and finite(right) else None
    )


def _truth(origin: Origin, new: dict[int, float]) -> Any:
    value = _now(origin.parts[0], new)
    if value != value:
        raise _UnknownError
    return _unturned(origin, bool(value) is (origin.op == "test"))


def _unturned(origin: Origin, truth: bool | None) -> Any:
    """The value of a test that comes out as before; what another outcome would have led to is not known."""
    if truth is None or truth is not origin.value:
        raise _UnknownError
    return origin.value


_AGAIN: dict[str, Callable[[Origin, dict[int, float]], Any]] = {
    "use": _through, "ret": _through, "operand": _through, "if": _if, "bin": _operation, "times": _times,
    "unary": _unary, "sum": _sum, "mean": _sum, "pick": _pick, "call": _call, "cmp": _compared, "test": _truth,
    "not": _truth,
}  # fmt: skip


def read_as(edge: Edge) -> tuple[str, int] | None:
    """The variable that a part was read from, and the line; None where it was no variable."""
    origin, at = edge
    node = origin.place
    kid = (
        origin.node
        if origin.op == "use"
        else node.kids[at]
        if origin.op in ("bin", "cmp") and at < len(node.kids)
        else 0
    )
    read = NODES[kid]
    return (read.tree.id, read.line) if read.kind == "name" and isinstance(read.tree, ast.Name) else None
