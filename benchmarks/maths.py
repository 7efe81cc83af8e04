"""The maths reward against TRL's: 955 real pairs of reference and answer, 500 real GSM8K completions.

    python benchmarks/maths.py [--rounds 5] [--jobs 2]

TRL's `accuracy_reward` runs as it does in training: in one process, in the main thread (its limits work nowhere
else). Ours runs in that way too, and through `workbench.parallel`, which splits the rows over workers and checks what
comes back; the first worker stands already, as in training. Every round begins cold: sympy's cache and ours are
emptied. At the end how many verdicts of each are right: against the labels of the completions, and against
`fixtures/maths_pairs/judged.jsonl` where the graders of the pairs do not agree.
"""

from __future__ import annotations

import argparse
import functools
import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from maths_pairs import key, read_lines
from timing import ratio, show

from rewards.library import maths_equal
from rewards.running import Runner, Worker
from workbench.parallel import run_calls
from workbench.samples import Samples, read_samples

GOAL = 1.7
TARGET = "rewards.library:maths_equal"
Case = tuple[Callable[[], None], Callable[[], list[float | None]]]
"""What is done before, not timed, and what is timed."""
Rows = list[tuple[str, str, bool | None]]
"""Completion, reference, whether it is right (None: nobody knows)."""


def pair_rows() -> Rows:
    judged = {key(row): row["same"] for row in read_lines("judged.jsonl")}
    return [
        (rf"\boxed{{{pair['pred']}}}", f"${pair['gold']}$", judged.get(key(pair), pair["grader_verdict"]))
        for pair in read_lines("gold_pred_pairs.jsonl")
    ]


def completion_rows() -> Rows:
    rows = read_lines("gsm8k_completions.jsonl")[:500]
    return [(row["completion"], f"${row['answer']}$", row["label"]) for row in rows]


def chats(rows: Rows) -> list[list[dict[str, str]]]:
    return [[{"role": "assistant", "content": text}] for text, _, _ in rows]


def cold() -> None:
    """Empty sympy's cache and those of our library."""
    from sympy.core.cache import clear_cache

    clear_cache()
    for name, module in list(sys.modules.items()):
        if name.startswith("rewards.library"):
            for thing in vars(module).values():
                if isinstance(thing, functools._lru_cache_wrapper):
                    thing.cache_clear()


def trl(rows: Rows) -> list[float | None]:
    from trl.rewards import accuracy_reward

    return list(accuracy_reward(chats(rows), [gold for _, gold, _ in rows]))


def ours(rows: Rows) -> list[float | None]:
    return maths_equal(chats(rows), answer=[gold for _, gold, _ in rows])


def samples_of(rows: Rows) -> Samples:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "samples.jsonl"
        lines = [
            json.dumps({"prompt": f"question {number}", "completion": text, "answer": gold})
            for number, (text, gold, _) in enumerate(rows)
        ]
        file.write_text("\n".join(lines), encoding="utf-8")
        return read_samples([file])


class Workers:
    """`workbench.parallel` with a worker that stands already, as in training; each round gets a fresh, cold one."""

    def __init__(self, runner: Runner, samples: Samples, jobs: int) -> None:
        self.runner, self.batch, self.jobs = runner, samples.batch(), jobs
        self.rows = list(range(len(samples)))
        self.worker: Worker | None = None

    def prepare(self) -> None:
        """A fresh worker that has called the reward once, so that what is imported late is there."""
        self.close()
        self.worker = self.runner.worker(TARGET, self.batch)
        self.worker.call("maths_equal", rows=[0])

    def close(self) -> None:
        if self.worker is not None:
            self.worker.kill()

    def scores(self) -> list[float | None]:
        assert self.worker is not None
        results = run_calls(self.runner, self.worker, self.worker.description, [self.rows], jobs=self.jobs)
        return [None if value != value else value for value in results["maths_equal"][0].scores.tolist()]


def right(rows: Rows, scores: list[float | None]) -> str:
    known = [(score, truth) for score, (_, _, truth) in zip(scores, rows, strict=True) if truth is not None]
    good = sum(score is not None and (score == 1.0) == truth for score, truth in known)
    paid = sum(score == 1.0 and not truth for score, truth in known)
    return f"{good} of {len(known)} right, {paid} paid wrongly, {sum(score is None for score, _ in known)} not scored"


def measure(cases: Mapping[str, Case], rounds: int) -> dict[str, list[float]]:
    """Seconds of each case in each round, its preparation apart; a first round is not counted."""
    wall: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, (prepare, work) in cases.items():
            prepare()
            start = time.perf_counter()
            work()
            if number:
                wall[name].append(time.perf_counter() - start)
    return wall


def compare(name: str, rows: Rows, rounds: int, jobs: int, runner: Runner) -> float:
    samples = samples_of(rows)
    one, more = Workers(runner, samples, 1), Workers(runner, samples, jobs)
    cases: dict[str, Case] = {
        "TRL accuracy_reward": (cold, lambda: trl(rows)),
        "maths_equal, here": (cold, lambda: ours(rows)),
        "maths_equal, one worker": (one.prepare, one.scores),
        f"maths_equal, {jobs} workers": (more.prepare, more.scores),
    }
    scores = {}
    for case, (prepare, work) in cases.items():
        prepare()
        scores[case] = work()
    first, *others = list(scores.values())[1:]
    assert all(first == other for other in others), "the number of workers changed a score"
    seconds = measure(cases, rounds)
    one.close()
    more.close()
    print(f"\n{name}: {len(rows)} rows, {rounds} rounds")
    print(show(seconds, "TRL accuracy_reward"))
    for case in ("TRL accuracy_reward", "maths_equal, here"):
        print(f"{case}: {right(rows, scores[case])}")
    times = 1 / ratio(seconds, f"maths_equal, {jobs} workers", "TRL accuracy_reward")
    print(f"{jobs} workers by TRL: {times:.1f} times as fast (at least {GOAL} wanted)")
    return times


def main(rounds: int, jobs: int) -> int:
    logging.disable(logging.CRITICAL)  # TRL's grader logs every text it cannot read
    maths_equal(
        [r"\boxed{x}"], answer=["$x + 0$"]
    )  # imports what is imported late, before the workers are forked
    with Runner() as runner:
        found = [
            compare("pairs of reference and answer", pair_rows(), rounds, jobs, runner),
            compare("GSM8K completions", completion_rows(), rounds, jobs, runner),
        ]
    return 0 if min(found) >= GOAL else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="maths_equal against TRL's accuracy_reward")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    sys.exit(main(arguments.rounds, arguments.jobs))
