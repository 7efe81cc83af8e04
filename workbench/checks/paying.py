"""Which lines and conditions of a reward pay a completion; runs in a worker process, beside the user's code."""

from __future__ import annotations

import functools
from typing import Any

from rewards.contract import Batch, completion_text
from rewards.rewardset import RewardSet
from rewards.tracing.explaining import Explainer


def paying(
    context: Any,
    *,
    reward: str,
    prompts: list[Any],
    completions: list[Any],
    columns: dict[str, list[Any]],
    with_ids: bool,
) -> list[list[tuple[Any, str]] | None]:
    """For each completion, called by itself, where its points came from: (line or place, condition), in order.

    None where the code cannot be followed to the score.
    """
    explainer = Explainer(functools.partial(RewardSet.load, context.target))
    found: list[list[tuple[Any, str]] | None] = []
    for at, completion in enumerate(completions):
        ids = [list(completion_text(completion).encode("utf-8", "surrogatepass"))] if with_ids else []
        row = {name: [values[at]] for name, values in columns.items()}
        batch = Batch([prompts[at]], [completion], ids, row, ["alone"])
        explained = explainer.explain(reward, batch, 0)
        credits = [credit for credit in explained.credits if credit.points > 0]
        paid = sorted(
            {(str(credit.line or credit.place), credit.condition or credit.name) for credit in credits}
        )
        found.append(paid if explained.exact and paid else None)
    return found


__all__ = ["paying"]
