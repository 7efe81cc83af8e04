"""IFEval's instructions: against published verdicts, and what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rewards.credits import recording
from rewards.library import follows_instructions
from rewards.library.instructions.kinds import KINDS, check
from rewards.library.instructions.verdict import UnreadableInstruction

PATH = Path(__file__).parents[3] / "fixtures/instructions/ifeval_labelled.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in PATH.read_text("utf-8").splitlines()]
COLUMNS = {name: [row[name] for row in ROWS] for name in ("completion", "instruction_id_list", "kwargs")}


def score(text: str, kinds: Any, arguments: Any, **options: Any) -> float | None:
    return follows_instructions([text], [kinds], [arguments], **options)[0]


def test_all_538_labelled_responses_get_their_share() -> None:
    scores = follows_instructions(COLUMNS["completion"], COLUMNS["instruction_id_list"], COLUMNS["kwargs"])
    assert len(scores) == 538
    assert scores == [sum(row["followed"]) / len(row["followed"]) for row in ROWS]


def test_all_538_labelled_responses_are_paid_for_all_or_nothing_as_labelled() -> None:
    scores = follows_instructions(
        COLUMNS["completion"], COLUMNS["instruction_id_list"], COLUMNS["kwargs"], require_all=True
    )
    assert scores == [float(all(row["followed"])) for row in ROWS]


def test_every_single_verdict_is_the_published_one_for_every_kind() -> None:
    seen = set()
    for row in ROWS:
        for kind, arguments, followed in zip(
            row["instruction_id_list"], row["kwargs"], row["followed"], strict=True
        ):
            seen.add(kind)
            assert check(kind, row["completion"], arguments).followed == followed, (row["key"], kind)
    assert seen == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_a_blank_response_follows_nothing(kind: str) -> None:
    arguments = next(
        row["kwargs"][row["instruction_id_list"].index(kind)]
        for row in ROWS
        if kind in row["instruction_id_list"]
    )
    assert not check(kind, "", arguments).followed
    assert not check(kind, " \n", arguments).followed


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("punctuation:no_such", {}),
        ("length_constraints:number_words", {"relation": "at least"}),
        ("length_constraints:number_words", {"relation": "about", "num_words": 3}),
        ("length_constraints:number_words", {"relation": "at least", "num_words": "three"}),
        ("keywords:existence", {"keywords": []}),
        ("keywords:existence", {"keywords": "word"}),
        ("keywords:letter_frequency", {"letter": "ab", "let_relation": "at least", "let_frequency": 1}),
        ("language:response_language", {"language": "tlh"}),
    ],
)
def test_an_instruction_that_cannot_be_read_is_no_zero(kind: str, arguments: dict[str, Any]) -> None:
    assert score("A response.", ["punctuation:no_comma", kind], [{}, arguments]) is None
    with pytest.raises(UnreadableInstruction):
        check(kind, "A response.", arguments)


def test_rows_without_instructions_or_with_too_few_arguments_are_not_scored() -> None:
    assert score("x", [], []) is None
    assert score("x", None, None) is None
    assert score("x", ["punctuation:no_comma"], []) is None


def test_arguments_filled_with_nulls_and_columns_of_json_text_are_read() -> None:
    arguments = [{"num_words": 2.0, "relation": "at least", "keywords": None, "letter": None}]
    assert score("one two", ["length_constraints:number_words"], arguments) == 1.0
    assert score("one", '["length_constraints:number_words"]', json.dumps(arguments)) == 0.0


def test_each_instruction_is_a_credit_that_says_what_was_found() -> None:
    kinds = ["length_constraints:number_words", "punctuation:no_comma"]
    with recording(1) as record:
        score("one, two", kinds, [{"num_words": 3, "relation": "at least"}, {}])
    (words, comma) = record.by_row()[0]
    assert (words["name"], words["points"], words["of"]) == (kinds[0], 0.0, 0.5)
    assert words["note"] == "2 words, at least 3 asked for"
    assert (comma["note"], comma["spans"]) == ("a comma", [[3, 4]])


def test_in_all_or_nothing_a_kept_instruction_alone_pays_nothing() -> None:
    kinds = ["length_constraints:number_words", "punctuation:no_comma"]
    arguments = [{"num_words": 3, "relation": "at least"}, {}]
    assert score("one two", kinds, arguments) == 0.5
    assert score("one two", kinds, arguments, require_all=True) == 0.0
    assert score("one two three", kinds, arguments, require_all=True) == 1.0
