"""Words whose share rises with the advantage."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from workbench.phrases import MAX_WORDS, Phrase, rising_phrases, words_of

ROWS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["a", "B", "<answer>", "7", "it's"]), max_size=5).map(" ".join),
        st.one_of(st.none(), st.just(math.nan), st.integers(-2, 2).map(float)),
    ),
    max_size=9,
)


def by_brute_force(rows: list[tuple[str, float | None]], support: int) -> dict[str, tuple[int, int]]:
    """Each phrase that rises, from the definition: split at blanks, count sides with exact numbers."""
    known = [(text.casefold().split(), Fraction(a)) for text, a in rows if a is not None and a == a]
    if not known:
        return {}
    average = sum(a for _, a in known) / len(known)
    above, below = [w for w, a in known if a > average], [w for w, a in known if a < average]
    candidates = {
        tuple(w[i:j]) for w, _ in known for i in range(len(w)) for j in range(i + 1, min(i + 3, len(w)) + 1)
    }

    def places(phrase: tuple[str, ...], side: list[list[str]]) -> list[int]:
        size = len(phrase)
        return [
            at for at, w in enumerate(side) if any(tuple(w[i : i + size]) == phrase for i in range(len(w)))
        ]

    found, where = {}, {}
    for phrase in candidates:
        up, down = places(phrase, above), places(phrase, below)
        if (
            above
            and below
            and len(up) + len(down) >= support
            and Fraction(len(up), len(above)) > Fraction(len(down), len(below))
        ):
            found[phrase], where[phrase] = (len(up), len(down)), (up, down)
    for short in list(found):
        if any(
            where[short] == where[long] and long != short and f" {' '.join(short)} " in f" {' '.join(long)} "
            for long in where
        ):
            del found[short]
    return {" ".join(phrase): counts for phrase, counts in found.items()}


@given(ROWS, st.integers(1, 3))
def test_the_phrases_are_those_of_the_definition_largest_rise_first(
    rows: list[tuple[str, float | None]], support: int
) -> None:
    found = rising_phrases([t for t, _ in rows], [a for _, a in rows], support=support, most=10_000)
    assert {one.text: (one.above, one.below) for one in found} == by_brute_force(rows, support)
    rises = [one.rise for one in found]
    assert rises == sorted(rises, reverse=True)


def test_a_word_that_is_paid_comes_first_with_its_counts() -> None:
    texts = ["Certainly, it is 4", "certainly! 5", "Certainly: 6", "It is 4", "is it 5", "6"]
    first, *_ = rising_phrases(texts, [1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    assert first == Phrase("certainly", 3, 0, 3, 3)
    assert first.rise == 1.0


def test_groups_without_spread_and_a_long_loop_cost_nothing() -> None:
    assert rising_phrases(["a a a", "a b", "b"], [0.0, 0.0, 0.0]) == []
    assert rising_phrases([], []) == []
    assert len(words_of("word " * 100_000)) == MAX_WORDS
