"""Completions from a model, many prompts at a time.

One function serves `sample`, `compare` and the merge proof. A seed is an argument: the same model, prompts
and seed give the same completions, and two models that are compared draw from the same random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trainer.data.prompts import render

Prompt = str | list[dict[str, Any]]


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn; `temperature=0` takes the likeliest each time. `top_k=0` and `min_p=None` cut nothing.

    The defaults are the usual ones for using a chat model. Training samples at temperature 1 without a cut.
    """

    temperature: float = 0.7
    top_p: float = 0.9
    max_new_tokens: int = 256
    seed: int = 0
    top_k: int = 0
    min_p: float | None = None
    repetition_penalty: float = 1.0


@dataclass(frozen=True)
class Completion:
    """One completion.

    Its text, its token ids (the end token included if it came), and whether it ended by itself.
    """

    text: str
    ids: list[int]
    ended: bool

    def as_reply(self, prompt: Prompt) -> str | list[dict[str, str]]:
        """The completion as TRL hands it to rewards.

        Text for a text prompt, an assistant message for a chat.
        """
        return self.text if isinstance(prompt, str) else [{"role": "assistant", "content": self.text}]


def complete(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Prompt],
    *,
    samples: int = 1,
    sampling: Sampling = Sampling(),
    rows: int = 32,
    progress: Callable[[int, int], None] | None = None,
) -> list[list[Completion]]:
    """`samples` completions for each prompt, in the order of the prompts.

    Args:
        model: a causal language model; it is put in evaluation mode.
        tokenizer: its tokenizer; chat prompts go through its chat template.
        rows: completions generated together.
        progress: called with completions done and completions in all.
    """
    import torch

    texts = [render(prompt, tokenizer) for prompt in prompts]
    special = [isinstance(prompt, str) for prompt in prompts]
    ids = [
        tokenizer(text, add_special_tokens=add)["input_ids"] for text, add in zip(texts, special, strict=True)
    ]
    order = sorted(
        (row for row in range(len(prompts)) for _ in range(samples)), key=lambda row: len(ids[row])
    )
    results: list[list[Completion]] = [[] for _ in prompts]
    model.eval()
    with torch.random.fork_rng(devices=_devices(model)), torch.inference_mode():
        torch.manual_seed(sampling.seed)
        for start in range(0, len(order), rows):
            chunk = order[start : start + rows]
            for row, one in zip(
                chunk, _chunk(model, tokenizer, [ids[row] for row in chunk], sampling), strict=True
            ):
                results[row].append(one)
            if progress is not None:
                progress(min(start + rows, len(order)), len(order))
    return results


def _chunk(model: Any, tokenizer: Any, prompts: list[list[int]], sampling: Sampling) -> list[Completion]:
    """Completions of token lists that are padded on the left to one length."""
    import torch
    from transformers import GenerationConfig

    longest = max(len(ids) for ids in prompts)
    pad = tokenizer.pad_token_id
    input_ids = torch.tensor(
        [[pad] * (longest - len(ids)) + list(ids) for ids in prompts], device=model.device
    )
    mask = torch.tensor([[0] * (longest - len(ids)) + [1] * len(ids) for ids in prompts], device=model.device)
    drawn: dict[str, Any] = {"do_sample": False}
    if sampling.temperature > 0:
        drawn = {
            "do_sample": True,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
            "min_p": sampling.min_p,
        }
    ends = end_tokens(model, tokenizer)
    config = GenerationConfig(
        max_new_tokens=sampling.max_new_tokens,
        eos_token_id=ends,
        pad_token_id=pad,
        bos_token_id=None,
        repetition_penalty=sampling.repetition_penalty,
        **drawn,
    )
    out = model.generate(input_ids=input_ids, attention_mask=mask, generation_config=config)
    return [_completion(tokenizer, row[longest:].tolist(), set(ends)) for row in out]


def end_tokens(model: Any, tokenizer: Any) -> list[int]:
    """The tokens that end a completion: those of the model's generation config and the tokenizer's own."""
    named = getattr(model.generation_config, "eos_token_id", None)
    ends = named if isinstance(named, list) else [named]
    return sorted({token for token in [*ends, tokenizer.eos_token_id] if token is not None})


def _completion(tokenizer: Any, ids: list[int], ends: set[int]) -> Completion:
    cut = next((place + 1 for place, token in enumerate(ids) if token in ends), None)
    kept = ids if cut is None else ids[:cut]
    return Completion(tokenizer.decode(kept, skip_special_tokens=True), kept, cut is not None)


def _devices(model: Any) -> list[Any]:
    """The devices whose random state has to be given back: the GPU, where the model is on one."""
    return [model.device] if model.device.type == "cuda" else []
