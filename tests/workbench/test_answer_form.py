"""Where answers stand, and when two are the same."""

import pytest

from workbench.answer_form import find_slot, gold_text, read_json, same_answer, value_of


@pytest.mark.parametrize(
    ("text", "gold", "form", "answer"),
    [
        ("<think>5?</think>\n<answer> 7 </answer>", "7", "tag:answer", "7"),
        ("<result>Oslo</result>", "oslo", "tag:result", "Oslo"),
        (r"So \boxed{\frac{1}{2}}.", "1/2", "boxed", r"\frac{1}{2}"),
        ("3 + 4\n#### 7", 7, "hash", "7"),
        ("It is so.\n**Answer: (B)**", "B", "line", "B"),
        ('{"a": 1}', {"a": 1}, "json", '{"a": 1}'),
        ('```json\n{"a": 1}\n```', {"a": 1}, "json", '{"a": 1}'),
        ("Paris.", "Paris", "whole", "Paris"),
        ("we count 12 of them", "12", "number", "12"),
        ("<answer>2, -3</answer>", ["-3", "2"], "tag:answer", "2, -3"),
    ],
)
def test_the_place_of_the_answer_is_found(text, gold, form, answer):
    slot = find_slot(text, gold)
    assert slot is not None
    assert (slot.form, slot.answer) == (form, answer)
    assert slot.write(slot.answer) == text


def test_thinking_holds_no_answer():
    assert find_slot("<think>7</think><answer>8</answer>", "7") is None


def test_another_answer_is_written_in_the_same_form():
    slot = find_slot("Work.\nAnswer: (B).", "B")
    assert slot is not None
    assert slot.write("C") == "Work.\nAnswer: (C)."
    assert slot.mark("C") == "Answer: (C)."


@pytest.mark.parametrize("text", ["", "no", "x" * 10_000 + "7"])
def test_no_place_is_no_place(text):
    assert find_slot(text, "7") is None


@pytest.mark.parametrize(
    ("written", "gold", "same"),
    [
        ("42.0", "42", True),
        ("50%", "0.5", True),
        ("1 1/2", 1.5, True),
        ("\u22123", "-3", True),
        ("142", "42", False),
        ("3.33", 3.3333, None),  # may be a rounding
        ("42 km", "42", None),
        ("forty-two", "42", None),
        ("Paris, Texas", "Paris", None),
        ("Rome", "Paris", False),
        ("the  PARIS!", "the paris", True),
        ("11, 13 and 17", ["17", "11", "13"], True),
        ("11, 13", ["17", "11", "13"], False),
        ('["b", "a"]', ["a", "b"], True),
        ("yes", True, True),
        ("no", True, False),
        ("", "42", None),
    ],
)
def test_equal_different_and_unproven(written, gold, same):
    assert same_answer(written, gold) is same


def test_a_ground_truth_is_read_out_of_its_wrapping():
    assert gold_text("He has 3 and 4.\n#### 7") == "7"
    assert gold_text(r"$\boxed{7}$") == "7"
    assert gold_text(300.0) == "300"


def test_values_and_json():
    assert value_of("1,250.5") == 1250.5
    assert value_of("1/0") is None
    assert read_json("{broken") is None
    assert read_json("[" * 100_000) is None
    assert read_json("42") is None
