"""The distance from the starting model, against a computation by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.trainer.batches import scored
from trainer.watching.distance import Distance, kl_from_start
from trainer.watching.listener import restore_states, save_states


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


def measure(distance: Distance, steps: range) -> list[int]:
    """The steps of these that were measured, each with a line of its own."""
    found = []
    for step in steps:
        distance.scored(scored([[0.0], [1.0]], step=step), [[5, 6], [7]])
        found += [step] if "policy/kl" in distance.metrics() else []
    return found


@pytest.fixture
def distances(models: tuple[Any, Any], tiny_model: Path) -> tuple[Distance, Distance]:
    """Two that measure every ten steps."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    trainer = SimpleNamespace(model=models[0], accelerator=SimpleNamespace(unwrap_model=lambda model: model))
    made = (Distance(tokenizer, 10), Distance(tokenizer, 10))
    for one in made:
        one.begin(trainer)
    return made


def test_it_is_measured_also_where_only_every_other_step_is_scored(
    distances: tuple[Distance, Distance],
) -> None:
    assert measure(distances[0], range(1, 36, 2)) == [11, 21, 31]


def test_a_resumed_one_measures_on_the_same_steps_and_keeps_what_was_not_logged_yet(
    distances: tuple[Distance, Distance], tmp_path: Path
) -> None:
    first, second = distances
    assert measure(first, range(1, 10, 2)) == []
    save_states([first], tmp_path)
    restore_states([second], tmp_path)
    assert measure(second, range(11, 16, 2)) == [11]
    first.scored(scored([[0.0], [1.0]], step=11), [[5, 6], [7]])
    save_states([first], tmp_path)
    restore_states([second], tmp_path)
    assert second.metrics() == first.metrics() != {}
