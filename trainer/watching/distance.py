"""How far the policy is from the model it started from, where `beta` is 0 and TRL measures nothing.

The adapter is switched off for one forward pass over a few of the completions at hand, and the two models'
probabilities of the sampled tokens are compared: the k3 estimate, exp(r) - r - 1 with r the log of reference over
policy, averaged over tokens, as TRL computes its own `kl` (Schulman's estimator). Costs two forward passes over four
rows every `kl_every` steps; nothing is drawn at random, so the run is the same with it and without.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from trainer.data.prompts import render
from trainer.rewarding.completions import ScoredBatch
from trainer.watching.listener import Listener
from trainer.watching.pace import Pace

ROWS = 4


class Distance(Listener):
    """Measures `policy/kl` every `every` steps; nothing where the model has no adapter to switch off."""

    name = "distance"
    by_line = True

    def __init__(self, tokenizer: Any, every: int) -> None:
        self._tokenizer, self._pace = tokenizer, Pace(every)
        self._model: Any = None
        self._measured: dict[str, float] = {}

    def begin(self, trainer: Any) -> None:
        """Take hold of the model."""
        from peft import PeftModel

        model = trainer.accelerator.unwrap_model(trainer.model)
        self._model = model if isinstance(model, PeftModel) else None

    def scored(self, batch: ScoredBatch, completion_ids: Sequence[Sequence[int]]) -> None:
        """Measure on the first completions of the batch, before anything is learnt from them."""
        if not self._pace.due(batch.step) or self._model is None:
            return
        rows = [row for row in range(len(batch)) if completion_ids[row]][:ROWS]
        pairs = [(self._prompt_ids(batch.prompts[row]), list(completion_ids[row])) for row in rows]
        if pairs:
            self._measured["policy/kl"] = kl_from_start(self._model, pairs, self._tokenizer.pad_token_id)

    def metrics(self) -> Mapping[str, float]:
        """What was measured since the last line."""
        measured, self._measured = self._measured, {}
        return measured

    def state(self) -> Any:
        """The step that was scored last, and what was measured since the last line."""
        return {"last": self._pace.last, "measured": self._measured}

    def restore(self, values: Any) -> None:
        """Go on after it."""
        self._pace.last, self._measured = values["last"], dict(values["measured"])

    def _prompt_ids(self, prompt: Any) -> list[int]:
        text = render(prompt, self._tokenizer)
        return list(self._tokenizer(text, add_special_tokens=isinstance(prompt, str))["input_ids"])


def kl_from_start(model: Any, pairs: Sequence[tuple[list[int], list[int]]], pad: int) -> float:
    """Nats a token between a PeftModel with its adapter and without, on (prompt ids, completion ids) pairs."""
    import torch

    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            policy, mask = _log_probabilities(model, pairs, pad)
            with model.disable_adapter():
                reference, _ = _log_probabilities(model, pairs, pad)
    finally:
        model.train(training)
    ratio = reference - policy
    k3 = torch.exp(ratio) - ratio - 1
    return float((k3 * mask).sum() / mask.sum())


def _log_probabilities(model: Any, pairs: Sequence[tuple[list[int], list[int]]], pad: int) -> tuple[Any, Any]:
    """Log-probability of the tokens from the first completion token on, and a mask of those that are completion."""
    import torch

    longest = max(len(prompt) + len(completion) for prompt, completion in pairs)
    ids = torch.full((len(pairs), longest), pad, device=model.device)
    attention = torch.zeros_like(ids)
    mask = torch.zeros((len(pairs), longest - 1), device=model.device)
    for row, (prompt, completion) in enumerate(pairs):
        size = len(prompt) + len(completion)
        ids[row, :size] = torch.tensor(prompt + completion, device=model.device)
        attention[row, :size] = 1
        mask[row, len(prompt) - 1 : size - 1] = 1
    shortest = max(1, min(len(prompt) for prompt, _ in pairs))  # no row has completion tokens before it
    wanted = longest - shortest
    logits = model(input_ids=ids, attention_mask=attention, **_only_last(model, wanted + 1)).logits
    logits = logits[:, -wanted - 1 : -1].float()
    chosen = torch.log_softmax(logits, dim=-1).gather(-1, ids[:, -wanted:, None])[..., 0]
    return chosen, mask[:, -wanted:]


def _only_last(model: Any, count: int) -> dict[str, int]:
    """What has a model give the logits of the last `count` tokens alone; nothing where it cannot."""
    forward = inspect.signature(model.get_base_model().forward)
    return {"logits_to_keep": count} if "logits_to_keep" in forward.parameters else {}
