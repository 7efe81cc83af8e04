"""Numbers read from the completions' texts, beside which scores are looked at: length, digits, tags, repetition.

Length is counted for every row. The others read every character, so they are counted in whole groups spread
over the samples, up to `MEASURED` rows; the rows left out have NaN there, and a note says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rewards.contract import completion_text
from rewards.groups import number
from rewards.signal import FEATURES

MEASURED = 2_000
"""Rows whose text is read for more than its length."""


@dataclass(frozen=True)
class Features:
    """`values` maps a feature to one number a row, NaN where it was not measured."""

    values: dict[str, npt.NDArray[np.float64]]
    notes: tuple[str, ...] = ()


def features_of(completions: Sequence[Any], groups: Sequence[str], *, measured: int = MEASURED) -> Features:
    """The features of `rewards.signal.FEATURES` for completions.

    Args:
        completions: texts or chats; the text is that of the last assistant message.
        groups: the group of each row.
        measured: rows to read for more than their length.
    """
    texts = [one if isinstance(one, str) else completion_text(one) for one in completions]
    rows = _spread_groups(groups, measured)
    values: dict[str, npt.NDArray[np.float64]] = {}
    for name, count in FEATURES.items():
        if name == "length":
            values[name] = np.fromiter(map(len, texts), np.float64, len(texts))
            continue
        column = np.full(len(texts), math.nan)
        column[rows] = [count(texts[row]) for row in rows]
        values[name] = column
    if len(rows) == len(texts):
        return Features(values)
    return Features(
        values, (f"digits, tags and repetition were counted in {len(rows)} of {len(texts)} completions",)
    )


def _spread_groups(groups: Sequence[str], most: int) -> list[int]:
    """Rows of whole groups, evenly spread, about `most` in all."""
    if len(groups) <= most:
        return list(range(len(groups)))
    codes, _ = number(groups)
    step = math.ceil(len(groups) / most)
    return [int(row) for row in np.flatnonzero(codes % step == 0)]
