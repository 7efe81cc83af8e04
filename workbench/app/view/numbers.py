"""Numbers as the page gets them: strict JSON, and failures told apart from scores."""

from __future__ import annotations

import math

from rewards.contract import Status

Cell = float | str | None

FAILURE = "!"
"""Stands where a reward failed; the sentence is in the row's detail."""


def cell(score: float, status: int = Status.NUMBER) -> Cell:
    """A number with at most six significant digits, None for no opinion, "nan", "inf", "-inf" or FAILURE.

    >>> cell(0.12345678), cell(float("nan"), Status.ABSTAINED), cell(float("inf")), cell(0.0, Status.RAISED)
    (0.123457, None, 'inf', '!')
    """
    if status >= Status.WRONG_TYPE:
        return FAILURE
    if status == Status.ABSTAINED:
        return None
    value = float(score)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return short(value)


def short(value: float) -> float:
    """`value` at six significant digits, which is what a screen can show.

    >>> short(1 / 3), short(-0.0)
    (0.333333, 0.0)
    """
    return float(f"{float(value):.6g}") + 0.0
