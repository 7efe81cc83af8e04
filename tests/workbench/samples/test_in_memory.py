"""Rows that are in memory: lists, frames, data sets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rewards.errors import SamplesError
from workbench.samples.in_memory import plain, samples_from

ROWS = [
    {"prompt": "1+1", "completion": "2", "answer": "2", "label": "right"},
    {"prompt": "1+1", "completion": "3", "answer": "2", "label": "wrong"},
]


class Frame:
    """What polars' frames offer."""

    def to_dicts(self) -> list[dict[str, Any]]:
        return [dict(row) for row in ROWS]


def dataset() -> Any:
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset.from_list(ROWS)


@pytest.mark.parametrize(
    "made",
    [
        lambda: ROWS,
        lambda: iter(ROWS),
        lambda: pd.DataFrame(ROWS),
        lambda: Frame(),
        lambda: {name: [row[name] for row in ROWS] for name in ROWS[0]},
        dataset,
    ],
    ids=["list", "iterator", "pandas", "polars", "columns", "data set"],
)
def test_rows_of_any_kind_are_read_alike(made: Any) -> None:
    samples = samples_from(made())
    assert (samples.completions, samples.labels) == (["2", "3"], ["right", "wrong"])
    assert (samples.columns, samples.groups) == ({"answer": ["2", "2"]}, ["g0", "g0"])


def test_texts_alone_are_completions_of_one_prompt() -> None:
    samples = samples_from(["yes", "no"])
    assert (samples.prompts, samples.completions, len(set(samples.groups))) == (["", ""], ["yes", "no"], 1)


def test_chats_and_mapped_columns_are_read_as_from_a_file() -> None:
    rows = [{"question": "1+1", "messages": [{"role": "assistant", "content": "2"}]}]
    samples = samples_from(rows, columns={"question": "prompt", "messages": "completion"})
    assert samples.prompts == [[{"role": "user", "content": "1+1"}]]


def test_values_of_other_libraries_become_pythons_own() -> None:
    assert plain({"a": np.float64(0.5), "b": np.array([1, 2]), "c": np.int64(3)}) == {
        "a": 0.5,
        "b": [1, 2],
        "c": 3,
    }
    assert (plain(math.nan), plain(pd.NA), plain(pd.NaT), plain(np.bool_(True))) == (None, None, None, True)
    assert (type(plain(np.str_("x"))), type(plain(np.float64(1)))) == (str, float)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "rows.jsonl",
            "samples is str; it must be a list of rows, a data frame, a data set or a file's path",
        ),
        ([1], "samples, row 0: int, neither a mapping with `prompt` and `completion` nor a text"),
        ({"prompt": ["a"], "completion": []}, "the columns have different lengths"),
        ([], "there is no row in the samples"),
        ([{"prompt": "a"}], "no sample could be used: row 0: no `completion`"),
        (
            [{"question": "a", "response": "b"}],
            'say columns={"question": "prompt", "response": "completion"}',
        ),
    ],
)
def test_what_cannot_be_read_is_one_sentence(source: Any, said: str) -> None:
    with pytest.raises(SamplesError) as caught:
        samples_from(source)
    assert said in str(caught.value)


def test_rows_that_cannot_be_used_are_told_and_the_others_stay() -> None:
    samples = samples_from([*ROWS, {"prompt": "x", "completion": 3}])
    assert (len(samples), [(skip.line, skip.why) for skip in samples.skipped]) == (
        2,
        [(2, "`completion` is a number (3), not a text or a list of chat messages")],
    )
