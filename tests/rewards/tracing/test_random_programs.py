"""Random reward functions: traced scores are untraced scores, and the credits always add up."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from rewards.contract import Batch
from rewards.rewardset import RewardSet
from rewards.tracing import Explainer
from tests.rewards.tracing.programs import TEXTS, programs

ROWS = Batch([[]] * len(TEXTS), [[{"role": "assistant", "content": text}] for text in TEXTS])


def check(folder: Path, seed: int, count: int) -> None:
    """Explain every text by every program of a seed."""
    file = folder / "programs.py"
    file.write_text(programs(seed, count))
    explainer = Explainer(functools.partial(RewardSet.load, file))
    for name in explainer.plain.names:
        for row in range(len(TEXTS)):
            explanation = explainer.explain(name, ROWS, row)
            json.dumps(explanation.to_json(), allow_nan=False)
            assert explanation.error is None, (seed, name, row)
            assert (explanation.alone, explanation.exact) == (True, True), (seed, name, row)


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_are_explained_exactly(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed, 10)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
def test_many_random_programs_are_explained_exactly(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed, 150)
