"""The monitor in a run that goes on: fed at every step, whatever the logging frequency, and heard at once.

From the scored batches come rewards, groups and lengths, from the optimizer the gradient, from the clock where the time
goes; what only TRL knows (entropy, KL, clipping) comes with its log. What is told is appended to `diagnoses.jsonl` and
said on standard error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from rewards.groups import totals
from trainer.diagnoses import Diagnosis, Facts
from trainer.rewarding.completions import ScoredBatch
from trainer.rewarding.wrapped import Bound, batch_metrics
from trainer.rundir import append_line
from trainer.watching.clock import Clock
from trainer.watching.halt import halting
from trainer.watching.listener import Listener
from trainer.watching.monitor import Monitor, Told
from trainer.watching.thresholds import Thresholds


def facts_of(bound: Sequence[Bound], *, total_steps: int = 0, trl: Mapping[str, Any] | None = None) -> Facts:
    """What the monitor may know beforehand, from the rewards' declarations and TRL's settings."""
    settings = trl or {}
    return Facts(
        total_steps=total_steps,
        weights={one.name: one.entry.weight for one in bound},
        kinds={one.name: one.entry.kind for one in bound},
        ranges={one.name: one.entry.range for one in bound},
        group_size=settings.get("num_generations"),
        max_completion_length=settings.get("max_completion_length"),
        beta=float(settings.get("beta") or 0.0),
    )


class LiveMonitor(Listener):
    """Watches one stage.

    Args:
        facts: of the stage; its steps count from 1.
        path: diagnoses.jsonl.
        offset: steps of the run before this stage.
        stage: its name, None where there is one stage only.
        halt: what stops the run: True for the usual four, or names of diagnoses.
        ends: ids of the tokens that end a completion; one without them at its end was cut off.
        say: takes the sentence of a warning or worse.

    Raises:
        UsageError: `halt` names what stops no run.
    """

    name = "monitor"

    def __init__(
        self,
        facts: Facts,
        path: Path,
        *,
        thresholds: Thresholds | None = None,
        halt: bool | Collection[str] = False,
        offset: int = 0,
        stage: str | None = None,
        ends: Collection[int] = (),
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.monitor = Monitor(facts, thresholds, halting(halt))
        self.clock = Clock()
        self._path, self._offset, self._stage = path, offset, stage
        self._ends, self._say = frozenset(ends), say
        self._fed: set[str] = set()
        self._times: list[dict[str, float]] = []
        self._lines: TextIO | None = None

    def begin(self, trainer: Any) -> None:
        """Open the file."""
        self._lines = self._path.open("a", encoding="utf-8")

    def end(self) -> None:
        """Close the file."""
        if self._lines is not None:
            self._lines.close()
            self._lines = None

    def step_begins(self, step: int) -> None:
        """Start the clock."""
        self.clock.step_begins()

    def scoring_begins(self) -> None:
        """Generation is over."""
        self.clock.scoring_begins()

    def scored(self, batch: ScoredBatch, completion_ids: Sequence[Sequence[int]]) -> None:
        """Rewards, groups and lengths of one batch."""
        self.clock.scoring_ended()
        batch = as_declared(batch, self.monitor.course.facts.weights)
        metrics = {**batch_metrics(batch), **length_metrics(completion_ids, self._ends)}
        self._fed |= set(metrics)
        self._observe(batch.step, metrics)

    def gradient(self, step: int, norm: float) -> None:
        """Looked at every step: TRL logs only the last one of a window."""
        if not math.isfinite(norm):
            self._observe(step, {"step/grad_norm": norm})

    def step_ended(self, step: int) -> None:
        """Where the time went."""
        times = self.clock.read()
        self._times.append(times)
        self._fed |= set(times)
        self._observe(step, times)

    def metrics(self) -> Mapping[str, float]:
        """The mean times of the steps since the last line."""
        times, self._times = self._times, []
        return {key: sum(one[key] for one in times) / len(times) for key in times[0]} if times else {}

    def logged(self, step: int, line: Mapping[str, Any]) -> None:
        """What no batch has told."""
        self._observe(step, {key: value for key, value in line.items() if key not in self._fed})

    def reason_to_stop(self) -> str | None:
        """The diagnosis the run was to be stopped for."""
        key = self.monitor.must_halt()
        return f"halted by the monitor: {key}" if key else None

    def state(self) -> Any:
        """All the monitor knows."""
        return self.monitor.to_json()

    def restore(self, values: Any) -> None:
        """Know it again."""
        self.monitor.restore(values)

    def tell(self, step: int, diagnosis: Diagnosis) -> None:
        """Write and say one diagnosis; `step` is the run's."""
        stage = {"stage": self._stage} if self._stage else {}
        if self._lines is not None:
            append_line(self._lines, {**stage, **Told(step, diagnosis).to_json()})
        if diagnosis.severity != "info":
            self._say(f"step {step}: {diagnosis.sentence()}")

    def _observe(self, step: int, metrics: Mapping[str, Any]) -> None:
        for diagnosis in self.monitor.observe(step - self._offset, metrics):
            self.tell(step, diagnosis)


def as_declared(batch: ScoredBatch, weights: Mapping[str, float]) -> ScoredBatch:
    """The batch with totals by the declared weights: those that adaptive ones have moved would pass for progress."""
    declared = tuple(weights.get(name, now) for name, now in zip(batch.names, batch.weights, strict=True))
    if declared == batch.weights:
        return batch
    return replace(batch, weights=declared, totals=totals(batch.scores, declared))


def length_metrics(completion_ids: Sequence[Sequence[int]], ends: Collection[int]) -> dict[str, float]:
    """Mean length in tokens and the share that was cut off, by TRL's names; no share without known end tokens."""
    rows = max(len(completion_ids), 1)
    metrics = {"completions/mean_length": sum(map(len, completion_ids)) / rows}
    if ends:
        cut = sum(not ids or ids[-1] not in ends for ids in completion_ids)
        metrics["completions/clipped_ratio"] = cut / rows
    return metrics
