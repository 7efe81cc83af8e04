"""What a run tells while it goes on: metrics.jsonl, the state of its stage, a progress line; and how it is stopped.

`Journal` holds no trainer and imports nothing heavy; `trainer.watching.callback` hangs it into transformers' trainer.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from trainer.ranks import speaks
from trainer.rundir import RunDir, append_line, record_checkpoint
from trainer.watching.pace import Pace

LINE_EVERY_S = 10.0
FINAL_KEYS = (
    "train_runtime",
    "train_samples_per_second",
    "train_steps_per_second",
    "total_flos",
    "train_loss",
)


def say(text: str) -> None:
    """Write one line of what is going on to standard error; of several processes only rank 0 does."""
    if not speaks():
        return
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


class Progress:
    """A bar on a terminal, else a plain line every tenth of the run and at least every ten seconds."""

    def __init__(self, total: int, done: int = 0, *, terminal: bool | None = None) -> None:
        self.total = total
        self._from = done
        self._first: float | None = (
            None  # when the first step was done: it holds the warming up, and is no measure
        )
        self._said = time.monotonic()
        self._pace = Pace(max(1, total // 10), first=done + 1, last=done)
        self._bar: Any = None
        if (sys.stderr.isatty() if terminal is None else terminal) and speaks():
            self._bar, self._task = _bar(total, done)

    def show(self, step: int, text: str, *, last: bool = False) -> None:
        """Show that `step` is done; `text` says how it went."""
        if self._first is None:
            self._first = time.monotonic()
        if self._bar is not None:
            self._bar.update(self._task, completed=step, description=text)
            return
        now, due = time.monotonic(), self._pace.due(step)
        if last or due or now - self._said > LINE_EVERY_S:
            self._said = now
            say(f"step {step}/{self.total}  {text}{self._remaining(step)}")

    def say(self, text: str) -> None:
        """Say something beside the progress."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            say(text)

    def close(self) -> None:
        """End the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _remaining(self, step: int) -> str:
        if self._first is None or step >= self.total or step <= self._from + 1:
            return ""
        left = (time.monotonic() - self._first) / (step - self._from - 1) * (self.total - step)
        return f"  ({duration(left)} left)"


def _bar(total: int, done: int) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("step"),
        MofNCompleteColumn(),
        BarColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
    )
    bar.start()
    return bar, bar.add_task("", total=total, completed=done)


class Journal:
    """Keeps the record of one stage.

    Args:
        run: the run folder.
        total: steps of the stage.
        window: steps between points at which a checkpoint may be taken.
        names: the rewards, for the progress line.
        extra: gives our own metrics for each line of TRL's.
        flush: puts on disk what is recorded elsewhere, before a checkpoint is written.
        progress: shows how far it is.
        index: which stage of the run it is; `offset`: steps of the run before it; `stage`: its name, None where there
            is one only.
    """

    def __init__(
        self,
        run: RunDir,
        *,
        total: int,
        window: int,
        names: tuple[str, ...],
        extra: Callable[[], dict[str, float]],
        flush: Callable[[], None],
        progress: Progress,
        index: int = 0,
        offset: int = 0,
        stage: str | None = None,
    ) -> None:
        self.run = run
        self.total = total
        self.offset = offset
        self.stopping: str | None = None
        self.flush = flush
        self._window, self._names = window, names
        self._extra, self._progress = extra, progress
        self._index, self._stage = index, {"stage": stage} if stage else {}
        self._metrics: TextIO | None = None
        self._step_started = time.monotonic()
        self.summary: dict[str, Any] = {}
        self._shown: dict[str, Any] = {}

    def begin(self) -> None:
        """Open metrics.jsonl for appending."""
        self._metrics = self.run.metrics_path.open("a", encoding="utf-8")
        self._step_started = time.monotonic()

    def end(self) -> None:
        """Close what is open."""
        if self._metrics is not None:
            self._metrics.close()
            self._metrics = None
        self._progress.close()

    def logged(
        self, step: int, logs: dict[str, Any], more: Callable[[], Mapping[str, float]] = dict
    ) -> dict[str, Any] | None:
        """Append one line and return it; the totals TRL logs at the very end go to the stage's summary instead.

        `step` is the run's. `more` gives what others add to a line of training.
        """
        if "train_runtime" in logs:
            self.summary = {key: logs[key] for key in FINAL_KEYS if key in logs}
            return None
        if self._metrics is None:
            return None
        training = not any(key.startswith("eval_") for key in logs)
        line = {"step": step, **self._stage, **logs, **(self._extra() if training else {})}
        line.update(more() if training else {})
        append_line(self._metrics, line)
        if training:
            self._show(step, line)
        return line if training else None

    def _show(self, step: int, line: dict[str, Any]) -> None:
        taken = time.monotonic() - self._step_started
        self._step_started = time.monotonic()
        # where no new completions were logged, the last ones are shown
        self._shown = {**self._shown, **line} if "reward" not in line else line
        done = step - self.offset
        self._progress.show(done, describe_line(self._shown, self._names, taken), last=done >= self.total)

    def may_save(self, step: int) -> bool:
        """Whether nothing generated is left over after this step of the stage, so that a checkpoint may be taken."""
        return step % self._window == 0

    def saved(self, checkpoint: Path, step: int, *, finite: bool = True) -> None:
        """A checkpoint was written to its end; `step` is the stage's."""
        if checkpoint.is_dir():
            record_checkpoint(checkpoint, finite=finite)
        (checkpoint.parent / "README.md").unlink(missing_ok=True)  # TRL's card of an unfinished model
        self.run.update_stage(self._index, step=step)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While the block runs, SIGINT and SIGTERM ask the run to stop after its step; a second one ends it at once."""

        def ask(number: int, frame: FrameType | None) -> None:
            self.stopping = signal.Signals(number).name
            for one, before in previous.items():
                signal.signal(one, before)
            self._progress.say(f"{self.stopping}: stopping after this step (once more: at once)")

        previous = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, before in previous.items():
                signal.signal(number, before)


def describe_line(line: dict[str, Any], names: tuple[str, ...], seconds: float) -> str:
    """`reward 0.41 (format 0.55, correctness 0.12)  3.7 s` of one metrics line."""
    if "reward" not in line:
        return f"{seconds:.1f} s"
    parts = ", ".join(
        f"{name} {_short(line[f'rewards/{name}/mean'])}" for name in names if f"rewards/{name}/mean" in line
    )
    inside = f" ({parts})" if len(names) > 1 and parts else ""
    failed = line.get("rows/failed") or 0
    trouble = f"  failed rows: {failed:.0f}" if failed else ""
    return f"reward {_short(line['reward'])}{inside}{trouble}  {seconds:.1f} s"


def _short(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, (int, float)) else "none"


def duration(seconds: float) -> str:
    """`3 min 20 s`, `45 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
