"""Lists and sets: the right items earn, the others cost."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library import set_match
from rewards.library.sets import items


def score(text: str, answer: Any, **options: Any) -> float | None:
    return set_match([text], answer=[answer], **options)[0]


@pytest.mark.parametrize(
    "text",
    [
        "1, 2, 3", "[1, 2, 3]", "{3, 1, 2}", "(1, 2, 3)", r"\{1, 2, 3\}", "$1, 2, 3$", "1, 2 and 3",
        "1; 2; 3", "1\n2\n3", "- 1\n- 2\n- 3",
        "1. 1\n2. 2\n3. 3", "* 3\n* 2\n* 1", '["1", "2", "3"]', "<answer>1, 2, 3</answer>", r"\boxed{1,2,3}",
        "Answer: 3, 1, and 2.",
        r"1, 2 \text{ and } 3", "1.0, 4/2, 3", "1, 2, 2, 3",
    ],
)  # fmt: skip
def test_a_list_is_paid_in_full_however_it_is_written(text: str) -> None:
    assert score(text, [1, 2, 3]) == 1.0
    assert score("1, 2, 3", text) == 1.0


@pytest.mark.parametrize("text", ["", "none", "4", "<answer></answer>", "[]", "{}"])
def test_nothing_right_earns_nothing(text: str) -> None:
    assert score(text, [1, 2, 3]) == 0.0


def test_an_item_too_many_costs_as_much_as_one_left_out() -> None:
    assert score("1, 2", [1, 2, 3]) == score("1, 2, 3", [1, 2]) == 0.8


def test_naming_everything_does_not_pay() -> None:
    everything = score(", ".join(map(str, range(100))), [1, 2, 3])
    assert everything is not None
    assert everything < 0.06


def test_part_of_the_items_earns_nothing_where_all_are_asked_for() -> None:
    assert score("1, 2", [1, 2, 3], partial_credit=False) == 0.0
    assert score("3, 2, 1", [1, 2, 3], partial_credit=False) == 1.0


def test_the_order_counts_where_it_is_asked_for() -> None:
    assert score("a, c, b", ["a", "b", "c"], in_order=True) == pytest.approx(2 / 3)
    assert score("a, x, b, c", ["a", "b", "c"], in_order=True) == pytest.approx(6 / 7)
    assert score("a, c, b", ["a", "b", "c"]) == 1.0


def test_repeats_count_where_that_is_asked_for() -> None:
    assert score("2, 2, 3", [2, 2, 3], count_repeats=True) == 1.0
    assert score("2, 3", [2, 2, 3], count_repeats=True) == 0.8
    assert score("2, 3", [2, 2, 3]) == 1.0
    assert score("2, 2, 2, 2", [2]) == 1.0


def test_true_and_false_are_no_numbers() -> None:
    assert score("[false, true, 4]", "[0, 1, 4]", partial_credit=False) == 0.0
    assert score("[0, 1, 4]", "[0, 1, 4]", partial_credit=False) == 1.0


@pytest.mark.parametrize("answer", [None, "", [], "[]", {}, True, [""]])
def test_without_an_item_in_the_reference_nothing_is_scored(answer: Any) -> None:
    assert score("1, 2", answer) is None


def test_items_are_text_where_they_are_no_numbers() -> None:
    assert items("New York, **paris** and 'Rome'.") == ["new york", "paris", "rome"]
    assert items("1,234") == ["1234"]


def test_a_flag_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"reward 'set_match': in_order='yes' \(str\) must be true or false"):
        score("1", [1], in_order="yes")


@given(
    st.sets(st.integers(0, 30), min_size=1, max_size=8), st.sets(st.integers(0, 30), min_size=1, max_size=8)
)
def test_the_score_is_the_f1_of_the_two_sets(got: set[int], wanted: set[int]) -> None:
    text = "[" + ", ".join(map(str, got)) + "]"
    assert score(text, sorted(wanted)) == pytest.approx(2 * len(got & wanted) / (len(got) + len(wanted)))


HOSTILE = [
    "Answer: " * 250_000, "(B) " * 500_000, "B " * 1_000_000, "(" * 2_000_000, "**" * 1_000_000,
    "option is " * 200_000,
    "[" * 1_000_000 + "]" * 1_000_000, "\\text{" * 300_000, "5 March " * 250_000, "1, " * 700_000,
    "not " * 500_000, "- 1\n" * 500_000,
    "\x00\ud800" * 500_000, "<answer>" + "a b " * 500_000 + "</answer>", "\n" * 2_000_000,
    " " * 2_000_000 + "B",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_two_megabytes_of_hostile_text_take_less_than_two_seconds(text: str) -> None:
    start = time.process_time()
    assert (score(text, ["x", "y"]) or 0.0) < 1.0
    assert time.process_time() - start < 2.0


@pytest.mark.parametrize(
    "text",
    ["1,000, 2,000", "[1,000, 2,000]", "1,000 and 2,000", "1,000\n2,000", "$1,000, $2,000", "2,000; 1,000"],
)
def test_commas_between_thousands_do_not_part_items(text: str) -> None:
    wanted = ["1000", "2000"] if "$" not in text else ["$1000", "$2000"]
    assert score(text, wanted) == 1.0
    assert score(", ".join(wanted), text) == 1.0


@pytest.mark.parametrize("text", ["1,2,3, 4", "(1,2, 3,4)", "1,2,3 and 4", "1,2,\n3,4"])
def test_commas_between_other_digits_do(text: str) -> None:
    assert score(text, [1, 2, 3, 4]) == 1.0


def test_missing_items_of_a_reference_are_no_items() -> None:
    assert score("1, 2", [1, None, 2, float("nan")]) == 1.0


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("Items: 1, 2, 3", [1, 2, 3]), ("The prime factors: 2, 3 and 5.", [2, 3, 5]), ("Items:\n1\n2\n3", [1, 2, 3]),
     ("Answer set: [1, 2]", [1, 2]), ("Colours: red and blue", ["red", "blue"]), ("Items: {1, 2}", [1, 2])],
)  # fmt: skip
def test_what_leads_up_to_a_list_is_no_item(text: str, wanted: list[Any]) -> None:
    assert score(text, wanted) == 1.0


def test_a_colon_inside_items_stays() -> None:
    assert score("Alien: Romulus, Jaws", ["Alien: Romulus", "Jaws"]) == 1.0
    assert score("Romulus, Jaws", ["Alien: Romulus", "Jaws"]) == 0.5
    assert score("No: yes", ["no", "yes"]) == 0.0
    assert items("a: 1, b: 2") == ["a: 1", "b: 2"]
    assert items("12:30, 13:00") == ["12:30", "13:00"]


@pytest.mark.parametrize(
    "text", ["red or blue", "red, or blue", r"red \text{ or } blue", "either red or blue"]
)
def test_or_is_a_hedge_unless_the_reference_has_it(text: str) -> None:
    assert (score(text, ["red", "blue"]) or 0.0) <= 0.5
    assert (score(text, "red, blue") or 0.0) <= 0.5
    assert score("red or blue", "red or blue") == score("blue, red", "red or blue") == 1.0


@pytest.mark.parametrize(
    "text",
    ["1) red 2) blue", "1. red 2. blue", "(1) red (2) blue", "1) red, 2) blue", "1) red; and 2) blue."],
)
def test_items_may_be_numbered_in_a_line(text: str) -> None:
    assert score(text, ["red", "blue"]) == 1.0


@pytest.mark.parametrize(
    "text", ["2) red 3) blue", "1) red 1) blue", "see 1) red 2) blue", "1) red", "1) red 3) blue"]
)
def test_other_numbers_in_a_line_are_no_numbering(text: str) -> None:
    assert (score(text, ["red", "blue"]) or 0.0) < 1.0


@given(
    st.lists(st.sampled_from(["red", "blue", "7", "1/2", "two words"]), min_size=2, max_size=5, unique=True)
)
def test_every_form_lists_the_same_items(wanted: list[str]) -> None:
    inline = " ".join(f"{number}) {item}" for number, item in enumerate(wanted, 1))
    for text in (inline, "Items: " + ", ".join(wanted), "- " + "\n- ".join(wanted)):
        assert score(text, wanted) == 1.0
    assert (score(" or ".join(wanted), wanted) or 0.0) < 1.0
