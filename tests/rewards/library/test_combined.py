"""Answer and layout in one score; brevity for right answers only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rewards.contract import Batch, call, signature, trl_name
from rewards.library.combined import brief_if_right, combined_code, combined_maths
from rewards.marks import mark_of
from rewards.rewardset import RewardSet
from rewards.tracing.explaining import explain_row

LAID_OUT = "<reasoning>a half</reasoning>\n<answer>{}</answer>"


@pytest.mark.guide("G7")
@pytest.mark.parametrize(
    ("text", "score"),
    [(LAID_OUT.format("1/2"), 1.0), ("The answer is 0.5.", 0.8), (LAID_OUT.format("1/3"), 0.2), ("", 0.0)],
)
def test_maths_pays_the_answer_four_times_as_much_as_the_layout(text: str, score: float) -> None:
    assert combined_maths([text], answer=["0.5"]) == [pytest.approx(score)]


def test_maths_has_no_opinion_without_a_reference() -> None:
    assert combined_maths([LAID_OUT.format("1/2")], answer=[None]) == [None]


def test_maths_passes_its_parameters_on() -> None:
    text = "<think>a half</think><answer>1/2</answer>"
    assert combined_maths([text], answer=["0.5"], tag_names=["think", "answer"]) == [1.0]
    with pytest.raises(ValueError, match="reward 'soft_xml_format': tag_names="):
        combined_maths([text], answer=["0.5"], tag_names="answer")


def program(body: str) -> str:
    return f"```python\ndef twice(n):\n    return {body}\n```"


@pytest.mark.guide("G7")
@pytest.mark.parametrize(
    ("text", "score"),
    [
        (program("2 * n"), 1.0),
        ("def twice(n):\n    return 2 * n\n", 0.9),
        (program("n"), 0.2),
        (program("(n"), 0.1),
        ("It doubles n.", 0.0),
    ],
)
def test_code_pays_tests_first_and_a_program_a_little(text: str, score: float) -> None:
    columns: dict[str, Any] = {"tests": [[[[3], 6], [[0], 0]]], "entry_point": ["twice"]}
    assert combined_code([text], **columns) == [pytest.approx(score)]


def test_each_row_is_judged_by_its_own_tests() -> None:
    scores = combined_code([program("2 * n")] * 3, tests=[[[[3], 6]], [[[3], 7]], None], entry_point="twice")
    assert scores == [1.0, pytest.approx(0.2), None]


def test_code_can_pay_the_share_of_tests() -> None:
    tests = [[[[3], 6], [[0], 1]]]
    assert combined_code([program("2 * n")], tests=tests, entry_point="twice", paid="share") == [
        pytest.approx(0.6)
    ]


def test_code_that_ends_the_process_is_not_paid_for_its_tests() -> None:
    text = "```python\nimport os\nprint('1 passed')\nos._exit(0)\ndef twice(n):\n    return 2 * n\n```"
    assert combined_code([text], tests=[[[[3], 6]]], entry_point="twice") == [pytest.approx(0.2)]


@pytest.mark.parametrize("function", [combined_maths, combined_code])
def test_parts_of_a_combined_score_are_told_apart(function: Any) -> None:
    columns: dict[str, Any] = {"answer": ["0.5"], "tests": [[[[3], 6]]], "entry_point": ["twice"]}
    batch = Batch(["p"], [LAID_OUT.format("1/2") + program("2 * n")], columns=columns, groups=["a"])
    result = call(function, batch, record_credits=True)
    assert result.credits is not None
    assert len(result.credits[0]) >= 2
    assert sum(one["points"] for one in result.credits[0]) == pytest.approx(result.scores[0])


def test_an_explanation_of_a_combined_score_is_exact() -> None:
    batch = Batch(["p"], [LAID_OUT.format("1/2")], columns={"answer": ["0.5"]}, groups=["a"])

    def load(*, transform: Any = None) -> RewardSet:
        return RewardSet.load("rewards.library.combined:combined_maths", transform=transform)

    told = explain_row(load, "combined_maths", batch, 0)
    assert told.exact
    assert [(one.name, one.points) for one in told.credits] == [
        ("answer equals the reference", 0.8),
        ("soft format", 0.2),
    ]


def test_brevity_is_paid_to_right_answers_alone() -> None:
    long = "So it goes on. " * 60
    texts = [
        "Paris",
        f"<reasoning>{long}</reasoning><answer>Paris</answer>",
        "Rome",
        f"{long} <answer>Rome</answer>",
    ]
    assert brief_if_right(texts, answer=["Paris"] * 4) == [1.0, 0.0, 0.0, 0.0]
    assert brief_if_right(["Paris"], answer=[None]) == [None]


def test_brevity_is_declared_like_any_reward() -> None:
    assert trl_name(brief_if_right) == "brief_if_right"
    assert signature(brief_if_right).required == ("answer",)
    assert mark_of(brief_if_right)["range"] == (0.0, 1.0)


# ---------------------------------------------------------------------------- beside another library's

PEERS = Path(__file__).parents[3] / "fixtures/peers/answers.jsonl"
THEIRS = [
    row
    for row in map(json.loads, PEERS.read_text("utf-8").splitlines())
    if (row["peer"], row["reward"]) == ("skill-library", "math_problem_reward")
]
ON_PURPOSE = {
    "skill-library-bc259f622c10": "1,234 is the number 1234",
    "skill-library-4e94e505744d": "the last of several answers counts, not the first",
    "skill-library-2f11fbea48cb": "text between and after the blocks is not the layout",
}


@pytest.mark.guide("G7")
def test_maths_agrees_with_the_library_it_comes_from_wherever_the_reference_is_mathematics() -> None:
    """25 rows; theirs is worth 2.5 in all. Ours has no opinion where the reference is empty, nan, a letter or none."""
    differing, unread = [], []
    for row in THEIRS:
        (ours,) = combined_maths(
            [row["inputs"]["completion"]], answer=[row["inputs"]["answer"]], answer_forms=["tag"]
        )
        if ours is None:
            unread.append(row["inputs"]["answer"])
        elif abs(2.5 * ours - row["expected"]) > 1e-9:
            differing.append(row["id"])
    assert len(THEIRS) == 25
    assert set(unread) == {"", "nan", "b", "x"}
    assert sorted(differing) == sorted(ON_PURPOSE)
