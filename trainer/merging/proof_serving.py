"""The checks of the merge proof in the dtype the model is served in: logits (9) and greedy answers (12).

In 16 bits a right merge and a wrong one can scatter alike, so these two come second to the weights themselves (2, 3,
10). They ask what a user would see: whether base with adapter and merged model, both loaded in the merged dtype, say
the same. A greedy answer may part from the other where two tokens are as good as equal, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer.data.prompts import render
from trainer.merging.proof_files import DIALOGUES, Check
from trainer.merging.proof_logits import ANSWER_TOKENS, MOST_PROMPTS, NOISE_FACTOR, own_noise, probe
from trainer.merging.proof_numbers import largest_difference, mean_kl
from trainer.models.generation import Prompt, Sampling, complete
from trainer.models.loading import load_model, load_tokenizer

LIMITS = {"float32": (1e-3, 1e-7), "float16": (3e-2, 1e-5), "bfloat16": (0.25, 5e-4)}
"""Largest difference (in units of the logits' spread, at least 1) and mean KL, for each dtype."""

SAME_TOP = 0.97
"""The share of positions whose likeliest token has to be the same."""

TIE = {"float32": 0.0, "float16": 0.1, "bfloat16": 0.1}
"""Two tokens whose logits are this close are as good as equal."""


@dataclass(frozen=True)
class ServingFacts:
    """Over all positions of all sequences: largest difference, mean KL, share of equal likeliest tokens, spread of the
    logits, and the model's own noise (a row alone or among others)."""

    positions: int
    difference: float
    kl: float
    same_top: float
    std: float
    noise: float
    noise_kl: float


@dataclass(frozen=True)
class Parting:
    """Where two greedy answers part: the prompt's number, the token's place, and how far apart the two tokens' logits
    were."""

    prompt: int
    place: int
    margin: float


def check_serving(
    base: Path,
    adapter: Path | None,
    trained: Path | None,
    merged: Path,
    tokenizer_folder: Path,
    prompts: Sequence[Prompt],
    dtype: str,
) -> list[Check]:
    """9 and 12: both models loaded in `dtype` and run over the same prompts."""
    import torch

    tokenizer = load_tokenizer(tokenizer_folder)
    chosen = questions(tokenizer, prompts)
    learnt = _load(base, adapter, trained or merged, dtype)
    final = load_model(merged, dtype=dtype).eval()
    with torch.inference_mode():
        facts = _compare(learnt, final, probe(final, tokenizer, prompts), tokenizer.pad_token_id)
        greedy = Sampling(temperature=0.0, max_new_tokens=ANSWER_TOKENS)
        answers = [complete(model, tokenizer, chosen, sampling=greedy) for model in (learnt, final)]
        partings = [
            _parting(learnt, tokenizer, number, prompt, one[0].ids, other[0].ids)
            for number, (prompt, one, other) in enumerate(zip(chosen, *answers, strict=True))
            if one[0].ids != other[0].ids
        ]
    return [
        check_served_logits(facts, dtype),
        check_answers(partings, len(chosen), dtype, noise=facts.noise),
    ]


def questions(tokenizer: Any, prompts: Sequence[Prompt]) -> list[Prompt]:
    """The first held-out prompts, or fixed ones where there are none."""
    if prompts:
        return list(prompts[:MOST_PROMPTS])
    if tokenizer.chat_template:
        return [list(dialogue) for dialogue in (*DIALOGUES[:1], *DIALOGUES[3:])]
    return [message["content"] for dialogue in DIALOGUES for message in dialogue]


def check_served_logits(facts: ServingFacts, dtype: str) -> Check:
    """9: the logits agree as far as arithmetic in `dtype` lets them; never stricter than three times its own noise."""
    most, most_kl = LIMITS[dtype]
    most = max(most * max(1.0, facts.std), NOISE_FACTOR * facts.noise)
    most_kl = max(most_kl, NOISE_FACTOR * facts.noise_kl)
    good = facts.difference <= most and facts.kl <= most_kl and facts.same_top >= SAME_TOP
    sentence = (
        f"in {dtype} at most {facts.difference:.2g} apart (limit {most:.2g}), mean KL {facts.kl:.2g} (limit "
        f"{most_kl:.2g}), the likeliest token the same at {facts.same_top:.1%} of {facts.positions} places"
    )
    detail = {"kl": facts.kl, "kl_limit": most_kl, "same_top": facts.same_top, "noise": facts.noise}
    return Check(9, "served logits", good, facts.difference, most, sentence, detail)


def check_answers(partings: Sequence[Parting], answers: int, dtype: str, *, noise: float) -> Check:
    """12: greedy answers are the same, or part where two tokens are as good as equal."""
    tie = max(TIE[dtype], NOISE_FACTOR * noise)
    worst = max(partings, key=lambda one: one.margin, default=None)
    good = worst is None or worst.margin <= tie
    sentence = f"{answers - len(partings)} of {answers} greedy answers are the same in {dtype}"
    if worst is not None:
        sentence += (
            f"; the others part where two tokens lie at most {worst.margin:.2g} apart (limit {tie:.2g})"
            if good
            else f"; answer {worst.prompt + 1} parts at token {worst.place + 1}, where the two lie {worst.margin:.2g} "
            f"apart (limit {tie:.2g})"
        )
    return Check(12, "answers", good, worst.margin if worst else 0.0, tie, sentence)


def _load(base: Path, adapter: Path | None, trained: Path, dtype: str) -> Any:
    if adapter is None:
        return load_model(trained, dtype=dtype).eval()
    from peft import PeftModel

    return PeftModel.from_pretrained(load_model(base, dtype=dtype), adapter).eval()


def _compare(learnt: Any, final: Any, sequences: Sequence[list[int]], pad: int) -> ServingFacts:
    positions, worst, kl, same, spreads = 0, 0.0, 0.0, 0, 0.0
    for ids in sequences:
        before, after = _logits(learnt, ids), _logits(final, ids)
        count = before.shape[0]
        positions += count
        worst = max(worst, largest_difference(before, after))
        kl += mean_kl(before, after) * count
        same += int((before.argmax(-1) == after.argmax(-1)).sum())
        spreads += float(before.std()) * count
    noise, noise_kl = own_noise(learnt, sequences, pad)
    return ServingFacts(
        positions, worst, kl / positions, same / positions, spreads / positions, noise, noise_kl
    )


def _logits(model: Any, ids: Sequence[int]) -> Any:
    """Logits (positions, vocabulary) of one row, as float32."""
    import torch

    return model(input_ids=torch.tensor([list(ids)], device=model.device)).logits[0].float().cpu()


def _parting(
    model: Any, tokenizer: Any, number: int, prompt: Prompt, one: list[int], other: list[int]
) -> Parting:
    place = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    if place >= min(len(one), len(other)):  # one ended where the other went on
        return Parting(number, place, float("inf"))
    text = render(prompt, tokenizer)
    start = tokenizer(text, add_special_tokens=isinstance(prompt, str))["input_ids"]
    logits = _logits(model, [*start, *one[:place]])[-1]
    return Parting(number, place, abs(float(logits[one[place]] - logits[other[place]])))
