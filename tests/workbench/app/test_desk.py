from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rewards.errors import LoadError, UsageError
from workbench.app.bench import MAX_DESKS, SCRATCH, Bench, remove_left_scratch
from workbench.app.checking import Checked, Checking
from workbench.app.desk import Desk
from workbench.app.drafts import digest
from workbench.app.leash import Stopped
from workbench.app.shelf import Source
from workbench.app.view.rows import View
from workbench.app.weighing import Weighing
from workbench.labels import row_digest

Wait = Callable[..., None]


def settled(desk: Desk) -> bool:
    return desk.status != "running"


def test_the_file_is_scored_when_it_is_opened(desk: Desk) -> None:
    assert desk.shown is not None
    assert (desk.run, desk.shown.run, len(desk.shown.board)) == (1, 1, 6)
    assert not desk.sheets["rewards.py"].dirty


def test_an_edit_is_kept_as_a_draft_and_scored_without_touching_the_file(
    desk: Desk, project: Path, wait_for: Wait
) -> None:
    before = (project / "rewards.py").read_text()
    assert desk.edit("rewards.py", "edited") == 2
    wait_for(lambda: settled(desk))
    draft = desk.shelf.drafts.read(project / "rewards.py")
    assert draft is not None
    assert draft.text == "edited"
    assert desk.shown is not None
    assert desk.shown.run == 2
    assert (project / "rewards.py").read_text() == before


def test_the_same_text_starts_no_run_unless_it_is_asked_for(desk: Desk) -> None:
    text = desk.sheets["rewards.py"].text
    assert desk.edit("rewards.py", text) == 1
    assert desk.edit("rewards.py", text, force=True) == 2


def test_broken_code_keeps_the_last_good_scores_as_stale(desk: Desk, wait_for: Wait) -> None:
    desk.edit("rewards.py", "\nBROKEN")
    wait_for(lambda: settled(desk))
    assert (desk.status, desk.stale) == ("broken", True)
    assert desk.shown is not None
    assert desk.shown.run == 1
    assert desk.problems() == [
        {"kind": "error", "text": "rewards.py, line 2: no such word", "line": 2, "row": None, "count": None}
    ]
    desk.edit("rewards.py", "mended")
    wait_for(lambda: settled(desk))
    assert (desk.status, desk.stale) == ("scored", False)


def test_a_new_edit_ends_a_run_that_would_go_on_for_ever(desk: Desk, engine: Any, wait_for: Wait) -> None:
    desk.edit("rewards.py", "SLOW")
    assert engine.running.wait(10)
    desk.edit("rewards.py", "quick")
    wait_for(lambda: settled(desk), 5)
    assert desk.shown is not None
    assert desk.shown.run == desk.run == 3


def test_a_run_that_is_stopped_says_what_was_stopped_and_keeps_the_last_scores(
    desk: Desk, engine: Any, wait_for: Wait
) -> None:
    desk.edit("rewards.py", "SLOW")
    assert engine.running.wait(10)
    desk.stop_run()
    assert engine.stopped.is_set()
    assert (desk.status, desk.stale) == ("stopped", True)
    said = desk.problems()[0]["text"]
    assert re.fullmatch(
        r"Stopped after \d+\.\d s while shaped was being scored; 0 of 1 rewards were done\. "
        r"The scores shown are those of run 1\.",
        said,
    )
    desk.edit("rewards.py", "quick")
    wait_for(lambda: settled(desk))
    assert (desk.status, desk.stale, desk.problems()) == ("scored", False, [])


def test_a_run_is_stopped_before_it_has_a_process(
    desk: Desk, engine: Any, wait_for: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on = threading.Event(), threading.Event()
    real = desk.shelf.rows

    def late(source: Any) -> Any:
        reached.set()
        go_on.wait(10)
        return real(source)

    monkeypatch.setattr(desk.shelf, "rows", late)
    desk.edit("rewards.py", "SLOW")
    assert reached.wait(10)
    desk.stop_run()
    go_on.set()
    desk.edit("rewards.py", "quick")
    wait_for(lambda: desk.status == "scored", 5)
    assert not engine.running.is_set()


def test_saving_writes_the_file_and_drops_the_draft(desk: Desk, project: Path) -> None:
    desk.edit("rewards.py", "new text")
    assert desk.save("rewards.py", "new text") is None
    assert (project / "rewards.py").read_text() == "new text"
    assert desk.shelf.drafts.read(project / "rewards.py") is None
    assert not desk.sheets["rewards.py"].dirty


def test_a_full_disk_leaves_file_and_draft(
    desk: Desk, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (project / "rewards.py").read_text()
    real = os.replace

    def full(source: Any, target: Any) -> None:
        if str(target).endswith("rewards.py"):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    said = desk.save("rewards.py", "precious")
    assert said is not None
    assert "No space left on device; the old file is unchanged. Your text is kept as a draft." in said
    assert (project / "rewards.py").read_text() == before
    draft = desk.shelf.drafts.read(project / "rewards.py")
    assert draft is not None
    assert draft.text == "precious"


def test_where_no_draft_can_be_kept_the_page_is_told(desk: Desk, tmp_path: Path) -> None:
    desk.shelf.drafts.folder = tmp_path / "project" / "rewards.py" / "no-folder"
    desk.edit("rewards.py", "unlucky")
    assert desk.notice is not None
    assert "Drafts are not kept" in desk.notice
    assert "Keep this tab open" in desk.notice


def test_a_new_desk_finds_the_draft_of_a_dead_one(desk: Desk, bench: Bench) -> None:
    desk.edit("rewards.py", "typed before the crash")
    other = bench.desk("desk0001")
    assert other.sheets["rewards.py"].text == "typed before the crash"
    assert other.sheets["rewards.py"].dirty


def test_a_file_changed_by_another_editor_is_taken_and_scored(
    desk: Desk, project: Path, wait_for: Wait
) -> None:
    (project / "rewards.py").write_text("written elsewhere")
    desk.look_at_disk()
    wait_for(lambda: settled(desk))
    sheet = desk.sheets["rewards.py"]
    assert (sheet.text, sheet.placed, sheet.dirty, desk.run) == ("written elsewhere", 1, False, 2)


def test_a_file_changed_under_a_draft_is_a_conflict_and_the_draft_stays(desk: Desk, project: Path) -> None:
    desk.edit("rewards.py", "mine")
    (project / "rewards.py").write_text("theirs")
    desk.look_at_disk()
    sheet = desk.sheets["rewards.py"]
    assert (sheet.text, sheet.conflict) == ("mine", True)
    assert "nothing was written" in (desk.save("rewards.py", "mine") or "")
    assert (project / "rewards.py").read_text() == "theirs"


def test_a_conflict_is_settled_for_the_draft_or_for_the_file(desk: Desk, project: Path) -> None:
    desk.edit("rewards.py", "mine")
    (project / "rewards.py").write_text("theirs")
    desk.look_at_disk()
    desk.keep_draft("rewards.py")
    assert desk.save("rewards.py", "mine") is None
    desk.edit("rewards.py", "mine again")
    (project / "rewards.py").write_text("theirs again")
    desk.take_file("rewards.py")
    sheet = desk.sheets["rewards.py"]
    assert (sheet.text, sheet.dirty, sheet.conflict) == ("theirs again", False, False)


def test_a_draft_on_an_older_file_is_a_conflict_when_it_is_opened(
    desk: Desk, bench: Bench, project: Path
) -> None:
    desk.edit("rewards.py", "mine")
    (project / "rewards.py").write_text("theirs")
    assert bench.desk("desk0002").sheets["rewards.py"].conflict


def test_text_typed_on_an_older_file_is_a_conflict(desk: Desk) -> None:
    desk.edit("rewards.py", "typed offline", base="0123456789abcdef")
    assert desk.sheets["rewards.py"].conflict


def test_changed_samples_are_read_again(desk: Desk, project: Path, wait_for: Wait) -> None:
    with (project / "samples.jsonl").open("a") as file:
        file.write('{"prompt": "3 + 3", "completion": "six", "answer": "6"}\n')
    desk.look_at_disk()
    wait_for(lambda: desk.shown is not None and len(desk.shown.board) == 7)


def said(project: Path) -> list[tuple[str, str]]:
    """The completions that something was said of, with their labels."""
    lines = (project / "labels.jsonl").read_text().splitlines()
    return [(row["completion"], row["label"]) for row in map(json.loads, lines)]


def other_rows(file: Path) -> Source:
    """A file of as many rows as the project has, all of them others."""
    rows = [{"prompt": "3 + 3", "completion": f"other {row}", "answer": "6"} for row in range(6)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Source((file,))


def test_a_label_is_of_the_row_on_screen_where_the_rows_asked_for_cannot_be_scored(
    desk: Desk, project: Path, tmp_path: Path, wait_for: Wait
) -> None:
    desk.edit("rewards.py", "BROKEN")
    desk.use(other_rows(tmp_path / "samples.jsonl"))  # whose ids are those of the rows on screen
    wait_for(lambda: desk.status == "broken")
    desk.say(2, label="hack", expected={"shaped": 0.5})
    desk.say(3, label="wrong", expected=None)
    assert said(project) == [("two", "hack"), ("<answer>2</answer>", "wrong")]
    wait_for(lambda: desk.status == "broken")
    assert desk.shown is not None
    assert (desk.shown.board.texts[2], desk.shown.board.labels[2:4]) == ("two", ["hack", "wrong"])
    assert desk.shown.board.expected[2] == {"shaped": 0.5}
    desk.unsay(2)
    assert said(project) == [("<answer>2</answer>", "wrong")]
    assert desk.shown.board.labels[2:4] == [None, "wrong"]


def test_a_label_is_of_the_row_on_screen_while_other_rows_are_scored(
    desk: Desk, engine: Any, project: Path, tmp_path: Path, wait_for: Wait
) -> None:
    desk.edit("rewards.py", "SLOW")
    assert engine.running.wait(10)
    desk.use(other_rows(tmp_path / "other.jsonl"))
    desk.say(2, label="hack", expected=None)
    assert said(project) == [("two", "hack")]
    desk.edit("rewards.py", "quick")
    wait_for(lambda: desk.status == "scored")
    assert desk.shown is not None
    others = [f"other {row}" for row in range(6)]
    assert desk.shown.board.texts == [*others, "two"]  # it is kept as a row of its own


@pytest.mark.parametrize("gone", [False, True])
def test_a_label_is_of_the_row_on_screen_where_the_file_has_others_by_now(
    desk: Desk, project: Path, wait_for: Wait, gone: bool
) -> None:
    other_rows(project / "samples.jsonl")
    if gone:
        (project / "samples.jsonl").unlink()
    desk.say(2, label="hack", expected=None)  # before anybody has looked at the disk
    assert said(project) == [("two", "hack")]
    desk.look_at_disk()
    wait_for(lambda: settled(desk))
    assert desk.shown is not None
    assert ("other 0" in desk.shown.board.texts) != gone
    assert desk.shown.board.labels[desk.shown.board.texts.index("two")] == "hack"


def test_a_label_hides_no_other_change_on_disk(desk: Desk, project: Path) -> None:
    (project / "rewards.py").write_text("written elsewhere")
    desk.say(2, label="hack", expected=None)
    desk.look_at_disk()
    assert desk.sheets["rewards.py"].text == "written elsewhere"


def test_what_is_said_of_a_row_that_is_another_by_now_is_not_written(desk: Desk, project: Path) -> None:
    assert desk.shown is not None
    of = row_digest(desk.shown.rows.samples, 2)
    with pytest.raises(UsageError, match="row 1 is another completion by now, so nothing was written"):
        desk.say(1, label="hack", expected=None, of=of)
    with pytest.raises(UsageError, match="row 99 is another completion"):
        desk.unsay(99, of=of)
    with pytest.raises(UsageError, match="there is no row 99"):
        desk.unsay(99)
    assert not (project / "labels.jsonl").exists()
    desk.say(2, label="hack", expected=None, of=of)
    assert said(project) == [("two", "hack")]


def test_text_without_a_run_is_kept_and_marks_the_scores_stale(desk: Desk) -> None:
    assert desk.edit("rewards.py", "typed with live off", run=False) == 1
    assert desk.stale
    assert desk.edit("rewards.py", "typed with live off") == 2


def test_an_explanation_is_made_once_and_of_the_shown_run(desk: Desk, wait_for: Wait) -> None:
    first = desk.explain(1)
    assert desk.explain(1)[1] is first[1]
    desk.edit("rewards.py", "BROKEN")
    wait_for(lambda: settled(desk))
    assert desk.explain(2)[0].run == 1
    with pytest.raises(UsageError, match="there is no row 6"):
        desk.explain(6)


def test_waiting_ends_with_the_next_change(desk: Desk) -> None:
    async def wait() -> tuple[bool, bool]:
        nothing = await desk.changed(desk.version, 0.01)
        waiting = asyncio.ensure_future(desk.changed(desk.version, 10))
        await asyncio.sleep(0)
        await asyncio.to_thread(desk.edit, "rewards.py", "x")
        return nothing, await waiting

    assert asyncio.run(wait()) == (False, True)


def test_old_mirrors_are_removed(desk: Desk, bench: Bench, wait_for: Wait) -> None:
    for number in range(4):
        desk.edit("rewards.py", f"text {number}")
        wait_for(lambda: settled(desk))
    wait_for(lambda: len(list(bench.shelf.scratch.iterdir())) == 1)


def test_only_so_many_desks_are_kept(bench: Bench, wait_for: Wait) -> None:
    first = bench.desk("desk0000")
    wait_for(lambda: settled(first))
    for number in range(1, MAX_DESKS + 1):
        bench.desk(f"desk{number:04}")
    assert first.closed
    assert list(bench.shelf.scratch.glob("desk0000-*")) == []
    assert bench.rests("desk0000")
    assert bench.desk("desk0000") is not first
    assert not bench.rests("desk0000")


def test_a_desk_that_rested_goes_on_with_its_draft_its_rows_its_weights_and_its_findings(
    bench: Bench, desk: Desk, project: Path, tmp_path: Path, wait_for: Wait
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"prompt": "3 + 3", "completion": "six", "answer": "6"}\n')
    for number in range(1, MAX_DESKS):
        bench.desk(f"desk{number:04}")
    desk.use(Source((other,)))
    desk.weigh(Weighing({"shaped": 3.0}))
    desk.edit("rewards.py", "mine")
    bench.desk("desk0001").edit("rewards.py", "theirs", placed=0)
    bench.desk("desk0001").edit("rewards.py", "theirs, later")
    desk.keep_draft("rewards.py")
    desk.edit("rewards.py", "mine, last")
    found = {"findings": [], "verdict": "pass"}
    desk.checking = Checking(
        desk.touch, Checked(4, ("RW1",), {"rewards.py": digest("mine, last")}, False, found)
    )
    for number in range(1, MAX_DESKS):
        bench.desk(f"desk{number:04}")
    bench.desk("desk9999")
    assert desk.closed
    again = bench.desk("desk0000")
    assert again.sheets["rewards.py"].text == "mine, last"
    assert again.weighing.typed == {"shaped": 3.0}
    assert (again.checking.number, again.checking.result, again.checking.stale(again)) == (4, found, False)
    wait_for(lambda: settled(again))
    assert again.shown is not None
    assert len(again.shown.board) == 1
    assert bench.desk("desk0001").sheets["rewards.py"].text == "theirs, later"


def test_a_desk_nobody_looks_at_makes_room_before_those_on_screen(bench: Bench) -> None:
    on_screen = [bench.desk(f"desk{number:04}") for number in range(MAX_DESKS)]
    for number in (1, 2, 3, 0):
        bench.desk(f"desk{number:04}", seen=number != 0)
    for number in range(4, MAX_DESKS):
        bench.desk(f"desk{number:04}")
    bench.desk("desk9999")
    assert [each.closed for each in on_screen[:2]] == [True, False]


def test_a_desk_that_is_at_work_is_the_last_to_go(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = bench.desk("desk0000"), bench.desk("desk0001")
    monkeypatch.setattr(
        type(first.checking), "state", property(lambda it: "running" if it is first.checking else "none")
    )
    for number in range(2, MAX_DESKS + 1):
        bench.desk(f"desk{number:04}")
    assert (first.closed, second.closed) == (False, True)


def test_a_wait_that_ends_without_news_leaves_nothing_behind(desk: Desk) -> None:
    async def wait() -> None:
        for _ in range(5):
            assert not await desk.changed(desk.version, 0.01)

    asyncio.run(wait())
    assert desk._waiters == []


def test_waiting_and_sharing_do_not_wait_for_rows_that_are_read(desk: Desk, bench: Bench) -> None:
    with desk.shelf._lock, desk.lock:  # a file is being read, for somebody who holds the desk
        found: list[Any] = []
        thread = threading.Thread(
            target=lambda: found.extend(
                [
                    bench.rests("desk0000"),
                    desk.shelf.others(desk),
                    asyncio.run(desk.changed(desk.version, 0.01)),
                ]
            )
        )
        thread.start()
        thread.join(10)
        assert found == [False, [], False]


def test_a_desk_that_is_closed_while_rows_are_read_scores_nothing(
    bench: Bench, desk: Desk, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, closed = threading.Event(), threading.Event()
    real = desk.shelf.rows

    def slow(source: Source) -> Any:
        reading.set()
        closed.wait(10)
        return real(source)

    monkeypatch.setattr(desk.shelf, "rows", slow)
    scored = len(engine.targets)
    desk.edit("rewards.py", "edited")
    assert reading.wait(10)
    threading.Timer(0.1, closed.set).start()
    bench.forget("desk0000")
    assert len(engine.targets) == scored
    assert list(desk.shelf.scratch.iterdir()) == []


def test_a_desk_has_a_proper_name(bench: Bench) -> None:
    for name in ("", "short", "../../etc", "x" * 99):
        with pytest.raises(UsageError, match="not the name of a desk"):
            bench.desk(name)


def test_rows_come_in_the_order_asked_for(desk: Desk) -> None:
    shown, rows = desk.rows(View(down=True))
    assert shown.run == 1
    assert rows.tolist() == [5, 4, 3, 2, 1, 0]


def test_an_explanation_of_scores_that_are_gone_is_stopped_and_any_other_failure_told(
    desk: Desk, engine: Any, wait_for: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(target: str, samples: Any, row: int) -> Any:
        if row == 1:
            desk.edit("rewards.py", "edited")
            wait_for(lambda: not Path(target).exists())
        raise LoadError("there is no such file")

    monkeypatch.setattr(engine, "explain", gone)
    with pytest.raises(LoadError):
        desk.explain(0)
    with pytest.raises(Stopped):
        desk.explain(1)


def test_a_broken_draft_opens_with_the_scores_of_the_file(desk: Desk, bench: Bench, wait_for: Wait) -> None:
    desk.edit("rewards.py", "BROKEN")
    other = bench.desk("desk0003")
    wait_for(lambda: settled(other))
    assert (other.status, other.stale) == ("broken", True)
    assert other.shown is not None
    assert "def shaped" in other.shown.sources["rewards.py"]


def test_scratch_of_killed_servers_is_removed_and_that_of_running_ones_is_not(tmp_path: Path) -> None:
    for owner in (2**22 + 1, os.getpid()):
        (tmp_path / f"{SCRATCH}{owner}-x").mkdir()
    remove_left_scratch(tmp_path)
    assert [left.name for left in tmp_path.iterdir()] == [f"{SCRATCH}{os.getpid()}-x"]
