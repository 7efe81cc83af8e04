"""The monitor against simulated runs: how many ill runs it finds, and how many healthy ones it disturbs.

Evaluated as it works: line by line, knowing only what came before. Seeds are those of this proof alone; the rules were
adjusted on others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.trainer.simulated import SCENARIOS, Scenario, draw, logged
from trainer.diagnoses import RULES
from trainer.watching.monitor import watch_over

LOGGING = (1, 10)
SEEDS = range(20)
LEAST_RECALL, MOST_FALSE = 0.95, 1 / 40
PROOF = Path("docs") / "monitor-proof.md"


@dataclass
class Result:
    """What was told about the runs of one scenario: runs with the right word, its first step, other words."""

    runs: int = 0
    right: int = 0
    first: list[int] = field(default_factory=list)
    others: dict[str, int] = field(default_factory=dict)


def evaluate(scenario: Scenario, every: int, seeds: range) -> Result:
    """A healthy run is right without any warning; an ill one with the diagnosis it has."""
    result = Result()
    for seed in seeds:
        run = draw(scenario, seed)
        told = [one for one in watch_over(logged(run, every), run.facts) if one.diagnosis.rank > 0]
        hits = [one.step for one in told if run.expected in (one.diagnosis.name, one.diagnosis.key)]
        result.runs += 1
        result.right += bool(hits) if run.expected else not told
        result.first += hits[:1]
        for name in {one.diagnosis.name for one in told} - {run.expected.partition(":")[0]}:
            result.others[name] = result.others.get(name, 0) + 1
    return result


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[one.name for one in SCENARIOS])
def test_a_sample_of_the_simulated_runs_is_read_right(scenario: Scenario) -> None:
    assert evaluate(scenario, 10, range(1)).right == 1


@pytest.mark.parametrize("name", ["hacking", "longer reasoning", "NaN gradients"])
def test_a_run_logged_at_every_step_is_read_the_same(name: str) -> None:
    (scenario,) = (one for one in SCENARIOS if one.name == name)
    assert evaluate(scenario, 1, range(1)).right == 1


def test_the_scenarios_expect_diagnoses_that_exist() -> None:
    assert {one.expected.partition(":")[0] for one in SCENARIOS if one.expected} <= set(RULES)
    assert len(SCENARIOS) == 18


@pytest.mark.slow
def test_the_monitor_finds_ill_runs_and_leaves_healthy_ones_alone(repository: Path, write_docs: bool) -> None:
    results = {
        (scenario.name, every): evaluate(scenario, every, SEEDS)
        for scenario in SCENARIOS
        for every in LOGGING
    }
    if write_docs:
        (repository / PROOF).write_text(report(results), encoding="utf-8")
    for every in LOGGING:
        healthy = [results[one.name, every] for one in SCENARIOS if not one.expected]
        assert 1 - sum(one.right for one in healthy) / sum(one.runs for one in healthy) <= MOST_FALSE
        for one in SCENARIOS:
            if one.expected:
                result = results[one.name, every]
                assert result.right / result.runs >= LEAST_RECALL, one.name
    assert (repository / PROOF).read_text(encoding="utf-8") == report(results)


def report(results: dict[tuple[str, int], Result]) -> str:
    """The table of the proof, as it stands in docs."""
    lines = [
        "# How well the monitor reads runs",
        "",
        f"{len(SEEDS)} simulated runs of each kind (`tests/trainer/simulated.py`), 300 steps of 8 prompts x 8 "
        "completions, read line by line as the run goes on. *Found*: runs that got the diagnosis they should have, at "
        "warning or above (healthy runs: runs without any warning), and the median step at which it was told; "
        "illnesses begin between steps 75 and 135, or are there from the start. *Also told*: other warnings in ill "
        "runs, most of them true as well. The runs are simulated: real ones are noisier in ways nobody has drawn here.",
        "",
        "Written by `tests/trainer/test_monitor_proof.py` (`--write-docs`, marker `slow`); do not edit.",
        "",
        "| run | diagnosis | logged at every step | at every 10th | also told |",
        "|---|---|---|---|---|",
    ]
    for scenario in SCENARIOS:
        cells, others = [], dict[str, int]()
        for every in LOGGING:
            result = results[scenario.name, every]
            first = sorted(result.first)
            at = f", step {first[len(first) // 2]}" if first else ""
            cells.append(f"{result.right} of {result.runs}{at}")
            others = {
                name: max(count, others.get(name, 0)) for name, count in {**others, **result.others}.items()
            }
        also = ", ".join(f"{name} {count}" for name, count in sorted(others.items()))
        lines.append(
            f"| {scenario.name} | {scenario.expected or 'none (healthy)'} | {' | '.join(cells)} | {also or '-'} |"
        )
    return "\n".join(lines) + "\n"
