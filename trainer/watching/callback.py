"""The journal and the listeners of a stage as one callback of transformers' trainer.

One object hears every event and hands it on in a fixed order, so that a line is written before it is judged, and what
is kept with a checkpoint is what stood when it was written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainer.ranks import ALONE, Ranks
from trainer.watching.journal import Journal
from trainer.watching.listener import Listener, save_states


class Weights:
    """The weights TRL multiplies the rewards with, where something moves them; see `as_callback`."""

    def get(self) -> list[float] | None:
        """The weights in force, None where nothing moves them."""
        return None

    def put(self, weights: list[float]) -> None:
        """Take rank 0's."""


def as_callback(
    journal: Journal,
    listeners: Sequence[Listener] = (),
    ranks: Ranks = ALONE,
    weights: Weights | None = None,
) -> Any:
    """A transformers TrainerCallback for one stage.

    Args:
        journal: the record; on rank 0 alone it is open.
        listeners: on other ranks than 0 there are none: what they decide there is shared here.
        ranks: the processes that train together.
        weights: what all ranks have to weigh alike.
    """
    weighing = weights or Weights()
    from transformers import TrainerCallback

    class RunCallback(TrainerCallback):
        """Hands every event on; steps become those of the run."""

        reason: str | None = None
        """Why a listener ended the stage, None while none did."""

        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            for listener in listeners:
                listener.step_begins(journal.offset + state.global_step + 1)

        def on_pre_optimizer_step(
            self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any
        ) -> None:
            if not listeners or (args.logging_steps == 1 and args.max_grad_norm):
                return  # TRL logs the norm of this very step
            norm = gradient_norm(model)
            for listener in listeners:
                listener.gradient(journal.offset + state.global_step + 1, norm)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            for listener in listeners:
                listener.step_ended(journal.offset + state.global_step)
            if ranks.count > 1:
                asked = ranks.gather(journal.stopping)
                journal.stopping = next((signal for signal in asked if signal), None)
            if journal.stopping and journal.may_save(state.global_step):
                control.should_log = control.should_save = control.should_training_stop = True
            if control.should_save:
                journal.flush()

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
            step = journal.offset + state.global_step
            early = bool(journal.stopping and state.global_step % max(1, int(state.logging_steps)))

            def more() -> dict[str, float]:
                telling = [one for one in listeners if not (early and one.by_line)]
                return {key: value for one in telling for key, value in one.metrics().items()}

            line = journal.logged(step, dict(logs or {}), more)
            reason = None
            if line is not None:
                for listener in listeners:
                    listener.logged(step, line)
                reason = next(filter(None, (one.reason_to_stop() for one in listeners)), None)
            if ranks.count > 1:
                reason, moved = ranks.share((reason, weighing.get()))
                if moved is not None and not ranks.is_main:
                    weighing.put(moved)
            self._stop_if_asked(reason, state, control)

        def _stop_if_asked(self, reason: str | None, state: Any, control: Any) -> None:
            if reason and journal.may_save(state.global_step):
                stopping = [one for one in listeners if self.reason is None and one.reason_to_stop()]
                self.reason = reason
                control.should_save = control.should_training_stop = True
                journal.flush()
                if stopping and all(one.completes for one in stopping):
                    for listener in listeners:
                        listener.completed(journal.offset + state.global_step)

        def on_save(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
            checkpoint = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            finite = all(ranks.gather(is_finite(model)))  # all have written their part of the checkpoint now
            if not ranks.is_main:
                return
            if checkpoint.is_dir():
                save_states(listeners, checkpoint)
            if not finite:
                for listener in listeners:
                    listener.logged(journal.offset + state.global_step, {"step/weights": math.nan})
            journal.saved(checkpoint, state.global_step, finite=finite)

    return RunCallback()


def gradient_norm(model: Any) -> float:
    """The norm of all gradients together (of this process' part of them); 0.0 without any."""
    import torch

    gradients = [_local(one.grad) for one in model.parameters() if one.grad is not None]
    if not gradients:
        return 0.0
    norms = torch._foreach_norm(gradients)
    return float(torch.linalg.vector_norm(torch.stack([norm.float() for norm in norms])))


def is_finite(model: Any) -> bool:
    """Whether every trained weight (of this process' part of them) is a finite number."""
    import torch

    trained = [_local(one) for one in model.parameters() if one.requires_grad]
    return all(bool(torch.isfinite(one).all()) for one in trained)


def _local(tensor: Any) -> Any:
    """The part of a spread-out tensor that lies here; a whole one as it is."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor
