from __future__ import annotations

import pytest

from tests.workbench.tables import samples, table
from workbench.app.view.compared import changed_rows, compared_rows, compared_view
from workbench.difference import Difference, FileChange, compare

NAN = float("nan")
GROUPS = ["g", "g", "g", "h", "h"]


@pytest.fixture
def difference() -> Difference:
    before = table({"a": [0.0, 1.0, 0.5, 1.0, NAN]}, GROUPS)
    after = table({"a": [1.0, 0.0, 0.5, 1.0, 0.25]}, GROUPS)
    return compare(before, after, code=[FileChange("r.py", "--- r.py\n+++ r.py\n@@ -1 +1 @@\n-a\n+b")])


def test_the_head_counts_rows_signs_and_groups(difference: Difference) -> None:
    view = compared_view(difference)
    assert (view["rows"], view["flips"], view["dead"]) == (5, 2, [1, 0])
    assert view["rewards"][0]["mean"] == [0.625, 0.55]
    assert (view["rewards"][0]["better"], view["rewards"][0]["worse"], view["rewards"][0]["gained"]) == (
        1,
        1,
        1,
    )
    assert view["code"] == [
        {"name": "r.py", "lines": [["place", "@@ -1 +1 @@"], ["less", "-a"], ["more", "+b"]], "more": 0}
    ]


def test_ties_that_broke_and_that_came_are_counted() -> None:
    before, after = table({"a": [0.5, 0.5, 1.0]}, ["g"] * 3), table({"a": [0.5, 0.75, 0.75]}, ["g"] * 3)
    view = compared_view(compare(before, after))
    assert (view["ties"], view["turned"], view["pairs"]) == ([1, 1], 0, 3)


@pytest.mark.parametrize(
    ("order", "shown", "rows"),
    [
        ("fell", "all", [1, 3, 4, 0]),
        ("rose", "all", [0, 4, 3, 1]),
        ("taught", "worse", [1]),
        ("rose", "flips", [0, 1]),
    ],
)
def test_changed_rows_are_chosen_and_ordered(
    difference: Difference, order: str, shown: str, rows: list[int]
) -> None:
    assert changed_rows(difference, order, shown).tolist() == rows


def test_a_window_has_both_sides_of_each_row(difference: Difference) -> None:
    rows = changed_rows(difference, "fell", "all")
    window = compared_rows(difference, samples(["x", "<b>", "y", "z", "w"], GROUPS), rows, 0, 1)
    assert [(row["row"], row["text"], row["total"], row["flips"]) for row in window] == [
        (1, "<b>", [1.0, 0.0], True)
    ]
    last = compared_rows(difference, samples(["x", "<b>", "y", "z", "w"], GROUPS), rows, 2, 50)
    assert last[0]["scores"] == [["a", None, 0.25]]
