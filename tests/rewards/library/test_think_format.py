"""Thinking, then the answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.credits import recording
from rewards.library import think_format

GOOD = "<think>\n3 + 4\n</think>\n7"


def score(completion: Any, **options: Any) -> float | None:
    return think_format([completion], **options)[0]


@pytest.mark.parametrize("text", [GOOD, "\n " + GOOD, GOOD.replace("\n", "\r\n"), "<think>a <b> c</think>7"])
def test_thinking_and_an_answer_are_paid(text: str) -> None:
    assert score(text) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        "<think></think>",
        "<think> \n</think>7",
        "<think>3</think>",
        "<think>3</think> \n",
        "<think>3",
        "3</think>7",
        "So: " + GOOD,
        GOOD + GOOD,
        "<think><think>3</think>7",
        "<think>3</think>7</think>",
        "</think>3<think>7",
        "<THINK>3</THINK>7",
    ],
)
def test_anything_else_is_not(text: str) -> None:
    assert score(text) == 0.0


def test_where_the_prompt_opens_the_tag_the_completion_starts_inside() -> None:
    prompts = ["user: 3 + 4?\nassistant: <think>\n", "user: 3 + 4?\nassistant: "]
    assert think_format(["3 + 4\n</think>\n7"] * 2, prompts=prompts) == [1.0, 0.0]
    assert think_format([GOOD] * 2, prompts=prompts) == [0.0, 1.0]


def test_a_template_that_opens_the_tag_is_told_since_a_chat_prompt_does_not_show_it() -> None:
    chat = [[{"role": "user", "content": "3 + 4?"}]]
    assert think_format(["3 + 4</think>7"], prompts=chat) == [0.0]
    assert think_format(["3 + 4</think>7"], prompts=chat, tag_opened="always") == [1.0]
    assert think_format(["</think>7"], prompts=chat, tag_opened="always") == [0.0]
    assert think_format([GOOD], prompts=["<think>"], tag_opened="never") == [1.0]


def test_thinking_that_the_tokenizer_parsed_out_of_the_text_counts() -> None:
    message = {"role": "assistant", "reasoning_content": "3 + 4", "content": "7"}
    assert score([message]) == 1.0
    assert score([{**message, "content": ""}]) == 0.0
    assert score([{**message, "content": "</think>7"}]) == 0.0
    assert score([{**message, "reasoning_content": ""}]) == 0.0


def test_empty_thinking_may_be_allowed_and_another_tag_asked_for() -> None:
    assert score("<think>\n\n</think>\n\n7", thinking_required=False) == 1.0
    assert score("<plan>a</plan>b", think_tag="plan") == 1.0


def test_the_credit_says_what_is_missing_or_what_was_taken_for_granted() -> None:
    notes = []
    for text, prompt in (("7", ""), ("a</think>b", "<think>"), (GOOD, "")):
        with recording(1) as record:
            think_format([text], prompts=[prompt])
        notes.append(record.by_row()[0][0]["note"])
    assert notes == ["<think> is missing", "the prompt opens the tag", None]


@given(st.integers(0, len(GOOD)))
def test_a_completion_cut_short_never_scores_above_the_whole(length: int) -> None:
    assert (score(GOOD[:length]) or 0.0) <= 1.0
    assert score(GOOD[: length - 1] if length else "") == 0.0 or length == len(GOOD) + 1


@pytest.mark.parametrize(
    "options",
    [{"think_tag": "a b"}, {"think_tag": ["think"]}, {"tag_opened": "yes"}, {"thinking_required": 1}],
)
def test_wrong_parameters_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="reward 'think_format': "):
        score("x", **options)
