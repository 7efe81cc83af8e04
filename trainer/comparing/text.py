"""A comparison as text: a table, the outcome in a sentence, the worst regressions.

`unscored` counts completions without a score, the base's and the trained model's.
"""

from __future__ import annotations

from collections.abc import Iterable

from trainer.comparing.comparison import Comparison, Line, Regression, sentence
from trainer.data.held_out import last_words


def to_text(comparison: Comparison) -> str:
    """The comparison as a table, its sentence, and the worst regressions."""
    sampling = comparison.sampling
    overlap = (
        f"{comparison.overlapping} rows were trained on and are left out"
        if comparison.overlapping
        else "none"
    )
    head = [
        f"{comparison.prompts} prompts from {comparison.source}, {comparison.completions} completions each "
        f"(temperature {sampling.temperature:g}, top_p {sampling.top_p:g}, seed {sampling.seed})",
        f"prompts shared with the {comparison.trained_prompts} trained on: {overlap}",
        "",
        f"{'':<24}{'weight':>6}{'base':>8}{'trained':>9}{'difference':>12}   {'95 % interval':<18}{'detectable':>10}"
        f"  {'up/down/same':<13}{'p':>7}{'pairs':>7}  unscored",
    ]
    body = [_text_line(line) for line in comparison.lines]
    tail = ["", sentence(comparison)]
    tail += [
        f"{line.name}: {line.verdict}; with missing scores counted as the worst {line.counted.base:.3f} -> "
        f"{line.counted.trained:.3f}: {line.counted.paired.verdict}"
        for line in comparison.lines[1:]
        if line.counted is not None
    ]
    tail += [f"note: {note}" for note in comparison.notes]
    tail += [
        f"reward '{name}' could not score some completions: {why}" for name, why in comparison.errors.items()
    ]
    return "\n".join([*head, *body, *tail, *_text_worst(comparison.worst, comparison.completions)])


def _text_line(line: Line) -> str:
    result = line.paired
    name = line.name if line.kind is None else f"{line.name} ({line.kind})"
    if line.weight == 0:
        name += " *"
    bounds = "-" if result.low is None else f"{result.low:+.3f} to {result.high:+.3f}"
    detectable = "-" if result.detectable is None else f"{result.detectable:.3f}"
    weight = "" if line.weight is None else f"{line.weight:g}"
    counts = f"{result.wins}/{result.losses}/{result.ties}"
    numbers = f"{line.base:>8.3f}{line.trained:>9.3f}{result.mean:>+12.3f}"
    return (
        f"{name:<24}{weight:>6}{numbers}   {bounds:<18}{detectable:>10}  {counts:<13}{result.p:>7.2g}"
        f"{result.pairs:>7}  {line.unscored_base}/{line.unscored_trained}"
    )


def _text_worst(worst: Iterable[Regression], completions: int) -> list[str]:
    lines: list[str] = []
    mean = f" (mean of {completions})" if completions > 1 else ""
    best, least = ("base, best", "trained, worst") if completions > 1 else ("base", "trained")
    for one in worst:
        lines += [
            "",
            f"lost {one.base_total - one.trained_total:.3f} of the total{mean}: {_short(last_words(one.prompt))}",
        ]
        lines += [f"  {best:<{len(least)}}  {_short(one.base)}", f"  {least}  {_short(one.trained)}"]
    return ["", "worst regressions:", *lines[1:]] if lines else ["", "no prompt lost anything of the total"]


def _short(text: str, length: int = 100) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"
