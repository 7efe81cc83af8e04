"""Rows of its own for each call: what a reward changes in place reaches no other reward, and no call of its own again.

Texts and numbers cannot be changed, so they are shared; lists and dicts are made anew, however they are nested.
Rows one after another that share a value (the prompt of their group) share its copy too. An object that cannot be
copied, and a value nested deeper than Python goes, are handed over as they are.
"""

from __future__ import annotations

import contextlib
import copy
import gc
from collections.abc import Iterator
from typing import Any

from rewards.contract import Batch

_FIXED = frozenset([str, bytes, int, float, bool, complex, type(None)])
"""Types whose values nobody can change."""

_all_fixed = _FIXED.issuperset


def own_copy(batch: Batch) -> Batch:
    """The batch with lists and rows that the reward may change; `groups`, which no reward gets, are the same."""
    with _collector_at_rest():
        made = Batch(
            _column(batch.prompts),
            _column(batch.completions),
            [ids.copy() if type(ids) is list else _own(ids) for ids in batch.completion_ids],
            {name: _column(values) for name, values in batch.columns.items()},
            batch.groups,
        )
    if not batch.completion_ids:
        vars(made)["texts"] = batch.texts  # encoded once for all calls
    return made


@contextlib.contextmanager
def _collector_at_rest() -> Iterator[None]:
    """No look for garbage among hundreds of thousands of new lists: there is none, and it takes half the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _column(values: list[Any]) -> list[Any]:
    """The values of all rows."""
    if _all_fixed(map(type, values)):
        return list(values)
    made = []
    last = own = None
    for value in values:
        if value is not last:
            last = value
            try:
                own = _own(value)
            except RecursionError:
                own = value
        made.append(own)
    return made


def _own(value: Any) -> Any:
    """A value that shares nothing that can be changed with this one."""
    kind = type(value)
    if kind in _FIXED:
        return value
    if kind is dict:
        if _all_fixed(map(type, value.values())):
            return value.copy()
        return {name: _own(one) for name, one in value.items()}
    if kind is list:
        return value.copy() if _all_fixed(map(type, value)) else [_own(one) for one in value]
    if kind is tuple:
        return tuple(map(_own, value))
    try:
        return copy.deepcopy(value)
    except RecursionError:
        raise
    except Exception:  # noqa: BLE001  # an object of the user's, which may refuse in any way
        return value
