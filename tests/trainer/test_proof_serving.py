"""The proof in the served dtype: a right merge passes, no merge is found, ties are forgiven."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from trainer.merging.merge import Trained, write_merged
from trainer.merging.proof_serving import (
    Parting,
    ServingFacts,
    check_answers,
    check_served_logits,
    check_serving,
)

FACTS = ServingFacts(100, difference=1e-5, kl=1e-9, same_top=1.0, std=1.0, noise=1e-6, noise_kl=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_right_merge_passes(tiny_model: Path, tiny_adapter: Path, tmp_path: Path, dtype: str) -> None:
    write_merged(Trained(tmp_path, tiny_model, tiny_adapter, None, tiny_adapter), tmp_path, dtype)
    checks = check_serving(tiny_model, tiny_adapter, None, tmp_path, tiny_adapter, [], dtype)
    assert [(check.number, check.passed) for check in checks] == [(9, True), (12, True)]


def test_a_base_that_was_not_merged_is_found(tiny_model: Path, tiny_adapter: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny_model, tmp_path / "copy")
    logits, answers = check_serving(
        tiny_model, tiny_adapter, None, tmp_path / "copy", tiny_adapter, [], "float32"
    )
    assert (logits.passed, answers.passed) == (False, False)
    assert "parts at token" in answers.sentence


def test_answers_may_part_at_a_tie_only() -> None:
    assert check_answers([Parting(0, 3, 0.05)], 8, "bfloat16", noise=0.0).passed
    assert not check_answers([Parting(0, 3, 0.2)], 8, "bfloat16", noise=0.0).passed
    assert not check_answers([Parting(0, 3, 0.05)], 8, "float32", noise=0.0).passed
    same = check_answers([], 8, "float32", noise=0.0)
    assert (same.passed, same.sentence) == (True, "8 of 8 greedy answers are the same in float32")


@pytest.mark.parametrize(
    "change", [{"difference": 1.0}, {"kl": 0.1}, {"same_top": 0.9}], ids=["logits", "kl", "likeliest"]
)
def test_each_figure_has_its_limit(change: dict[str, float]) -> None:
    from dataclasses import replace

    assert check_served_logits(FACTS, "bfloat16").passed
    assert check_served_logits(replace(FACTS, **change), "bfloat16").passed is False


def test_the_limits_are_never_below_the_models_own_noise() -> None:
    from dataclasses import replace

    assert check_served_logits(replace(FACTS, difference=0.01, noise=0.005), "float32").passed
