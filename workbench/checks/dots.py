"""A dot that stops at the end of a line, as the reason why a completion earns less: tried with `re.DOTALL`.

The reward is called once more with every pattern given the flag, in its worker. Where it then pays what was expected,
and no sample labelled right less than before, the pattern that did not match before is named, wherever it is written:
in a helper, put together from parts, compiled long ago.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rewards.contract import call, completion_text, unwrap
from workbench.checks.check import number, shown_pattern
from workbench.checks.finding import Finding
from workbench.checks.observing import batch_of, reward_named
from workbench.checks.subject import RewardSubject

ASKED = ("RW208", "RW401", "RW402", "RW406", "RW601", "RW701")
"""Checks whose completion may have been missed for that."""
RIGHT = 20
"""Samples labelled right that must not lose by the flag."""
NEAR = 1e-3
"""Share by which a score may miss one that a sentence gives in four digits."""
_AT_LEAST = re.compile(r"at least (-?\d[\d.e+-]*)")


def with_dot_advice(subject: RewardSubject, finding: Finding) -> Finding:
    """The finding, its advice led by the pattern and the flag where that is why its completion earns less."""
    completion = finding.evidence.completion
    text = completion_text(completion) if completion is not None else ""
    row = next(iter(subject.concerned), None)  # None without samples too
    paid = subject.description.entry.cost == "paid"
    if paid or finding.check not in ASKED or "\n" not in text.strip() or row is None:
        return finding
    if finding.evidence.columns is not None:
        row = next(
            (at for at in subject.concerned if _columns_of(subject, at) == finding.evidence.columns), row
        )
    right = subject.labelled("right")[:RIGHT] if subject.judged else []
    found = subject.probe(
        "workbench.checks.dots:dot_cause",
        2 + 2 * len(right),
        row=row,
        completion=completion,
        least=_least(finding.evidence.expected),
        right=right,
    )
    if not found:
        return finding
    where = f"line {found['line']} of {found['file']}" if found["line"] else "the code"
    return replace(
        finding,
        advice=f"In {where} the pattern {shown_pattern(found['pattern'])} is used without re.DOTALL, so its dot "
        f"stops at the end of a line; with the flag, re.{found['function']}(pattern, {found['more']}re.DOTALL), this "
        f"completion earns {number(found['score'])}. {finding.advice}",
    )


def _least(expected: Any) -> float | None:
    """The score that was expected at least: a number, or one that a sentence begins with; None for other sentences."""
    if isinstance(expected, (int, float)):
        return float(expected)
    said = _AT_LEAST.match(str(expected))
    return float(said[1]) if said else None


def _columns_of(subject: RewardSubject, row: int) -> dict[str, Any]:
    assert subject.batch is not None
    return {name: values[row] for name, values in subject.batch.columns.items()}


# -- in the worker ---------------------------------------------------------------------------------------------


def dot_cause(
    context: Any,
    *,
    reward: str,
    row: int,
    completion: Any,
    least: float | None = None,
    right: Sequence[int] = (),
) -> dict[str, Any] | None:
    """The pattern whose dot keeps a completion from being paid; None where that is not why.

    With the flag it has to earn more, at least `least`, and none of the rows `right` less.

    `pattern`, the `line` and `file` where it is used (None: it was compiled at import), the `function` of `re`, and the
    `score` with the flag.
    """
    function, entry = reward_named(context, reward)
    text = completion_text(completion)

    def score() -> float:
        return float(call(function, batch_of(context, [row], [completion]), params=entry.params).scores[0])

    def paid() -> npt.NDArray[np.float64]:
        if not right:
            return np.zeros(0)
        scored = np.array(call(function, batch_of(context, right), params=entry.params).scores, dtype=float)
        return np.where(np.isnan(scored), -np.inf, scored)

    before, sure = score(), paid()
    with _every_dot_wide(function) as met:
        after = score()
    with _every_dot_wide(function):
        still = paid()
    if not (np.isfinite(after) and after > (before if np.isfinite(before) else -np.inf) + 1e-9):
        return None
    short = least is not None and after < least - NEAR * max(1.0, abs(least))
    if short or (still < sure - 1e-9).any():
        return None
    for use in met:
        if _takes_more(use["pattern"], use["flags"], text):
            return {**use, "score": after}
    return None


def _takes_more(pattern: str, flags: int, text: str) -> bool:
    narrow, wide = re.compile(pattern, flags & ~re.DOTALL), re.compile(pattern, flags | re.DOTALL)
    return any(
        [match.span() for match in narrow.finditer(said)] != [match.span() for match in wide.finditer(said)]
        for said in (text, text.strip())
    )


@contextmanager
def _every_dot_wide(function: Any) -> Iterator[list[dict[str, Any]]]:
    """While it lasts every pattern has DOTALL; gives the patterns that had not, in the order they were met."""
    met: list[dict[str, Any]] = []
    before = re._compile  # type: ignore[attr-defined]  # where all functions of re meet

    def listen(pattern: Any, flags: int) -> Any:
        given = before(pattern, flags)
        if not isinstance(given.pattern, str) or given.flags & re.DOTALL:
            return given
        caller = sys._getframe(1)
        user = caller.f_back
        met.append(
            {
                "pattern": given.pattern,
                "flags": given.flags,
                "function": caller.f_code.co_name,
                "more": "" if caller.f_code.co_name == "compile" else "text, ",
                "line": user.f_lineno if user is not None else None,
                "file": Path(user.f_code.co_filename).name if user is not None else None,
            }
        )
        return before(given.pattern, given.flags | re.DOTALL)

    changed: list[tuple[dict[str, Any], str, Any]] = []
    for space in _spaces(function):
        for name, value in list(space.items()):
            if (
                isinstance(value, re.Pattern)
                and isinstance(value.pattern, str)
                and not value.flags & re.DOTALL
            ):
                changed.append((space, name, value))
                use = {"pattern": value.pattern, "flags": value.flags, "function": "compile", "more": ""}
                met.append({**use, "line": None, "file": None})
                space[name] = re.compile(value.pattern, value.flags | re.DOTALL)
    re._compile = listen  # type: ignore[attr-defined]
    try:
        yield met
    finally:
        re._compile = before  # type: ignore[attr-defined]
        for space, name, value in changed:
            space[name] = value


def _spaces(function: Any) -> list[dict[str, Any]]:
    """The names of the reward's module and of the local modules whose functions or names it has there."""
    inner = unwrap(function)
    own = getattr(inner, "__globals__", None) or getattr(type(inner).__call__, "__globals__", None)
    if own is None:
        return []
    spaces = [own]
    folder = str(Path(str(own.get("__file__") or "/")).parent)
    for value in list(own.values()):
        space = value.__globals__ if isinstance(value, types.FunctionType) else None
        space = vars(value) if isinstance(value, types.ModuleType) else space
        local = space is not None and str(space.get("__file__") or "").startswith(f"{folder}/")
        if space is not None and local and all(space is not known for known in spaces):
            spaces.append(space)
    return spaces


__all__ = ["ASKED", "dot_cause", "with_dot_advice"]
