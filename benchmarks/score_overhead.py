"""`score` against a bare Python loop: 5,276 real GSM8K completions, the three example rewards.

    python benchmarks/score_overhead.py [--rounds 9]

The bare loop loads the same file, holds the same rows in memory and calls the same functions in its own process, once
with all rows. `score` forks a worker process, loads the file in it, hands the rows over, checks what the rewards
return and computes totals and advantages; "calls in an open worker" is the part of it that is left once a worker
stands (as in the app). Start-up is shown apart: opening the runner, and reading the samples beside `json.loads` on
every line.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timing import interleaved, ratio, show

from rewards.running import Runner
from workbench.samples import Samples, read_samples
from workbench.scoring import score

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "fixtures/gsm8k"
SAMPLES = PROJECT / "all_completions.jsonl"
NAMES = ("correctness_reward", "format_reward", "incremental_format_reward")


def bare_functions() -> list[Callable[..., list[float]]]:
    spec = importlib.util.spec_from_file_location("bare_rewards", PROJECT / "rewards.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [getattr(module, name) for name in NAMES]


def bare_rows() -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {"prompts": [], "completions": [], "answer": []}
    for line in SAMPLES.read_text("utf-8").splitlines():
        task = json.loads(line)
        for sample in task["samples"]:
            rows["prompts"].append(task["prompt"])
            rows["completions"].append(sample["completion"])
            rows["answer"].append(task["answer"])
    return rows


def one_by_one(functions: list[Callable[..., list[float]]], rows: dict[str, list[Any]]) -> list[list[float]]:
    """The loop many a script has: every row a call of its own."""
    return [
        [function(prompts=[prompt], completions=[completion], answer=[answer])[0] for function in functions]
        for prompt, completion, answer in zip(*rows.values(), strict=True)
    ]


def opening_seconds() -> float:
    start = time.perf_counter()
    with Runner() as runner, runner.worker(str(PROJECT)):
        return time.perf_counter() - start


def check_same(samples: Samples, runner: Runner, plain: list[list[float]]) -> None:
    table = score(PROJECT, samples, runner=runner)
    assert table.scores.T.tolist() == plain, "score and the bare loop disagree"
    assert not table.errors


def main(rounds: int) -> int:
    functions, rows, samples = bare_functions(), bare_rows(), read_samples([SAMPLES])
    with Runner() as runner, runner.worker(str(PROJECT), samples.batch()) as worker:
        check_same(samples, runner, [function(**rows) for function in functions])
        seconds = interleaved(
            {
                "bare, one call a reward": lambda: [function(**rows) for function in functions],
                "bare, one call a row": lambda: one_by_one(functions, rows),
                "calls in an open worker": lambda: [
                    worker.call(name, rows=None) for name in worker.description.names
                ],
                "score": lambda: score(PROJECT, samples, runner=runner),
            },
            rounds,
        )
    print(f"{len(samples)} completions, {len(functions)} rewards, {rounds} rounds\n")
    print(show(seconds, "bare, one call a reward"))
    print("\nstart-up, apart")
    opening = statistics.median(opening_seconds() for _ in range(5))
    print(f"opening the runner and loading the rewards: {opening * 1000:.0f} ms")
    reading = interleaved({"json.loads": bare_rows, "read_samples": lambda: read_samples([SAMPLES])}, 3)
    print(show(reading, "json.loads"))
    extra = statistics.median(seconds["score"]) - statistics.median(seconds["bare, one call a reward"])
    print(f"\nscore over the bare call: {extra / len(samples) * 1e6:.1f} microseconds a completion")
    for name in ("calls in an open worker", "score"):
        print(f"ratio of {name}: {ratio(seconds, name, 'bare, one call a reward'):.2f}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="score against a bare Python loop")
    parser.add_argument("--rounds", type=int, default=9)
    sys.exit(main(parser.parse_args().rounds))
