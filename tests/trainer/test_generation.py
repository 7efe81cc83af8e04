"""Batched sampling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from trainer.data.prompts import render
from trainer.models.generation import Completion, Sampling, complete, end_tokens
from trainer.models.loading import load_model, load_tokenizer

CHAT = [{"role": "user", "content": "What is 2 + 3?"}]
LONG = [{"role": "system", "content": "You solve sums."}, *CHAT]


@pytest.fixture(scope="module")
def loaded(tiny_model: Path) -> tuple[Any, Any]:
    return load_model(tiny_model), load_tokenizer(tiny_model)


def texts(loaded: tuple[Any, Any], **options: Any) -> list[list[str]]:
    sampling = Sampling(**{"max_new_tokens": 6, **options})
    return [
        [one.text for one in row] for row in complete(*loaded, [CHAT, LONG], samples=3, sampling=sampling)
    ]


def test_completions_stand_in_the_order_of_the_prompts(loaded: tuple[Any, Any]) -> None:
    rows = complete(*loaded, [LONG, CHAT, "plain text"], samples=2, sampling=Sampling(max_new_tokens=3))
    assert [len(row) for row in rows] == [2, 2, 2]


def test_the_same_seed_gives_the_same_completions(loaded: tuple[Any, Any]) -> None:
    assert texts(loaded, seed=1) == texts(loaded, seed=1)
    assert texts(loaded, seed=1) != texts(loaded, seed=2)


def test_the_callers_random_state_is_left_alone(loaded: tuple[Any, Any]) -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    texts(loaded)
    assert torch.equal(torch.rand(1), expected)


def test_temperature_zero_takes_the_likeliest(loaded: tuple[Any, Any]) -> None:
    first, second = texts(loaded, temperature=0.0), texts(loaded, temperature=0.0, seed=9)
    assert first == second
    assert len(set(first[0])) == 1


def test_other_cuts_of_training_are_made_too(loaded: tuple[Any, Any]) -> None:
    greedy = texts(loaded, temperature=0.0)
    for cut in ({"top_k": 1}, {"min_p": 1.0}):
        assert texts(loaded, temperature=1.0, top_p=1.0, **cut) == greedy
    assert texts(loaded, temperature=0.0, repetition_penalty=5.0) != greedy


def test_keywords_of_the_chat_template_are_those_of_training(tiny_model: Path) -> None:
    tokenizer = load_tokenizer(tiny_model, template={"loud": True})
    tokenizer.chat_template = "{% if loud %}LOUD {% endif %}{{ messages[0].content }}"
    assert render(CHAT, tokenizer) == "LOUD What is 2 + 3?"


def test_padding_changes_nothing(loaded: tuple[Any, Any]) -> None:
    greedy = Sampling(temperature=0.0, max_new_tokens=5)
    together = complete(*loaded, [CHAT, LONG], sampling=greedy)
    alone = [complete(*loaded, [prompt], sampling=greedy)[0] for prompt in (CHAT, LONG)]
    assert together == alone


def test_a_completion_ends_at_its_end_token(loaded: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = loaded
    answer = tokenizer.encode("5<|im_end|>44")
    monkeypatch.setattr(
        model, "generate", lambda input_ids, **kwargs: torch.cat([input_ids, torch.tensor([answer])], dim=1)
    )
    ((one,),) = complete(model, tokenizer, [CHAT])
    assert one == Completion("5", answer[:2], True)


def test_a_completion_cut_off_has_not_ended(loaded: tuple[Any, Any]) -> None:
    one = complete(*loaded, [CHAT], sampling=Sampling(max_new_tokens=1, temperature=0.0))[0][0]
    assert (one.ended, len(one.ids)) == (False, 1)


def test_progress_counts_completions(loaded: tuple[Any, Any]) -> None:
    told: list[tuple[int, int]] = []
    complete(
        *loaded,
        [CHAT] * 3,
        samples=2,
        rows=4,
        sampling=Sampling(max_new_tokens=1),
        progress=lambda *n: told.append(n),
    )
    assert told == [(4, 6), (6, 6)]


def test_a_reply_has_the_form_of_its_prompt() -> None:
    one = Completion("5", [1], True)
    assert one.as_reply("text") == "5"
    assert one.as_reply(CHAT) == [{"role": "assistant", "content": "5"}]


def test_the_end_tokens_are_the_models_and_the_tokenizers(loaded: tuple[Any, Any]) -> None:
    assert end_tokens(*loaded) == [loaded[1].eos_token_id]
