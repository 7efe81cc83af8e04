"""A project on disk, a board without a run, an engine without processes, and the app without a socket."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rewards.contract import Status
from rewards.errors import LoadError
from rewards.groups import advantages, totals
from tests.workbench.app.endpoint import Endpoint
from tests.workbench.tables import table
from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.engine import Step
from workbench.app.leash import Stopped
from workbench.app.project_files import open_project
from workbench.app.view.board import Board, Column, bounds

SOURCE = '''import re


def shaped(completions, **kwargs):
    """A quarter for each tag."""
    scores = []
    for completion in completions:
        score = 0.0
        for tag in ("<think>", "</think>", "<answer>", "</answer>"):
            if tag in completion:
                score += 0.25
        scores.append(score)
    return scores


def correct(completions, answer, **kwargs):
    """Whether the answer block holds the answer."""
    scores = []
    for completion, truth in zip(completions, answer):
        found = re.search(r"<answer>(.*?)</answer>", completion)
        scores.append(None if found is None else float(found.group(1) == truth))
    return scores
'''

ROWS = [
    ("1 + 1", "<think>one and one</think><answer>2</answer>", "2", "right"),
    ("1 + 1", "<think>guess</think><answer>3</answer>", "2", "wrong"),
    ("1 + 1", "two", "2", None),
    ("1 + 1", "<answer>2</answer>", "2", "partial"),
    ("2 + 2", "<think>hm</think><answer>4</answer>", "4", "right"),
    ("2 + 2", "<think>ho</think><answer>4</answer>", "4", "right"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of two rewards and six completions in two groups, the second of which is dead."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "rewards.py").write_text(SOURCE)
    (folder / "rewardset.toml").write_text(
        '[set]\nname = "sums"\nsamples = "samples.jsonl"\n\n'
        '[[reward]]\nfunction = "rewards.py::shaped"\nrange = [0.0, 1.0]\nweight = 0.5\n\n'
        '[[reward]]\nfunction = "rewards.py::correct"\nrange = [0.0, 1.0]\nabstains = true\n'
    )
    with (folder / "samples.jsonl").open("w") as file:
        for prompt, completion, answer, label in ROWS:
            row = {"prompt": prompt, "completion": completion, "answer": answer}
            file.write(json.dumps(row | ({"label": label} if label else {})) + "\n")
    return folder


MakeBoard = Callable[..., Board]


@pytest.fixture
def make_board() -> MakeBoard:
    """A board from columns of scores; None abstains, text is an error."""

    def make(scores: Mapping[str, list[Any]], **facts: Any) -> Board:
        rows = len(next(iter(scores.values())))
        values = np.full((rows, len(scores)), np.nan)
        status = np.zeros((rows, len(scores)), dtype=np.uint8)
        errors: dict[tuple[int, str], str] = {}
        for column, (name, given) in enumerate(scores.items()):
            for row, score in enumerate(given):
                if score is None:
                    status[row, column] = Status.ABSTAINED
                elif isinstance(score, str):
                    status[row, column] = Status.RAISED
                    errors[row, name] = score
                else:
                    values[row, column] = score
                    status[row, column] = (
                        Status.NAN
                        if np.isnan(score)
                        else Status.INFINITE
                        if np.isinf(score)
                        else Status.NUMBER
                    )
        weights = facts.pop("weights", [1.0] * len(scores))
        groups = facts.pop("groups", ["g0"] * rows)
        columns = [
            Column(name, weights[index], *bounds(values[:, index], None), False)
            for index, name in enumerate(scores)
        ]
        texts = facts.pop("texts", [f"text {row}" for row in range(rows)])
        return Board(
            columns=columns,
            scores=values,
            status=status,
            errors=errors,
            totals=totals(values, weights),
            advantages=advantages(values, weights, groups),
            groups=groups,
            labels=facts.pop("labels", [None] * rows),
            ids=[f"id{row}" for row in range(rows)],
            prompts=facts.pop("prompts", [f"prompt {row}" for row in range(rows)]),
            completions=texts,
            **facts,
        )

    return make


class FakeEngine:
    """Does what the text says: `BROKEN` cannot be loaded, `SLOW` runs until it is stopped."""

    def __init__(self, make_board: MakeBoard) -> None:
        self.make_board = make_board
        self.targets: list[str] = []
        self.stopped = threading.Event()
        self.running = threading.Event()

    def score(self, target: str, samples: Any, progress: Any) -> Board:
        self.stopped.clear()
        self.targets.append(target)
        place = Path(target)
        text = ((place.parent if place.suffix else place) / "rewards.py").read_text()
        progress(Step(0, 1, "shaped", 0.0))
        if "BROKEN" in text:
            raise LoadError(
                f"rewards.py, line {text[: text.index('BROKEN')].count(chr(10)) + 1}: no such word"
            )
        if "SLOW" in text:
            self.running.set()
            self.stopped.wait(20)
            raise Stopped
        scores = [float(len(text) % 7) * (row % 3) for row in range(len(samples))]
        board = self.make_board(
            {"shaped": scores}, texts=list(samples.completions), groups=list(samples.groups)
        )
        return replace(board, ids=list(samples.ids), table=table({"shaped": scores}, samples.groups))

    def explain(self, target: str, samples: Any, row: int) -> Mapping[str, Any]:
        credit = {"name": "tag", "points": 1.0, "of": 1.0, "line": 2, "spans": [[0, 3]]}
        return {
            "row": row,
            "rewards": [{"name": "shaped", "score": 1.0, "credits": [credit], "lines": [], "exact": True}],
        }

    def stop(self) -> None:
        self.stopped.set()

    def close(self) -> None:
        self.stop()


@pytest.fixture
def engine(make_board: MakeBoard) -> FakeEngine:
    return FakeEngine(make_board)


@pytest.fixture
def bench(project: Path, engine: FakeEngine, tmp_path: Path) -> Iterator[Bench]:
    """A bench whose desks share the fake engine."""
    made = Bench(open_project(project), lambda: engine, tmp_path / "drafts")
    yield made
    made.close()


@pytest.fixture
def desk(bench: Bench) -> Desk:
    """A desk that has scored the file once."""
    found = bench.desk("desk0000")
    wait_for(lambda: found.status == "scored")
    return found


def wait_for(met: Callable[[], bool], seconds: float = 15.0) -> None:
    """Return as soon as `met` is; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not met():
        if time.monotonic() > deadline:
            pytest.fail(f"not met after {seconds} s")
        time.sleep(0.005)


@pytest.fixture(name="wait_for")
def wait_for_fixture() -> Callable[..., None]:
    return wait_for


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    yield made
    made.close()
