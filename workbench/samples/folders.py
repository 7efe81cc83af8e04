"""Which files a path stands for, and which files of a folder hold samples.

A folder also has what belongs beside samples: labels, metrics, seals. What a file is is told by looking into it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rewards.errors import SamplesError
from rewards.targets import did_you_mean

IN_FOLDERS = (
    "completions_*.parquet",  # TRL's completions folder
    "completions/*.parquet",  # the output folder of a run
    "*.parquet",
    "traces.jsonl",  # verifiers
    "results.jsonl",
    "samples_*.jsonl",  # lm-eval
    "*.eval",
    "*.jsonl",
    "*.csv",
)
"""What is read of a folder: the first of these patterns that matches any file with a row."""

LABELS_FILE = "labels.jsonl"
"""What people said about rows (`workbench.labels`): whole rows, which are no further samples beside theirs."""


@dataclass(frozen=True)
class Chosen:
    """The files that a path stands for, in natural order, and those of its folder that were passed over."""

    files: list[Path]
    passed_over: tuple[Path, ...] = ()

    @property
    def note(self) -> str:
        """What was passed over, in a sentence; "" where nothing was."""
        names = ", ".join(path.name for path in self.passed_over)
        where = self.passed_over[0].parent if self.passed_over else ""
        return f"{where}: not read as samples: {names}" if names else ""


def choose_files(path: Path, holds_samples: Callable[[Path], bool]) -> Chosen:
    """The files that `path` stands for: itself, or those of a folder that hold samples.

    Where no file of a folder does, all that a pattern finds are given, so that reading them says what is wrong.

    Raises:
        SamplesError: there is no such file, or a folder without any that could hold samples.
    """
    if not path.exists():
        beside = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
        raise SamplesError(f"there is no samples file {path}{did_you_mean(path.name, beside)}")
    if not path.is_dir():
        return Chosen([path])
    judged: dict[str, bool] = {}

    def holds(file: Path) -> bool:
        """What one of a numbered series is, all of them are: a long run has thousands."""
        series = re.sub(r"\d+", "#", file.name)
        if series not in judged or series == file.name:
            judged[series] = holds_samples(file)
        return judged[series]

    passed_over: list[Path] = []
    first: list[Path] = []
    for pattern in IN_FOLDERS:
        files = sorted((file for file in path.glob(pattern) if file.is_file()), key=_natural)
        first = first or files
        holding = [file for file in files if file not in passed_over and holds(file)]
        own = [file for file in holding if file.name != LABELS_FILE] or holding
        passed_over += [file for file in files if file not in own and file not in passed_over]
        if own:
            return Chosen(own, tuple(passed_over))
    if first:
        return Chosen(first)
    raise SamplesError(f"the folder {path} holds no samples (looked for {', '.join(IN_FOLDERS)})")


def _natural(path: Path) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", path.as_posix())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
