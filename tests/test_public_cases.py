"""Failures that were reported in public, run against the library and the group arithmetic.

`fixtures/cases/public-cases.jsonl` holds 40; the ones named here are those that a member of the first library or
`rewards.groups` answers for. The others are about programs, runs, merging and the app.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import rewards.library
from rewards.groups import advantages, group_statistics, totals
from rewards.library import exact_match, ideal_length, numeric, soft_xml_format, strict_xml_format

CASES: dict[int, dict[str, Any]] = {
    case["id"]: case
    for case in map(
        json.loads,
        (Path(__file__).parent.parent / "fixtures/cases/public-cases.jsonl").read_text("utf-8").splitlines(),
    )
}
LAST_NUMBER = {"answer_forms": ["number"]}
THINK = {"tag_names": ["think", "answer"]}
MESSAGE_MEMBERS = [getattr(rewards.library, name) for name in rewards.library.__all__]

SCORED = [
    (1, numeric, {}),
    (3, numeric, LAST_NUMBER),
    (4, numeric, LAST_NUMBER),
    (5, exact_match, {}),
    (6, numeric, {}),
    (6, exact_match, {}),
    (8, numeric, {}),
    (11, exact_match, {}),
    (12, numeric, {}),
    (12, exact_match, {}),
    (13, soft_xml_format, {}),
    (16, soft_xml_format, THINK),
    (18, exact_match, {}),
    (24, exact_match, {}),
]
BY_BEHAVIOUR = {14, 19, 21, 26, 31, 33, 34}


def rows(number: int) -> list[dict[str, Any]]:
    return list(CASES[number]["inputs"]["rows"])


def scores(member: Any, number: int, **options: Any) -> list[float | None]:
    completions = [row["completion"] for row in rows(number)]
    answers = [row.get("answer") for row in rows(number)]
    return list(member(completions, answer=answers, **options))


def test_nineteen_of_the_forty_cases_are_covered_here() -> None:
    covered = {number for number, _, _ in SCORED} | BY_BEHAVIOUR
    assert (len(CASES), len(covered)) == (40, 19)


@pytest.mark.parametrize(
    ("number", "member", "options"), SCORED, ids=lambda part: getattr(part, "__name__", str(part))
)
def test_the_scores_are_the_right_ones(number: int, member: Any, options: dict[str, Any]) -> None:
    assert scores(member, number, **options) == CASES[number]["expected"]["scores"]


@pytest.mark.parametrize("member", [soft_xml_format, strict_xml_format])
def test_case_14_mismatched_tags_score_below_matching_ones(member: Any) -> None:
    mismatched, matching = scores(soft_xml_format, 14, **THINK)
    assert mismatched is not None
    assert matching is not None
    assert mismatched < matching
    assert scores(member, 14, **THINK)[0] == 0.0


def test_case_19_completions_at_the_cap_show_as_a_group_without_spread() -> None:
    texts = [row["completion"] for row in rows(19)]
    values = ideal_length(texts, target_length=20, length_unit="characters")
    assert values == [0.0] * 4
    assert group_statistics([[value] for value in values], [1.0], ["p"] * 4).zero_spread_share == 1.0


def test_case_21_a_format_bonus_drives_an_all_wrong_group_unless_it_is_gated() -> None:
    case = CASES[21]
    (group,) = case["inputs"]["groups"]
    table = list(zip(group["accuracy"], group["format"], strict=True))
    added = advantages(table, [1.0, 0.5], ["p"] * 4)
    assert added.tolist() == pytest.approx(case["expected"]["faulty_advantages"], abs=1e-3)
    gated = advantages([[right * form] for right, form in table], [1.0], ["p"] * 4)
    assert gated.tolist() == case["expected"]["gated_advantages"]


def test_case_26_a_tower_of_powers_is_no_number_and_takes_no_time() -> None:
    start = time.process_time()
    assert scores(numeric, 26) == [0.0, 0.0, 0.0]
    assert time.process_time() - start < 0.1


@pytest.mark.parametrize("member", MESSAGE_MEMBERS, ids=lambda member: member.__name__)
def test_case_31_text_and_message_completions_score_alike(member: Any) -> None:
    text, message = (row["completion"] for row in rows(31))
    scored = member([text, message], answer=["banana", "banana"])
    assert scored[0] == scored[1]


def test_case_33_groups_without_spread_have_no_advantage_and_are_counted() -> None:
    case = CASES[33]
    groups = case["inputs"]["groups"]
    table = [[score] for group in groups for score in group["rewards"]]
    names = [number for number, group in enumerate(groups) for _ in group["rewards"]]
    assert advantages(table, [1.0], names).tolist() == case["expected"]["advantages"]
    assert group_statistics(table, [1.0], names).zero_spread_share == 1.0
    cancelling = [[score, 1 - score] for score in (0, 1, 0, 1)]
    assert group_statistics(cancelling, [1.0, 1.0], ["p"] * 4).zero_spread_share == 1.0


def test_case_34_the_total_is_weighted() -> None:
    case = CASES[34]
    (row,) = case["inputs"]["rows"]
    assert totals([row["rewards"]], case["inputs"]["weights"]).tolist() == [case["expected"]["total"]]
