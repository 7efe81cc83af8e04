"""`preflight`: what a training run would meet, before it is paid for. Nothing is trained and no model is loaded.

Each section of the report is a function that returns its lines and its worries. A worry is "think again" or "no"; the
verdict is the worst of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rewards.contract import Batch
from rewards.running import Crew
from trainer.backends.transformers import attention_implementation, policy_tokenizer_of, weights_dtype
from trainer.data import prompt_lengths, read_rows
from trainer.data_faults import cut_completions, data_faults, template_faults
from trainer.environment import quiet_libraries
from trainer.job import Job, Request, prepare_job
from trainer.journal import say
from trainer.memory import device_memory, estimate_memory, lora_parameters, read_model_facts, readable
from trainer.models import resolve_model
from trainer.rewarding import Scoring, bind

Level = Literal["think again", "no"]
GO = "go"


@dataclass(frozen=True)
class Section:
    """A part of the report: its lines, and the worries in it with their level."""

    title: str
    lines: list[str]
    worries: list[tuple[Level, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Preflight:
    """The whole report."""

    sections: list[Section]

    @property
    def verdict(self) -> str:
        """go, think again or no: the worst of all worries."""
        levels = {level for section in self.sections for level, _ in section.worries}
        return "no" if "no" in levels else "think again" if levels else GO

    @property
    def exit_code(self) -> int:
        """0 unless the verdict is no."""
        return 1 if self.verdict == "no" else 0

    def to_text(self) -> str:
        """The report as text; worries stand below their section, the verdict last."""
        blocks = []
        for section in self.sections:
            lines = [f"  {line}" for line in section.lines]
            lines += [f"  {level}: {why}" for level, why in section.worries]
            blocks.append("\n".join([section.title, *lines]))
        return "\n\n".join([*blocks, f"verdict: {self.verdict}"])


def preflight(request: Request, samples: Sequence[Path] = ()) -> Preflight:
    """Examine a training without starting it.

    Raises:
        RewardWorkbenchError: target, settings or data cannot be used at all.
    """
    quiet_libraries()
    job = prepare_job(request)
    folder = resolve_model(job.settings.model, root=job.root, say=say).path
    tokenizer = policy_tokenizer_of(folder)
    lengths = prompt_lengths(job.data.train, tokenizer)
    files = list(samples) or (job.manifest.sample_paths if job.manifest else [])
    return Preflight(
        [
            check_data(job),
            check_lengths(job, folder, lengths, tokenizer, files),
            check_model(job, folder, max(lengths, default=0)),
            check_signal(job, files),
            check_seal(job),
            show_settings(job),
        ]
    )


def check_data(job: Job) -> Section:
    """Rows, duplicates, empty prompts, missing values, how often the run walks through them."""
    data = job.data
    keys = Counter(
        json.dumps(row["prompt"], sort_keys=True, default=str) for row in [*data.train, *data.holdout]
    )
    twice = sum(count - 1 for count in keys.values())
    lines = [
        f"{data.source}: {len(data.train)} training rows, {len(data.holdout)} held out by prompt",
        f"columns for the rewards: {', '.join(data.columns) or 'none'}",
        f"the run walks {job.plan.epochs:.2f} times through them ({job.plan.prompts_needed} prompts in "
        f"{job.plan.max_steps} steps)",
    ]
    worries: list[tuple[Level, str]] = []
    if data.skipped:
        worries.append(("think again", f"{len(data.skipped)} rows are left out: {data.skipped[0]}"))
    if twice:
        lines.append(f"{twice} rows repeat a prompt of another row")
    if twice > 0.1 * sum(keys.values()):
        worries.append(("think again", f"{twice} of {sum(keys.values())} rows repeat a prompt"))
    for name in data.columns:
        empty = sum(row.get(name) is None or row.get(name) == "" for row in data.train)
        if empty:
            worries.append(("think again", f"column '{name}' is empty in {empty} of {len(data.train)} rows"))
    worries += [("think again", why) for why in data_faults([*data.train, *data.holdout], data.columns)]
    if not data.holdout:
        worries.append(
            ("think again", "nothing is held out: [data] holdout = 0.1 lets `compare` prove something")
        )
    return Section("data", lines, worries)


def check_lengths(
    job: Job, folder: Path, lengths: list[int], tokenizer: Any, files: Sequence[Path]
) -> Section:
    """Prompt lengths in tokens, what the limit leaves out, whether prompt and completion fit the context, samples that
    would be cut, and tags that the chat template opens.
    """
    limit, answer = (
        job.settings.own.max_prompt_length,
        int(job.settings.trl.get("max_completion_length") or 256),
    )
    points = np.percentile(lengths, [50, 90, 99, 100]).astype(int).tolist()
    lines = [
        "tokens of a prompt, chat template included: median {}, 90 % {}, 99 % {}, longest {}".format(*points)
    ]
    worries: list[tuple[Level, str]] = []
    if limit is not None:
        longer = sum(length > limit for length in lengths)
        lines.append(f"max_prompt_length={limit} leaves out {longer} of {len(lengths)}")
        if longer == len(lengths):
            worries.append(("no", f"every prompt is longer than max_prompt_length={limit}"))
        elif longer > 0.05 * len(lengths):
            worries.append(
                ("think again", f"{longer / len(lengths):.0%} of the prompts are longer than {limit} tokens")
            )
    context = read_model_facts(folder).context
    longest = min(points[3], limit or points[3])
    if context and longest + answer > context:
        worries.append(
            (
                "no",
                f"prompt ({longest}) and completion ({answer} tokens) exceed the model's context of {context}",
            )
        )
    lines.append(f"completions of at most {answer} tokens" + (f"; context {context}" if context else ""))
    cut, samples = cut_completions(files, tokenizer, answer)
    if cut:
        lines.append(f"{cut} of {samples} samples have more than {answer} tokens and would be cut")
    if cut > 0.1 * samples:
        worries.append(
            ("think again", f"{cut / samples:.0%} of the samples would be cut: raise max_completion_length")
        )
    if job.data.conversational and not read_model_facts(folder).chat_template:
        worries.append(("no", "the prompts are chat messages, but the tokenizer has no chat template"))
    elif job.data.train:
        described = {reward.name: reward.file for reward in job.description.rewards}
        faults = template_faults(job.data.train[0]["prompt"], tokenizer, described)
        worries += [("think again", why) for why in faults]
    return Section("prompt length", lines, worries)


def check_model(job: Job, folder: Path, longest: int) -> Section:
    """Model facts and the memory estimate."""
    facts = read_model_facts(folder)
    dtype = weights_dtype(job.settings)
    tokens = min(longest, job.settings.own.max_prompt_length or longest)
    memory = estimate_memory(
        facts,
        job.settings,
        job.sizes,
        prompt_tokens=tokens,
        dtype=dtype,
        available=device_memory(job.settings),
    )
    adapter = lora_parameters(facts, job.settings)
    trained = f"LoRA, {adapter / 1e6:.2f} M trained" if adapter else "all of them trained"
    attention = attention_implementation(job.settings) or "torch's own attention"
    lines = [
        f"{job.settings.model}: {facts.architecture}, {facts.parameters / 1e6:.1f} M parameters, {trained}",
        f"on {job.settings.device} in {dtype}, {attention}",
        f"memory, estimated: {readable(memory.total)}"
        + (f" of {readable(memory.available)}" if memory.available else "")
        + f" ({', '.join(f'{name} {readable(size)}' for name, size in memory.parts.items())})",
    ]
    worries: list[tuple[Level, str]] = []
    if memory.share is not None and memory.share > 1:
        worries.append(("no", "it does not fit: lower per_device_train_batch_size or max_completion_length"))
    elif memory.share is not None and memory.share > 0.8:
        worries.append(("think again", "it may not fit: lower per_device_train_batch_size to be safe"))
    return Section("model and memory", lines, worries)


def check_signal(job: Job, files: Sequence[Path]) -> Section:
    """Whether samples, scored by the set, leave anything to learn at the planned group size."""
    batch = read_groups(files, set(job.data.columns))
    if batch is None:
        line = "no samples with several completions of a prompt; `dry-run` makes them with the model itself"
        return Section("signal", [line])
    missing = [
        column
        for reward in job.description.only(list(job.rewards)).rewards
        for column in reward.missing_columns(batch.columns)
    ]
    if missing:
        return Section("signal", [f"the samples lack the column '{missing[0]}', so they cannot be scored"])
    with Crew(job.description.target, job.rewards) as crew:
        scoring = Scoring(
            bind(job.description, job.rewards),
            crew.call_all,
            group=job.sizes.group,
            record=lambda scored: None,
        )
        scored = scoring.score(batch, step=0, split="train")
    groups: dict[str, list[float]] = {}
    for group, total in zip(scored.groups, scored.totals, strict=True):
        groups.setdefault(group, []).append(float(total))
    size = job.sizes.group
    dead = float(np.mean([dead_probability(values, size) for values in groups.values()]))
    lines = [
        f"{len(scored)} completions of {len(groups)} prompts: mean total {np.nanmean(scored.totals):.3f}",
        f"a group of {size} would have no spread with probability {dead:.2f}: {1 - dead:.0%} of the prompts teach",
        "(samples written by hand or by another model say little about the first step; `dry-run` measures it)",
    ]
    worries: list[tuple[Level, str]] = []
    if dead >= 0.95:
        worries.append(
            ("no", f"there is next to nothing to learn: {dead:.0%} of the groups would have no spread")
        )
    elif dead >= 0.5:
        worries.append(("think again", f"{dead:.0%} of the groups would have no spread"))
    if scored.errors:
        worries.append(("think again", f"{len(scored.errors)} samples could not be scored"))
    return Section("signal", lines, worries)


def read_groups(files: Sequence[Path], columns: set[str]) -> Batch | None:
    """Prompts with several completions out of JSONL or Parquet samples (flat, or a `samples` list a row)."""
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
    keys = [json.dumps(row["prompt"], sort_keys=True, default=str) for row in flat]
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


def _completion(completion: Any, chat: bool) -> Any:
    return (
        [{"role": "assistant", "content": completion}] if chat and isinstance(completion, str) else completion
    )


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


def check_seal(job: Job) -> Section:
    """Whether the reward set is sealed as it is, and how strong the evidence was."""
    if not job.seal.holds:
        worry: tuple[Level, str] = ("think again", f"not sealed as it is: {'; '.join(job.seal.problems)}")
        return Section("seal", [str(job.seal.path)], [worry])
    strength = job.seal.seal.strength if job.seal.seal else "weak"
    worries: list[tuple[Level, str]] = []
    if strength == "weak":
        worries.append(
            ("think again", "the evidence is weak: no labelled right and wrong completions were checked")
        )
    return Section("seal", [f"{job.seal.path} holds; evidence {strength}"], worries)


def show_settings(job: Job) -> Section:
    """Every setting as resolved, what was translated, and where the run is logged."""
    settings = job.settings
    sizes = job.sizes
    lines = [
        f"preset {settings.preset}: {job.plan.max_steps} steps; generated at a time: {sizes.prompts} prompts x "
        f"{sizes.group} completions",
        *(f"{name} = {json.dumps(value, default=str)}" for name, value in sorted(settings.trl.items())),
        *(f"note: {note}" for note in settings.notes),
        f"logging: metrics.jsonl and completions/ in the run folder, report_to={settings.trl.get('report_to', 'none')}",
    ]
    return Section("settings", lines)
