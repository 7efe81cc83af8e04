"""The weights a visitor listens with: numbers typed over the declared ones, rewards muted or heard alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rewards.errors import UsageError

LARGEST = 1e6


@dataclass(frozen=True)
class Weighing:
    """`typed` replaces declared weights; `muted` rewards count nothing; where any is `solo`, only those count.

    Muting and soloing are for listening: what is kept in the manifest are the typed numbers alone.
    """

    typed: Mapping[str, float] = field(default_factory=dict)
    muted: frozenset[str] = frozenset()
    solo: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Whether anything is other than declared."""
        return bool(self.typed or self.muted or self.solo)

    def factors(self, names: Iterable[str]) -> dict[str, float]:
        """The weight in force of each reward whose weight is not the declared one.

        >>> Weighing({"a": 2.0}, solo=frozenset({"a"})).factors(["a", "b"])
        {'a': 2.0, 'b': 0.0}
        """
        there = list(names)
        heard = self.solo & set(there)
        silent = {name for name in there if name in self.muted or (heard and name not in heard)}
        return {
            name: 0.0 if name in silent else self.typed[name]
            for name in there
            if name in silent or name in self.typed
        }

    def to_json(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"typed": dict(self.typed), "muted": sorted(self.muted), "solo": sorted(self.solo)}


def weighing_of(asked: Mapping[str, Any]) -> Weighing:
    """The weighing that a request describes.

    Raises:
        UsageError: a weight is no finite number, or a name no text.
    """
    typed = asked.get("typed", {})
    if not isinstance(typed, Mapping):
        raise UsageError("'typed' maps rewards to weights")
    for name, value in typed.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or abs(value) > LARGEST:
            raise UsageError(
                f"the weight of {name} must be a number from -{LARGEST:g} to {LARGEST:g}, not {value!r}"
            )
    names = {}
    for key in ("muted", "solo"):
        given = asked.get(key, [])
        if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
            raise UsageError(f"'{key}' is a list of rewards")
        names[key] = frozenset(given)
    return Weighing({str(name): float(value) for name, value in typed.items()}, names["muted"], names["solo"])
