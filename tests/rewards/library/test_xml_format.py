"""Strict and soft XML format."""

from __future__ import annotations

from typing import Any

import pytest

from rewards.credits import recording
from rewards.library import soft_xml_format, strict_xml_format

GOOD = "<reasoning>\n3 + 4\n</reasoning>\n<answer>\n7\n</answer>"
SPREAD = "  <reasoning>3 + 4</reasoning>\n\n<answer> 7 </answer> "


def strict(text: str, **options: Any) -> float | None:
    return strict_xml_format([text], **options)[0]


def soft(text: str, **options: Any) -> float | None:
    return soft_xml_format([text], **options)[0]


@pytest.mark.guide("G7")
@pytest.mark.parametrize(
    "text", [GOOD, GOOD + "\n", GOOD.replace("\n", "\r\n"), GOOD.replace("3 + 4", "3\n+\n4")]
)
def test_the_exact_layout_is_paid_by_both_with_any_line_ends(text: str) -> None:
    assert (strict(text), soft(text)) == (1.0, 1.0)


@pytest.mark.parametrize("text", [SPREAD, " " + GOOD, GOOD + "\n\n", GOOD.replace(">\n<", "><")])
def test_other_white_space_is_paid_by_soft_alone(text: str) -> None:
    assert (strict(text), soft(text)) == (0.0, 1.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<reasoning>\n\n</reasoning>\n<answer>\n7\n</answer>",
        "<reasoning>\n3\n</reasoning>\n<answer>\n \n</answer>",
        "<answer>\n7\n</answer>\n<reasoning>\n3\n</reasoning>",
        GOOD + "\nHope this helps!",
        "Sure:\n" + GOOD,
        GOOD.replace("</reasoning>\n", "</reasoning>\nso\n"),
        GOOD + "\n" + GOOD,
        GOOD.replace("</reasoning>", "<answer>"),
        GOOD.replace("</reasoning>", "</tool>"),
        "<reasoning>\n<answer>\n7\n</answer>\n</reasoning>",
        GOOD.replace("3 + 4", "3 <answer> 4"),
        GOOD.replace("reasoning", "REASONING"),
        GOOD[:-1],
    ],
)
def test_empty_swapped_repeated_nested_and_surrounded_blocks_are_paid_by_neither(text: str) -> None:
    assert (strict(text), soft(text)) == (0.0, 0.0)


def test_other_tags_may_be_asked_for_also_as_a_list_from_a_manifest() -> None:
    text = "<think>\na\n</think>\n<answer>\nb\n</answer>"
    assert strict(text, tag_names=["think", "answer"]) == 1.0
    assert soft(text, tag_names=("think", "answer")) == 1.0
    assert soft("<answer>b</answer>", tag_names=["answer"]) == 1.0


@pytest.mark.parametrize("tags", ["answer", [], ["a", "a"], [1], ["a b"], [["x"], ["y"]], None])
def test_tags_that_are_none_are_refused_with_their_value(tags: Any) -> None:
    for function in (strict_xml_format, soft_xml_format):
        with pytest.raises(
            ValueError, match=rf"reward '{function.__name__}': tag_names=.* must be a list of different"
        ):
            function(["x"], tag_names=tags)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (GOOD, None),
        (GOOD[:-1], "</answer> is missing"),
        (GOOD + GOOD, "<reasoning> stands again"),
        (GOOD.replace("7", " "), "<answer> is empty"),
        ("Sure:\n" + GOOD, "text before <reasoning>"),
        (GOOD + "\nBye", "text after </answer>"),
        ("<answer>\n7\n</answer>\n<reasoning>\n3\n</reasoning>", "text before <reasoning>"),
        (SPREAD, "a tag is not on a line of its own"),
        (" " + GOOD, "white space before, between or after the blocks"),
    ],
)
def test_the_credit_says_what_is_wrong(text: str, note: str | None) -> None:
    with recording(1) as record:
        strict(text)
    assert record.by_row()[0][0]["note"] == note
