"""Changes by structure."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.mutations import LONGEST, OPERATIONS, Material, mutate, pieces

MATERIAL = Material(("Other text.",), ("42", "7"), ("because", "thus"))
TEXT = "<think>6 and 7.</think>\n<answer>42</answer>"


@given(st.text(max_size=200))
def test_pieces_joined_are_the_text(text):
    assert "".join(pieces(text)) == text


@given(st.sampled_from(sorted(OPERATIONS)), st.text(max_size=80), st.randoms(use_true_random=False))
def test_every_operation_takes_any_text(operation, text, rng):
    changed = mutate(text, operation, rng.randrange, MATERIAL)
    assert isinstance(changed, str)
    assert len(changed) <= max(LONGEST, len(text))


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_operation_changes_a_structured_text(operation):
    rng = random.Random(3)
    assert any(mutate(TEXT, operation, rng.randrange, MATERIAL) != TEXT for _ in range(20))


def test_the_same_choices_give_the_same_text():
    def once():
        rng = random.Random(5)
        return [mutate(TEXT, operation, rng.randrange, MATERIAL) for operation in OPERATIONS]

    assert once() == once()


def test_an_answer_of_another_row_is_put_in_its_place():
    assert mutate(TEXT, "answer", lambda n: 1 % n, MATERIAL) == TEXT.replace(">42<", ">7<")
    assert mutate(TEXT, "form", lambda n: 2 % n, MATERIAL) == "#### 42"
