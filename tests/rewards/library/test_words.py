"""Words, also where no spaces are written."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library import ideal_length, max_length, min_length, word_overlap
from rewards.library.words import words_in


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), (" \n", 0), ("one two", 2), ("一二三四", 4), ("我有3只猫。", 5), ("これは、日本語です。", 8),
     ("「日本」", 2),
     ("iPhone手机", 3), ("𠀀𠀁", 2), ("don't stop—now", 2), ("。", 1), ("コーヒー", 4)],
)  # fmt: skip
def test_each_sign_of_a_script_without_spaces_is_a_word(text: str, count: int) -> None:
    assert len(words_in(text)) == count


@given(st.text("ab ,.-\n\t'é0", max_size=40))
def test_elsewhere_words_are_what_white_space_separates(text: str) -> None:
    assert words_in(text) == text.split()


@given(st.text(max_size=40))
def test_nothing_but_white_space_is_lost(text: str) -> None:
    assert "".join(words_in(text)) == "".join(text.split())


def test_lengths_count_them() -> None:
    assert ideal_length(["一二三四", "one two three four"], target_length=4) == [1.0, 1.0]
    assert min_length(["一二三四"], shortest=4) == [1.0]
    assert max_length(["一二三四"], longest=2) == max_length(["a b c d"], longest=2) < [0.0]


def test_overlap_compares_them() -> None:
    assert word_overlap(["猫坐在垫子上", "狗坐在垫子上", "天气很好"], answer=["猫坐在垫子上"] * 3) == [
        1.0,
        pytest.approx(5 / 6),
        0.0,
    ]


@pytest.mark.parametrize("text", ["「" * 1_000_000, "「日" * 500_000, ("。" * 99 + "a") * 10_000])
def test_a_megabyte_is_quick(text: str) -> None:
    start = time.process_time()
    words_in(text)
    assert time.process_time() - start < 2
