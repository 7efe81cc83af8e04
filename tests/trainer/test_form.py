"""The form of the training data beside that of the samples the rewards were proved on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from trainer.job import Request, prepare_job
from trainer.preflight.form import compare_forms, form_of, sample_rows
from trainer.preflight.report import preflight

CHAT = [{"role": "system", "content": "Maths"}, {"role": "user", "content": "What is 1 + 1?"}]
REPLY = [{"role": "assistant", "content": "2"}]


def samples(folder: Path, **changes: Any) -> Path:
    row = {"prompt": CHAT, "completion": REPLY, "answer": 2, **changes}
    file = folder / "samples.jsonl"
    file.write_text(json.dumps({name: value for name, value in row.items() if value is not None}) + "\n")
    return file


def worries(project: Path, file: Path) -> list[str]:
    return compare_forms(prepare_job(Request(str(project))), [file])[1]


@pytest.fixture
def reading(project: Path) -> Path:
    """The project with a reward that reads the answer and, where there is one, a unit."""
    (project / "rewards.py").write_text(
        "def right(completions, answer, unit=None, **kwargs):\n    return [0.0] * len(completions)\n"
        "def tagged(completions, **kwargs):\n    return [0.0] * len(completions)\n"
        "def shortness(completions, **kwargs):\n    return [0.0] * len(completions)\n"
    )
    return project


def test_samples_of_the_same_form_are_no_worry(reading: Path) -> None:
    job = prepare_job(Request(str(reading)))
    lines, found = compare_forms(job, [samples(reading)])
    assert lines == [
        "proved on samples.jsonl: 1 rows of chat messages, all with a system message; trained on chat messages, all "
        "with one"
    ]
    assert found == []
    assert compare_forms(job, []) == ([], [])


def test_rewards_proved_on_text_and_trained_on_chat(reading: Path) -> None:
    text = samples(reading, prompt="What is 1 + 1?", completion="2")
    assert worries(reading, text) == [
        "the rewards were proved on plain text, and training passes chat messages: prove them as they will be called, "
        '[set] read_as = "chat", or train on text: no [data] system_prompt, text prompts'
    ]
    manifest = reading / "rewardset.toml"
    manifest.write_text(manifest.read_text().replace('name = "sums"', 'name = "sums"\nread_as = "chat"'))
    assert worries(reading, text) == []


def test_a_missing_system_message_is_told(reading: Path) -> None:
    lines, found = compare_forms(prepare_job(Request(str(reading))), [samples(reading, prompt=CHAT[1:])])
    assert "none with a system message; trained on chat messages, all with one" in lines[0]
    assert found == []


def test_columns_that_are_on_one_side_only_or_of_another_kind(reading: Path) -> None:
    assert worries(reading, samples(reading, unit="cm")) == [
        "right was proved with the column 'unit', which the training data lacks"
    ]
    assert worries(reading, samples(reading, answer=None)) == [
        "right will be passed the column 'answer', which the samples it was proved on lack"
    ]
    assert worries(reading, samples(reading, answer="2")) == [
        "the column 'answer' that right reads holds text in the samples, and numbers in the training data"
    ]
    assert worries(reading, samples(reading, hint="no reward names it")) == []


def test_columns_of_the_samples_are_mapped_as_those_of_the_data(reading: Path) -> None:
    rows = [json.loads(line) for line in (reading / "train.jsonl").read_text().splitlines()]
    (reading / "train.jsonl").write_text(
        "".join(json.dumps({"prompt": row["prompt"], "gold": row["answer"]}) + "\n" for row in rows)
    )
    manifest = reading / "rewardset.toml"
    manifest.write_text(manifest.read_text().replace("[data]\n", '[data]\ncolumns = { gold = "answer" }\n'))
    assert worries(reading, samples(reading, answer=None, gold=2)) == []


def test_the_samples_of_a_seal_that_holds_are_those_that_count(sealed_project: Path, tmp_path: Path) -> None:
    from rewards.rewardset import RewardSet
    from rewards.seal import SealedSamples, seal_of, write_seal

    project = tmp_path / "project"
    shutil.copytree(sealed_project, project)
    samples(project, prompt="What is 1 + 1?", completion="2")
    description = RewardSet.load(project).describe()
    proved = SealedSamples("0" * 32, rows=1, groups=1, right=1, wrong=1, sources=("samples.jsonl",))
    write_seal(description.seal_path, seal_of(description, proved, created="2026-01-01T00:00:00+00:00"))
    report = preflight(Request(str(project)))
    [section] = [part for part in report.sections if part.title == "form"]
    assert section.worries[0][1].startswith("the rewards were proved on plain text")
    assert report.verdict == "think again"


def test_task_files_have_a_row_for_each_completion_and_logs_of_other_tools_have_none(tmp_path: Path) -> None:
    file = tmp_path / "task.jsonl"
    file.write_text(json.dumps({"prompt": "p", "answer": 1, "samples": ["a", {"completion": "b"}]}) + "\n")
    rows = sample_rows([file, tmp_path / "no.eval", tmp_path / "gone.jsonl"], {"answer": "gold"})
    assert [(row["completion"], row["gold"]) for row in rows] == [("a", 1), ("b", 1)]
    assert form_of([]) is None
