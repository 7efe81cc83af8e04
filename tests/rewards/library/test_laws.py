"""Laws that hold for every member of the library."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewards.library
from rewards.contract import Batch, Status, call
from rewards.credits import recording
from rewards.marks import mark_of

MEMBERS = [getattr(rewards.library, name) for name in rewards.library.__all__]
LAWS = settings(max_examples=30)
every_member = pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.__name__)

PIECES = [
    "<reasoning>", "</reasoning>", "<answer>", "</answer>", "<think>", "</think>", "\n", "\r\n", " ", "7",
    "-7",
    "1,234.5", r"\boxed{7}", r"\frac{1}{2}", "#### 7", "Answer: 7", "A: 7", "word ", "{", "}", "\x00",
    "\ud800",
    "\u202e", "日本", "👩‍👩‍👧", "." , "$",
]  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=20).map("".join)
answers = st.one_of(
    st.none(), st.integers(), st.floats(), st.sampled_from(["7", "", "Paris", "1/2", "#### 7"]), texts
)
rows = st.lists(st.tuples(texts, answers), min_size=1, max_size=6)

HOSTILE = {
    "open tags": "<answer>" * 250_000,
    "closed tags": "</answer>" * 220_000,
    "open boxes": "\\boxed{" * 280_000,
    "braces": "{" * 1_000_000 + "}" * 1_000_000,
    "blanks": "A: 7" + " " * 2_000_000 + "x",
    "answers": "the answer is " * 140_000,
    "hashes": "#" * 2_000_000,
    "digits": "7" * 2_000_000,
    "commas": "1,234" * 400_000,
    "lines": "\n" * 2_000_000,
    "stars": "*" * 2_000_000 + "A",
    "thinking": "<think>" * 140_000 + "</think>" * 120_000,
    "letters": "answer" * 330_000,
    "backslashes": "\\" * 2_000_000,
    "NUL and surrogates": "\x00\ud800" * 500_000,
}


PARAMS: dict[str, dict[str, Any]] = {
    "json_schema": {"schema": {"type": ["object", "array"]}},
    "pattern_format": {"pattern": r"(?s)<answer>.+?</answer>"},
}
INSTRUCTIONS = [
    "punctuation:no_comma",
    "length_constraints:number_sentences",
    "startend:quotation",
    "keywords:existence",
]
ARGUMENTS = [{}, {"relation": "less than", "num_sentences": 3}, None, {"keywords": ["7"]}]


REFERENCE = "7"
OWN_REFERENCE = ("date_match", "json_fields", "multiple_choice")
"""Members to which "7" is no reference."""


def columns(batch: list[tuple[Any, Any]]) -> dict[str, list[Any]]:
    """Every column that some member reads."""
    return {
        "answer": [answer for _, answer in batch],
        "completion_ids": [list(range(len(str(text)))) for text, _ in batch],
        "instruction_id_list": [INSTRUCTIONS] * len(batch),
        "kwargs": [ARGUMENTS] * len(batch),
        "tests": [[[[1], 1]]] * len(batch),
        "entry_point": ["f"] * len(batch),
    }


def run(member: Callable[..., Any], batch: list[tuple[Any, Any]]) -> list[float | None]:
    result = member(
        completions=[text for text, _ in batch],
        prompts=[],
        **columns(batch),
        **PARAMS.get(member.__name__, {}),
    )
    assert isinstance(result, list)
    return result


@every_member
@LAWS
@given(rows)
def test_scores_keep_the_declared_range_and_none_means_no_reference(
    member: Any, batch: list[tuple[str, Any]]
) -> None:
    low, high = mark_of(member)["range"]
    for score in run(member, batch):
        assert score is None or (isinstance(score, float) and low <= score <= high)
        assert score is not None or mark_of(member)["abstains"]


@every_member
@pytest.mark.parametrize("missing", [float("nan"), float("inf"), np.float64("nan")], ids=repr)
def test_a_number_that_is_none_is_a_missing_reference(member: Any, missing: float) -> None:
    texts = ["nan", "inf", "<answer>nan</answer>", "7"]
    assert run(member, [(text, missing) for text in texts]) == run(member, [(text, None) for text in texts])


each_for_itself = pytest.mark.parametrize(
    "member",
    [member for member in MEMBERS if mark_of(member).get("scope", "row") == "row"],
    ids=lambda member: member.__name__,
)


@each_for_itself
@LAWS
@given(rows)
def test_a_batch_scores_as_its_rows_do_alone(member: Any, batch: list[tuple[str, Any]]) -> None:
    assert run(member, batch) == [run(member, [row])[0] for row in batch]


@every_member
@LAWS
@given(texts, answers)
def test_a_message_list_scores_as_its_text(member: Any, text: str, answer: Any) -> None:
    turns = [{"role": "assistant", "content": "7"}, {"role": "user", "content": "?"}]
    chat: Any = [*turns, {"role": "assistant", "content": text}]
    assert run(member, [(chat, answer)]) == run(member, [(text, answer)])


@every_member
@LAWS
@given(texts, answers)
def test_windows_line_ends_change_no_score_but_that_of_character_counts(
    member: Any, text: str, answer: Any
) -> None:
    plain = text.replace("\r", "")
    scores = run(member, [(plain, answer), (plain.replace("\n", "\r\n"), answer)])
    if member.__name__ not in (
        "incremental_format",
        "cosine_length",
        "soft_overlong",
    ):  # they count characters
        assert scores[0] == scores[1]


@every_member
@LAWS
@given(rows)
def test_named_credits_add_up_to_each_score(member: Any, batch: list[tuple[str, Any]]) -> None:
    for row in batch:
        with recording(1) as record:
            score = run(member, [row])[0]
        points = sum(credit["points"] for credit in record.by_row([score])[0])
        assert points == pytest.approx(score or 0.0, abs=1e-12)
        for credit in record.credits:
            assert all(0 <= start <= end <= len(row[0]) for start, end in credit.spans)


@every_member
def test_other_columns_and_trls_own_keywords_pass(member: Any) -> None:
    batch = Batch(
        prompts=["q"] * 2,
        completions=[
            [{"role": "assistant", "content": "<answer>7</answer>"}],
            [{"role": "assistant", "content": None}],
        ],
        completion_ids=[[1], []],
        columns={**columns([("", REFERENCE), ("", REFERENCE)]), "tags": [["x"], ["y"]], "extra": [None, 1]},
        groups=["a", "a"],
    )
    result = call(member, batch, params=PARAMS.get(member.__name__))
    status = [Status(status) for status in result.status]
    assert status == [Status.NUMBER if member.__name__ not in OWN_REFERENCE else Status.ABSTAINED] * 2
    assert result.printed == ""


def hostile_cases() -> list[Any]:
    """Every member with every kind of text; one kind for each member in turn is not slow."""
    return [
        pytest.param(
            member,
            kind,
            id=f"{member.__name__}-{kind}",
            marks=() if number == index % len(HOSTILE) else pytest.mark.slow,
        )
        for index, member in enumerate(MEMBERS)
        for number, kind in enumerate(HOSTILE)
    ]


@pytest.mark.parametrize(("member", "kind"), hostile_cases())
def test_two_megabytes_of_hostile_text_get_one_score(member: Any, kind: str) -> None:
    assert len(run(member, [(HOSTILE[kind], REFERENCE)])) == 1


@every_member
def test_an_empty_batch_gives_an_empty_list(member: Any) -> None:
    assert run(member, []) == []


@every_member
@LAWS
@given(rows, st.integers())
def test_the_order_of_the_batch_does_not_matter(member: Any, batch: list[tuple[str, Any]], seed: int) -> None:
    order = list(range(len(batch)))
    random.Random(seed).shuffle(order)
    straight = run(member, batch)
    assert run(member, [batch[i] for i in order]) == [straight[i] for i in order]


@every_member
def test_in_a_call_with_many_rows_each_credit_finds_its_row(member: Any) -> None:
    contents = ["<reasoning>3+4</reasoning><answer>7</answer>", "<answer>8</answer> or so", "It is seven."]
    batch = Batch(
        prompts=["q"] * 3,
        completions=[[{"role": "assistant", "content": content}] for content in contents],
        completion_ids=[[], [], []],
        columns=columns([("", REFERENCE)] * 3),
        groups=["a"] * 3,
    )
    result = call(member, batch, params=PARAMS.get(member.__name__), record_credits=True)
    assert result.credits is not None
    sums = [sum(credit["points"] for credit in row) for row in result.credits]
    if member.__name__ not in OWN_REFERENCE:
        assert sums == pytest.approx(result.scores.tolist())


@pytest.mark.parametrize(
    "member",
    [member for member in MEMBERS if mark_of(member)["range"] == (0.0, 1.0)],
    ids=lambda member: member.__name__,
)
@pytest.mark.parametrize("text", ["", " \n\t ", "\u00a0"])
def test_nothing_is_paid_for_a_completion_that_says_nothing(member: Any, text: str) -> None:
    assert run(member, [(text, REFERENCE)])[0] in (0.0, None)


CONTENTS = [
    "<reasoning>\n3+4\n</reasoning>\n<answer>\n7\n</answer>", "<think>add them</think>7", '{"a": 7}',
    "# Plan\n\n1. add\n2. halve\n\n", "According to the text, it is so, because all of them agree [1]. ",
    "Therefore it is 7, and that is the end of it. ",
]  # fmt: skip


@pytest.mark.parametrize(
    "member",
    [
        member
        for member in MEMBERS
        # a length is paid for length, and instructions may ask for many words or few
        if mark_of(member)["kind"] in ("format", "style") and member.__name__ != "follows_instructions"
    ],
    ids=lambda member: member.__name__,
)
@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("times", [2, 4, 8])
def test_saying_it_again_never_pays(member: Any, content: str, times: int) -> None:
    once, again = run(member, [(content, REFERENCE)])[0], run(member, [(content * times, REFERENCE)])[0]
    assert once is None or (again is not None and again <= once)
