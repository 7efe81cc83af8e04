"""`dry-run`: generate in groups and score, without an update. What the first step of a run would see.

The result is a samples file: each line a completion with its prompt, its data columns, its group, and what it scored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rewards.contract import Batch, completion_text
from rewards.errors import UsageError
from rewards.groups import group_statistics
from rewards.running import Crew
from trainer.backends.transformers import load_policy, policy_tokenizer_of
from trainer.completions import ScoredBatch, write_batch
from trainer.data import Row, fit_to_model, iter_prompts
from trainer.environment import choose_threads, quiet_libraries, use_threads
from trainer.generation import Completion, Sampling, complete
from trainer.job import Job, Request, prepare_job
from trainer.journal import say
from trainer.models import resolve_model
from trainer.rewarding import Scoring, bind
from trainer.rundir import strict_json, write_whole


@dataclass(frozen=True)
class DryRun:
    """What was generated: the scored rows, whether each completion ended by itself, and the file they are in."""

    scored: ScoredBatch
    ended: list[bool]
    lengths: list[int]
    weights: list[float]
    file: Path


def dry_run(request: Request, *, prompts: int, out: Path) -> DryRun:
    """Generate `num_generations` completions for each of `prompts` training prompts, score them, write `out`.

    Raises:
        UsageError: `prompts` is below 1, or `out` cannot be written.
    """
    if prompts < 1:
        raise UsageError(f"--prompts {prompts} must be at least 1")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.absolute().parent}")
    quiet_libraries()
    job = prepare_job(request)
    folder = resolve_model(job.settings.model, root=job.root, say=say).path
    tokenizer = policy_tokenizer_of(folder)
    data = fit_to_model(job.data, tokenizer, job.settings.own.max_prompt_length)
    rows = list(iter_prompts(data.train, prompts))
    use_threads(choose_threads(job.settings.own.threads, tiny=False))
    say(f"loading {job.settings.model}; {len(rows)} prompts x {job.sizes.group} completions")
    policy = load_policy(folder, job.settings, tokenizer)
    if job.settings.device == "cuda":
        policy.model.to("cuda")
    replies = complete(
        policy.model,
        tokenizer,
        [row["prompt"] for row in rows],
        samples=job.sizes.group,
        sampling=sampling_of(job),
        rows=max(job.sizes.rows, job.sizes.group),
        progress=_progress(),
    )
    scored = score_replies(job, rows, replies)
    flat = [one for group in replies for one in group]
    write_samples(out, scored, list(data.columns))
    weights = [job.description.reward(name).entry.weight for name in job.rewards]
    return DryRun(scored, [one.ended for one in flat], [len(one.ids) for one in flat], weights, out)


def sampling_of(job: Job) -> Sampling:
    """How training would sample."""
    trl = job.settings.trl
    return Sampling(
        temperature=float(trl.get("temperature", 1.0)),
        top_p=float(trl.get("top_p", 1.0)),
        max_new_tokens=int(trl.get("max_completion_length") or 256),
        seed=job.settings.seed,
    )


def score_replies(job: Job, rows: list[Row], replies: list[list[Completion]]) -> ScoredBatch:
    """Score completions as training would, one group after another."""
    pairs = [(number, row, one) for number, row in enumerate(rows) for one in replies[number]]
    names = list(dict.fromkeys(name for row in rows for name in row if name != "prompt"))
    batch = Batch(
        prompts=[row["prompt"] for _, row, _ in pairs],
        completions=[one.as_reply(row["prompt"]) for _, row, one in pairs],
        completion_ids=[one.ids for _, _, one in pairs],
        columns={name: [row.get(name) for _, row, _ in pairs] for name in names},
        groups=[f"prompt-{number + 1}" for number, _, _ in pairs],
    )
    with Crew(job.description.target, job.rewards) as crew:
        return _scoring(job, crew).score(batch, step=0, split="train")


def _scoring(job: Job, crew: Crew) -> Scoring:
    return Scoring(
        bind(job.description, job.rewards),
        crew.call_all,
        group=job.sizes.group,
        aggregation=job.description.aggregation,
        scale_rewards=job.description.scale_rewards,
        record=lambda scored: None,
        printed=lambda text: say(text.rstrip("\n")),
    )


def write_samples(out: Path, scored: ScoredBatch, columns: list[str]) -> None:
    """Write a samples file: JSONL, or Parquet by its ending.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        if out.suffix == ".parquet":
            write_batch(out.absolute().parent, scored).rename(out)
        else:
            write_whole(out, "".join(strict_json(line) + "\n" for line in sample_lines(scored, columns)))
    except OSError as error:
        raise UsageError(f"--out {out} cannot be written: {error.strerror}") from error


def sample_lines(scored: ScoredBatch, columns: list[str]) -> list[dict[str, Any]]:
    """The rows as samples: prompt, completion, columns, group, id, and what they scored."""
    lines = []
    for row in range(len(scored)):
        values = [None if np.isnan(value) else float(value) for value in scored.scores[row]]
        total = scored.totals[row]
        lines.append(
            {
                "id": f"{scored.groups[row]}-{row}",
                "prompt": scored.prompts[row],
                "completion": scored.completions[row],
                **{name: scored.columns[name][row] for name in columns if name in scored.columns},
                "group": scored.groups[row],
                "scores": dict(zip(scored.names, values, strict=True)),
                "total": None if np.isnan(total) else float(total),
                "advantage": float(scored.advantages[row]),
                "errors": scored.errors.get(row, {}),
            }
        )
    return lines


def describe(result: DryRun) -> str:
    """What came out, as text: two completions, a line for each reward, groups, lengths, and what it means."""
    scored = result.scored
    lines = [f"completion {row + 1}: {_shown(scored.completions[row])}" for row in range(min(2, len(scored)))]
    for index, name in enumerate(scored.names):
        column = scored.scores[:, index]
        known = column[~np.isnan(column)]
        mean = f"mean {known.mean():.3f}, {known.min():g} to {known.max():g}" if len(known) else "no score"
        missing = f", {len(column) - len(known)} without a score" if len(known) < len(column) else ""
        lines.append(f"{name} (weight {result.weights[index]:g}): {mean}{missing}")
    statistics = group_statistics(scored.scores, result.weights, scored.groups)
    dead = int(statistics.zero_spread.sum())
    lines.append(
        f"groups: {len(statistics)}, of which {dead} without any spread (nothing is learnt from them)"
    )
    cut = result.ended.count(False)
    lines.append(
        f"completions: {len(scored)}, {np.mean(result.lengths):.0f} tokens on average, {cut} cut off at the limit"
    )
    if scored.errors:
        lines.append(
            f"failed rows: {len(scored.errors)}; {next(iter(scored.errors[min(scored.errors)].values()))}"
        )
    lines.append(f"written: {result.file}")
    return "\n".join(lines)


def _shown(completion: Any) -> str:
    text = completion_text(completion).strip().replace("\n", " ")
    return text if len(text) <= 200 else f"{text[:197]}..."


def _progress() -> Callable[[int, int], None]:
    told = [0.0]

    def show(done: int, total: int) -> None:
        if done == total or done / total - told[0] >= 0.2:
            told[0] = done / total
            say(f"generated {done}/{total}")

    return show
