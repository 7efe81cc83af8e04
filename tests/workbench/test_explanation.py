"""Explanations over samples: rows in a worker process, whatever the reward does to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewards.errors import LoadError, MissingColumnError, UsageError
from rewards.running import Runner
from workbench.explanation import RowExplanation, explain
from workbench.samples import Samples, read_samples
from workbench.scoring import score

REWARDS = """
def tags(completions, **kwargs):
    rewards = []
    for completion in completions:
        score = 0.0
        for tag in ("<a>", "</a>"):
            if tag in completion[0]["content"]:
                score += 0.5
        rewards.append(score)
    return rewards


def right(completions, answer, **kwargs):
    return [1.0 if a in c[0]["content"] else 0.0 for c, a in zip(completions, answer)]
"""

TEXTS = ["<a>5</a>", "<a>6", "5"]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as runner:
        yield runner


def project(folder: Path, source: str = REWARDS) -> tuple[Path, Samples]:
    file, samples = folder / "rewards.py", folder / "samples.jsonl"
    file.write_text(source)
    rows = [
        {"prompt": [{"role": "user", "content": "?"}], "answer": "5",
         "completion": [{"role": "assistant", "content": text}], "group": "g"}
        for text in TEXTS
    ]  # fmt: skip
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file, read_samples([samples])


def test_every_row_is_explained_for_every_reward(tmp_path: Path, runner: Runner) -> None:
    file, samples = project(tmp_path)
    rows = list(explain(file, samples, runner=runner))
    assert [(row.row, [reward.name for reward in row.rewards]) for row in rows] == [
        (number, ["tags", "right"]) for number in range(3)
    ]
    assert [row.total for row in rows] == [2.0, 0.5, 1.0]
    assert all(reward.exact for row in rows for reward in row.rewards)


def test_explained_scores_are_those_of_score(tmp_path: Path, runner: Runner) -> None:
    file, samples = project(tmp_path)
    table = score(file, samples, runner=runner)
    rows = list(explain(file, samples, runner=runner))
    assert [[reward.score for reward in row.rewards] for row in rows] == table.scores.tolist()


def test_one_row_can_be_asked_for(tmp_path: Path, runner: Runner) -> None:
    file, samples = project(tmp_path)
    (row,) = explain(file, samples, [1], runner)
    assert [(c.name, c.points, c.spans) for c in row.rewards[0].credits] == [("<a>", 0.5, ((0, 3),))]
    assert row.text == "<a>6"


def test_a_row_that_is_not_there_is_named(tmp_path: Path, runner: Runner) -> None:
    file, samples = project(tmp_path)
    with pytest.raises(UsageError, match="there is no row 7: the samples have rows 0 to 2"):
        list(explain(file, samples, [7], runner))


def test_a_missing_column_is_named(tmp_path: Path, runner: Runner) -> None:
    file, samples = project(tmp_path, REWARDS.replace("answer, **", "solution, **"))
    with pytest.raises(MissingColumnError, match="solution"):
        list(explain(file, samples, runner=runner))


def test_a_file_that_does_not_load_is_a_load_error(tmp_path: Path, runner: Runner) -> None:
    file, samples = project(tmp_path, "import nothing_of_that_name\n")
    with pytest.raises(LoadError, match="nothing_of_that_name"):
        list(explain(file, samples, runner=runner))


KILLER = """
import os


def killer(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        if text == "5":
            os._exit(3)
        rewards.append(0.5 if "<a>" in text else 0.0)
    return rewards
"""


def test_a_row_that_ends_its_process_leaves_the_others_explained(tmp_path: Path, runner: Runner) -> None:
    file, samples = project(tmp_path, KILLER)
    rows: list[RowExplanation] = list(explain(file, samples, runner=runner))
    assert [row.rewards[0].score for row in rows] == [0.5, 0.5, None]
    assert rows[0].rewards[0].exact
    assert rows[2].rewards[0].error == "ended its process: exit code 3"


def test_only_a_reward_that_raises_is_said_to_read_the_other_form(tmp_path: Path, runner: Runner) -> None:
    source = """
def pair(completions, **kwargs):
    return [[0.9, 0.9] if isinstance(c, list) else 0.5 for c in completions]


def text(completions, **kwargs):
    return [float("5" in c.strip()) for c in completions]
"""
    file, samples = project(tmp_path, source)
    (row,) = explain(file, samples, [0], runner)
    pair, text = row.rewards
    assert (pair.error, pair.notes) == ("score is list [0.9, 0.9], not a number", ())
    assert text.error is not None
    assert text.notes[0].startswith("the samples are chat messages and text reads plain text: ")


def test_the_prompt_groups_of_a_group_reward_stay_together(tmp_path: Path, runner: Runner) -> None:
    source = """
def best(completions, **kwargs):
    longest = max(len(c[0]["content"]) for c in completions)
    return [1.0 if len(c[0]["content"]) == longest else 0.0 for c in completions]
"""
    file, samples = project(tmp_path, source)
    rows = list(explain(file, samples, runner=runner))
    assert [row.rewards[0].score for row in rows] == [1.0, 0.0, 0.0]
    assert not any(row.rewards[0].alone for row in rows)
