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
from rewards.library import (
    cosine_length,
    exact_match,
    ideal_length,
    json_fields,
    maths_equal,
    numeric,
    pattern_format,
    reasoning_steps,
    soft_xml_format,
    strict_xml_format,
    think_format,
)

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

OPTIONS: dict[str, dict[str, Any]] = {
    "json_schema": {"schema": {"type": "object"}},
    "pattern_format": {"pattern": "banana"},
}

SCORED = [
    (1, numeric, {}),
    (1, maths_equal, {}),
    (2, maths_equal, {}),
    (3, numeric, LAST_NUMBER),
    (3, maths_equal, LAST_NUMBER),
    (4, numeric, LAST_NUMBER),
    (4, maths_equal, LAST_NUMBER),
    (5, exact_match, {}),
    (5, maths_equal, {}),
    (6, numeric, {}),
    (6, maths_equal, {}),
    (6, exact_match, {}),
    (7, pattern_format, {"pattern": r"\\boxed\{.+\}"}),
    (8, numeric, {}),
    (8, maths_equal, {}),
    (10, maths_equal, {}),
    (11, maths_equal, {}),
    (12, maths_equal, {}),
    (11, exact_match, {}),
    (12, numeric, {}),
    (12, exact_match, {}),
    (13, soft_xml_format, {}),
    (15, think_format, {}),
    (16, soft_xml_format, THINK),
    (17, reasoning_steps, {}),
    (18, exact_match, {}),
    (24, exact_match, {}),
    (24, json_fields, {}),
]
BY_BEHAVIOUR = {9, 14, 19, 20, 21, 26, 31, 33, 34}


def rows(number: int) -> list[dict[str, Any]]:
    return list(CASES[number]["inputs"]["rows"])


def scores(member: Any, number: int, **options: Any) -> list[float | None]:
    completions = [row["completion"] for row in rows(number)]
    answers = [row.get("answer") for row in rows(number)]
    prompts = [row.get("prompt", "") for row in rows(number)]
    return list(member(completions=completions, prompts=prompts, answer=answers, **options))


def test_twenty_six_of_the_forty_cases_are_covered_here() -> None:
    covered = {number for number, _, _ in SCORED} | BY_BEHAVIOUR
    assert (len(CASES), len(covered)) == (40, 26)


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


def test_case_20_the_schedule_ends_and_stays_where_it_ended() -> None:
    case = CASES[20]
    texts = [row["completion"] for row in rows(20)]
    values = cosine_length(
        texts,
        [[0] * len(text) for text in texts],
        correct=[row["correct"] for row in rows(20)],
        wrong_long=0.25,
        max_tokens=1000,
    )
    # theirs runs from -1 to 1, ours from 0 to 1
    assert [2 * value - 1 for value in values if value is not None] == case["expected"]["scores"]


def test_case_21_a_format_bonus_drives_an_all_wrong_group_unless_it_is_gated() -> None:
    case = CASES[21]
    (group,) = case["inputs"]["groups"]
    table = list(zip(group["accuracy"], group["format"], strict=True))
    added = advantages(table, [1.0, 0.5], ["p"] * 4)
    assert added.tolist() == pytest.approx(case["expected"]["faulty_advantages"], abs=1e-3)
    gated = advantages([[right * form] for right, form in table], [1.0], ["p"] * 4)
    assert gated.tolist() == case["expected"]["gated_advantages"]


def test_case_9_bare_letters_and_prose_are_no_mathematics_and_not_scored() -> None:
    said = {None: "unscorable"}
    assert [said.get(score, score) for score in scores(maths_equal, 9)] == CASES[9]["expected"]["scores"]


@pytest.mark.parametrize("member", [numeric, maths_equal])
def test_case_26_a_tower_of_powers_is_no_number_and_takes_no_time(member: Any) -> None:
    start = time.process_time()
    assert scores(member, 26) == [0.0, 0.0, 0.0]
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize("member", MESSAGE_MEMBERS, ids=lambda member: member.__name__)
def test_case_31_text_and_message_completions_score_alike(member: Any) -> None:
    text, message = (row["completion"] for row in rows(31))
    columns = {
        "answer": ["banana"] * 2,
        "completion_ids": [[1]] * 2,
        "instruction_id_list": [["startend:end_checker"]] * 2,
        "kwargs": [[{"end_phrase": "banana"}]] * 2,
        "tests": [[[[1], 1]]] * 2,
        "entry_point": ["f"] * 2,
    }
    scored = member(completions=[text, message], **columns, **OPTIONS.get(member.__name__, {}))
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
