"""The distance from the starting model, against a computation by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainer.distance import kl_from_start


@pytest.fixture(scope="module")
def models(tiny_model: Path, tiny_adapter: Path) -> tuple[Any, Any]:
    """The tiny model with its adapter, and alone."""
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    adapted = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(tiny_model), tiny_adapter)
    return adapted, AutoModelForCausalLM.from_pretrained(tiny_model).eval()


def test_it_is_the_k3_estimate_over_the_completions_tokens(models: tuple[Any, Any]) -> None:
    import torch

    adapted, base = models
    pairs = [([5, 6, 7], [8, 9]), ([5], [10, 11, 12, 13])]
    found = kl_from_start(adapted, pairs, pad=0)
    terms = []
    with torch.no_grad():
        for prompt, completion in pairs:
            ids = torch.tensor([prompt + completion])
            logs = [torch.log_softmax(model(ids).logits[0], -1) for model in (adapted.eval(), base)]
            for place, token in enumerate(completion, len(prompt) - 1):
                ratio = logs[1][place, token] - logs[0][place, token]
                terms.append(float(torch.exp(ratio) - ratio - 1))
    assert found == pytest.approx(sum(terms) / len(terms), rel=1e-4)
    assert found > 0


def test_without_a_change_it_is_nothing_and_the_mode_is_left_as_it_was(models: tuple[Any, Any]) -> None:
    import torch

    adapted, _ = models
    adapted.train()
    state = torch.random.get_rng_state()
    with adapted.disable_adapter():
        assert kl_from_start(adapted, [([5, 6], [7, 8])], pad=0) >= 0
    assert adapted.training
    assert torch.equal(torch.random.get_rng_state(), state)
