"""Rows of its own for each call: what is changed in them is changed nowhere else."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np

import rewards
from rewards import copying
from rewards.contract import Batch
from rewards.copying import own_copy


def chat(text: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text, "parts": [{"type": "text", "text": text}]}]


def test_nothing_that_can_be_changed_is_shared() -> None:
    batch = Batch([chat("?")], [chat("A")], [[1, 2]], {"tests": [{"in": [[1, 2]], "of": ([3], 4)}]})
    own = own_copy(batch)
    own.prompts[0].append({})
    own.completions[0][0]["parts"][0]["text"] = "b"
    own.completion_ids[0][0] = 7
    own.columns["tests"][0]["in"][0].append(3)
    own.columns["tests"][0]["of"][0].append(5)
    assert batch == Batch([chat("?")], [chat("A")], [[1, 2]], {"tests": [{"in": [[1, 2]], "of": ([3], 4)}]})


def test_texts_and_numbers_are_not_copied() -> None:
    text = "a long text " * 100
    batch = Batch([chat(text)], [text], columns={"answer": [text], "number": [1e300]})
    own = own_copy(batch)
    assert own == batch
    assert own.completions[0] is own.columns["answer"][0] is own.prompts[0][0]["content"] is text
    assert own.columns["answer"] is not batch.columns["answer"]


def test_the_texts_are_encoded_once_for_all_copies() -> None:
    batch = Batch(["p", "p"], [chat("A"), chat("é")])
    assert own_copy(batch).texts is own_copy(batch).texts


def test_rows_of_a_group_that_share_a_value_share_its_copy() -> None:
    shared = chat("?")
    own = own_copy(Batch([shared, shared, chat("?")], ["a", "b", "c"]))
    assert own.prompts[0] is own.prompts[1]
    assert own.prompts[0] is not own.prompts[2]
    assert own.prompts[0] is not shared


def test_other_objects_are_copied_where_they_can_be() -> None:
    array, many = np.zeros(2), {1, 2}
    own = own_copy(Batch(["p"], ["a"], columns={"array": [array], "many": [many]}))
    own.columns["array"][0][0] = 1.0
    own.columns["many"][0].add(3)
    assert (array.tolist(), many) == ([0.0, 0.0], {1, 2})


class Refuses:
    def __deepcopy__(self, memo: Any) -> Any:
        raise ValueError("not me")


def test_what_cannot_be_copied_is_handed_over_as_it_is() -> None:
    refuses = Refuses()
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    round_and_round: list[Any] = []
    round_and_round.append(round_and_round)
    own = own_copy(Batch(["p"] * 3, ["a"] * 3, columns={"odd": [[refuses], deep, round_and_round]}))
    assert own.columns["odd"][0][0] is refuses
    assert own.columns["odd"][1] is deep
    while deep:  # taken apart by hand: freeing it whole goes as deep as it is
        deep = deep.pop()
    round_and_round.clear()


def test_the_garbage_collector_goes_on_as_before() -> None:
    assert gc.isenabled()
    own_copy(Batch(["p"], [chat("a")]))
    assert gc.isenabled()


def test_kept_scores_hang_on_the_code_that_copies() -> None:
    """`workbench.repeatable.own_code`, part of every key, reads the files of this folder."""
    assert Path(copying.__file__).parent == Path(rewards.__file__).parent
