"""Wrong arguments of the functions called from Python: one sentence of our own, at the door."""

from __future__ import annotations

from typing import Any

import pytest

import workbench
from rewards.errors import ArgumentError, SamplesError
from workbench.samples.in_memory import samples_from


def size(completions: list[str], **_: object) -> list[float]:
    return [float(len(text)) for text in completions]


@pytest.mark.parametrize(
    ("functions", "options", "said"),
    [
        (None, {}, "functions=None (NoneType) must be a reward function, several in a list"),
        ([], {}, "there is no reward function to call"),
        ([3], {}, "reward_1 is int, not a function"),
        (size, {"weights": "x"}, "weights='x' (str) must be numbers in the order of the functions"),
        (size, {"weights": {"siz": 1}}, "weights has 'siz', which is none of size; did you mean 'size'?"),
        (size, {"weights": [float("nan")]}, "weights: 0 has nan (float), which must be a finite number"),
        (size, {"jobs": -1}, "jobs=-1 (int) must be a whole number of processes, at least 1"),
        (size, {"columns": "a"}, "columns='a' (str) must map names in the samples"),
        (size, {"tokenizer": 3}, "tokenizer=3 (int) must be a function"),
        (size, {"read_as": "chats"}, "read_as='chats' (str) must be 'chat' or 'text'"),
    ],
)
def test_a_wrong_argument_is_one_sentence(functions: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError) as error:
        workbench.score(functions, ["a"], **options)
    assert str(error.value).startswith(said)
    assert isinstance(error.value, ValueError)


def test_rows_and_check_codes_are_looked_at_too() -> None:
    with pytest.raises(ArgumentError, match=r"row='1' \(str\) must be the number of a row"):
        workbench.explain(size, ["a"], row="1")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"select=3 \(int\) must be starts of check codes"):
        workbench.check(size, ["a"], select=3)  # type: ignore[arg-type]


def test_other_weights_never_name_a_folder_of_ours() -> None:
    scores = workbench.score(size, ["a"])
    with pytest.raises(ArgumentError) as error:
        scores.reweighted({"length": 2.0})
    assert str(error.value) == "weights has 'length', which is none of size"


def test_a_column_that_is_no_list_is_named() -> None:
    with pytest.raises(SamplesError, match="the column 'completion' is int, not a list of values"):
        samples_from({"prompt": ["a"], "completion": 3})


def test_scores_tell_the_notes_of_their_table() -> None:
    def chatty(completions: Any, **_: object) -> list[float]:
        return [float(len(completion[0]["content"])) for completion in completions]

    scores = workbench.score(chatty, ["a", "bb"])
    assert "note: the samples are plain text and chatty reads chat messages" in repr(scores)
    assert workbench.score(chatty, ["a", "bb"], read_as="chat").table.totals.tolist() == [1.0, 2.0]
