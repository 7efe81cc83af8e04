"""What `preflight` says about prompts, ground truths and the model's tokenizer: the checks RW8 on the training data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rewards.data_checks import (
    GOLD_NAMES,
    conflicting_values,
    leaked_answers,
    near_repeats,
    opened_tags,
    unreadable_values,
)
from trainer.data.prompts import read_rows, render


def data_faults(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[str]:
    """A sentence for each fault of the prompts and of the columns that are named like a ground truth."""
    prompts = [row["prompt"] for row in rows]
    faults = []
    near = near_repeats(prompts)
    if near:
        faults.append(f"{len(near)} prompts repeat another one but for case, punctuation or a word (RW803)")
    for name in columns:
        if name not in GOLD_NAMES:
            continue
        values = [row.get(name) for row in rows]
        leaks = leaked_answers(prompts, values)
        if leaks:
            faults.append(f"{len(leaks)} prompts show their own '{name}', as '{leaks[0].text}' (RW801)")
        pairs = conflicting_values(prompts, values)
        if pairs:
            one, other = pairs[0]
            faults.append(
                f"{len(pairs)} prompts have different values of '{name}' in different rows: "
                f"{values[one]!r} and {values[other]!r} (RW805)"
            )
        unreadable = unreadable_values(values)
        if unreadable:
            row, why = unreadable[0]
            faults.append(
                f"'{name}' cannot be an answer in {len(unreadable)} of {len(values)} rows: row {row + 1} {why} (RW806)"
            )
    return faults


def template_faults(prompt: Any, tokenizer: Any, files: Mapping[str, str | None]) -> list[str]:
    """A sentence for each tag that the chat template opens in the prompt and a reward's file looks for.

    Args:
        prompt: one of the training prompts.
        tokenizer: the policy's.
        files: the file of each reward by the reward's name.
    """
    opened = opened_tags(render(prompt, tokenizer)) if not isinstance(prompt, str) else []
    found = []
    for tag in opened:
        names = [name for name, file in files.items() if file is not None and f"<{tag}>" in _text(file)]
        if names:
            found.append(
                f"the chat template opens <{tag}> in the prompt, so no completion opens it, and {', '.join(names)} "
                f"looks for <{tag}> (RW808)"
            )
    return found


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def cut_completions(files: Sequence[Path], tokenizer: Any, limit: int) -> tuple[int, int]:
    """How many completions of the samples have more than `limit` tokens, and how many there are."""
    texts = []
    for file in files:
        if file.suffix in (".jsonl", ".json", ".parquet") and file.is_file():
            for row in read_rows(str(file.resolve()), file.parent)[0]:
                parts = row.get("samples", [row])
                texts += [_completion(part) for part in parts if isinstance(part, (dict, str))]
    known = [text for text in texts if text]
    if not known:
        return 0, 0
    return sum(len(ids) > limit for ids in tokenizer(known, add_special_tokens=False)["input_ids"]), len(
        known
    )


def _completion(part: Any) -> str:
    completion = part.get("completion") if isinstance(part, dict) else part
    if isinstance(completion, (list, tuple)):
        return "".join(str(m.get("content") or "") for m in completion if isinstance(m, dict))
    return completion if isinstance(completion, str) else ""


__all__ = ["cut_completions", "data_faults", "template_faults"]
