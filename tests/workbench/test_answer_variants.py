"""Equal forms are equal, near misses and far answers are proved to differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.answer_form import same_answer
from workbench.answer_variants import equal_forms, far_wrong, is_letter, near_misses

GOLDS = (
    "42",
    "-3",
    "1250",
    "7.5",
    "1/2",
    "0.25",
    300.0,
    "B",
    "Paris",
    ["2", "-3"],
    {"name": "Ana", "age": 3},
    True,
)

numbers = st.one_of(
    st.integers(-99_999, 99_999).map(str),
    st.decimals(-999, 999, places=2, allow_nan=False).map(str),
    st.tuples(st.integers(1, 99), st.integers(2, 99)).map(lambda pair: f"{pair[0]}/{pair[1]}"),
)


@given(numbers)
def test_other_forms_of_a_number_are_the_same_number(gold):
    for variant in equal_forms(gold, form="tag:answer"):
        assert same_answer(variant.text, gold) is True, variant


@given(numbers)
def test_near_misses_of_a_number_are_never_the_number(gold):
    for variant in [*near_misses(gold), *far_wrong(gold)]:
        assert same_answer(variant.text, gold) is not True, variant


@pytest.mark.parametrize("gold", GOLDS, ids=str)
def test_every_sort_of_ground_truth_has_a_wrong_answer(gold):
    wrong = [*near_misses(gold, ["A", "B", "C"]), *far_wrong(gold, ["A", "B", "Rome"])]
    assert wrong
    assert all(same_answer(variant.text, gold) is not True for variant in wrong)


def test_forms_fit_the_place():
    assert "\\frac{1}{2}" in {v.text for v in equal_forms("1/2", form="boxed")}
    assert "\\frac{1}{2}" not in {v.text for v in equal_forms("1/2", form="tag:answer")}
    assert "\n42\n" in {v.text for v in equal_forms("42", form="tag:answer")}
    assert "(B)" in {v.text for v in equal_forms("B", form="boxed")}


def test_lists_are_written_as_the_data_write_them():
    texts = {v.text for v in near_misses(["red", "green"], form="json")}
    assert '["red"]' in texts
    assert '["red", "green", "zebra"]' in texts
    assert "2, -3, 58" in {v.text for v in near_misses(["2", "-3"])}


def test_differences_that_a_tolerance_may_mean_are_no_near_miss():
    assert "1251" not in {v.text for v in near_misses("1250")}
    assert "43" in {v.text for v in near_misses("42")}


def test_letters():
    assert is_letter("B")
    assert not is_letter("AB")
    assert not is_letter(3)
