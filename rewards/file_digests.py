"""Digests of large files, read once: kept for as long as a file's place, size and times stay the same.

A file that is written to gets another time of change (`ctime`), which nobody but the system sets. Digests of files that
take long to read are kept in the user's cache folder too; without it they are made again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
from pathlib import Path

from rewards.caches import user_cache

LARGE = 1 << 26
"""Bytes from which a digest is kept on disk: below, reading the file takes less than a tenth of a second."""


def file_digest(path: Path) -> str:
    """BLAKE2b-128 of all bytes of a file, as 32 hex digits.

    Raises:
        OSError: the file cannot be read.
    """
    stat = path.stat()
    return _digest(
        path.resolve(), (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    )


@functools.lru_cache(maxsize=1024)
def _digest(path: Path, known_by: tuple[int, ...]) -> str:
    kept = None
    if known_by[2] >= LARGE:
        name = hashlib.blake2b(repr((str(path), known_by)).encode(), digest_size=16).hexdigest()
        kept = user_cache("digests") / name
        with contextlib.suppress(OSError, ValueError):  # not kept yet, or not to be read
            found = kept.read_text(encoding="ascii")
            if len(found) == 32 and int(found, 16) >= 0:
                return found
    with path.open("rb") as file:
        made = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    if kept is not None:
        with contextlib.suppress(OSError):  # a cache that cannot be written is no reason to fail
            kept.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=kept.parent)
            with os.fdopen(handle, "w", encoding="ascii") as out:
                out.write(made)
            os.replace(temporary, kept)
    return made
