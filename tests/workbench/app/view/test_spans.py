from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.app.view.spans import pieces


def test_text_without_spans_is_one_piece() -> None:
    assert pieces("abc", {}) == [("abc", [])]
    assert pieces("", {}) == []


def test_nested_spans_keep_the_outer_one_on_the_inner_piece() -> None:
    assert pieces("abcdef", {7: [(0, 6)], 3: [(2, 4)]}) == [("ab", [7]), ("cd", [7, 3]), ("ef", [7])]


def test_overlapping_spans_are_cut_at_both_borders() -> None:
    assert pieces("abcdef", {0: [(0, 4)], 1: [(2, 6)]}) == [("ab", [0]), ("cd", [0, 1]), ("ef", [1])]


def test_equal_spans_of_two_credits_share_a_piece() -> None:
    assert pieces("abc", {0: [(1, 2)], 1: [(1, 2)]}) == [("a", []), ("b", [0, 1]), ("c", [])]


def test_a_span_of_no_width_is_a_mark_also_at_the_ends_and_inside_another() -> None:
    assert pieces("ab", {0: [(0, 0), (2, 2)]}) == [("", [0]), ("ab", []), ("", [0])]
    assert pieces("ab", {0: [(0, 2)], 1: [(1, 1)]}) == [("a", [0]), ("", [1]), ("b", [0])]
    assert pieces("", {0: [(0, 0)]}) == [("", [0])]


def test_a_credit_with_a_repeated_span_is_named_once() -> None:
    assert pieces("ab", {0: [(0, 1), (0, 1)]}) == [("a", [0]), ("b", [])]


def test_spans_outside_the_text_are_clipped() -> None:
    assert pieces("ab", {0: [(-5, 1)], 1: [(1, 99)], 2: [(50, 60)]}) == [("a", [0]), ("b", [1]), ("", [2])]


def test_offsets_count_code_points() -> None:
    assert pieces("😀<b>", {0: [(1, 4)]}) == [("😀", []), ("<b>", [0])]


spans = st.dictionaries(
    st.integers(0, 5), st.lists(st.tuples(st.integers(-2, 12), st.integers(-2, 12)), max_size=3), max_size=5
)


@given(st.text(max_size=10), spans)
def test_the_pieces_are_the_text_and_cover_what_the_spans_cover(text: str, given_spans: dict) -> None:  # type: ignore[type-arg]
    found = pieces(text, given_spans)
    assert "".join(piece for piece, _ in found) == text
    at = 0
    for piece, numbers in found:
        for number, places in given_spans.items():
            covered = any(min(a, b) <= at and at + len(piece) <= max(a, b) for a, b in places)
            if piece:
                assert (number in numbers) == covered
        at += len(piece)
