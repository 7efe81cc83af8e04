"""A set over samples: scores, totals, advantages, and what does not stop it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rewards.contract import Status
from rewards.errors import MissingColumnError, TargetError
from workbench.samples import Samples, read_samples
from workbench.scoring import score

FILE = """
def layout(completions, **_):
    return [0.5 if "<" in text else 0.0 for text in completions]

def correctness(completions, answer, **_):
    return [float(gold in text) for text, gold in zip(completions, answer)]

def odd(completions, log_extra, **_):
    log_extra("seen", [len(text) for text in completions])
    values = {"a": None, "b": float("nan"), "c": float("inf"), "d": "text"}
    return [values.get(text[:1], 1.0) for text in completions]

def counts(completions, completion_ids, **_):
    return [float(len(completions))] * len(completions)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "rewards.py").write_text(FILE)
    return tmp_path


def samples_of(tmp_path: Path, rows: list[dict[str, Any]]) -> Samples:
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_samples([file])


def arithmetic(tmp_path: Path) -> Samples:
    return samples_of(
        tmp_path,
        [
            {"prompt": "1+1", "completion": "<2>", "answer": "2", "label": "right"},
            {"prompt": "1+1", "completion": "3", "answer": "2", "label": "wrong"},
            {"prompt": "2+2", "completion": "<5>", "answer": "4"},
            {"prompt": "2+2", "completion": "<6>", "answer": "4"},
        ],
    )


@pytest.mark.guide("G3")
def test_totals_are_weights_times_scores_and_advantages_trls(project: Path) -> None:
    table = score(
        project / "rewards.py",
        arithmetic(project),
        only=["layout", "correctness"],
        weights={"correctness": 2.0},
    )
    assert table.scores.tolist() == [[0.5, 1.0], [0.0, 0.0], [0.5, 0.0], [0.5, 0.0]]
    assert table.totals.tolist() == [2.5, 0.0, 0.5, 0.5]
    assert table.advantages.round(3).tolist() == [0.707, -0.707, 0.0, 0.0]


@pytest.mark.guide("G3")
def test_other_weights_need_no_second_scoring(project: Path) -> None:
    table = score(project / "rewards.py", arithmetic(project), only=["layout", "correctness"])
    muted = table.reweighted({"correctness": 0.0})
    assert (muted.scores is table.scores, muted.totals.tolist()) == (True, [0.5, 0.0, 0.5, 0.5])
    with pytest.raises(TargetError, match="did you mean 'layout'"):
        table.reweighted({"layuot": 1.0})


def test_every_kind_of_result_is_strict_json(project: Path) -> None:
    rows = [{"prompt": "p", "completion": text} for text in ("a", "b", "c", "d", "e")]
    table = score(project / "rewards.py", samples_of(project, rows), only=["odd"])
    lines = [json.loads(json.dumps(row, allow_nan=False)) for row in table.rows()]
    assert [line["scores"]["odd"] for line in lines] == [None, "nan", "inf", None, 1.0]
    assert [bool(line["errors"]) for line in lines] == [False, False, False, True, False]
    assert lines[2]["total"] == "inf"
    assert table.extra["seen"] == [1, 1, 1, 1, 1]


def test_a_missing_column_stops_before_anything_is_called(project: Path) -> None:
    with pytest.raises(MissingColumnError, match="requires the column 'answer'"):
        score(project / "rewards.py", samples_of(project, [{"prompt": "p", "completion": "x"}]))


def test_one_call_holds_all_rows_of_a_step(project: Path) -> None:
    rows = [{"prompt": "p", "completion": "x", "step": step} for step in (1, 1, 1, 2, 2)]
    samples = samples_of(project, rows)
    table = score(project / "rewards.py", samples, only=["counts"])
    expected = [3.0, 3.0, 3.0, 2.0, 2.0] if any(step is not None for step in samples.steps) else [5.0] * 5
    assert table.scores[:, 0].tolist() == expected


def test_a_reward_that_reads_token_ids_without_tokenizer_is_told(project: Path) -> None:
    table = score(project / "rewards.py", arithmetic(project), only=["counts", "layout"])
    assert len(table.notes) == 1
    assert "reward 'counts' reads completion_ids, but no tokenizer is known" in table.notes[0]


def test_the_number_of_processes_does_not_change_the_scores(project: Path) -> None:
    samples = arithmetic(project)
    one, three = (score(project / "rewards.py", samples, jobs=jobs) for jobs in (1, 3))
    assert np.array_equal(one.scores, three.scores, equal_nan=True)
    assert np.array_equal(one.status, three.status)


def test_a_failing_reward_leaves_the_others_alone(project: Path) -> None:
    (project / "rewards.py").write_text(
        FILE + "\ndef broken(completions, **_):\n    raise RuntimeError('no')\n"
    )
    table = score(project / "rewards.py", arithmetic(project), only=["layout", "broken"])
    assert (table.status[:, 1] == Status.RAISED).all()
    assert table.totals.tolist() == [0.5, 0.0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("code", "noted"),
    [
        ("[float(len(ids)) for ids in kwargs['completion_ids']]", True),
        ("[float(len(ids)) for ids in kwargs.get('completion_ids')]", True),
        ("[float(len(text)) for text in completions]", False),
    ],
)
def test_bytes_that_stand_in_for_tokens_are_told_however_they_are_read(
    tmp_path: Path, code: str, noted: bool
) -> None:
    (tmp_path / "rewards.py").write_text(f"def long(completions, **kwargs):\n    return {code}\n")
    notes = score(tmp_path / "rewards.py", arithmetic(tmp_path)).notes
    assert (
        any("reward 'long' reads completion_ids, but no tokenizer is known" in note for note in notes)
        == noted
    )


def test_rows_that_lack_a_column_are_told(tmp_path: Path) -> None:
    (tmp_path / "rewards.py").write_text(
        "def right(completions, answer, hint=None, **_):\n    return [float(a is not None) for a in answer]\n"
    )
    rows = [
        {"prompt": "p", "completion": "1", "answer": "1", "hint": "h"},
        {"prompt": "p", "completion": "2"},
    ]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = score(tmp_path / "rewards.py", read_samples([tmp_path / "s.jsonl"]))
    assert table.notes == ["1 of 2 rows have no 'answer', which right reads: it is None there"]


def test_a_reward_called_like_a_column_of_the_table_keeps_both(project: Path) -> None:
    names = ("id", "total", "advantage", "errors", "completion", "group", "label")
    body = "(completions, **_):\n    return [7.0 for _ in completions]\n"
    taken = f'def other{body.replace("7.0", "9.0")}other.__reward__ = {{"name": "id (reward)"}}\n'
    (project / "rewards.py").write_text("".join(f"def {name}{body}" for name in names) + taken)
    samples = samples_of(project, [{"prompt": "p", "completion": "a", "id": "row-a"}])
    frame = score(project / "rewards.py", samples).to_pandas()
    assert (frame["id"][0], frame["id (reward)"][0], frame["id (reward) (reward)"][0]) == ("row-a", 9.0, 7.0)
    assert [frame[f"{name} (reward)"][0] for name in names[1:]] == [7.0] * 6
    assert (frame["total"][0], frame["errors"][0]) == (58.0, "")
