"""The whole job without a screen, on real input: what `make demo` runs, and how it judges the outcome.

Two projects are made in demo-run/ (made anew on each call): `gsm8k`, whose real completions are scored, explained
and checked, and `arithmetic`, which is checked, sealed and trained from. The trained adapter is merged with proof and
the merged model compared with its base on questions that training never saw. Every step is one command that is
printed as you would type it.

The demo fails (exit code 1) unless training visibly worked: the mean reward of the last ten steps is above the mean of
the first ten by more than the spread of the first ten, and on the held-out questions the merged model's total
reward beats the base's, with the whole paired 95 % interval above zero.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer.rundir import RunDir

WORK = "demo-run"
RUN = Path("arithmetic", "runs", "demo")
COMMAND = Path(sys.executable).with_name("reward-workbench")
WINDOW = 10  # logging steps at each end of the run that are compared


@dataclass(frozen=True)
class Step:
    """One command of the demo: what it is for, its arguments, and the exit codes that are no failure."""

    title: str
    arguments: tuple[str, ...]
    accepted: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Rise:
    """How the reward moved over a run: the means of its ends, and the standard deviation of the first end."""

    first: float
    last: float
    spread: float

    @property
    def holds(self) -> bool:
        """Whether the reward rose by more than it varied at the start."""
        return self.last - self.first > self.spread


def rise_of(rewards: Sequence[float], window: int = WINDOW) -> Rise:
    """The rise over a run's rewards, one a logging step.

    Raises:
        ValueError: with fewer steps than two windows, which would compare a step with itself.
    """
    if len(rewards) < 2 * window:
        raise ValueError(
            f"{len(rewards)} logged steps are too few to compare the first {window} with the last"
        )
    first, last = rewards[:window], rewards[-window:]
    mean = sum(first) / window
    spread = math.sqrt(sum((value - mean) ** 2 for value in first) / (window - 1))
    return Rise(first=mean, last=sum(last) / window, spread=spread)


def logged_rewards(run: Path) -> list[float]:
    """The mean reward of every logging step of a run, in order."""
    return [float(line["reward"]) for line in RunDir.open(run).metrics() if line.get("reward") is not None]


# ------------------------------------------------------------------------------------------- the steps


def steps(model: str, work: Path) -> list[Step]:
    """The demo's commands, in order; `work` is the folder everything is made in."""
    gsm8k, arithmetic, run = (str(work / part) for part in ("gsm8k", "arithmetic", RUN))
    return [
        Step("a project with real completions of GSM8K", ("init", gsm8k, "--template", "gsm8k")),
        Step("score every completion", ("score", gsm8k)),
        Step("where one completion's credit comes from", ("explain", gsm8k, "--row", "5")),
        Step("look for faults in its rewards", ("check", gsm8k)),
        Step("a project a small model can learn", ("init", arithmetic, "--template", "arithmetic")),
        Step("check its rewards and seal them", ("check", arithmetic, "--seal")),
        Step("train from the seal", ("train", arithmetic, "--model", model, "--run", run)),
        Step("merge the adapter, with proof", ("merge", run)),
        Step("merged against base on held-out questions", ("compare", run)),
    ]


def run_step(number: int, total: int, step: Step) -> None:
    """Run one command with its output on this terminal.

    Raises:
        SystemExit: with the command's exit code, if it is not an accepted one.
    """
    say(f"\n[{number}/{total}] {step.title}\n$ reward-workbench {' '.join(step.arguments)}")
    started = time.monotonic()
    done = subprocess.run([str(COMMAND), *step.arguments], stdin=subprocess.DEVNULL, check=False)
    say(f"({time.monotonic() - started:.0f} s)")
    if done.returncode not in step.accepted:
        say(f"\nThe demo stops here: exit code {done.returncode}.")
        raise SystemExit(done.returncode)


def say(text: str) -> None:
    """Print at once, so that lines keep their place between the commands' own output."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


# ------------------------------------------------------------------------------------------- the verdict


def verdict(run: Path) -> bool:
    """Say whether training worked and what it taught; True if it did."""
    rise = rise_of(logged_rewards(run))
    say(
        f"\nreward in training: {rise.first:.3f} in the first {WINDOW} steps (spread {rise.spread:.3f}), "
        f"{rise.last:.3f} in the last {WINDOW}: {'risen' if rise.holds else 'not risen by more than the spread'}"
    )
    comparison: dict[str, Any] = json.loads((run / "comparison.json").read_text(encoding="utf-8"))
    say(f"on {comparison['prompts']} held-out prompts, none of them trained on, merged against base:")
    for line in comparison["lines"]:
        say(comparison_line(line))
    return rise.holds and beats_base(comparison)


def comparison_line(line: dict[str, Any]) -> str:
    """One reward of comparison.json (or the total) in words."""
    paired = line["paired"]
    bounds = "" if paired["low"] is None else f", 95 % interval {paired['low']:+.3f} to {paired['high']:+.3f}"
    return (
        f"  {line['name']:<12} {line['base']:.3f} -> {line['trained']:.3f}  ({paired['mean']:+.3f}{bounds})"
    )


def beats_base(comparison: dict[str, Any]) -> bool:
    """Whether the whole 95 % interval of the paired difference in total reward lies above zero."""
    low = comparison["lines"][0]["paired"]["low"]
    return low is not None and bool(low > 0)


def main() -> int:
    """Run the demo; the exit code."""
    parser = argparse.ArgumentParser(
        description="The whole job without a screen, from scores to a merged model."
    )
    parser.add_argument(
        "--model", default="smollm2", help="model to train: smollm2 (default), toy, or any other"
    )
    parser.add_argument("--work", type=Path, default=Path(WORK), help="folder to work in; made anew")
    asked = parser.parse_args()
    started = time.monotonic()
    clear(asked.work)
    commands = steps(asked.model, asked.work)
    for number, step in enumerate(commands, start=1):
        run_step(number, len(commands), step)
    worked = verdict(asked.work / RUN)
    say(
        f"\n{'Training worked' if worked else 'Training did not work'}: {time.monotonic() - started:.0f} s in all."
    )
    return 0 if worked else 1


def clear(work: Path) -> None:
    """Empty the folder of an earlier demo.

    Raises:
        SystemExit: it holds something else.
    """
    if work.exists() and {entry.name for entry in work.iterdir()} - {"gsm8k", "arithmetic"}:
        raise SystemExit(f"{work} is not the folder of an earlier demo; give another one with --work")
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    raise SystemExit(main())
