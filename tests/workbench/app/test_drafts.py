from __future__ import annotations

from pathlib import Path

import pytest

from rewards.errors import UsageError
from workbench.app.drafts import Drafts, digest, state_folder


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
