"""`explain` of single rows in a warm worker, and a recorded call beside an ordinary one.

    python benchmarks/explain_row.py [--rows 300]

Row times are those of the parent: request, recorded call, credits, answer. The second part makes both calls in this
process with one row each, as the explanation does, and gives their ratio.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import time
from pathlib import Path

from rewards.contract import call
from rewards.rewardset import RewardSet
from rewards.running import Runner
from rewards.tracing import Explainer
from rewards.tracing.recorder import recording
from workbench.explained_calls import Calls
from workbench.samples import read_samples

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "fixtures/gsm8k"
TARGETS = {
    PROJECT: PROJECT / "all_completions.jsonl",
    ROOT / "fixtures/guide_library/library.py": ROOT / "fixtures/guide_library/samples.jsonl",
}


def rows_in_a_worker(target: Path, samples_file: Path, count: int) -> None:
    samples = read_samples([samples_file])
    batch = samples.batch(None)
    rows = range(0, len(batch), max(1, len(batch) // count))
    everything = list(range(len(batch)))
    with Runner() as runner, runner.worker(target, batch) as worker:
        known = Calls(worker)
        for reward in worker.description.rewards:
            known.explain(reward, 0, everything)
            times = []
            for row in rows:
                began = time.perf_counter()
                known.explain(reward, row, everything)
                times.append((time.perf_counter() - began) * 1000)
            times.sort()
            late = times[len(times) * 9 // 10]
            print(f"{reward.name:26} median {statistics.median(times):6.1f} ms   90 % {late:6.1f} ms")


def recorded_beside_ordinary(target: Path, samples_file: Path) -> None:
    batch = read_samples([samples_file]).batch(None)
    explainer = Explainer(functools.partial(RewardSet.load, target))
    for name in explainer.plain.names:
        plain, traced, one = explainer.plain.function(name), explainer.traced.function(name), batch.rows([0])
        ordinary, recorded = [], []
        for _ in range(60):
            began = time.perf_counter()
            call(plain, one)
            ordinary.append(time.perf_counter() - began)
            with recording():
                began = time.perf_counter()
                call(traced, one)
                recorded.append(time.perf_counter() - began)
        ratio = statistics.median(recorded) / statistics.median(ordinary)
        print(
            f"{name:26} ordinary {statistics.median(ordinary) * 1e6:6.0f} us   recorded {ratio:5.1f} times that"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=300)
    options = parser.parse_args()
    for target, samples in TARGETS.items():
        rows_in_a_worker(target, samples, options.rows)
    for target, samples in TARGETS.items():
        recorded_beside_ordinary(target, samples)


if __name__ == "__main__":
    main()
