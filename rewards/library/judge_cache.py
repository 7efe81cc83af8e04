"""Verdicts that were paid for once, kept on disk.

One small file for each question, named by a BLAKE2b digest of everything the verdict depends on. A file is written
whole or not at all, so that several processes can share the folder. A cache that cannot be read or written is no
reason to fail: the question is asked again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from rewards.caches import user_cache


def default_folder() -> Path:
    """`judge` in the user's cache folder ($REWARD_WORKBENCH_CACHE, $XDG_CACHE_HOME, or the platform's)."""
    return user_cache("judge")


def question_key(parts: Any) -> str:
    """BLAKE2b-256 of a JSON-like value, as hex digits; equal for equal values.

    >>> question_key({"a": 1, "b": 2}) == question_key({"b": 2, "a": 1})
    True
    >>> len(question_key("x"))
    64
    """
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=repr)
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()


class VerdictCache:
    """A folder of verdicts.

    Args:
        folder: where they are; None: nothing is kept.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def get(self, key: str) -> dict[str, Any] | None:
        """What was kept under `key`; None where there is nothing or it cannot be read."""
        if self.folder is None:
            return None
        try:
            kept = json.loads(self._file(self.folder, key).read_bytes())
        except (OSError, ValueError):
            return None
        return kept if isinstance(kept, dict) else None

    def put(self, key: str, verdict: dict[str, Any]) -> str | None:
        """Keep a verdict; returns why not where that failed."""
        if self.folder is None:
            return None
        file = self._file(self.folder, key)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{key[:8]}.")
        except OSError as error:
            return f"{file.parent}: {error.strerror}"
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                json.dump(verdict, out, allow_nan=False)
            os.replace(temporary, file)
        except OSError as error:
            Path(temporary).unlink(missing_ok=True)
            return f"{file}: {error.strerror}"
        return None

    @staticmethod
    def _file(folder: Path, key: str) -> Path:
        return folder / key[:2] / f"{key}.json"
