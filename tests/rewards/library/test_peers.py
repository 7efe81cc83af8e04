"""Our rewards beside other projects' rewards of the same meaning, row by row.

`SHARED` says which of theirs means what one of ours means, with which parameters and on which scale. Where we
differ on purpose, `DIFFERENT` names the row and the reason; every other row has to agree to 1e-6.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rewards.library import (
    exact_match,
    ideal_length,
    incremental_format,
    max_length,
    min_length,
    numeric,
    soft_xml_format,
    strict_xml_format,
)

PATH = Path(__file__).parents[3] / "fixtures/peers/rewards.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in PATH.read_text("utf-8").splitlines()]


@dataclass(frozen=True)
class Shared:
    """One of ours and one of theirs: our parameters, theirs by name, and their full marks."""

    member: Any
    full: float = 1.0
    options: dict[str, Any] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)


TAG = {"answer_forms": ["tag"]}
THINK = {"tag_names": ["think", "answer"]}
SHARED: dict[tuple[str, str], Shared] = {
    ("skill-library", "exact_match_reward"): Shared(exact_match, 2.0, TAG),
    ("skill-library", "numeric_correctness_reward"): Shared(
        numeric, 2.0, {**TAG, "relative_tolerance": 0.01}, {"tolerance": "relative_tolerance"}
    ),
    ("skill-library", "strict_xml_format_reward"): Shared(strict_xml_format, 0.5),
    ("skill-library", "soft_xml_format_reward"): Shared(soft_xml_format, 0.5),
    ("skill-library", "incremental_format_reward"): Shared(
        incremental_format, 0.5, {}, {"tags": "tag_names"}
    ),
    ("skill-library", "ideal_length_reward"): Shared(
        ideal_length, 0.3, {}, {"ideal_tokens": "target_length"}
    ),
    ("skill-library", "max_length_penalty"): Shared(max_length, 0.3, {}, {"max_tokens": "longest"}),
    ("open-r1", "format_reward"): Shared(soft_xml_format, 1.0, THINK),
    ("open-r1", "tag_count_reward"): Shared(incremental_format, 1.0, THINK),
    ("eval-protocol", "format_reward"): Shared(soft_xml_format, 1.0, THINK),
    ("open-instruct", "PuzzleMatcherVerifier"): Shared(exact_match, 1.0, {"ignore_articles": True}),
    ("open-instruct", "GSM8KVerifier"): Shared(numeric, 1.0, {"answer_forms": ["number"]}),
    ("nemo-gym", "equivalence_rule.verify"): Shared(exact_match),
    ("nemo-gym", "hotpotqa_qa.answer_exact_match"): Shared(exact_match),
}

NO_REFERENCE = "the reference is empty or no number: not scored instead of wrong"
PLAIN_NUMBER = "a currency, a final stop, separators or decimals do not change a number"
DIFFERENT: dict[str, str] = {
    "skill-library-2407cc0658ec": "an empty answer to an empty reference is not scored instead of paid in full",
    "skill-library-5f5272d2cbc0": NO_REFERENCE,
    "skill-library-3609c9900bf8": NO_REFERENCE,
    "skill-library-16aa49e9fbfd": NO_REFERENCE,
    "skill-library-2f2add3ce86c": NO_REFERENCE,
    "skill-library-7ba71656db75": NO_REFERENCE,
    "skill-library-fdbb3aee0a86": NO_REFERENCE,
    "skill-library-f6a49735cd42": NO_REFERENCE,
    "skill-library-08527060174c": NO_REFERENCE,
    "skill-library-41348010f5f8": NO_REFERENCE,
    "skill-library-1fa537466f7b": "the last of several answers counts, not the first",
    "skill-library-304305da2506": "text after the last block is not the form",
    "skill-library-cb81bbef677a": "a tag that stands twice earns nothing",
    "skill-library-2e59372fdd79": "a character after the end costs 0.001 of full marks, there 0.002 of them",
    "open-r1-4f911e89a4cf": "a closing tag earns nothing where its block was never opened",
    "open-r1-28b54cc064f0": "a closing tag earns nothing where its block was never opened",
    "eval-protocol-055770d27a1b": "the row asks for another, configured pattern",
    "nemo-gym-f9898beab5a5": "the row asks for similarity, not equality",
}


def ours(row: dict[str, Any]) -> tuple[list[float | None], float]:
    shared = SHARED[row["peer"], row["reward"]]
    theirs = {shared.renamed[key]: value for key, value in row["config"].items() if key in shared.renamed}
    answers = [row["reference"]] * len(row["completions"])
    return shared.member(row["completions"], answer=answers, **{**shared.options, **theirs}), shared.full


def agrees(row: dict[str, Any]) -> bool:
    scores, full = ours(row)
    return all(
        score is not None and abs(score * full - expected) < 1e-6
        for score, expected in zip(scores, row["expected"], strict=True)
    )


COMPARED = [row for row in ROWS if (row["peer"], row["reward"]) in SHARED]


@pytest.mark.parametrize(
    "row", [r for r in COMPARED if r["id"] not in DIFFERENT], ids=lambda row: str(row["id"])
)
def test_a_row_scores_as_it_does_there(row: dict[str, Any]) -> None:
    assert agrees(row), ours(row)


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_row_named_as_different_really_is(name: str) -> None:
    (row,) = [row for row in COMPARED if row["id"] == name]
    assert not agrees(row)


@pytest.mark.parametrize(
    "row", [r for r in ROWS if r["reward"] == "min_length_reward"], ids=lambda row: str(row["id"])
)
def test_the_minimum_is_paid_in_full_where_it_earns_a_bonus_there(row: dict[str, Any]) -> None:
    shortest = row["config"].get("min_tokens", 50)
    scores = min_length(row["completions"], shortest=shortest)
    assert [score == 1.0 for score in scores] == [expected > 0 for expected in row["expected"]]


@pytest.mark.parametrize("row", [r for r in ROWS if r["peer"] == "verl"], ids=lambda row: str(row["id"]))
def test_gsm8k_answers_paid_there_are_paid_here_and_more_spellings_too(row: dict[str, Any]) -> None:
    forms = ["hash"] if row["config"]["method"] == "strict" else ["number"]
    (score,) = numeric(row["completions"], answer=[row["reference"]], answer_forms=forms)
    if score != row["expected"][0]:
        # They compare texts: "$18", "18.", "18.0" and "1,234" are not 18 and 1234 there.
        assert (score, row["expected"][0]) == (1.0, 0.0)


def test_how_many_rows_were_compared() -> None:
    assert (len(COMPARED), len(DIFFERENT)) == (246, 18)
