"""The tutorial, carried out: its files written, its commands run, its output compared."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PART = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([\w.]+)`[^`\n]*:\s*\Z")
THIRD_LINE = re.compile(r"the third line becomes:\s*\Z")


def one_line(text: str) -> str:
    return " ".join(text.split())


class Reader:
    """Somebody who does what the tutorial says, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = ""
        self.commands = 0

    def follow(self, text: str) -> None:
        """Carry out every part in turn; an output that is not as told fails."""
        for part in PART.finditer(text):
            kind, content, before = part[1], part[2], text[: part.start()]
            named = NAMED.search(before)
            if THIRD_LINE.search(before):
                self.change_third_line(content.strip())
            elif named and kind in ("python", "json"):
                (self.folder / named[1]).write_text(content, encoding="utf-8")
            elif kind == "sh":
                self.output = self.run(content.split())
            elif kind == "text":
                self.compare(content)

    def change_third_line(self, line: str) -> None:
        lines = (self.folder / "rewards.py").read_text().splitlines()
        (self.folder / "rewards.py").write_text("\n".join([*lines[:2], line, *lines[3:]]) + "\n")

    def run(self, words: list[str]) -> str:
        assert words[0] == "reward-workbench"
        self.commands += 1
        command = [str(Path(sys.executable).with_name("reward-workbench")), *words[1:]]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        assert done.stderr == ""
        return done.stdout

    def compare(self, told: str) -> None:
        """Every line told is in the output, in this order; `...` stands for any lines."""
        rest = one_line(self.output)
        for line in filter(lambda line: line not in ("", "..."), map(one_line, told.splitlines())):
            assert line in rest, f"{line!r} is not in the output (or not there):\n{self.output}"
            rest = rest[rest.index(line) + len(line) :]


@pytest.mark.guide("G24")
def test_the_tutorial_does_what_it_says(tmp_path: Path, repository: Path) -> None:
    text = (repository / "docs" / "tutorial.md").read_text(encoding="utf-8")
    reader = Reader(tmp_path)
    reader.follow(text)
    assert reader.commands == 8
    snippet = next(part[2] for part in PART.finditer(text) if "workbench.score(" in part[2])
    done = subprocess.run(
        [sys.executable, "-c", snippet + "\nprint(scores.table.totals.tolist())"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "[3.0, 3.0, 0.0, 1.0, 2.0, 3.0, 3.0, 1.0]", done.stderr
