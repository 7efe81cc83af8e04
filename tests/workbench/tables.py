"""Score tables made by hand, without scoring anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rewards.contract import Signature, Status
from rewards.groups import advantages, totals
from rewards.manifest import RewardEntry
from rewards.rewardset import RewardDescription, SetDescription
from workbench.samples import Samples
from workbench.samples.records import Place
from workbench.scoring import ScoreTable

SIGNATURE = Signature("(completions, **kwargs)", ("completions",), (), (), True, False, None)


def described(
    entries: Sequence[Mapping[str, Any]], aggregation: str = "sum_then_normalize"
) -> SetDescription:
    """A set of rewards with these declarations."""
    rewards = [
        RewardDescription(
            RewardEntry(function=f"rewards.py::{entry['name']}", **entry),
            entry["name"], SIGNATURE, None, None, {}, entry["name"],
        )
        for entry in entries
    ]  # fmt: skip
    return SetDescription(
        target="rewards.py",
        name="made by hand",
        root=Path("/nowhere"),
        seal_path=Path("/nowhere/seal.json"),
        manifest_path=None,
        aggregation=aggregation,  # type: ignore[arg-type]
        scale_rewards="group",
        tokenizer="",
        rewards=tuple(rewards),
        fingerprint="",
    )


def table(
    columns: Mapping[str, Sequence[float]],
    groups: Sequence[str],
    *,
    weights: Sequence[float] | None = None,
    labels: Sequence[str | None] | None = None,
    aggregation: str = "sum_then_normalize",
    **declared: Mapping[str, Any],
) -> ScoreTable:
    """A table of these columns; NaN is an abstention. `declared` has the further keys of a reward's entry."""
    factors = list(weights) if weights is not None else [1.0] * len(columns)
    scores = np.array(list(columns.values()), dtype=np.float64).T
    entries = [
        {"name": name, "weight": weight, **declared.get(name, {})}
        for name, weight in zip(columns, factors, strict=True)
    ]
    return ScoreTable(
        description=described(entries, aggregation),
        weights=tuple(factors),
        scores=scores,
        status=np.where(np.isnan(scores), Status.ABSTAINED, Status.NUMBER).astype(np.uint8),
        errors={},
        totals=totals(scores, factors),
        advantages=advantages(scores, factors, groups, aggregation=aggregation),  # type: ignore[arg-type]
        groups=list(groups),
        ids=[str(row) for row in range(len(groups))],
        labels=list(labels) if labels is not None else [None] * len(groups),
        calls=[list(range(len(groups)))],
    )


def samples(texts: Sequence[str], groups: Sequence[str] | None = None, **columns: list[Any]) -> Samples:
    """Samples of these texts."""
    count = len(texts)
    return Samples(
        prompts=list(groups) if groups is not None else ["p"] * count,
        completions=list(texts),
        columns=dict(columns),
        groups=list(groups) if groups is not None else ["g"] * count,
        labels=[None] * count,
        expected=[None] * count,
        ids=[str(row) for row in range(count)],
        steps=[None] * count,
        places=[Place(Path("made.jsonl"), row + 1) for row in range(count)],
        sources=[Path("made.jsonl")],
    )
