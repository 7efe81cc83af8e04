"""What models say, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rewards.errors import UsageError
from trainer.comparing.sampling import Answered, converse, sample, to_text
from trainer.merging.merge import find_trained, write_merged
from trainer.models.generation import Sampling
from trainer.rundir import RunDir

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


def test_a_staged_run_answers_at_the_length_of_its_last_stage(tiny_run: Path) -> None:
    write_merged(find_trained(tiny_run), tiny_run / "merged", "float32")
    manifest = RunDir(tiny_run).manifest_path
    stage = '[[train.stage]]\nname = "main"\nmax_completion_length = 5\n'
    manifest.write_text(manifest.read_text().replace("max_completion_length = 8\n", "") + stage)
    assert converse(tiny_run, held_out=[1]).sampling.max_new_tokens == 5


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


@pytest.mark.guide("G20")
def test_held_out_prompts_are_scored_by_the_runs_rewards_and_typed_ones_as_far_as_they_can(
    tiny_run: Path,
) -> None:
    write_merged(find_trained(tiny_run), tiny_run / "merged", "float32")
    found = converse(tiny_run, held_out=[2], answers=2, scored=True)
    assert [one.held_out for one in found.answered] == [2, 2]
    assert found.unscored == {}
    for one in found.answered:
        for label, text in one.texts.items():
            paid = {"tagged": float("<answer>" in text), "right": float("9" in text)}
            assert (one.scores[label], one.totals[label]) == (paid, paid["tagged"])
    typed = converse(tiny_run, "What is 9 + 9?", scored=True)
    assert list(typed.answered[0].scores["base"]) == ["tagged"]
    assert "answer" in typed.unscored["right"]
    assert typed.answered[0].totals["base"] is not None  # the reward that cannot score has weight 0


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"held_out": [3]}, "2 held-out prompts"),
        ({"held_out": [1], "prompt": "x"}, "not both"),
        ({"answers": 0}, "1 to 16"),
    ],
)
def test_what_cannot_be_asked_of_a_run_is_one_sentence(
    tiny_run: Path, asked: dict[str, Any], why: str
) -> None:
    (tiny_run / "merged").mkdir()
    (tiny_run / "merged" / "config.json").touch()  # nothing is loaded
    with pytest.raises(UsageError, match=why):
        converse(tiny_run, **asked)


def test_a_set_that_is_gone_scores_nothing_and_the_answers_are_there(tiny_run: Path) -> None:
    write_merged(find_trained(tiny_run), tiny_run / "merged", "float32")
    (tiny_run.parent.parent / "rewardset.toml").unlink()
    found = converse(tiny_run, held_out=[1], scored=True)
    assert found.answered[0].texts.keys() == {"base", "trained"}
    assert list(found.unscored) == [""]


def test_answers_are_shown_under_their_model_and_cuts_are_marked() -> None:
    one = Answered("Why?", {"base": "Because", "trained": "So."}, {"base": False, "trained": True})
    assert to_text([one]) == "> Why?\n[base]\nBecause ...\n[trained]\nSo."
    assert to_text([Answered("Why?", {"toy": "So."}, {"toy": True})]) == "> Why?\nSo."
    paid = {"base": {"a": 0.5, "b": None}}
    told = to_text(
        [
            Answered(
                "Why?", {"base": "A", "trained": "B"}, {"base": True, "trained": True}, 1, paid, {"base": 0.5}
            )
        ]
    )
    assert told == "> Why?\n[base] total 0.50 (a 0.50, b None)\nA\n[trained]\nB"
