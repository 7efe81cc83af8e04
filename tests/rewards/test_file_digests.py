"""Digests of large files are made once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rewards import file_digests
from rewards.file_digests import file_digest


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as large; its digests go into a cache of the test's own."""
    monkeypatch.setenv("REWARD_WORKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(file_digests, "LARGE", 1000)
    (tmp_path / "weights").write_bytes(b"1" * 2000)
    return tmp_path / "weights"


def test_a_kept_digest_is_not_made_again(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = file_digest(large)
    file_digests._digest.cache_clear()
    monkeypatch.setattr(file_digests.hashlib, "file_digest", None)
    assert file_digest(large) == first


def test_a_changed_file_is_read_again_though_its_time_was_set_back(large: Path) -> None:
    first, times = file_digest(large), large.stat()
    large.write_bytes(b"1" * 1999 + b"2")
    os.utime(large, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert file_digest(large) != first


@pytest.mark.parametrize("kept", [b"", b"nonsense", b"\xff" * 32])
def test_a_damaged_cache_is_made_anew(large: Path, kept: bytes) -> None:
    first = file_digest(large)
    [file] = (large.parent / "cache" / "digests").iterdir()
    file.write_bytes(kept)
    file_digests._digest.cache_clear()
    assert file_digest(large) == first


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail(large: Path) -> None:
    (large.parent / "cache").write_text("no folder")
    assert len(file_digest(large)) == 32
