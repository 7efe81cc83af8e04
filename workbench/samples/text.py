"""Opening text files of any encoding people have: UTF-8 with or without BOM, UTF-16 with BOM.

Bytes that are not valid stand as lone surrogates in the text (Python's surrogateescape), so that one damaged
line costs that line alone.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from workbench.samples.format import RowError

NOT_TEXT = "not UTF-8 text"


def open_text(path: Path) -> io.TextIOBase:
    """The file as text, line ends as they stand (`\\r\\n` stays)."""
    with path.open("rb") as file:
        head = file.read(4)
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return path.open(encoding=encoding, errors="surrogateescape", newline="")


def require_text(value: Any) -> None:
    """Raise RowError if a text anywhere in `value` cannot be written as UTF-8 (a lone surrogate)."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise RowError(f"{NOT_TEXT}: a lone surrogate at character {error.start}") from None
    elif isinstance(value, dict):
        for key, item in value.items():
            require_text(key)
            require_text(item)
    elif isinstance(value, list):
        for item in value:
            require_text(item)
