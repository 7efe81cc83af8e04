"""Parts of the samples: by value, by number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rewards.errors import UsageError
from tests.workbench.tables import samples, table
from workbench.slices import by_column, length_bins, slices

SCORES = table({"r": [1.0, 0.0, 1.0, 1.0]}, ["a", "a", "b", "b"])


def test_values_are_sliced_and_missing_ones_left_out() -> None:
    found = slices(SCORES, ["x", "y", None, "x"])
    assert [(part.name, part.rows, part.means["r"]) for part in found] == [("x", 2, 1.0), ("y", 1, 0.0)]
    assert found[0].advantage == pytest.approx(0.7070 / 2, abs=1e-3)


def test_a_column_of_few_numbers_has_a_slice_for_each() -> None:
    found = by_column(SCORES, samples(["", "", "", ""], level=[1, 2, 1, 2]), "level")
    assert [(part.name, part.means["r"]) for part in found] == [("1", 1.0), ("2", 0.5)]


def test_a_column_of_lists_is_sliced_by_what_it_shows() -> None:
    found = by_column(SCORES, samples(["", "", "", ""], tags=[["a"], ["a"], [], []]), "tags")
    assert [(part.name, part.rows) for part in found] == [("['a']", 2), ("[]", 2)]


def test_numbers_are_cut_into_parts_of_equal_size() -> None:
    scores = table({"r": list(range(80))}, ["g"] * 80)
    parts = length_bins(scores, np.arange(80.0), bins=4)
    assert [part.rows for part in parts] == [20, 20, 20, 20]
    assert (parts[0].low, parts[-1].high) == (0.0, 79.0)
    assert [part.rows for part in length_bins(scores, np.full(80, 7.0))] == [80]


def test_a_column_that_is_not_there_is_told() -> None:
    with pytest.raises(UsageError, match="no column 'level'; the columns are answer, group, length"):
        by_column(SCORES, samples(["", "", "", ""], answer=["1"] * 4), "level")


def test_rows_are_sliced_by_what_they_have_beside_their_columns() -> None:
    labelled = table(
        {"r": [1.0, 0.0, 1.0, 1.0]}, ["a", "a", "b", "b"], labels=["wrong", "right", None, "right"]
    )
    rows = samples(["x", "x", "four", "four"], ["a", "a", "b", "b"])
    rows = replace(rows, steps=[1, 1, 2, 2])
    named = {
        name: [(part.name, part.rows) for part in by_column(labelled, rows, name)]
        for name in ("label", "group", "step", "length")
    }
    assert named == {
        "label": [("right", 2), ("wrong", 1)],
        "group": [("a", 2), ("b", 2)],
        "step": [("1", 2), ("2", 2)],
        "length": [("1", 2), ("4", 2)],
    }


def test_a_column_of_that_name_goes_before_what_rows_have() -> None:
    rows = samples(["x", "x", "x", "x"], length=["short", "long", "short", "long"])
    assert [part.name for part in by_column(SCORES, rows, "length")] == ["short", "long"]


@pytest.mark.parametrize("seed", range(20))
def test_parts_by_number_hold_every_row_once_and_end_at_values_that_occur(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, int(rng.integers(2, 60)), 48).astype(float)
    parts = length_bins(table({"r": list(range(48))}, ["g"] * 48), lengths, bins=5)
    assert sum(part.rows for part in parts) == 48
    for part in parts:
        assert {part.low, part.high} <= set(lengths)
        assert part.rows == ((lengths >= part.low) & (lengths <= part.high)).sum()


def test_an_integer_beyond_every_float_is_a_value_like_a_text() -> None:
    found = by_column(SCORES, samples(["", "", "", ""], level=[10**400, 1, 1, 10**5000]), "level")
    assert [(part.name[:2], part.rows) for part in found] == [("1", 2), ("10", 1), ("0x", 1)]


def test_values_of_other_types_are_other_values() -> None:
    found = by_column(SCORES, samples(["", "", "", ""], level=[1, True, 1.0, "1"]), "level")
    assert [(part.name, part.rows) for part in found] == [("1", 1), ("True", 1), ("1.0", 1), ("'1'", 1)]


def test_rows_without_a_number_are_one_slice() -> None:
    found = by_column(
        SCORES, samples(["", "", "", ""], level=[1.0, float("nan"), float("nan"), None]), "level"
    )
    assert [(part.name, part.rows) for part in found] == [("nan", 2), ("1.0", 1)]
