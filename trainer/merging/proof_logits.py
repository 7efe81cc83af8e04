"""The checks of the merge proof that run the models: equal logits, and a difference from the base.

All arithmetic is in float32, also for a merge stored in 16 bits: that way the rounding of the weights shows
and nothing else. Each sequence is a prompt and what the merged model answers to it, and runs alone, so that
padding cannot blur it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer.data.prompts import render
from trainer.merging.proof_files import DIALOGUES, Check
from trainer.merging.proof_numbers import largest_difference, mean_kl
from trainer.models.generation import Prompt, Sampling, complete
from trainer.models.loading import load_model, load_tokenizer

MOST_PROMPTS = 8
MOST_TOKENS = 256
ANSWER_TOKENS = 24
TINY = 20_000_000
"""Weights below which a model counts as tiny.

Its logits are small sums, and 1e-4 is the measured tolerance.
"""

NOISE_FACTOR = 3.0
"""A difference up to this many times the model's own noise (one row alone or among others) is no difference.
"""

FLOORS = {"float32": 1e-8, "float16": 1e-6, "bfloat16": 5e-5}
"""KL divergences that rounding alone makes; an effect below cannot be seen in that dtype."""


@dataclass(frozen=True)
class LogitFacts:
    """Figures over all positions of all sequences; `trained` is base with adapter, or the fully fine-tuned
    model.

    `difference`, `error_kl`: trained against merged. `effect_kl`: base against trained; `merged_effect_kl`:
    base against merged. `noise`, `noise_kl`: the base against itself, one row alone or among others. `std`:
    of the trained logits.
    """

    positions: int
    weights: int
    std: float
    difference: float
    error_kl: float
    effect_kl: float
    merged_effect_kl: float
    noise: float
    noise_kl: float


def compare_logits(
    base: Any,
    adapter: Path | None,
    trained: Path | None,
    merged: Path,
    tokenizer_folder: Path,
    prompts: Sequence[Prompt],
) -> LogitFacts:
    """Run base, trained and merged model over the same sequences.

    `base` is the loaded base model in float32; with an `adapter`, the adapter is put on it (and it is no
    longer plain).
    """
    import torch

    tokenizer = load_tokenizer(tokenizer_folder)
    weights = sum(parameter.numel() for parameter in base.parameters())
    learnt = _with_adapter(base, adapter) if adapter else load_model(trained or merged, dtype="float32")
    final = load_model(merged, dtype="float32")
    sequences = probe(final, tokenizer, prompts)
    sums = _Sums()
    with torch.inference_mode():
        for ids in sequences:
            row = torch.tensor([ids])
            with _plain(learnt, adapter):
                before = _logits(learnt if adapter else base, row)
            sums.add(before, _logits(learnt, row), _logits(final, row))
        with _plain(learnt, adapter):
            noise, noise_kl = own_noise(learnt if adapter else base, sequences, tokenizer.pad_token_id)
    return sums.facts(weights, noise, noise_kl)


def _with_adapter(base: Any, adapter: Path) -> Any:
    from peft import PeftModel

    return PeftModel.from_pretrained(base, adapter).eval()


@contextmanager
def _plain(model: Any, adapter: Path | None) -> Iterator[None]:
    """The model without its adapter while the block runs; nothing where there is none."""
    if adapter is None:
        yield
        return
    with model.disable_adapter():
        yield


def probe(model: Any, tokenizer: Any, prompts: Sequence[Prompt]) -> list[list[int]]:
    """Token sequences to compare on.

    Prompts (or the fixed dialogues) followed by the model's likeliest answers.
    """
    chosen: list[Prompt] = list(prompts[:MOST_PROMPTS])
    if not chosen and tokenizer.chat_template:
        chosen = [list(dialogue) for dialogue in DIALOGUES[:1]]
        chosen += [list(dialogue) for dialogue in DIALOGUES[3:]]
    if not chosen:
        chosen = [message["content"] for dialogue in DIALOGUES for message in dialogue]
    greedy = Sampling(temperature=0.0, max_new_tokens=ANSWER_TOKENS)
    answers = complete(model, tokenizer, chosen, sampling=greedy)
    sequences = []
    for prompt, (answer,) in zip(chosen, answers, strict=True):
        ids = tokenizer(render(prompt, tokenizer), add_special_tokens=isinstance(prompt, str))["input_ids"]
        sequences.append([*ids, *answer.ids][-MOST_TOKENS:])
    return sequences


def _logits(model: Any, row: Any) -> Any:
    """Logits (positions, vocabulary) of one row."""
    return model(input_ids=row.to(model.device)).logits[0].float().cpu()


def own_noise(model: Any, sequences: Sequence[list[int]], pad: int) -> tuple[float, float]:
    """What the model's logits differ by when a row runs among others instead of alone.

    Largest difference, mean KL.
    """
    import torch

    some = [ids for ids in sequences[:4] if ids]
    longest = max(len(ids) for ids in some)
    together = torch.tensor([ids + [pad] * (longest - len(ids)) for ids in some], device=model.device)
    mask = torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids in some], device=model.device)
    among = model(input_ids=together, attention_mask=mask).logits.float().cpu()
    worst, kl = 0.0, 0.0
    for number, ids in enumerate(some):
        alone = _logits(model, torch.tensor([ids]))
        worst = max(worst, largest_difference(alone, among[number, : len(ids)]))
        kl = max(kl, mean_kl(alone, among[number, : len(ids)]))
    return worst, kl


class _Sums:
    """Adds up figures sequence by sequence, so that no more than one sequence's logits are kept."""

    def __init__(self) -> None:
        self.positions = 0
        self.difference = 0.0
        self.kl = [0.0, 0.0, 0.0]
        self.moments = [0.0, 0.0, 0.0]

    def add(self, base: Any, trained: Any, merged: Any) -> None:
        count = base.shape[0]
        self.positions += count
        self.difference = max(self.difference, largest_difference(trained, merged))
        for place, pair in enumerate(((trained, merged), (base, trained), (base, merged))):
            self.kl[place] += mean_kl(*pair) * count
        wide = trained.double()
        for place, value in enumerate((wide.numel(), wide.sum(), (wide * wide).sum())):
            self.moments[place] += float(value)

    def facts(self, weights: int, noise: float, noise_kl: float) -> LogitFacts:
        number, total, squares = self.moments
        variance = max(0.0, squares / number - (total / number) ** 2)
        error, effect, merged_effect = (value / self.positions for value in self.kl)
        return LogitFacts(
            self.positions,
            weights,
            variance**0.5,
            self.difference,
            error,
            effect,
            merged_effect,
            noise,
            noise_kl,
        )


def logit_limits(facts: LogitFacts, dtype: str) -> tuple[float, float]:
    """The largest difference and the mean KL that check 8 lets pass, for a merge stored in `dtype`.

    float32: 1e-4 (tiny models, less where their logits are smaller than 1) or 1e-3 of the logits' spread, and
    KL 1e-7. 16 bits: what rounding the weights makes. Never less than three times the model's own noise.
    """
    limits = {
        "float32": (1e-4 * min(1.0, facts.std) if facts.weights < TINY else 1e-3 * facts.std, 1e-7),
        "float16": (3e-2 * max(1.0, facts.std), 1e-5),
        "bfloat16": (0.25 * max(1.0, facts.std), 5e-4),
    }
    most, kl = limits[dtype]
    return max(most, NOISE_FACTOR * facts.noise), max(kl, NOISE_FACTOR * facts.noise_kl)


def check_logits(facts: LogitFacts, dtype: str) -> Check:
    """8: merged and trained model give the same logits in float32 arithmetic, within `logit_limits`."""
    most, most_kl = logit_limits(facts, dtype)
    good = facts.difference <= most and facts.error_kl <= most_kl
    sentence = (
        f"at most {facts.difference:.2g} apart over {facts.positions} tokens (limit {most:.2g}), "
        f"mean KL {facts.error_kl:.2g} (limit {most_kl:.2g})"
    )
    if not good:
        sentence = f"the merged model answers otherwise than base with adapter: {sentence}"
    detail = {"kl": facts.error_kl, "kl_limit": most_kl, "noise": facts.noise, "logit_std": facts.std}
    return Check(8, "logits", good, facts.difference, most, sentence, detail)


def check_effect(facts: LogitFacts, dtype: str) -> Check:
    """11: the merged model differs from its base by more than rounding does in its dtype."""
    floor = max(FLOORS[dtype], NOISE_FACTOR * facts.noise_kl)
    good = facts.merged_effect_kl > floor
    sentence = f"mean KL from the base {facts.merged_effect_kl:.2g}, rounding alone makes {floor:.2g}"
    if not good:
        sentence = f"no measurable effect: {sentence}"
        if facts.effect_kl > FLOORS["float32"] and dtype != "float32":
            sentence += "; the adapter has one, so merge with --dtype float32"
    return Check(11, "effect", good, facts.merged_effect_kl, floor, sentence)
