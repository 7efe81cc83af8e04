"""Stages of a run: when one ends, and what the next begins with.

A stage is a training of its own (rewards, weights, settings, rows) that begins with the weights the stage before left
in its last checkpoint, read from disk each time. So a run resumed at a stage's start is the run that went straight
on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from rewards.errors import ShortfallError
from rewards.manifest import Until
from rewards.targets import did_you_mean
from trainer.diagnoses.course import as_number
from trainer.rundir import RunDir
from trainer.watching.journal import say
from trainer.watching.listener import Listener

LINES_TO_WAIT = 3
"""Logged lines after which a metric of `until` that none of them has is told; some come at every few steps alone."""


class Ending(Listener):
    """Ends a stage once its `until` holds; steps that are no place for a checkpoint are passed over.

    Args:
        until: the condition, None for a stage that makes all its steps.
        lines: what this stage has logged before (of a resumed run).
        window: steps between points where a checkpoint may be taken.
        offset: steps of the run before the stage.
        say: tells of a metric that no line has.
    """

    completes = True

    def __init__(
        self,
        until: Until | None,
        lines: Iterable[Mapping[str, Any]],
        *,
        window: int,
        offset: int,
        say: Callable[[str], None] = say,
    ) -> None:
        self.until, self._window, self._offset = until, window, offset
        self._lines = list(lines) if until else []
        self._say = say
        self.met = False

    def logged(self, step: int, line: Mapping[str, Any]) -> None:
        """Look at the metric."""
        if self.until is not None:
            self._lines.append(line)
            self.met = self._may_end(step) and is_met(self.until, self._lines)
            if len(self._lines) == LINES_TO_WAIT:
                self._tell_of_a_metric_nobody_logs(self.until.metric)

    def _tell_of_a_metric_nobody_logs(self, metric: str) -> None:
        known = dict.fromkeys(name for line in self._lines for name in line)
        if metric not in known:
            self._say(
                f"note: until waits for '{metric}', which none of the first {LINES_TO_WAIT} logged lines has"
                f"{did_you_mean(metric, known) or '; metrics.jsonl has the names of all'}"
            )

    def already_met(self, step: int) -> bool:
        """Whether a resumed stage had ended at its last checkpoint, which is at `step` of the run."""
        if self.until is None or not self._may_end(step):
            return False
        return bool(self._lines) and self._lines[-1]["step"] == step and is_met(self.until, self._lines)

    def reason_to_stop(self) -> str | None:
        """What has been reached."""
        return describe_until(self.until) if self.met and self.until else None

    def _may_end(self, step: int) -> bool:
        return step > self._offset and (step - self._offset) % self._window == 0


def is_met(until: Until, lines: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the mean of the metric over the last `window` steps has reached its bound.

    False as long as the stage has not logged that many steps.
    """
    points = [(int(line["step"]), as_number(line.get(until.metric))) for line in lines]
    known = [(step, value) for step, value in points if value is not None]
    if not known or not points:
        return False
    last, first = points[-1][0], points[0][0]
    gap = points[1][0] - first if len(points) > 1 else 1
    if last - first + gap < until.window:
        return False
    inside = [value for step, value in known if step > last - until.window]
    if not inside:
        return False
    mean = sum(inside) / len(inside)
    return mean >= until.above if until.above is not None else mean <= (until.below or 0.0)


def describe_until(until: Until) -> str:
    """`rewards/format/mean reached 0.9 over 10 steps`."""
    bound = f"reached {until.above:g}" if until.above is not None else f"fell to {until.below:g}"
    return f"{until.metric} {bound} over {until.window} steps"


def beginning_of(run: RunDir, index: int) -> Path | None:
    """The checkpoint a stage begins with; None for the first, which begins with the model itself.

    Raises:
        ShortfallError: the stage before left none.
    """
    if index == 0:
        return None
    checkpoint = run.stage_checkpoint(index - 1)
    if checkpoint is None:
        name = run.stages()[index - 1].name
        raise ShortfallError(
            f"stage '{name}' left no whole checkpoint in {run.checkpoints_of(index - 1)} to go on from"
        )
    return checkpoint
