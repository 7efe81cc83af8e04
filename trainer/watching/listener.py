"""What follows a run: the monitor, adaptive weights, samples, evaluations, the end of a stage.

A listener hears of every event in the order of the list it stands in. What it must not forget goes with the checkpoint
(`state`, `restore`). Steps are those of the whole run, counted from 1, over all stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.errors import UsageError
from trainer.rundir import read_json, write_json

if TYPE_CHECKING:
    from trainer.rewarding.completions import ScoredBatch

STATE_FILE = "listeners.json"


class Listener:
    """Hears of everything and does nothing; override what matters."""

    name = ""
    """Under which its state is kept; "" where it has none."""
    by_line = False
    """Whether its metrics belong to a whole line, so that a line that a stop cuts short is to leave them alone."""
    completes = False
    """Whether its reason to stop is that the stage has done its work."""

    def begin(self, trainer: Any) -> None:
        """The trainer is built and about to train."""

    def step_begins(self, step: int) -> None:
        """An optimizer step begins; it may generate."""

    def scoring_begins(self) -> None:
        """Completions are generated and about to be scored."""

    def scored(self, batch: ScoredBatch, completion_ids: Sequence[Sequence[int]]) -> None:
        """A training batch was scored; nothing was learnt from it yet."""

    def gradient(self, step: int, norm: float) -> None:
        """The gradient of a step stands; `norm` is that of all trained weights, after clipping."""

    def step_ended(self, step: int) -> None:
        """The weights were changed."""

    def metrics(self) -> Mapping[str, float]:
        """What to add to the line that is being logged."""
        return {}

    def logged(self, step: int, line: Mapping[str, Any]) -> None:
        """A line of metrics was written."""

    def reason_to_stop(self) -> str | None:
        """Why the run should stop here, None to go on."""
        return None

    def completed(self, step: int) -> None:
        """The stage has done its work before its last step; `step` was the last."""

    def end(self) -> None:
        """The trainer has stopped, whatever the reason."""

    def state(self) -> Any:
        """What to keep with a checkpoint, as JSON; None for nothing."""
        return None

    def restore(self, values: Any) -> None:
        """Take back what `state` gave."""


def save_states(listeners: Iterable[Listener], checkpoint: Path) -> None:
    """Put the listeners' states into a checkpoint."""
    states = {listener.name: listener.state() for listener in listeners if listener.name}
    write_json(checkpoint / STATE_FILE, {name: state for name, state in states.items() if state is not None})


def restore_states(listeners: Iterable[Listener], checkpoint: Path) -> None:
    """Give the listeners back what `save_states` kept; checkpoints of older versions have nothing for them.

    Raises:
        UsageError: the file is damaged.
    """
    path = checkpoint / STATE_FILE
    if not path.exists():
        return
    states = read_json(path)
    for listener in listeners:
        if listener.name in states:
            try:
                listener.restore(states[listener.name])
            except (KeyError, TypeError, ValueError) as error:
                raise UsageError(
                    f"{path}: the state of '{listener.name}' cannot be read: {error!r}"
                ) from error
