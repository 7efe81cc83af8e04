"""What the samples at hand say about a stage: whether its rewards leave anything to learn, and for which prompts.

Samples are scored as the stage would score them: its rewards, its weights, the rows its `where` asks for.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rewards.contract import Batch
from rewards.errors import UsageError
from rewards.groups import ranked_by
from rewards.running import Crew
from rewards.signal import dead_probability
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
            aggregation=job.description.aggregation,
            record=lambda scored: None,
        )
        return scoring.score(batch, step=0, split="train")


@dataclass(frozen=True)
class Forecast:
    """How many groups of `size` would have no spread: the share `dead` with its 95 % interval over `prompts`.

    `size` is the planned one where a prompt has as many scored completions (`planned`), else the largest that most
    prompts have; 0 where that is below 2, and nothing is foretold. `of` counts prompts with any score.
    """

    size: int
    planned: bool
    dead: float
    low: float
    high: float
    prompts: int
    of: int


def forecast(scored: ScoredBatch, planned: int) -> Forecast:
    """What the samples foretell of groups, by what the trainer ranks their rows by; without bias (`rewards.signal`)."""
    ranked = ranked_by(scored.scores, scored.weights, scored.groups, aggregation=scored.aggregation)
    known = Counter(group for group, value in zip(scored.groups, ranked, strict=True) if value == value)
    sizes = sorted(known.values(), reverse=True)
    usual = sizes[len(sizes) // 2] if sizes else 0  # more than half have as many
    size = planned if sizes and sizes[0] >= planned else usual
    if size < 2:
        return Forecast(0, False, math.nan, 0.0, 1.0, 0, len(sizes))
    dead = dead_probability(ranked, scored.groups, size)
    prompts = sum(count >= size for count in sizes)
    return Forecast(size, size == planned, dead, *wilson(dead, prompts), prompts, len(sizes))


def wilson(share: float, tries: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share. Of a mean of numbers from 0 to 1 it is rather too wide, never too narrow.

    >>> [round(bound, 2) for bound in wilson(1.0, 16)]
    [0.81, 1.0]
    """
    square = 1.96**2
    middle = (share + square / (2 * tries)) / (1 + square / tries)
    half = 1.96 / (1 + square / tries) * math.sqrt(share * (1 - share) / tries + square / (4 * tries**2))
    return max(0.0, middle - half), min(1.0, middle + half)


# ------------------------------------------------------------------------------- prompts that can teach


TAIL = 0.025
"""A prompt is left out where so few (or so many) successes would come up in fewer than this share of tries at LO (HI):
where its exact 95 % interval lies outside."""


class Solved(NamedTuple):
    """How many of a prompt's scored samples succeed."""

    passed: int
    of: int

    @property
    def share(self) -> float:
        """The share that succeeds."""
        return self.passed / self.of

    def below(self, low: float) -> bool:
        """Whether the prompt is surely solved more rarely than in the share `low`."""
        return self.share < low and _at_most(self.passed, self.of, low) <= TAIL

    def above(self, high: float) -> bool:
        """Whether the prompt is surely solved more often than in the share `high`."""
        return self.share > high and _at_most(self.of - self.passed, self.of, 1 - high) <= TAIL


def _at_most(count: int, tries: int, share: float) -> float:
    """The probability of up to `count` successes in `tries`."""
    return math.fsum(
        math.comb(tries, some) * share**some * (1 - share) ** (tries - some) for some in range(count + 1)
    )


def deciding(low: float, high: float) -> int | None:
    """Samples of a prompt from which on one that never and one that always succeeds is left out; None: never.

    >>> deciding(0.1, 0.9)
    36
    """
    shares = [share for share in (low, 1 - high) if 0 < share < 1]
    return math.ceil(math.log(TAIL) / math.log1p(-min(shares))) if shares else None


@dataclass(frozen=True)
class Filtered:
    """What `--write-filtered` wrote: the file, and how many training prompts were kept, too hard, too easy, undecided
    (outside on too few samples to be sure), unmeasured.

    Undecided prompts and those without samples are kept. The rows held out are written too, all of them.
    """

    file: Path
    low: float
    high: float
    kept: int
    too_hard: int
    too_easy: int
    undecided: int
    unmeasured: int
    held_out: int

    def lines(self) -> list[str]:
        """The counts, and what to do with the file."""
        written = self.kept + self.undecided + self.unmeasured
        enough = deciding(self.low, self.high)
        takes = f", which takes {enough} or more where all fail or all succeed" if enough else ""
        unsure = (
            [f"outside on too few samples to be sure of it, and kept: {self.undecided}{takes}"]
            if self.undecided
            else []
        )
        return [
            f"{self.file}: {written} training prompts and the {self.held_out} held out",
            f"solved in {self.low:.0%} to {self.high:.0%} of their samples: {self.kept} kept; below: {self.too_hard}, "
            f"above: {self.too_easy}, both left out; {self.unmeasured} without samples kept",
            *unsure,
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


def success(job: Job, scored: ScoredBatch) -> dict[str, Solved]:
    """How many of each prompt's samples the rewards for correctness (else all of them) pay at least halfway.

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
    return {key: Solved(sum(values), len(values)) for key, values in by_prompt.items()}


def write_filtered(
    train: Sequence[Row],
    holdout: Sequence[Row],
    solved: Mapping[str, Solved],
    bounds: tuple[float, float],
    file: Path,
) -> Filtered:
    """Write the rows but those whose prompts are surely solved too rarely or too often.

    Raises:
        UsageError: nothing would be left, or the file cannot be written.
    """
    low, high = bounds
    kept, counts = [], Counter[str]()
    for row in train:
        verdict = _judged(solved.get(prompt_key(row["prompt"])), low, high)
        counts[verdict] += 1
        if verdict not in ("hard", "easy"):
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
        file,
        low,
        high,
        kept=counts["kept"],
        too_hard=counts["hard"],
        too_easy=counts["easy"],
        undecided=counts["undecided"],
        unmeasured=counts["unmeasured"],
        held_out=len(holdout),
    )


def _judged(solved: Solved | None, low: float, high: float) -> str:
    if solved is None:
        return "unmeasured"
    if low <= solved.share <= high:
        return "kept"
    return "hard" if solved.below(low) else "easy" if solved.above(high) else "undecided"
