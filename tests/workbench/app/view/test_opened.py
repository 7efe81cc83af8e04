from __future__ import annotations

import json
from pathlib import Path

from tests.workbench.tables import samples
from workbench.app.view.opened import look_view, samples_view, skipped_view
from workbench.samples import Skipped
from workbench.samples.looking import look_at


def test_the_groups_are_told_by_their_sizes() -> None:
    found = samples_view(samples(["a", "b", "c"], ["g", "g", "h"], answer=["1", None, "3"]))
    assert (found["rows"], found["groups"], found["sizes"], found["alone"]) == (3, 2, [[2, 1], [1, 1]], 1)
    assert found["columns"] == [{"name": "answer", "filled": 2, "example": "1"}]
    assert found["files"] == [{"name": "made.jsonl", "place": "made.jsonl", "rows": 3}]


def test_what_a_view_holds_does_not_grow_with_the_rows() -> None:
    def size(rows: int) -> int:
        return len(json.dumps(samples_view(samples(["x" * 500] * rows, ["g"] * rows, answer=["y"] * rows))))

    assert size(2_000) - size(20) < 60


def test_skipped_rows_are_counted_by_their_reason() -> None:
    found = skipped_view(
        [*(Skipped(Path("a.jsonl"), n, "no prompt") for n in range(60)), Skipped(Path("b"), None, "torn")]
    )
    assert found["count"] == 61
    assert found["reasons"] == [["no prompt", 60], ["torn", 1]]
    assert len(found["first"]) < 61


def test_a_look_shows_names_guess_and_first_rows(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("question,output\n<b>1+1?</b>,2\n")
    found = look_view(look_at(tmp_path / "rows.csv"))
    assert [name["name"] for name in found["names"]] == ["question", "output"]
    assert found["first"] == [["<b>1+1?</b>", "2"]]
    assert (found["format"], found["guessed"], found["why"]) == ("CSV · flat", True, "")
