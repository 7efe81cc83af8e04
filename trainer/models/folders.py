"""Model folders that are there whole or not at all.

Written under a temporary name beside their place, then renamed.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rewards.errors import UsageError

ABANDONED_S = 24 * 3600
"""A temporary folder nobody has touched for so long was left by a process that was killed."""


@contextmanager
def temporary_beside(target: Path, *, otherwise: str) -> Iterator[Path]:
    """An empty folder beside `target`, removed at the end unless it was renamed; abandoned ones are cleared
    away.

    `otherwise` is the end of the sentence that says `target` cannot be written: what to do instead.

    Raises:
        UsageError: the place cannot be written to, or the disk is full.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear_abandoned(target)
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}; {otherwise}") from error
    try:
        yield folder
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror or error}; {otherwise}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _clear_abandoned(target: Path) -> None:
    for path in target.parent.glob(f".{target.name}-*"):
        if path.is_dir() and time.time() - path.stat().st_mtime > ABANDONED_S:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def folder_written_whole(target: Path, *, otherwise: str) -> Iterator[Path]:
    """A temporary folder that becomes `target` at the end, or is removed if the block raises.

    If another process has put `target` in place meanwhile, theirs stays and ours is removed.

    Raises:
        UsageError: as `temporary_beside`.
    """
    with temporary_beside(target, otherwise=otherwise) as folder:
        yield folder
        open_to_readers(folder)
        try:
            folder.rename(target)
        except OSError:
            if not target.is_dir():
                raise


def replace_folder(folder: Path, target: Path) -> None:
    """Rename `folder` to `target`.

    An older one there goes once the new one stands, and comes back if it cannot.
    """
    open_to_readers(folder)
    older = folder.with_name(f"{folder.name}-older")
    if target.exists():
        os.rename(target, older)
    try:
        os.rename(folder, target)
    except OSError:
        if older.exists():
            os.rename(older, target)
        raise
    shutil.rmtree(older, ignore_errors=True)


def open_to_readers(folder: Path) -> None:
    """Let everybody read the folder: temporary folders and files of safetensors are their owner's alone."""
    folder.chmod(0o755)
    for file in folder.iterdir():
        file.chmod(0o755 if file.is_dir() else 0o644)
