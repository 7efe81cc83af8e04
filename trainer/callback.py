"""The journal and the listeners of a stage as one callback of transformers' trainer.

One object hears every event and hands it on in a fixed order, so that a line is written before it is judged, and what
is kept with a checkpoint is what stood when it was written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainer.journal import Journal
from trainer.listener import Listener, save_states


def as_callback(journal: Journal, listeners: Sequence[Listener] = ()) -> Any:
    """A transformers TrainerCallback for one stage."""
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
            norm = gradient_norm(model)
            for listener in listeners:
                listener.gradient(journal.offset + state.global_step + 1, norm)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            for listener in listeners:
                listener.step_ended(journal.offset + state.global_step)
            if journal.stopping and journal.may_save(state.global_step):
                control.should_log = control.should_save = control.should_training_stop = True
            if control.should_save:
                journal.flush()

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
            step = journal.offset + state.global_step

            def more() -> dict[str, float]:
                return {key: value for listener in listeners for key, value in listener.metrics().items()}

            line = journal.logged(step, dict(logs or {}), more)
            if line is None:
                return
            for listener in listeners:
                listener.logged(step, line)
            self._stop_if_asked(state, control)

        def _stop_if_asked(self, state: Any, control: Any) -> None:
            reasons = [reason for reason in (one.reason_to_stop() for one in listeners) if reason]
            if reasons and journal.may_save(state.global_step):
                self.reason = reasons[0]
                control.should_save = control.should_training_stop = True
                journal.flush()

        def on_save(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
            checkpoint = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            if checkpoint.is_dir():
                save_states(listeners, checkpoint)
            finite = is_finite(model)
            if not finite:
                for listener in listeners:
                    listener.logged(journal.offset + state.global_step, {"step/weights": math.nan})
            journal.saved(checkpoint, state.global_step, finite=finite)

    return RunCallback()


def gradient_norm(model: Any) -> float:
    """The norm of all gradients together; 0.0 without any."""
    import torch

    gradients = [one.grad for one in model.parameters() if one.grad is not None]
    if not gradients:
        return 0.0
    norms = torch._foreach_norm(gradients)
    return float(torch.linalg.vector_norm(torch.stack([norm.float() for norm in norms])))


def is_finite(model: Any) -> bool:
    """Whether every trained weight is a finite number."""
    import torch

    trained = [one for one in model.parameters() if one.requires_grad]
    return all(bool(torch.isfinite(one).all()) for one in trained)
