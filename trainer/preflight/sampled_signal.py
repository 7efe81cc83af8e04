"""What the samples at hand say about a stage: whether its rewards leave anything to learn, and for which prompts.

Samples are scored as the stage would score them: its rewards, its weights, the rows its `where` asks for.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from rewards.contract import Batch
from rewards.errors import UsageError
from rewards.running import Crew
from trainer.data.prompts import Row, read_rows
from trainer.job import Job
from trainer.rewarding.completions import ScoredBatch
from trainer.rewarding.wrapped import Scoring, bind
from trainer.rundir import strict_json, write_whole


def read_groups(
    files: Sequence[Path], columns: set[str], where: Mapping[str, Any] | None = None
) -> Batch | None:
    """Prompts with several completions out of JSONL or Parquet samples (flat, or a `samples` list a row).

    `where` leaves out rows that have one of its columns with another value.
    """
    rows: list[dict[str, Any]] = []
    for file in files:
        if file.suffix in (".jsonl", ".json", ".parquet") and file.is_file():
            rows += read_rows(str(file.resolve()), file.parent)[0]
    flat = [
        {**row, **(sample if isinstance(sample, dict) else {"completion": sample})}
        for row in rows
        for sample in row.get("samples", [row])
    ]
    flat = [row for row in flat if row.get("prompt") and row.get("completion") is not None]
    flat = [row for row in flat if _is_meant(row, where or {})]
    keys = [prompt_key(row["prompt"]) for row in flat]
    several = {key for key, count in Counter(keys).items() if count > 1}
    kept = [(key, row) for key, row in zip(keys, flat, strict=True) if key in several]
    if not kept:
        return None
    chat = not isinstance(kept[0][1]["prompt"], str)
    names = [name for name in columns if all(name in row for _, row in kept)]
    return Batch(
        prompts=[row["prompt"] for _, row in kept],
        completions=[_completion(row["completion"], chat) for _, row in kept],
        completion_ids=[list(str(row["completion"]).encode()) for _, row in kept],
        columns={name: [row[name] for _, row in kept] for name in names},
        groups=[key for key, _ in kept],
    )


def prompt_key(prompt: Any) -> str:
    """The prompt as text, by which rows of one prompt find each other; a system message does not count.

    (Samples have been written with and without the one that training puts before its prompts.)
    """
    if not isinstance(prompt, str):
        prompt = [message for message in prompt if message.get("role") != "system"]
    return json.dumps(prompt, sort_keys=True, default=str)


def _is_meant(row: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(
        column not in row or row[column] in (value if isinstance(value, list) else [value])
        for column, value in where.items()
    )


def _completion(completion: Any, chat: bool) -> Any:
    return (
        [{"role": "assistant", "content": completion}] if chat and isinstance(completion, str) else completion
    )


def missing_column(job: Job, batch: Batch) -> str | None:
    """The first column that a reward of the stage needs and the samples lack."""
    used = job.description.only(list(job.rewards)).rewards
    return next((column for reward in used for column in reward.missing_columns(batch.columns)), None)


def score(job: Job, batch: Batch) -> ScoredBatch:
    """The samples scored as the stage would."""
    with Crew(job.description.target, job.rewards) as crew:
        scoring = Scoring(
            bind(job.description, job.rewards, job.weights),
            crew.call_all,
            group=job.sizes.group,
            record=lambda scored: None,
        )
        return scoring.score(batch, step=0, split="train")


def dead_probability(values: Sequence[float], size: int) -> float:
    """The probability that `size` draws from a prompt's totals are all equal.

    Without replacement where there are enough values (unbiased), else with.
    """
    known = [value for value in values if value == value]
    if len(known) < 2:
        return 1.0
    counts = Counter(known).values()
    if len(known) >= size:
        return sum(comb(count, size) for count in counts) / comb(len(known), size)
    return float(sum((count / len(known)) ** size for count in counts))


# ------------------------------------------------------------------------------- prompts that can teach


@dataclass(frozen=True)
class Filtered:
    """What `--write-filtered` wrote: the file, and how many training prompts were kept, too hard, too easy, unmeasured.

    Prompts without samples are kept. The rows held out are written too, all of them.
    """

    file: Path
    low: float
    high: float
    kept: int
    too_hard: int
    too_easy: int
    unmeasured: int
    held_out: int

    def lines(self) -> list[str]:
        """The counts, and what to do with the file."""
        return [
            f"{self.file}: {self.kept + self.unmeasured} training prompts and the {self.held_out} held out",
            f"solved in {self.low:.0%} to {self.high:.0%} of their samples: {self.kept} kept; below: {self.too_hard}, "
            f"above: {self.too_easy}, both left out; {self.unmeasured} without samples kept",
            f"to train on it: [data] train = {self.file.name!r}, without `columns` (they are renamed in it already)",
        ]


def parse_bounds(text: str) -> tuple[float, float]:
    """The two shares of `--write-filtered LO,HI`.

    Raises:
        UsageError: not two numbers from 0 to 1, the lower one first.
    """
    parts = text.split(",")
    try:
        low, high = (float(part) for part in parts)
    except ValueError:
        low, high = 1.0, 0.0
    if not 0 <= low <= high <= 1:
        raise UsageError(f"--write-filtered {text!r} must be two shares LO,HI from 0 to 1, e.g. 0.1,0.9")
    return low, high


def success(job: Job, scored: ScoredBatch) -> dict[str, float]:
    """The share of each prompt's samples that the rewards for correctness (else all of them) pay at least halfway.

    Halfway between the ends of the declared ranges, or between the lowest and highest value seen where there is none.
    Samples that none of them could score do not count; a prompt with no others is left out.
    """
    entries = [job.description.reward(name).entry for name in scored.names]
    chosen = [at for at, entry in enumerate(entries) if entry.kind == "correctness"] or list(
        range(len(entries))
    )
    reached = np.zeros(len(scored))
    possible = np.zeros(len(scored))
    for at in chosen:
        column = scored.scores[:, at]
        known = column[~np.isnan(column)]
        bounds = entries[at].range or ((known.min(), known.max()) if len(known) else (0.0, 1.0))
        share = (column - bounds[0]) / ((bounds[1] - bounds[0]) or 1.0)
        reached += np.nan_to_num(share)
        possible += ~np.isnan(share)
    passed = np.where(possible > 0, reached / np.maximum(possible, 1), np.nan) >= 0.5
    by_prompt: dict[str, list[bool]] = {}
    for prompt, one, scorers in zip(scored.prompts, passed, possible, strict=True):
        if scorers:
            by_prompt.setdefault(prompt_key(prompt), []).append(bool(one))
    return {key: sum(values) / len(values) for key, values in by_prompt.items()}


def write_filtered(
    train: Sequence[Row],
    holdout: Sequence[Row],
    shares: Mapping[str, float],
    bounds: tuple[float, float],
    file: Path,
) -> Filtered:
    """Write the rows whose prompts are solved neither too rarely nor too often.

    Raises:
        UsageError: nothing would be left, or the file cannot be written.
    """
    low, high = bounds
    kept, counts = [], Counter[str]()
    for row in train:
        share = shares.get(prompt_key(row["prompt"]))
        verdict = (
            "unmeasured" if share is None else "hard" if share < low else "easy" if share > high else "kept"
        )
        counts[verdict] += 1
        if verdict in ("kept", "unmeasured"):
            kept.append(row)
    if not kept:
        raise UsageError(
            f"--write-filtered {low:g},{high:g} would leave no training prompt: {counts['hard']} are solved more "
            f"rarely, {counts['easy']} more often"
        )
    try:
        write_whole(file, "".join(strict_json(row) + "\n" for row in [*kept, *holdout]))
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
    return Filtered(
        file, low, high, counts["kept"], counts["hard"], counts["easy"], counts["unmeasured"], len(holdout)
    )
