"""Small sample files, written where a test needs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(name, *lines)`: a file of those lines; a line that is no text is written as JSON."""

    def to_file(name: str, *lines: Any, end: str = "\n", encoding: str = "utf-8") -> Path:
        texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((end.join(texts) + end).encode(encoding))
        return path

    return to_file


@pytest.fixture
def formats(repository: Path) -> Path:
    """Files as other tools write them."""
    return repository / "fixtures" / "formats"
