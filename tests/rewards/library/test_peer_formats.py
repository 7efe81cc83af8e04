"""Our rewards of form, length and style beside other projects' rewards of the same meaning, row by row.

`SHARED` says which of theirs means what one of ours means, and how ours is called to be on their scale. `APART` names
the rewards, and `OUTSIDE` the single rows, that have no counterpart here, with the reason; where we differ on
purpose `DIFFERENT` names the row and the reason. Every other row has to agree to 1e-6.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rewards.library import (
    citations,
    connectives,
    cosine_length,
    follows_instructions,
    ideal_length,
    incremental_format,
    json_format,
    json_schema,
    language_consistency,
    pattern_format,
    reasoning_steps,
    repetition_penalty,
    soft_overlong,
    soft_xml_format,
    strict_xml_format,
    think_format,
)
from rewards.library.instructions.kinds import KINDS as IFEVAL

Row = dict[str, Any]
Scores = list[float | None]

PATH = Path(__file__).parents[3] / "fixtures/peers/formats.jsonl"
ROWS: list[Row] = [json.loads(line) for line in PATH.read_text("utf-8").splitlines()]

THINK = {"tag_names": ["think", "answer"]}
CONNECTIVES = [
    "therefore", "thus", "because", "since", "consequently", "first", "second", "next", "finally", "however",
]  # fmt: skip
KINDS = {
    "detectable_format:exact_number_bullet_points": "detectable_format:number_bullet_lists",
    "detectable_format:minimum_number_highlighted_sections": "detectable_format:number_highlighted_sections",
    "keywords:include_keywords": "keywords:existence",
    "keywords:keyword_frequency": "keywords:frequency",
    "length_constraint:number_paragraphs": "length_constraints:number_paragraphs",
}


def scaled(scores: Scores, factor: float, shift: float = 0.0) -> Scores:
    return [None if score is None else factor * score + shift for score in scores]


def steps(row: Row) -> Scores:
    return reasoning_steps(row["completions"], enough_steps=row["config"].get("min_steps", 3))


def language(row: Row) -> Scores:
    return language_consistency(
        row["completions"], target_language=row["config"].get("target_language", "es")
    )


def schema(row: Row) -> Scores:
    return json_schema(row["completions"], row["config"]["expected_schema"], json_alone=False)


def strict_schema(row: Row) -> Scores:
    return json_schema(row["completions"], row["config"]["schema_str"], strict_schema=True)


def words_repeated(row: Row) -> Scores:
    config = row["config"]
    scores = repetition_penalty(row["completions"], ngram_size=config["ngram_size"], free_share=1.0)
    if row["peer"] == "eval-protocol":
        return scaled(scores, config.get("max_penalty", 0.5), 1.0)
    return scaled(scores, -config["max_penalty"])


def tokens_repeated(row: Row) -> Scores:
    size = row["config"]["ngram_size"]
    return repetition_penalty([""], row["tokens"], ngram_size=size, free_share=1.0, counted="tokens")


def overlong(row: Row) -> Scores:
    config = row["config"]
    most = config.get("soft_max_length", config.get("max_completion_len"))
    zone = config.get("soft_cache_length", config.get("soft_punish_cache"))
    return soft_overlong([""], [[0] * row["tokens"][0]], max_tokens=most, soft_zone=zone)


COSINE = {"right_short": 1.0, "right_long": 0.75, "wrong_short": 0.0, "wrong_long": 0.25}


def cosine_of_tokens(row: Row) -> Scores:
    ids = [[0] * row["tokens"][0]]
    if "max_value_correct" in row["config"]:
        ends = {"right_short": 1.0, "right_long": 0.0}
        return scaled(
            cosine_length(row["completions"], ids, answer=[row["reference"]], max_tokens=100, **ends), 2.0
        )
    scores = cosine_length(
        row["completions"], ids, answer=[row["reference"]], max_tokens=row["config"]["max_len"], **COSINE
    )
    return scaled(scores, 2.0, -1.0)


def cosine_of_characters(row: Row) -> Scores:
    ids = [[0] * len(text) for text in row["completions"]]
    scores = cosine_length(
        row["completions"], ids, answer=[row["reference"]], max_tokens=row["config"]["max_len"], **COSINE
    )
    return scaled(scores, 2.0, -1.0)


def cosine_of_words(row: Row) -> Scores:
    config = row["config"]
    right = config.get("is_correct", config.get("correctness", 0) > 0.5)
    ids = [[0] * len(text.split()) for text in row["completions"]]
    most = config["max_length"]
    ends = {"right_long": 0.5, "wrong_long": 0.3}
    return cosine_length(row["completions"], ids, correct=[right], max_tokens=most, **ends)


def cosine_of_counts(row: Row) -> Scores:
    config = row["config"]
    ids, most = [[0] * row["tokens"][0]], config["cosine_max_len"]
    ends = {"right_short": 1.0, "right_long": 2 / 3, "wrong_short": 0.0, "wrong_long": 1 / 3}
    return scaled(cosine_length([""], ids, correct=[config["correct"]], max_tokens=most, **ends), 1.5, -0.5)


def pattern_of_lines(row: Row) -> Scores:
    verifier = row["config"]["verifier"]
    (pattern,) = verifier["verify_regex"]
    least = verifier["verify_min_matches"]
    return pattern_format(row["completions"], pattern="(?m)" + pattern, least_matches=least)


def markers(row: Row) -> Scores:
    config = row["config"]
    inside = "{reasoning_start}.+?{reasoning_end}.*?{solution_start}.+?{solution_end}".format(**config)
    return scaled(pattern_format(row["completions"], pattern=f"(?s){inside}", whole_text=True), 3.0)


def blocks_of_two_worths(row: Row) -> Scores:
    tags = [row["config"].get("think_tag", "think"), row["config"].get("answer_tag", "answer")]
    return incremental_format(row["completions"], tag_names=tags, block_shares=[1, 3])


def required_tags(row: Row) -> Scores:
    return incremental_format(row["completions"], tag_names=row["config"]["required_tags"])


def instruction(row: Row) -> Scores:
    kind = row["config"]["instruction_id"]
    return follows_instructions(
        row["completions"], [[KINDS.get(kind, kind)]], [[row["config"]["kwargs"] or {}]]
    )


def action(row: Row) -> Scores:
    return pattern_format(
        row["completions"],
        pattern=r"(?s)<think>.*?</think>\s*Action:.*?Action Input:.*?",
        whole_text=True,
    )


SHARED: dict[tuple[str, str], Callable[[Row], Scores]] = {
    ("eval-protocol", "cosine_length_reward"): cosine_of_words,
    ("eval-protocol", "json_schema_reward"): schema,
    ("eval-protocol", "language_consistency_reward"): language,
    ("eval-protocol", "length_reward"): lambda row: ideal_length(
        row["completions"], target_length=row["config"].get("target_length", 3)
    ),
    ("eval-protocol", "reasoning_steps_reward"): steps,
    ("eval-protocol", "repetition_penalty_reward"): words_repeated,
    ("eval-protocol", "sequence_reward"): steps,
    ("eval-protocol", "tag_count_reward"): required_tags,
    ("ms-swift", "CosineReward"): cosine_of_counts,
    ("ms-swift", "Format"): lambda row: soft_xml_format(row["completions"], **THINK),
    ("ms-swift", "ReActFormat"): action,
    ("ms-swift", "RepetitionPenalty"): words_repeated,
    ("ms-swift", "SoftOverlong"): overlong,
    ("nemo-gym", "format_verification.verify"): pattern_of_lines,
    ("nemo-gym", "structured_outputs.verify"): strict_schema,
    ("nemo-rl", "format_reward"): blocks_of_two_worths,
    ("open-r1", "get_cosine_scaled_reward"): cosine_of_characters,
    ("open-r1", "get_repetition_penalty_reward"): words_repeated,
    ("open-r1", "get_soft_overlong_punishment"): overlong,
    ("open-r1", "reasoning_steps_reward"): steps,
    ("skill-library", "citation_reward"): lambda row: scaled(citations(row["completions"]), 0.2),
    ("skill-library", "json_format_reward"): lambda row: scaled(json_format(row["completions"]), 0.5),
    ("skill-library", "no_repetition_penalty"): lambda row: [
        -0.3 if score else 0.0 for score in repetition_penalty(row["completions"])
    ],
    ("skill-library", "reasoning_quality_reward"): lambda row: scaled(
        connectives(row["completions"], connective_words=CONNECTIVES), 0.3
    ),
    ("trl", "get_cosine_scaled_reward"): cosine_of_tokens,
    ("trl", "get_repetition_penalty_reward"): tokens_repeated,
    ("trl", "think_format_reward"): lambda row: think_format(row["completions"], thinking_required=False),
    ("unsloth", "match_format_exactly"): markers,
    ("unsloth", "soft_format_reward_func"): lambda row: scaled(soft_xml_format(row["completions"]), 0.5),
    ("unsloth", "strict_format_reward_func"): lambda row: scaled(strict_xml_format(row["completions"]), 0.5),
    ("unsloth", "xmlcount_reward_func"): lambda row: scaled(incremental_format(row["completions"]), 0.5),
    ("verifiers", "ThinkParser.format_reward"): lambda row: think_format(row["completions"]),
    ("verifiers", "XMLParser.format_reward"): lambda row: soft_xml_format(row["completions"]),
    **{(row["peer"], row["reward"]): instruction for row in ROWS if row["peer"] == "ifeval"},
}

APART: dict[tuple[str, str], str] = {
    (
        "eval-protocol",
        "diversity_reward",
    ): "different words within one text; ours compares the texts of a group",
    (
        "open-instruct",
        "if_functions.validate_frequency_capital_words",
    ): "'around' a number is no kind of IFEval",
    ("open-r1", "len_reward"): "a rank of lengths within the batch",
    (
        "unsloth",
        "match_format_approximately",
    ): "counts markers that are no tags, and pays -0.5 for a missing one",
    ("verifiers", "Parser.format_reward"): "asks for no format: every completion has full marks",
}


def outside(row: Row) -> str:
    """Why a row of a shared reward is not compared; "" where it is."""
    config = row["config"]
    if row["reward"] == "structured_outputs.verify" and config.get("response_mode") == "tool_call":
        return "the arguments of a tool call"
    if row["reward"] == "structured_outputs.verify" and config["schema_type"] != "json":
        return f"{config['schema_type']} is no JSON"
    if row["reward"] == "format_verification.verify" and not config["verifier"].get("verify_regex"):
        return "asks for given marks and no others, or for nothing"
    if (
        row["peer"] == "ifeval"
        and KINDS.get(config["instruction_id"], config["instruction_id"]) not in IFEVAL
    ):
        return "none of the 25 kinds of the published prompts"
    if "json_content" in config:
        return "the JSON is not in the completion"
    return OUTSIDE.get(row["id"], "raises there" if row["expected"] is None else "")


OUTSIDE = {"verifiers-aecaa0cb43fa": "the share of several turns; ours reads the last"}

LINE = "a tag need not stand on a line of its own to be one"
BOUNDED = "the penalty stays within its range"
DIFFERENT: dict[str, str] = {
    "eval-protocol-be1b2988d32b": "a tag with attributes is another tag",
    "eval-protocol-0a2de6ac685c": "a tag that stands three times earns nothing",
    "eval-protocol-28a7340289f0": "a block that is not closed takes nothing from the others",
    "ms-swift-7da3aadbdd41": BOUNDED,
    "ms-swift-f54428be0ea2": BOUNDED,
    "skill-library-921fdce09b13": "JSON in a fence is JSON",
    "skill-library-00e2b121e7fe": "a mark alone cites nothing",
    "unsloth-1d15e36805f1": LINE,
    "unsloth-2bb217f0b0ff": "a character after the end costs 0.001 of full marks, there twice 0.001 of half of them",
    "unsloth-6975a77c3888": LINE,
    "unsloth-cd1a1df8039a": LINE,
    "unsloth-ad12cd96b4e9": LINE,
    "unsloth-75c871e6fbf8": LINE,
    "unsloth-0041fc8690ef": LINE,
    "unsloth-29a87f6dbdad": LINE,
    "unsloth-520046d9ba3a": LINE,
    "unsloth-b44b390a1482": LINE,
}


def agrees(row: Row) -> bool:
    scores = SHARED[row["peer"], row["reward"]](row)
    return len(scores) == len(row["expected"]) and all(
        score is not None and abs(score - expected) < 1e-6
        for score, expected in zip(scores, row["expected"], strict=True)
    )


COMPARED = [row for row in ROWS if (row["peer"], row["reward"]) in SHARED and not outside(row)]
FAULTY = [row for row in COMPARED if "caveat" in row]
SOUND = [row for row in COMPARED if "caveat" not in row]


@pytest.mark.parametrize(
    "row", [row for row in SOUND if row["id"] not in DIFFERENT], ids=lambda row: str(row["id"])
)
def test_a_row_scores_as_it_does_there(row: Row) -> None:
    assert agrees(row), SHARED[row["peer"], row["reward"]](row)


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_row_named_as_different_really_is(name: str) -> None:
    (row,) = [row for row in SOUND if row["id"] == name]
    assert row["basis"] == "observed"
    assert not agrees(row)


def test_no_fault_of_theirs_is_repeated() -> None:
    assert [row["id"] for row in FAULTY if agrees(row)] == FAULTY_BUT_RIGHT


FAULTY_BUT_RIGHT = ["unsloth-d247877ba043", "unsloth-d734af679ce3", "unsloth-f0c4192b0354"]
"""Rows of a faulty reward on which its fault does not show."""


def test_every_reward_of_theirs_is_compared_or_has_its_reason() -> None:
    theirs = {(row["peer"], row["reward"]) for row in ROWS}
    assert theirs == SHARED.keys() | APART.keys()
    assert not SHARED.keys() & APART.keys()


def test_the_summary_beside_the_rows_is_right() -> None:
    apart = sum((row["peer"], row["reward"]) in APART for row in ROWS)
    left_out = len(ROWS) - apart - len(COMPARED)
    facts = (
        len(ROWS),
        len(COMPARED),
        len(SOUND) - len(DIFFERENT),
        len(DIFFERENT),
        len(FAULTY),
        apart,
        left_out,
    )
    assert facts == (368, 327, 278, 17, 32, 9, 32)
    told = PATH.with_name("README.md").read_text("utf-8")
    assert all(re.search(rf"\b{fact}\b", told) for fact in facts)


def test_all_asserted_rows_that_are_compared_agree() -> None:
    asserted = [row for row in COMPARED if row["basis"] == "asserted"]
    assert len(asserted) == 94
    assert [row["id"] for row in asserted if not agrees(row)] == []
