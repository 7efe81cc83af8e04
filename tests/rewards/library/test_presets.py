"""The four presets: usable as they stand, and without the faults that such sets usually have."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rewards.contract import Batch, Status, call, signature, trl_name
from rewards.errors import UsageError
from rewards.library.presets import PRESETS, preset
from rewards.manifest import read_manifest
from rewards.marks import mark_of
from rewards.rewardset import RewardSet

each = pytest.mark.parametrize("name", PRESETS)
WORDS = "because therefore however first second finally " * 60


def totals(name: str, completions: list[str], **columns: list[Any]) -> list[float]:
    one = preset(name)
    batch = Batch(["p"] * len(completions), completions, columns=columns)
    scores = [call(function, batch).scores for function in one.functions()]
    return [
        float(sum(w * s[row] for w, s in zip(one.weights, scores, strict=True)))
        for row in range(len(completions))
    ]


@pytest.mark.guide("G3")
@each
def test_a_preset_is_three_rewards_with_ranges_that_trl_can_tell_apart(name: str) -> None:
    functions = preset(name).functions()
    assert len(functions) == 3
    assert len({trl_name(function) for function in functions}) == 3
    assert all(mark_of(function)["range"] in ((0.0, 1.0), (-1.0, 0.0)) for function in functions)
    assert all(signature(function).problem is None for function in functions)


@pytest.mark.guide("G4")
@each
def test_what_is_right_outweighs_all_the_rest_together(name: str) -> None:
    one = preset(name)
    reach = [
        entry.weight * (mark_of(function)["range"][1] - mark_of(function)["range"][0])
        for entry, function in zip(one.rewards, one.functions(), strict=True)
    ]
    assert one.rewards[0].kind == "correctness"
    assert reach[0] > sum(reach[1:])


@each
def test_no_kind_but_code_s_layout_is_paid_twice(name: str) -> None:
    """Code has two: that there is a block, and that what stands in it is Python; together a quarter of the tests."""
    kinds = Counter(entry.kind for entry in preset(name).rewards)
    assert {kind for kind, count in kinds.items() if count > 1} <= ({"format"} if name == "code" else set())


@each
def test_kinds_are_those_of_the_rewards_themselves(name: str) -> None:
    for entry, function in zip(preset(name).rewards, preset(name).functions(), strict=True):
        assert entry.kind == mark_of(function)["kind"]


@pytest.mark.guide("G28")
@each
def test_its_tables_are_a_manifest_that_loads(tmp_path: Path, name: str) -> None:
    (tmp_path / "rewardset.toml").write_text(preset(name).to_toml())
    entries = read_manifest(tmp_path / "rewardset.toml").reward
    assert [(e.function, e.weight, e.params) for e in entries] == [
        (e.function, e.weight, e.params) for e in preset(name).rewards
    ]
    assert RewardSet.load(tmp_path).names == [entry.name for entry in preset(name).rewards]


def test_an_unknown_preset_is_answered_with_those_there_are() -> None:
    with pytest.raises(
        UsageError, match=r"no preset 'math'; did you mean 'maths'\?; there are maths, code, summary, qa"
    ):
        preset("math")


# ------------------------------------------------------------------------- the faults that are not there


@pytest.mark.guide("G7")
def test_maths_pays_the_layout_once_and_a_right_answer_without_it_more_than_a_wrong_one_in_it() -> None:
    laid_out = "<reasoning>3 + 4</reasoning><answer>{}</answer>"
    right, bare, wrong, stuffed = totals(
        "maths",
        [laid_out.format(7), "7", laid_out.format(8), laid_out.format(f"{WORDS} 8")],
        answer=["7"] * 4,
    )
    assert (right, bare, wrong) == (2.5, 2.0, 0.5)
    assert stuffed <= wrong


@pytest.mark.guide("G7")
def test_qa_does_not_pay_long_wrong_answers() -> None:
    short, long = (
        "<reasoning>It is.</reasoning><answer>{}</answer>",
        "<reasoning>{}</reasoning><answer>{}</answer>",
    )
    right, wrong, long_wrong, long_right = totals(
        "qa",
        [
            short.format("Paris"),
            short.format("Rome"),
            long.format(WORDS, "Rome"),
            long.format(WORDS, "Paris"),
        ],
        answer=["Paris"] * 4,
    )
    assert long_wrong <= wrong < long_right < right


@pytest.mark.guide("G7")
def test_a_summary_is_not_paid_for_its_length_and_copying_costs() -> None:
    reference = "The library closes for two weeks in May because of the roof."
    text = f"{reference} " + " ".join(f"Sentence {n} is about something else." for n in range(40))
    good, copy, empty, other = totals(
        "summary", [reference, text, "", "Something will change in the town."], answer=[reference] * 4
    )
    assert good == 2.0
    assert copy < other < good
    assert empty == 0.0


@pytest.mark.guide("G7")
def test_code_gives_each_row_its_own_tests_and_pays_none_without() -> None:
    program = "```python\ndef twice(n):\n    return 2 * n\n```"
    tests = [[[[3], 6]], [[[3], 7]]]
    right, wrong = totals("code", [program] * 2, tests=tests, entry_point=["twice"] * 2)
    assert (right, wrong) == (2.5, 0.5)
    without = call(preset("code").functions()[0], Batch(["p"], [program], columns={"tests": [None]}))
    assert without.status.tolist() == [Status.ABSTAINED]
