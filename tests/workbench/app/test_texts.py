"""Two desks of one person on one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rewards.errors import UsageError
from tests.workbench.app.conftest import FakeEngine
from workbench.app.bench import MAX_DESKS, Bench
from workbench.app.desk import WATCHED_S, Desk
from workbench.app.drafts import ASIDE
from workbench.app.project_files import open_project

FILE = "rewards.py"


@pytest.fixture
def other(bench: Bench, desk: Desk) -> Desk:
    return bench.desk("desk0001")


@pytest.fixture
def anew(bench: Bench, project: Path, engine: FakeEngine, tmp_path: Path) -> Iterator[Callable[[], Bench]]:
    """Ends the server and starts another on the same project and drafts."""
    running = [bench]

    def start() -> Bench:
        running[-1].close()
        running.append(Bench(open_project(project), lambda: engine, tmp_path / "drafts"))
        return running[-1]

    yield start
    running[-1].close()


def texts(*desks: Desk) -> list[str]:
    return [desk.sheets[FILE].text for desk in desks]


def test_what_is_typed_in_one_tab_is_taken_by_the_other_and_back(
    desk: Desk, other: Desk, wait_for: Callable[..., None]
) -> None:
    desk.edit(FILE, "one")
    other.edit(FILE, "one two", placed=1)
    desk.edit(FILE, "one two three", placed=1)
    assert texts(desk, other) == ["one two three"] * 2
    assert [each.sheets[FILE].other for each in (desk, other)] == [None, None]
    wait_for(lambda: other.shown is not None and other.shown.sources[FILE] == "one two three")


def test_where_both_have_typed_each_keeps_its_text_and_both_are_told(desk: Desk, other: Desk) -> None:
    desk.edit(FILE, "mine")
    other.edit(FILE, "theirs", placed=0)  # typed before its editor had heard of "mine"
    assert texts(desk, other) == ["mine", "theirs"]
    assert (desk.sheets[FILE].other, other.sheets[FILE].other) == ("theirs", "mine")
    path = desk.shelf.project.path(FILE)
    kept = [desk.shelf.drafts.own(path, key) for key in ("desk0000", "desk0001")]
    assert [draft.text for draft in kept if draft] == ["mine", "theirs"]


def test_the_others_text_is_taken_and_the_own_one_can_be_put_back(desk: Desk, other: Desk) -> None:
    desk.edit(FILE, "mine")
    other.edit(FILE, "theirs", placed=0)
    other.take_other(FILE)
    assert texts(desk, other) == ["mine", "mine"]
    assert (desk.sheets[FILE].other, other.sheets[FILE].aside) == (None, "theirs")
    other.put_back(FILE)
    assert texts(desk, other) == ["theirs", "theirs"]
    assert other.sheets[FILE].aside == "mine"
    other.edit(FILE, "theirs, and more", placed=other.sheets[FILE].placed)
    assert other.sheets[FILE].aside is None


def test_a_text_that_was_put_aside_outlives_the_server(
    desk: Desk, bench: Bench, other: Desk, project: Path
) -> None:
    desk.edit(FILE, "mine")
    other.edit(FILE, "theirs", placed=0)
    other.take_other(FILE)
    bench.forget("desk0001")
    assert bench.desk("desk0001").sheets[FILE].aside == "theirs"


def test_both_texts_are_kept_apart_on_request_until_one_is_saved(desk: Desk, other: Desk) -> None:
    desk.edit(FILE, "mine")
    other.edit(FILE, "theirs", placed=0)
    other.keep_draft(FILE)
    desk.keep_draft(FILE)
    desk.edit(FILE, "mine, still")
    assert other.sheets[FILE].other is None
    assert desk.save(FILE, "mine, still") is None
    assert texts(desk, other) == ["mine, still", "theirs"]
    assert other.sheets[FILE].conflict
    assert "was saved in another tab" in (other.save(FILE, "theirs") or "")


def test_what_is_saved_in_one_tab_is_saved_in_the_other(desk: Desk, other: Desk) -> None:
    desk.edit(FILE, "typed")
    assert desk.save(FILE, "typed and saved at once") is None
    sheet = other.sheets[FILE]
    assert (sheet.text, sheet.dirty, sheet.conflict) == ("typed and saved at once", False, False)
    assert desk.shelf.drafts.read(desk.shelf.project.path(FILE)) is None


def test_what_is_saved_before_the_tab_has_heard_of_another_text_leaves_that_one_to_its_tab(
    desk: Desk, other: Desk, project: Path
) -> None:
    desk.edit(FILE, "typed in the background")
    assert other.save(FILE, "saved", placed=0) is None
    assert (project / FILE).read_text() == "saved"
    assert texts(desk, other) == ["typed in the background", "saved"]
    assert (desk.sheets[FILE].conflict, other.sheets[FILE].dirty) == (True, False)
    draft = desk.shelf.drafts.own(desk.shelf.project.path(FILE), "desk0000")
    assert draft is not None
    assert draft.text == "typed in the background"


def test_what_is_saved_on_a_file_that_was_saved_meanwhile_is_asked_about(
    desk: Desk, other: Desk, project: Path
) -> None:
    assert desk.save(FILE, "first") is None
    assert "saved in another tab" in (other.save(FILE, "second", placed=0) or "")
    assert ((project / FILE).read_text(), *texts(desk, other)) == ("first", "first", "second")
    assert other.save(FILE, "second", force=True, placed=other.sheets[FILE].placed) is None
    assert ((project / FILE).read_text(), *texts(desk, other)) == ("second", "second", "second")


def test_a_text_that_cannot_be_saved_is_in_the_other_tab_too(
    desk: Desk, other: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> None:
        raise UsageError("no space left")

    monkeypatch.setattr("workbench.app.texts.save_source", full)
    assert "kept as a draft" in (desk.save(FILE, "typed", placed=0) or "")
    assert texts(desk, other) == ["typed", "typed"]


def test_saving_what_was_not_changed_never_undoes_what_another_program_wrote(
    desk: Desk, project: Path
) -> None:
    before = desk.sheets[FILE].text
    (project / FILE).write_text("written elsewhere")
    assert "changed by another program" in (desk.save(FILE, before, placed=0) or "")
    assert (project / FILE).read_text() == desk.sheets[FILE].text == "written elsewhere"
    assert desk.save(FILE, before, force=True) is None
    assert (project / FILE).read_text() == desk.sheets[FILE].text == before


def test_what_was_typed_on_a_file_that_was_saved_meanwhile_is_a_conflict(desk: Desk, other: Desk) -> None:
    assert desk.save(FILE, "saved") is None
    other.edit(FILE, "typed on the old file", placed=0)
    assert other.sheets[FILE].conflict
    assert texts(desk, other) == ["saved", "typed on the old file"]


def test_reverting_in_one_tab_reverts_in_the_other_and_can_be_undone(desk: Desk, other: Desk) -> None:
    before = desk.sheets[FILE].text
    desk.edit(FILE, "typed")
    other.take_file(FILE)
    assert texts(desk, other) == [before, before]
    other.put_back(FILE)
    assert texts(desk, other) == ["typed", "typed"]


def test_a_tab_nobody_looks_at_scores_what_it_took_when_it_is_looked_at(
    desk: Desk, other: Desk, bench: Bench, wait_for: Callable[..., None]
) -> None:
    wait_for(lambda: other.status == "scored")
    run, other.touched = other.run, other.touched - 2 * WATCHED_S
    desk.edit(FILE, "typed")
    assert (texts(other), other.run, other.stale) == (["typed"], run, True)
    bench.desk("desk0001", seen=False)
    assert other.run == run
    bench.desk("desk0001")
    wait_for(lambda: other.run == run + 1 and other.status == "scored")
    assert not other.stale


def test_a_text_that_was_begun_in_a_tab_that_is_gone_does_not_come_back_once_it_is_given_up(
    desk: Desk, anew: Callable[[], Bench]
) -> None:
    before = desk.sheets[FILE].text
    desk.edit(FILE, "typed")
    heir = anew().desk("desk0001")
    assert texts(heir) == ["typed"]
    heir.take_file(FILE)
    assert texts(heir) == [before]
    bench = anew()
    assert texts(bench.desk("desk0001"), bench.desk("desk0002")) == [before, before]
    bench.desk("desk0001").put_back(FILE)
    assert texts(bench.desk("desk0001")) == ["typed"]


def test_a_text_that_was_given_up_does_not_come_back_from_a_tab_that_rests(desk: Desk, bench: Bench) -> None:
    before = desk.sheets[FILE].text
    desk.edit(FILE, "typed")
    for number in range(MAX_DESKS):
        bench.desk(f"crowd{number:03}")
    assert bench.rests("desk0000")
    heir = bench.desk("desk0001")
    assert texts(heir) == ["typed"]
    heir.take_file(FILE)
    assert texts(bench.desk("desk0000"), bench.desk("desk0002")) == [before, before]


def test_a_text_that_cannot_be_put_aside_stays_a_draft(
    desk: Desk, anew: Callable[[], Bench], tmp_path: Path
) -> None:
    desk.edit(FILE, "typed")
    heir = anew().desk("desk0001")
    drafts = heir.shelf.drafts
    drafts._place(heir.shelf.project.path(FILE), "desk0001" + ASIDE).mkdir()  # nothing can be written there
    heir.take_file(FILE)
    assert "Drafts are not kept" in (heir.notice or "")
    assert drafts.own(heir.shelf.project.path(FILE), "desk0000") is not None


def test_saving_puts_aside_once_what_tabs_had_that_are_gone(
    desk: Desk, other: Desk, anew: Callable[[], Bench]
) -> None:
    desk.edit(FILE, "dead")
    other.edit(FILE, "living", placed=0)
    bench = anew()
    heir = bench.desk("desk0001")
    assert heir.save(FILE, "living") is None
    assert (heir.sheets[FILE].text, heir.sheets[FILE].aside) == ("living", "dead")
    assert not heir.sheets[FILE].conflict
    for key in ("desk0002", "desk0003"):
        sheet = bench.desk(key).sheets[FILE]
        assert (sheet.text, sheet.conflict, sheet.aside) == ("living", False, None)
    heir.edit(FILE, "living, and more", placed=heir.sheets[FILE].placed)
    assert bench.desk("desk0000").sheets[FILE].aside == "dead"  # its own tab, opened again


def test_saving_leaves_what_living_and_resting_tabs_have(desk: Desk, other: Desk, bench: Bench) -> None:
    desk.edit(FILE, "mine")
    other.edit(FILE, "theirs", placed=0)
    for number in range(MAX_DESKS - 1):
        bench.desk(f"crowd{number:03}")
    assert (bench.rests("desk0000"), bench.rests("desk0001")) == (True, False)
    third = bench.desk("crowd000")
    third.edit(FILE, "of its own", placed=third.sheets[FILE].placed + 1)
    assert third.save(FILE, "saved") is None
    path = desk.shelf.project.path(FILE)
    kept = [desk.shelf.drafts.own(path, key) for key in ("desk0000", "desk0001")]
    assert [draft.text for draft in kept if draft] == ["mine", "theirs"]


def test_a_change_on_disk_stays_a_conflict_for_every_tab_until_it_is_settled(
    desk: Desk, other: Desk, project: Path, wait_for: Callable[..., None]
) -> None:
    desk.edit(FILE, "typed")
    wait_for(lambda: texts(other) == ["typed"])
    (project / FILE).write_text("from elsewhere")
    for each in (desk, other):
        each.look_at_disk()
        assert each.sheets[FILE].conflict
    desk.edit(FILE, "typed on")
    wait_for(lambda: texts(other) == ["typed on"])
    assert other.sheets[FILE].conflict
    assert other.save(FILE, "typed on") is not None
    assert (project / FILE).read_text() == "from elsewhere"
