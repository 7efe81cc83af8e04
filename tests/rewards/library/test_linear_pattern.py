"""Patterns in linear time: the same as Python's own, and never slow."""

from __future__ import annotations

import itertools
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards.library.linear_pattern import LinearPattern

ATOMS = st.sampled_from(
    ["a", "b", r"\n", ".", "[ab]", "[^a]", r"\w", r"\s", r"\d", "^", "$", r"\b", r"\A", r"\Z", "é", "A"]
)
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda both: f"(?:{both[0]}|{both[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,2}", "{0,3}"])).map(
            lambda both: f"({both[0]}){both[1]}"
        ),
        st.tuples(st.sampled_from("ims"), inner).map(lambda both: f"(?{both[0]}:{both[1]})"),
    ),
    max_leaves=8,
)
TEXTS = st.text(alphabet="abA \né1", max_size=9)
FLAGS = st.sampled_from([0, re.MULTILINE, re.DOTALL, re.IGNORECASE, re.MULTILINE | re.DOTALL, re.ASCII])


@settings(max_examples=400)
@given(PATTERNS, FLAGS, TEXTS)
def test_it_finds_and_matches_what_pythons_own_engine_does(pattern: str, flags: int, text: str) -> None:
    python, ours = re.compile(pattern, flags), LinearPattern(pattern, flags)
    assert (ours.first(text) is not None) == (python.search(text) is not None)
    assert ours.whole(text) == (python.fullmatch(text) is not None)


@settings(max_examples=400)
@given(PATTERNS, FLAGS, TEXTS)
def test_a_place_it_names_is_one_where_a_match_begins(pattern: str, flags: int, text: str) -> None:
    place = LinearPattern(pattern, flags).first(text)
    if place is not None:
        assert re.compile(pattern, flags).match(text, place[0]) is not None


@settings(max_examples=200)
@given(st.sampled_from(["a", "ab", "a+b", r"\d+", "(a|b)c?", r"(?m)^a"]), TEXTS)
def test_disjoint_matches_do_not_overlap_and_are_as_many_as_can_be(pattern: str, text: str) -> None:
    spans = LinearPattern(pattern).disjoint(text, 99)
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))
    assert all(start < end for start, end in spans)
    assert len(spans) >= len(re.findall(pattern, text))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a+)+b", "a" * 200_000),
        (r"(x|y|.)*z", " " * 200_000),
        (r"^\s*\*[^*].*$", "\n" * 200_000),
        (r"(\d+\.)+x", "1.2" * 60_000),
        (r"[ab]*a[ab]{12}c", "ab" * 100_000),
        (r"(?s)<a>.*?</a>", "<a>" * 60_000),
    ],
)
def test_patterns_that_take_other_engines_for_ever_take_no_time(pattern: str, text: str) -> None:
    start = time.process_time()
    assert LinearPattern(pattern).first(text) is None
    assert time.process_time() - start < 2.0


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a)\1", "a back-reference"),
        (r"a(?=b)", "a look-ahead or look-behind"),
        (r"(?<!a)b", "a look-ahead or look-behind"),
        (r"(?>a)b", "an atomic group"),
        (r"a++b", "a possessive repeat"),
        (r"(a)?(?(1)b|c)", "a condition"),
        (r"(?a:\w)", "set it for all"),
        (r"(", "cannot be read"),
        (r"(a{500}){500}", "too large"),
        ("(" * 5000 + ")" * 5000, "cannot be read"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_the_reason(pattern: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        LinearPattern(pattern)


def test_a_text_of_many_different_characters_keeps_memory_and_time_in_bounds() -> None:
    text = "".join(chr(code) for code in range(32, 0x10000) if not 0xD800 <= code < 0xE000)
    start = time.process_time()
    assert LinearPattern(r"\d\D\d").first(text * 3) is None
    assert time.process_time() - start < 2.0
