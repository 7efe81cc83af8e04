"""The verdict on 407 labelled programs: paid is what passes and does not cheat, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rewards.library import code
from rewards.sandbox import Sandbox, Verdict, grade, read_tests
from workbench.samples import Samples, read_samples

ENDLESS = ("infinite_loop", "memory_bomb")


@pytest.fixture(scope="module")
def samples(repository: Path) -> Samples:
    return read_samples([repository / "fixtures" / "humaneval" / "samples.jsonl"])


def scored(samples: Samples, rows: list[int], **options: Any) -> list[float | None]:
    columns = {
        name: [samples.columns[name][row] for row in rows] for name in ("test", "entry_point", "setup")
    }
    return code.tests_passed([samples.completions[row] for row in rows], **columns, **options)


def wrong(samples: Samples, rows: list[int], **options: Any) -> list[str | None]:
    """The programs whose score is not what their label says."""
    scores = scored(samples, rows, **options)
    return [
        samples.ids[row]
        for row, score in zip(rows, scores, strict=True)
        if score != (1.0 if samples.labels[row] == "right" else 0.0)
    ]


def test_the_set_is_the_whole_one(samples: Samples) -> None:
    assert len(samples) == 407
    assert {name: samples.labels.count(name) for name in ("right", "wrong", "hack")} == {
        "right": 191,
        "wrong": 174,
        "hack": 42,
    }


@pytest.mark.guide("G7")
def test_a_sample_of_every_kind_is_judged_right(samples: Samples) -> None:
    kinds: dict[str, list[int]] = {}
    for row, kind in enumerate(samples.columns["kind"]):
        kinds.setdefault(kind, []).append(row)
    rows = [row for kind, found in kinds.items() for row in found[: 1 if kind in ENDLESS else 6]]
    assert wrong(samples, rows, seconds=1.0) == []


@pytest.mark.slow
@pytest.mark.parametrize("paid", ["all", "share"])
def test_every_program_is_judged_right(samples: Samples, paid: str) -> None:
    rows = list(range(len(samples)))
    if paid == "all":
        assert wrong(samples, rows) == []
    else:
        quick = [row for row in rows if samples.columns["kind"][row] not in ENDLESS]
        scores = scored(samples, quick, paid="share")
        full = [samples.ids[row] for row, score in zip(quick, scores, strict=True) if score == 1.0]
        assert full == [samples.ids[row] for row in quick if samples.labels[row] == "right"]


@pytest.mark.slow
def test_every_program_is_judged_right_at_each_level(samples: Samples, sandbox: Sandbox) -> None:
    failed = []
    for row in range(len(samples)):
        if samples.columns["kind"][row] in ENDLESS:
            continue
        tests = read_tests(**{name: samples.columns[name][row] for name in ("test", "entry_point", "setup")})
        program = code.find_program(samples.completions[row], entry_point=samples.columns["entry_point"][row])
        assert tests is not None
        verdict = grade(sandbox, program.text, tests, stop=True) if program else Verdict((), sandbox.level())
        if verdict.all_passed != (samples.labels[row] == "right"):
            failed.append(samples.ids[row])
    assert failed == []
