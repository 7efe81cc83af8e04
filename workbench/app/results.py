"""What came of a run: its merged model with the proof, the comparison with its base, answers asked for, its files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.errors import UsageError
from trainer.rundir import RunDir
from workbench.app import training
from workbench.versions import FOLDER, make_folder

if TYPE_CHECKING:
    from workbench.app.shelf import Shelf

WORKS = ("merge", "compare", "sample")
"""What can be done with a finished run; each is a program of its own, called RUN.WORK."""

FILES = {
    "card": "README.md",
    "comparison": "comparison.json",
    "proof": "merge-proof.json",
    "report": "report.html",
}
"""The files of a run that can be taken away, by what they are called here."""

MAX_PROMPT = 20_000
MAX_ANSWERS = 8


@dataclass(frozen=True)
class Question:
    """What both models are asked: a typed prompt, or the number of a held-out one from 1; and how they answer."""

    prompt: str | None
    held_out: int | None
    answers: int = 1
    temperature: float = 0.7
    top_p: float = 0.9
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises UsageError where it cannot be asked."""
        if (self.prompt is None) == (self.held_out is None):
            raise UsageError("ask either a typed prompt or a held-out one")
        if self.prompt is not None and not self.prompt.strip():
            raise UsageError("type a prompt, or choose a held-out one")
        if self.prompt is not None and (len(self.prompt) > MAX_PROMPT or "\0" in self.prompt):
            raise UsageError(f"a prompt has up to {MAX_PROMPT} characters, none of them NUL")
        if not 1 <= self.answers <= MAX_ANSWERS:
            raise UsageError(f"each model answers 1 to {MAX_ANSWERS} times")
        if not 0 <= self.temperature <= 5:
            raise UsageError("the temperature is a number from 0 to 5")
        if not 0.01 <= self.top_p <= 1:
            raise UsageError("top_p is a number from 0.01 to 1")


def finished_runs(shelf: Shelf) -> list[dict[str, Any]]:
    """The runs that left a trained model, newest first, each with what has come of it so far."""
    found = []
    for run in training.runs_of(shelf):
        if run.get("trained"):
            folder = training.run_called(shelf, run["name"])
            found.append(
                {
                    **run,
                    "merged": merged_model(folder) is not None,
                    "compared": (folder.path / FILES["comparison"]).is_file(),
                }
            )
    return found


def merged_model(run: RunDir) -> Path | None:
    """The folder of the trained model as a whole, None before it is merged; as `compare` looks for it."""
    places = (run.path / "merged", run.full_model)
    return next((place for place in places if (place / "config.json").is_file()), None)


def start_work(shelf: Shelf, name: str, what: str) -> None:
    """Merge a run, or compare its merged model with its base, as a program of its own.

    Raises:
        UsageError: there is no such run or work, or it is being done.
        MissingExtraError: torch or trl is not installed.
    """
    if what not in ("merge", "compare"):
        raise UsageError("'what' is merge or compare")
    shelf.programs.start(f"{name}.{what}", [what, str(training.run_called(shelf, name).path)])


def start_answers(shelf: Shelf, name: str, question: Question) -> None:
    """Let the base and the merged model of a run answer, and the run's rewards score it, as a program of its own.

    Raises:
        UsageError: there is no such run, it is answering, or nothing can be written.
    """
    run = training.run_called(shelf, name)
    out = answers_file(shelf, name)
    make_folder(shelf.project.root / FOLDER)
    out.parent.mkdir(exist_ok=True)
    asked = (
        ["--prompt", question.prompt]
        if question.prompt is not None
        else ["--held-out", str(question.held_out)]
    )
    how = ["--temperature", f"{question.temperature:g}", "--top-p", f"{question.top_p:g}"]
    many = ["--answers", str(question.answers), "--seed", str(question.seed)]
    shelf.programs.start(
        f"{name}.sample", ["sample", str(run.path), *asked, *how, *many, "--score", "--out", str(out)]
    )


def answers_file(shelf: Shelf, name: str) -> Path:
    """Where the last answers of a run lie; they belong to the project's workbench, not to the run's record."""
    return shelf.project.root / FOLDER / "answers" / f"{name}.json"


def read_object(path: Path) -> Mapping[str, Any] | None:
    """A JSON object, or None where the file is missing or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def file_of(run: RunDir, what: str) -> Path:
    """A file of the run that can be taken away.

    Raises:
        UsageError: there is no such file, or it leads out of the run's folder.
    """
    if what not in FILES:
        raise UsageError(f"'what' is one of {', '.join(FILES)}")
    path = run.path / FILES[what]
    if not path.is_file() or os.path.realpath(path) != str(path):
        raise UsageError(f"{run.name} has no {FILES[what]} yet")
    return path
