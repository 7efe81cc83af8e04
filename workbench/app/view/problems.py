"""The diagnostics under the editor: what is wrong, on which line, for how many rows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from rewards.contract import Status
from workbench.app.engine import Step
from workbench.app.view.board import Board

MAX_PROBLEMS = 20
PLACE = re.compile(r"\(([^()\s]+\.py):(\d+)\)")
NUMBER = re.compile(r"\d+")
LINE = re.compile(r"\bline (\d+)\b")


def load_problem(sentence: str, file: str) -> dict[str, Any]:
    """The problem of a file that could not be loaded, with its line where the sentence names one."""
    return {"kind": "error", "text": sentence, "line": line_of(sentence, file), "row": None, "count": None}


def stopped_problem(seconds: float, step: Step | None, shown: int | None) -> dict[str, Any]:
    """What a person stopped and after how long; `step` is how far it was, `shown` the run whose scores stay.

    >>> stopped_problem(12.3, Step(1, 3, "slow", 0.0), 4)["text"]
    'Stopped after 12 s while slow was being scored; 1 of 3 rewards was done. The scores shown are those of run 4.'
    """
    seconds_said = f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    if step is None:
        text = f"Stopped after {seconds_said}, before any reward was called."
    else:
        rows = f" ({step.share:.0%} of its rows were done)" if step.share else ""
        done = f"{step.done} of {step.of} rewards {'was' if step.done == 1 else 'were'} done"
        text = f"Stopped after {seconds_said} while {step.name} was being scored{rows}; {done}."
    text += " Nothing is shown yet." if shown is None else f" The scores shown are those of run {shown}."
    return _problem("warning", text, None, None, None)


def line_of(sentence: str, file: str) -> int | None:
    """The line of `file` that a sentence names, as `(file.py:12)`, `file.py:12` or `line 12`.

    >>> line_of("KeyError: 'x' (rewards.py:12)", "rewards.py"), line_of("oops (other.py:3)", "rewards.py")
    (12, None)
    """
    places = PLACE.findall(sentence) or re.findall(r"([^()\s]+\.py):(\d+)", sentence)
    for name, line in reversed(places):
        if name.rpartition("/")[2] == file.rpartition("/")[2]:
            return int(line)
    if places:
        return None
    found = LINE.search(sentence)
    return int(found.group(1)) if found else None


def board_problems(board: Board, file: str) -> list[dict[str, Any]]:
    """Failures of rows, then infinite and NaN scores and what a reader of the scores has to know.

    Failures of one type at one place are told once, with their count and the first row.
    """
    found = _failures(board, file)
    for index, column in enumerate(board.columns):
        status = board.status[:, index]
        infinite = np.flatnonzero(status == Status.INFINITE)
        if len(infinite):
            text = f"{column.name} returned an infinite score"
            found.append(_problem("error", text, None, int(infinite[0]), len(infinite)))
        nan = np.flatnonzero(status == Status.NAN)
        if len(nan):
            text = f"{column.name} returned NaN, which the trainer reads as None"
            found.append(_problem("warning", text, None, int(nan[0]), len(nan)))
    found += [_problem("warning", note, None, None, None) for note in board.notes]
    return found[:MAX_PROBLEMS]


def sample_problems(skipped: Iterable[Any]) -> list[dict[str, Any]]:
    """One warning for sample rows that could not be read, with the first reason."""
    there = list(skipped)
    if not there:
        return []
    first = there[0]
    name = str(first.file).rpartition("/")[2]
    where = f"{name}, line {first.line}" if first.line is not None else name
    text = f"{len(there)} sample row{'s' if len(there) > 1 else ''} could not be read: {where}: {first.why}"
    return [_problem("warning", text, None, None, None)]


def _failures(board: Board, file: str) -> list[dict[str, Any]]:
    alike: dict[tuple[str, str, str], list[int]] = {}
    for (row, name), sentence in board.errors.items():
        place = PLACE.search(sentence)
        kind = sentence.partition(":")[0] if place else NUMBER.sub("#", sentence)
        alike.setdefault((name, kind, place.group() if place else ""), []).append(row)
    found = []
    for (name, _, _), rows in sorted(alike.items(), key=lambda item: (-len(item[1]), min(item[1]))):
        sentence = board.errors[min(rows), name]
        found.append(_problem("error", f"{name}: {sentence}", line_of(sentence, file), min(rows), len(rows)))
    return found


def _problem(kind: str, text: str, line: int | None, row: int | None, count: int | None) -> dict[str, Any]:
    return {"kind": kind, "text": text, "line": line, "row": row, "count": count}
