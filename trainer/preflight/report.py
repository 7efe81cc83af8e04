"""`preflight`: what a training run would meet, before it is paid for. Nothing is trained and no model is loaded.

Each section of the report is a function that returns its lines and its worries. A worry is "think again" or "no"; the
verdict is the worst of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rewards.errors import UsageError
from trainer.backends.transformers import attention_implementation, policy_tokenizer_of, weights_dtype
from trainer.bounds import completion_tokens
from trainer.data.faults import cut_completions, data_faults, template_faults
from trainer.data.prompts import TrainingData, load_data, prompt_lengths
from trainer.environment import quiet_libraries
from trainer.job import Job, Request, prepare_jobs
from trainer.merging.erasure import ENOUGH
from trainer.merging.erasure import forecast as forecast_merge
from trainer.models.naming import resolve_model
from trainer.preflight.form import compare_forms
from trainer.preflight.memory import (
    device_memory,
    estimate_memory,
    gpu_sentence,
    largest,
    lora_parameters,
    read_model_facts,
    readable,
    remedies,
)
from trainer.preflight.sampled_signal import (
    Forecast,
    forecast,
    missing_column,
    read_groups,
    score,
    success,
    write_filtered,
)
from trainer.ranks import launched, sharded
from trainer.watching.journal import say

Level = Literal["think again", "no"]
GO = "go"

DEAD, SURELY = 0.95, 0.8
"""Share of groups without spread from which on the answer is no, and the least that its interval must reach."""


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


def preflight(
    request: Request, samples: Sequence[Path] = (), *, keep: tuple[float, float] | None = None
) -> Preflight:
    """Examine a training, every stage of it, without starting it.

    Args:
        request: what is to be trained.
        samples: completions to measure the signal on; default: those of the manifest.
        keep: shares LO, HI: also write the training prompts solved in that share of their samples.

    Raises:
        RewardWorkbenchError: target, settings or data cannot be used at all.
    """
    quiet_libraries()
    jobs = prepare_jobs(request)
    first = jobs[0]
    folder = resolve_model(first.settings.model, root=first.root, say=say).path
    tokenizer = policy_tokenizer_of(folder, first.settings)
    files = list(samples) or (first.manifest.sample_paths if first.manifest else [])
    whole = (
        load_data(first.data_settings, first.root, seed=first.settings.seed) if len(jobs) > 1 else first.data
    )
    sections: list[Section | None] = [check_data(replace(first, data=whole), staged=len(jobs) > 1)]
    for job in jobs:
        lengths = prompt_lengths(job.data.train, tokenizer)
        parts = [
            check_form(job, files),
            check_lengths(job, folder, lengths, tokenizer, files),
            check_model(job, folder, max(lengths, default=0)),
            check_signal(job, files),
        ]
        if len(jobs) > 1:
            parts = [
                replace(part, title=f"stage '{job.stage}': {part.title}")
                for part in [check_stage(job, whole), *parts]
                if part is not None
            ]
        sections += parts
    sections += [check_merge(jobs, folder), check_seal(first), *show_settings(jobs)]
    if keep is not None:
        sections.append(filter_data(jobs, files, keep))
    return Preflight([section for section in sections if section is not None])


def check_data(job: Job, *, staged: bool = False) -> Section:
    """Rows, duplicates, empty prompts, missing values, how often the run walks through them (stages: each says)."""
    data = job.data
    keys = Counter(
        json.dumps(row["prompt"], sort_keys=True, default=str) for row in [*data.train, *data.holdout]
    )
    twice = sum(count - 1 for count in keys.values())
    lines = [
        f"{data.source}: {len(data.train)} training rows, {len(data.holdout)} held out by prompt",
        f"columns for the rewards: {', '.join(data.columns) or 'none'}",
    ]
    if not staged:
        lines.append(
            f"the run walks {job.plan.epochs:.2f} times through them ({job.plan.prompts_needed} prompts in "
            f"{job.plan.max_steps} steps)"
        )
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


def check_form(job: Job, files: Sequence[Path]) -> Section | None:
    """Whether training passes the rewards what they were proved on; None where there are no samples."""
    lines, worries = compare_forms(job, files)
    return Section("form", lines, [("think again", why) for why in worries]) if lines else None


def check_lengths(
    job: Job, folder: Path, lengths: list[int], tokenizer: Any, files: Sequence[Path]
) -> Section:
    """Prompt lengths in tokens, what the limit leaves out, whether prompt and completion fit the context, samples that
    would be cut, and tags that the chat template opens.
    """
    limit, answer = (
        job.settings.own.max_prompt_length,
        completion_tokens(job.settings.trl),
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
    processes = launched()
    memory = estimate_memory(
        facts,
        job.settings,
        job.sizes,
        prompt_tokens=tokens,
        dtype=dtype,
        available=device_memory(job.settings),
        processes=processes,
        shared=sharded(),
    )
    adapter = lora_parameters(facts, job.settings)
    trained = f"LoRA, {adapter / 1e6:.2f} M trained" if adapter else "all of them trained"
    attention = attention_implementation(job.settings) or "torch's own attention"
    lines = [
        f"{job.settings.model}: {facts.architecture}, {facts.parameters / 1e6:.1f} M parameters, {trained}",
        f"on {job.settings.device} in {dtype}, {attention}",
        f"memory{f' of each of {processes} processes' if processes > 1 else ''}, estimated: {readable(memory.total)}"
        + (f" of {readable(memory.available)}" if memory.available else "")
        + f" ({', '.join(f'{name} {readable(size)}' for name, size in memory.parts.items())})",
    ]
    worries: list[tuple[Level, str]] = []
    lines.append(f"{gpu_sentence(memory)}; what takes most: {largest(memory)}")
    ways = remedies(
        facts,
        job.settings,
        prompt_tokens=tokens,
        dtype=dtype,
        available=memory.available,
        processes=processes,
        shared=sharded(),
    )
    if memory.share is not None and memory.share > 1:
        worries.append(("no", f"it does not fit: {ways}"))
    elif memory.share is not None and memory.share > 0.8:
        worries.append(("think again", f"it may not fit; to be safe: {ways}"))
    return Section("model and memory", lines, worries)


def check_signal(job: Job, files: Sequence[Path]) -> Section:
    """Whether samples, scored by the stage's rewards, leave anything to learn at the planned group size."""
    batch = read_groups(files, set(job.data.columns), job.where)
    if batch is None:
        line = "no samples with several completions of a prompt; `dry-run` makes them with the model itself"
        return Section("signal", [line])
    missing = missing_column(job, batch)
    if missing:
        return Section("signal", [f"the samples lack the column '{missing}', so they cannot be scored"])
    scored = score(job, batch)
    size = job.sizes.group
    found = forecast(scored, size)
    lines = [
        f"{len(scored)} completions of {len(set(scored.groups))} prompts: mean total {np.nanmean(scored.totals):.3f}",
        *_foretold(found, size),
        "(samples written by hand or by another model say little about the first step; `dry-run` measures it)",
    ]
    worries: list[tuple[Level, str]] = []
    spread = f"(interval {found.low:.0%} to {found.high:.0%}, {found.prompts} prompts)"
    if found.planned and found.dead >= DEAD and found.low >= SURELY:
        worries.append(
            (
                "no",
                f"there is next to nothing to learn: {found.dead:.0%} of the groups would have no spread {spread}",
            )
        )
    elif found.planned and found.dead >= 0.5:
        worries.append(("think again", f"{found.dead:.0%} of the groups would have no spread {spread}"))
    if scored.errors:
        worries.append(("think again", f"{len(scored.errors)} samples could not be scored"))
    return Section("signal", lines, worries)


def _foretold(found: Forecast, planned: int) -> list[str]:
    """The forecast in sentences, or why there is none for the planned size and for which there is one."""
    if not found.size:
        return [f"groups of {planned} are not foretold: most prompts have fewer than 2 scored completions"]
    where = f"{found.prompts} of {found.of} prompts" if found.prompts < found.of else f"{found.of} prompts"
    told = (
        f"a group of {found.size} would have no spread with probability {found.dead:.2f} (95 % interval "
        f"{found.low:.2f} to {found.high:.2f}, from {where})"
    )
    if found.planned:
        return [f"{told}: {1 - found.dead:.0%} of the prompts teach"]
    return [
        f"groups of {planned} are not foretold: no prompt has {planned} scored completions; "
        f"larger groups have spread more often",
        told,
    ]


def check_merge(jobs: Sequence[Job], folder: Path) -> Section | None:
    """How much of what is learnt a merge into the base's own dtype would leave; None for full fine-tuning."""
    dtype = read_model_facts(folder).stored_dtype
    if jobs[-1].settings.lora is None:
        return None
    found = forecast_merge(folder, [(job.settings, job.plan.max_steps) for job in jobs], dtype)
    if found is None:
        return Section("merge", [f"merged into {dtype}: nothing of the change is lost to rounding"])
    worries: list[tuple[Level, str]] = []
    if found.kept < ENOUGH:
        worries.append(
            (
                "think again",
                f"rounding to {dtype} would take {1 - found.kept:.0%} of what is learnt at least: raise learning_rate "
                "(LoRA stands ten times the rate of full fine-tuning), or merge --dtype float32",
            )
        )
    return Section("merge", [found.sentence()], worries)


def filter_data(jobs: Sequence[Job], files: Sequence[Path], bounds: tuple[float, float]) -> Section:
    """Write the training prompts that the samples show to be neither hopeless nor mastered.

    Raises:
        UsageError: there are no samples in groups, or nothing would be left.
    """
    job = jobs[-1]  # the last stage is the one whose answers are meant
    batch = read_groups(files, set(job.data.columns))
    if batch is None or missing_column(job, batch):
        raise UsageError(
            "--write-filtered needs samples with several completions of the training prompts, which `dry-run` makes: "
            "reward-workbench dry-run TARGET --prompts K --out samples.jsonl, then --samples samples.jsonl"
        )
    data = load_data(job.data_settings, job.root, seed=job.settings.seed)
    stem = Path(str(job.data_settings.train)).stem or "train"
    file = job.root / f"{stem}.filtered.jsonl"
    done = write_filtered(data.train, data.holdout, success(job, score(job, batch)), bounds, file)
    return Section("filtered data", done.lines())


def check_stage(job: Job, whole: TrainingData) -> Section:
    """What a stage of several trains on: its rows, rewards and weights, and how often it walks through them."""
    where = ", ".join(f"{column} = {value}" for column, value in job.where.items())
    weights = ", ".join(
        f"{name} {job.weights.get(name, job.description.reward(name).entry.weight):g}" for name in job.rewards
    )
    lines = [
        f"{len(job.data.train)} of {len(whole.train)} training rows" + (f" ({where})" if where else ""),
        f"rewards and weights: {weights}",
        f"{job.plan.max_steps} steps: {job.plan.epochs:.2f} times through the rows",
    ]
    worries: list[tuple[Level, str]] = []
    trained = [
        name for name in job.rewards if job.weights.get(name, job.description.reward(name).entry.weight)
    ]
    if not trained:
        worries.append(("no", "every reward of this stage has weight 0: nothing is trained on"))
    return Section("rows", lines, worries)


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


def show_settings(jobs: Sequence[Job]) -> list[Section]:
    """Every setting as resolved, what was translated, and where the run is logged; of later stages what differs."""
    sections = []
    first = jobs[0].settings
    for job in jobs:
        settings, sizes = job.settings, job.sizes
        same = first.trl if job is not jobs[0] else {}
        lines = [
            f"preset {settings.preset}, backend {settings.own.backend}: {job.plan.max_steps} steps; generated at a "
            f"time: {sizes.prompts} prompts x {sizes.group} completions",
            *(
                f"{name} = {json.dumps(value, default=str)}"
                for name, value in sorted(settings.trl.items())
                if name not in same or same[name] != value
            ),
        ]
        if job is jobs[0]:
            lines += [f"note: {note}" for note in settings.notes]
            lines.append(
                "logging: metrics.jsonl and completions/ in the run folder, "
                f"report_to={settings.trl.get('report_to', 'none')}"
            )
        title = "settings" if len(jobs) == 1 else f"stage '{job.stage}': settings"
        sections.append(Section(title, lines))
    return sections
