"""What models say, side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewards.errors import UsageError
from trainer.generation import Sampling
from trainer.merge import find_trained, write_merged
from trainer.sampling import Answered, sample, to_text

SHORT = Sampling(max_new_tokens=4)


@pytest.mark.guide("G20")
def test_the_usual_temperature_and_cut_are_the_defaults() -> None:
    assert (Sampling().temperature, Sampling().top_p) == (0.7, 0.9)


@pytest.mark.guide("G20")
def test_a_run_answers_its_held_out_prompts_with_base_and_merged_model(tiny_run: Path) -> None:
    write_merged(find_trained(tiny_run), tiny_run / "merged", "float32")
    answered = sample(tiny_run)
    assert [one.prompt[-1]["content"] for one in answered] == ["What is 2 + 3?", "What is 4 + 5?"]
    assert list(answered[0].texts) == ["base", "trained"]


def test_a_prompt_for_a_run_stands_under_its_system_prompt(tiny_run: Path) -> None:
    write_merged(find_trained(tiny_run), tiny_run / "merged", "float32")
    (one,) = sample(tiny_run, "What is 9 + 9?")
    assert one.prompt == [
        {"role": "system", "content": "Maths"},
        {"role": "user", "content": "What is 9 + 9?"},
    ]


def test_any_model_answers_a_prompt(tiny_model: Path) -> None:
    (one,) = sample(tiny_model, "What is 9 + 9?", sampling=SHORT)
    assert one.prompt == [{"role": "user", "content": "What is 9 + 9?"}]
    assert list(one.texts) == [str(tiny_model)]


def test_a_model_without_a_prompt_is_told(tiny_model: Path) -> None:
    with pytest.raises(UsageError, match=r"give a prompt for .* with --prompt"):
        sample(tiny_model)


def test_a_run_that_is_not_merged_is_told(tiny_run: Path) -> None:
    with pytest.raises(UsageError, match="is not merged yet"):
        sample(tiny_run)


def test_answers_are_shown_under_their_model_and_cuts_are_marked() -> None:
    one = Answered("Why?", {"base": "Because", "trained": "So."}, {"base": False, "trained": True})
    assert to_text([one]) == "> Why?\n[base]\nBecause ...\n[trained]\nSo."
    assert to_text([Answered("Why?", {"toy": "So."}, {"toy": True})]) == "> Why?\nSo."
