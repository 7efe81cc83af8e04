"""The zoos written here tell the truth: their defects show, and their sound rewards rank their samples."""

import asyncio
import copy
import importlib.util
import inspect
import json
import sys
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
ZOOS = ("zoo_more", "zoo_fresh", "zoo_held_out", "zoo_second", "zoo_third", "zoo_fourth")
# What a reward that raises may raise: SystemExit where it runs a program in its own process.
RAISED = (IndexError, ValueError, AttributeError, ZeroDivisionError, TypeError, SystemExit)
ENTRIES: list[dict[str, Any]] = [
    {**json.loads(line), "zoo": FIXTURES / name}
    for name in ZOOS
    for line in (FIXTURES / name / "zoo.jsonl").read_text().splitlines()
]


def load(entry: dict[str, Any]) -> list[Any]:
    """The rewards of an entry, freshly imported."""
    name = f"zoo_entry_{entry['id']}"
    spec = importlib.util.spec_from_file_location(name, entry["zoo"] / entry["file"])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return [getattr(module, function) for function in entry["functions"]]


def tasks(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of an entry's task file."""
    return [json.loads(line) for line in (entry["zoo"] / entry["tasks"]).read_text().splitlines()]


def scores(function: Any, entry: dict[str, Any], rows: list[dict[str, Any]]) -> list[Any]:
    """One call over rows of the task file with these completions."""
    read = tasks(entry)
    taken = [read[row["task_row"]] for row in rows]
    columns = {k: [copy.deepcopy(t[k]) for t in taken] for k in taken[0] if k not in ("prompt", "samples")}
    completions = []
    for task, row in zip(taken, rows, strict=True):
        text = task["prompt"][-1]["content"] if row["completion"] == "$prompt" else row["completion"]
        chat = isinstance(text, str) and not isinstance(task["prompt"], str)
        completions.append([{"role": "assistant", "content": text}] if chat else text)
    got = function(
        prompts=[t["prompt"] for t in taken], completions=completions, trainer_state=None, **columns
    )
    return list(asyncio.run(got) if inspect.isawaitable(got) else got)


def labelled(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Every sample of an entry's task file as a row."""
    return [
        {"task_row": place, "completion": sample["completion"], "label": sample["label"]}
        for place, task in enumerate(tasks(entry))
        for sample in task["samples"]
    ]


@pytest.mark.parametrize("entry", [pytest.param(e, id=e["id"]) for e in ENTRIES if e["verdict"] == "healthy"])
def test_sound_entry_ranks_its_samples_within_its_range(entry):
    rows = labelled(entry)
    members = [scores(function, entry, rows) for function in load(entry)]
    judged = [  # rows on which every member abstains have no score
        (row, sum((value or 0.0) * weight for value, weight in zip(values, entry["weights"], strict=True)))
        for row, *values in zip(rows, *members, strict=True)
        if any(value is not None for value in values)
    ]
    low, high = entry["declares"]["range"]
    assert all(low - 1e-9 <= total <= high + 1e-9 for _, total in judged)
    for place in {row["task_row"] for row, _ in judged}:
        here = [(row["label"], total) for row, total in judged if row["task_row"] == place]
        right = [total for label, total in here if label == "right"]
        assert min(right) > max(total for label, total in here if label in ("wrong", "hack"))


REPROS = [e for e in ENTRIES if e["verdict"] == "broken" and e["repro"]["how"] in ("score", "flat", "raises")]


@pytest.mark.parametrize("entry", [pytest.param(e, id=f"{e['id']}-{e['kind']}") for e in REPROS])
def test_broken_entry_shows_its_defect(entry):
    repro, function = entry["repro"], load(entry)[0]
    if repro["how"] == "raises":
        with pytest.raises(RAISED):
            scores(function, entry, repro["rows"])
    elif repro["how"] == "flat":
        assert set(scores(function, entry, labelled(entry))) == {repro["got"]}
    else:
        got = [float(score) for score in scores(function, entry, repro["rows"])]
        assert got == pytest.approx(repro["got"], abs=2e-3)
        assert got != pytest.approx(repro["right"], abs=2e-3)
