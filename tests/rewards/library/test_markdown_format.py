"""The shape of Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library import markdown_format
from rewards.library.markdown_format import markdown_parts

TABLE = "| a | b |\n|---|:-:|\n| 1 | 2 |"
CODE = "```py\nx = 1\n```"
PARTS = ["# Plan", "## More", "- one", "* two", "1. three", TABLE, CODE]
ASKED = {"least_headings": 2, "least_list_items": 3, "least_tables": 1, "least_code_blocks": 1}


def found(text: str) -> dict[str, int]:
    return {part: len(spans) for part, spans in markdown_parts(text).items() if spans}


def score(text: str) -> float:
    value = markdown_format([text], **ASKED)[0]
    assert value is not None
    return value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A", {"headings": 1}),
        ("#A\n#\n# \n#!\n####### too deep", {}),
        ("# A\n# a #\n## B", {"headings": 2}),
        ("- a\n* b\n+ c\n2) d\n-e\n- \n---\n* * *", {"list items": 4}),
        ("  - a\n    1. b", {"list items": 2}),
        ("- a\n- A\n-  a", {"list items": 1}),
        (TABLE, {"tables": 1}),
        ("a | b\n--|--\n1 | 2\n\nc\n-\nd", {"tables": 1}),
        ("|a|\n|-|\n|1|\n\n|b|\n|-|\n|2|", {"tables": 2}),
        ("|a|b|\n|-|\n|1|2|", {}),
        ("|a|\n\n|-|\n|1|", {}),
        ("|a|\n|-|", {}),
        ("|a|\n|-|\n| |", {}),
        (CODE, {"code blocks": 1}),
        ("~~~\n# no heading\n~~~\n```\n\n```", {"code blocks": 1}),
        ("````\n```\n````", {"code blocks": 1}),
        ("```\n# a\n- b", {}),
        ("# A\r\n\r\n- b\r\n", {"headings": 1, "list items": 1}),
    ],
)
def test_what_counts(text: str, expected: dict[str, int]) -> None:
    assert found(text) == expected


def test_each_part_asked_for_has_an_equal_share() -> None:
    assert score("# A\n# B") == 0.25
    assert score("# A") == 0.125
    assert score("\n\n".join(PARTS)) == 1.0


@given(st.sets(st.sampled_from(PARTS)), st.sampled_from(PARTS))
def test_adding_a_missing_part_never_lowers_the_score(kept: set[str], added: str) -> None:
    def text(parts: set[str]) -> str:
        return "\n\n".join(part for part in PARTS if part in parts)

    assert score(text(kept | {added})) >= score(text(kept - {added}))


@given(st.sampled_from(PARTS), st.integers(2, 8))
def test_repeating_a_heading_or_item_never_pays(part: str, times: int) -> None:
    if part not in (TABLE, CODE):
        assert score("\n\n".join([part] * times)) == score(part)


def test_nothing_asked_for_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing is asked for"):
        markdown_format(["x"], least_headings=0)
    with pytest.raises(ValueError, match=r"least_tables=-1 \(int\) must be a whole number of at least 0"):
        markdown_format(["x"], least_tables=-1)
