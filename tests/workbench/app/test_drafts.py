from __future__ import annotations

from pathlib import Path

import pytest

from rewards.errors import UsageError
from workbench.app.drafts import ASIDE, Drafts, digest, state_folder


def test_a_draft_is_read_back_exactly(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "d")
    text = "\n\ndef f():\r\treturn '\u2028\ud800 é'\n\n"
    drafts.write(Path("/p/rewards.py"), text, digest("old"))
    found = drafts.read(Path("/p/rewards.py"))
    assert found is not None
    assert (found.text, found.base) == (text, digest("old"))


def test_files_of_one_name_have_drafts_of_their_own(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.write(Path("/a/rewards.py"), "a", "")
    drafts.write(Path("/b/rewards.py"), "b", "")
    found = drafts.read(Path("/a/rewards.py"))
    assert found is not None
    assert found.text == "a"


def test_a_dropped_draft_is_gone(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.write(Path("/p/r.py"), "x", "")
    drafts.drop(Path("/p/r.py"))
    assert drafts.read(Path("/p/r.py")) is None
    drafts.drop(Path("/p/r.py"))


def test_every_desk_has_a_draft_of_its_own_and_others_find_the_newest(tmp_path: Path) -> None:
    drafts, path = Drafts(tmp_path), Path("/p/[a]*.py")
    drafts.write(path, "first", "", "desk0001")
    drafts.write(path, "second", "", "desk0002")
    drafts.write(path, "given up", "", "desk0002" + ASIDE)
    found = [drafts.read(path, by) for by in ("desk0001", "desk0002", "desk0003")]
    assert [draft.text for draft in found if draft] == ["first", "second", "second"]
    drafts.drop_equal(path, "second")
    left = drafts.read(path, "desk0003")
    assert left is not None
    assert (left.text, left.by) == ("first", "desk0001")
    assert drafts.own(path, "desk0002" + ASIDE) is not None


def test_what_desks_had_that_are_gone_is_put_aside_and_the_newest_given_back(tmp_path: Path) -> None:
    drafts, path = Drafts(tmp_path), Path("/p/r.py")
    for by in ("", "desk0001", "desk0002", "desk0003"):
        drafts.write(path, f"of {by}", "", by)
    left = drafts.retire(path, lambda by: by == "desk0003")
    assert left is not None
    assert left.text == "of desk0002"
    aside = [drafts.own(path, by + ASIDE) for by in ("", "desk0001", "desk0002")]
    assert [draft.text for draft in aside if draft] == ["of ", "of desk0001", "of desk0002"]
    assert [drafts.own(path, by) for by in ("", "desk0001", "desk0002")] == [None] * 3
    assert drafts.own(path, "desk0003") is not None
    assert drafts.retire(path, lambda by: by == "desk0003") is None


def test_a_damaged_draft_is_no_draft(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.write(Path("/p/r.py"), "x", "")
    next(tmp_path.glob("r-*.json")).write_bytes(b"{\xff")
    assert drafts.read(Path("/p/r.py")) is None


def test_a_state_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"drafts cannot be kept in .*file/drafts"):
        Drafts(tmp_path / "file" / "drafts").write(Path("/p/r.py"), "x", "")


def test_drafts_lie_in_the_users_state_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert state_folder() == Path("/state/reward-workbench/drafts")
