"""Where sentences end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("one. two", 2),
        ("Dr. Lee met Mr. Ito at 3 p.m. today.", 1),
        ("J. R. R. Tolkien wrote it.", 1),
        ("That was I. You know.", 2),
        ('He said "Go!" and left. "Why?"', 3),
        ("Wait... what?!", 2),
        ("It is 3.14, v1.2 or so", 1),
        ("1. Add.\n2. Halve.", 2),
        ("今日は。明日は！", 2),
        ("first line\nsecond line", 1),
        ("", 0),
        (" \n", 0),
    ],
)
def test_how_many_there_are(text: str, count: int) -> None:
    assert len(sentences(text)) == count, sentences(text)


@given(st.text(alphabet="aB .!?\n\"1'(", max_size=30))
def test_all_text_but_white_space_is_in_some_sentence_in_order(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["." * 500_000 + "x", ". " * 300_000, "1. " * 200_000, " " * 500_000 + "."])
def test_hostile_text_comes_to_an_end(text: str) -> None:
    assert all(0 <= start < end <= len(text) for start, end in sentence_spans(text))
