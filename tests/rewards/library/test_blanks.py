"""What cannot be seen is no content, in any layout."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library import (
    code_block_present,
    incremental_format,
    json_format,
    markdown_format,
    soft_xml_format,
    strict_xml_format,
    think_format,
)
from rewards.library.blanks import is_blank

INVISIBLE = [
    " ", "\n", "\t", "\u00a0", "\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u3164", "\u2800",
    "\ufe0f", "\x00", "\x07", "&nbsp;", "&#8203;", "&ZeroWidthSpace;", "&#x200B;",
]  # fmt: skip
unseen = st.lists(st.sampled_from(INVISIBLE), max_size=6).map("".join)

LAYOUTS: list[tuple[Any, str, dict[str, Any]]] = [
    (soft_xml_format, "<reasoning>{}</reasoning><answer>{}</answer>", {}),
    (soft_xml_format, "<reasoning>3+4</reasoning><answer>{}</answer>", {}),
    (strict_xml_format, "<reasoning>\n{}\n</reasoning>\n<answer>\n{}\n</answer>", {}),
    (think_format, "<think>{}</think>7", {}),
    (think_format, "<think>3+4</think>{}", {}),
    (code_block_present, "```python\n{}\n```", {}),
    (markdown_format, "```\n{}\n```", {"least_headings": 0, "least_code_blocks": 1}),
    (markdown_format, "# {}", {}),
    (json_format, '{{"a": "{}"}}', {}),
]


@pytest.mark.parametrize(("member", "layout", "options"), LAYOUTS)
@given(unseen)
def test_a_layout_with_nothing_to_be_seen_in_it_is_not_paid(
    member: Any, layout: str, options: dict[str, Any], content: str
) -> None:
    assert member([layout.format(content, content)], **options) == [0.0]


@given(unseen, unseen)
def test_a_closing_tag_earns_nothing_round_nothing(one: str, other: str) -> None:
    text = f"<reasoning>{one}</reasoning><answer>{other}</answer>"
    assert incremental_format([text]) == [0.5]


@given(st.text(max_size=8), unseen)
def test_one_sign_that_is_seen_is_content(text: str, around: str) -> None:
    assert not is_blank(f"{around}{text}7{around}")
    assert is_blank(text) <= is_blank(text + around)


def test_a_parsed_thought_that_cannot_be_seen_is_none() -> None:
    message = {"role": "assistant", "reasoning_content": "\u200b", "content": "7"}
    assert think_format([[message]]) == [0.0]
    assert think_format([[message | {"reasoning_content": "3 + 4"}]]) == [1.0]
    assert think_format([[message | {"reasoning_content": "3 + 4", "content": "&nbsp;"}]]) == [0.0]
