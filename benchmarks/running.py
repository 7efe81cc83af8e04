"""The boundary round user code, beside running the same code without one.

    python benchmarks/running.py [--rounds 7]

Edit to scores against a fresh interpreter; a clean batch of 10,000 rows against a bare loop; three rewards of
100 ms called together against one after another, as TRL calls them; the longest gap in a 50 Hz heartbeat of this
process while a reward hangs in a regular expression; and what a `credit()` costs that nobody records, and a seal to
verify.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
import timeit
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from timing import interleaved, ratio, show

from rewards import credit
from rewards.contract import Batch
from rewards.rewardset import RewardSet
from rewards.running import Crew, Runner
from rewards.seal import SealedSamples, seal_of, verify

REWARD = """
import re
import math_verify

LAYOUT = re.compile(r"^<think>.*?</think>\\s*<answer>.*?</answer>$", re.DOTALL)


def layout(completions, **_):
    return [1.0 if LAYOUT.match(text) else 0.0 for text in completions]
"""
PLAIN = REWARD.replace("import math_verify\n", "")
WAITS = """
import time

def one(completions, **_):
    time.sleep(0.1)
    return [1.0] * len(completions)

two = one
three = one
"""
HANGS = """
import re

def stuck(completions, **_):
    return [float(bool(re.match(r"^(a+)+$", "a" * 40 + "!"))) for _ in completions]
"""
FRESH = """
import sys, json
sys.path.insert(0, sys.argv[1])
import edited
json.dump(edited.layout(completions=json.load(open(sys.argv[2]))), sys.stdout)
"""


def text(row: int) -> str:
    """A completion of about 2 kB that keeps the layout."""
    return f"<think>{f'step {row} of it, ' * 140}</think>\n<answer>{row}</answer>"


def batch_of(rows: int) -> Batch:
    """`rows` completions."""
    return Batch(["p"] * rows, [text(row) for row in range(rows)])


def edit_to_scores(folder: Path, rounds: int) -> str:
    """200 rows of a reward that imports math_verify: a forked worker, and an interpreter started for it."""
    import json

    batch = batch_of(200)
    (folder / "edited.py").write_text(REWARD)
    (folder / "rows.json").write_text(json.dumps(batch.completions))
    with Runner(spawn=True, preload=("numpy", "math_verify")) as runner:

        def ours() -> None:
            with runner.worker(folder / "edited.py", batch) as worker:
                worker.call("layout")

        def fresh() -> None:
            command = [sys.executable, "-P", "-c", FRESH, str(folder), str(folder / "rows.json")]
            subprocess.run(command, check=True, capture_output=True)

        seconds = interleaved({"fresh interpreter": fresh, "worker": ours}, rounds)
    times = 1 / ratio(seconds, "worker", "fresh interpreter")
    return (
        f"edit to scores, 200 rows\n{show(seconds, 'fresh interpreter')}\nquicker by {times:.1f} (goal 15)\n"
    )


def clean_batch(folder: Path, rounds: int) -> str:
    """10,000 clean rows and a regular expression, the worker standing already."""
    (folder / "plain.py").write_text(PLAIN)
    batch = batch_of(10_000)
    function: Any = RewardSet.load(folder / "plain.py").function("layout")
    with Runner(batch=batch) as runner, runner.worker(folder / "plain.py", batch) as worker:
        cases = {
            "bare loop": lambda: function(prompts=batch.prompts, completions=batch.completions),
            "worker": lambda: worker.call("layout"),
        }
        seconds = interleaved(cases, rounds)
    return f"10,000 clean rows\n{show(seconds, 'bare loop')}\n(goal 1.35)\n"


def waiting_rewards(folder: Path, rounds: int) -> str:
    """Three rewards of 100 ms, as a training step calls them."""
    (folder / "waits.py").write_text(WAITS)
    batch = batch_of(32)
    functions: Any = RewardSet.load(folder / "waits.py").functions
    with Crew(folder / "waits.py") as crew:
        cases = {
            "one after another": lambda: [function(completions=batch.completions) for function in functions],
            "together": lambda: crew.call_all(batch),
        }
        seconds = interleaved(cases, rounds)
    return f"three rewards of 100 ms\n{show(seconds, 'one after another')}\n(goal 0.4)\n"


@contextmanager
def heartbeat() -> Iterator[list[float]]:
    """Beats at 50 Hz in a thread; gives the list of gaps between beats."""
    gaps: list[float] = []
    done = threading.Event()

    def beat() -> None:
        last = time.perf_counter()
        while not done.wait(0.02):
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        yield gaps
    finally:
        done.set()
        thread.join()


def hanging_reward(folder: Path) -> str:
    """The longest gap while a reward hangs where Python holds its lock."""
    (folder / "hangs.py").write_text(HANGS)
    with ExitStack() as stack:
        runner = stack.enter_context(Runner(spawn=True))
        worker = stack.enter_context(runner.worker(folder / "hangs.py", batch_of(1)))
        gaps = stack.enter_context(heartbeat())
        worker.call("stuck", timeout_s=4)
    return f"longest gap of a 50 Hz heartbeat while a reward hangs: {max(gaps) * 1000:.0f} ms (goal 200)\n"


def small_costs(folder: Path) -> str:
    """Microseconds of one `credit()` outside a recorded call, and of one `verify`: the fastest of five rounds."""
    (folder / "plain.py").write_text(PLAIN)
    described = RewardSet.load(folder / "plain.py").describe()
    seal = seal_of(described, SealedSamples("", rows=0, groups=0), created="2026-01-01T00:00:00+00:00")
    each = {
        "credit() that nobody records (goal 5)": min(timeit.repeat(lambda: credit("x", 0.5), number=10_000))
        / 1e4,
        "verify a seal (goal 5000)": min(timeit.repeat(lambda: verify(seal, described), number=100)) / 100,
    }
    return "".join(f"{name}: {seconds * 1e6:.1f} us\n" for name, seconds in each.items())


def main() -> None:
    """Run all five and print them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(clean_batch(folder, rounds))
        print(edit_to_scores(folder, rounds))
        print(waiting_rewards(folder, rounds))
        print(hanging_reward(folder))
        print(small_costs(folder))


if __name__ == "__main__":
    main()
