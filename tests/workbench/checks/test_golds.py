"""What a column's ground truths ask for, as the right samples write it."""

from workbench.answer_form import find_slot
from workbench.checks.golds import alternatives, find_gold, read_golds


def test_one_of_several_accepted_answers_is_the_gold_of_its_row():
    golds = {0: ["William Shakespeare", "Shakespeare"], 1: ["Paris", "Lutetia"], 2: ["Oslo"]}
    slots = {0: find_gold("Answer: Shakespeare", golds[0])}
    assert slots[0] is not None
    assert read_golds(golds, {0: slots[0]}) == {0: "Shakespeare", 1: "Paris", 2: "Oslo"}
    assert alternatives(golds[0], "Shakespeare") == ["William Shakespeare"]


def test_list_that_is_answered_as_a_whole_stays_one():
    golds = {0: ["red", "green"]}
    slot = find_gold("Answer: green, red", golds[0])
    assert slot is not None
    assert read_golds(golds, {0: slot}) == golds
    assert alternatives(golds[0], golds[0]) == ()


def test_truth_is_the_word_that_samples_write():
    golds = {0: True, 1: False, 2: True}
    slots = {row: find_slot(f"Verdict: {word}", golds[row]) for row, word in ((0, "yes"), (1, "no"))}
    assert read_golds(golds, {row: slot for row, slot in slots.items() if slot}) == {
        0: "yes",
        1: "no",
        2: "yes",
    }
