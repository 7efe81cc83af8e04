"""Scored batches made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rewards.groups import advantages, totals
from trainer.rewarding.completions import ScoredBatch


def scored(
    scores: Sequence[Sequence[float | None]],
    *,
    names: Sequence[str] = ("a",),
    weights: Sequence[float] | None = None,
    step: int = 1,
    group: int = 4,
    **more: Any,
) -> ScoredBatch:
    """A training batch with a row for each list of scores, None where a reward had no opinion."""
    table = np.array([[np.nan if one is None else one for one in row] for row in scores], dtype=float)
    groups = [f"{step}-{row // group}" for row in range(len(table))]
    given = list(weights or [1.0] * len(names))
    return ScoredBatch(
        step=step,
        split="train",
        prompts=["p"] * len(table),
        completions=[f"c{row}" for row in range(len(table))],
        groups=groups,
        names=tuple(names),
        scores=table,
        totals=totals(table, given),
        advantages=advantages(table, given, groups),
        weights=tuple(given),
        seconds=dict.fromkeys(names, 0.0),
        **more,
    )
