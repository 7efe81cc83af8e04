"""The rewards for numbers and mathematics against labelled completions: 5,276 of GSM8K's own models, 1,000 of Qwen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rewards.library import exact_match, maths_equal, numeric

QWEN = Path(__file__).parents[3] / "fixtures/maths_pairs/gsm8k_completions.jsonl"
PATH = Path(__file__).parents[3] / "fixtures/gsm8k/all_completions.jsonl"


@pytest.fixture(scope="module")
def solutions() -> list[tuple[str, str, bool]]:
    """Completion, reference and whether it is labelled right."""
    tasks = [json.loads(line) for line in PATH.read_text("utf-8").splitlines()]
    return [
        (sample["completion"], task["answer"], sample["label"] == "right")
        for task in tasks
        for sample in task["samples"]
    ]


@pytest.mark.parametrize("member", [numeric, maths_equal])
def test_every_label_of_the_real_solutions_is_reproduced(
    member: Any, solutions: list[tuple[str, str, bool]]
) -> None:
    completions, answers, labels = zip(*solutions, strict=True)
    scores = member(list(completions), answer=list(answers))
    assert len(scores) == 5276
    assert [score == 1.0 for score in scores] == list(labels)
    assert scores.count(1.0) == 286 + 515 + 458 + 742


def test_exact_match_agrees_but_for_separators_and_pays_no_wrong_one(
    solutions: list[tuple[str, str, bool]],
) -> None:
    completions, answers, labels = zip(*solutions, strict=True)
    scores = exact_match(list(completions), answer=list(answers))
    assert not any(score == 1.0 and not label for score, label in zip(scores, labels, strict=True))
    missed = sum(score == 0.0 and label for score, label in zip(scores, labels, strict=True))
    assert missed < 20  # "5,600" is not the text "5600"; that is what the numeric reward is for


def test_one_in_a_hundred_is_too_loose_for_whole_numbers(solutions: list[tuple[str, str, bool]]) -> None:
    completions, answers, labels = zip(*solutions, strict=True)
    scores = numeric(list(completions), answer=list(answers), relative_tolerance=0.01)
    paid_wrong = sum(score == 1.0 and not label for score, label in zip(scores, labels, strict=True))
    assert 0 < paid_wrong < 40


@pytest.mark.parametrize(
    ("member", "apart"),
    [
        # The label of the first takes $20 and 2000 cents for the same; the problem asks for dollars.
        (maths_equal, {"gsm8k-test-0358-qwen25_3b_rlft": 0.0}),
        # "6th" is 6 as a number; the label compares texts.
        (numeric, {"gsm8k-test-0358-qwen25_3b_rlft": 0.0, "gsm8k-test-0464-qwen25_3b_instruct": 1.0}),
    ],
)
def test_the_labels_of_a_models_completions_are_reproduced_but_for_those_explained(
    member: Any, apart: dict[str, float]
) -> None:
    rows = [json.loads(line) for line in QWEN.read_text("utf-8").splitlines()]
    scores = member([row["completion"] for row in rows], answer=[row["answer"] for row in rows])
    differ = {
        row["id"]: score for row, score in zip(rows, scores, strict=True) if score != float(row["label"])
    }
    assert len(rows) == 1000
    assert differ == apart
