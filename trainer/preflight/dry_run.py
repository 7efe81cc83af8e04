"""`dry-run`: generate in groups and score, without an update. What the first step of a run would see.

The result is a samples file: each line a completion with its prompt, its data columns, its group, and what it scored.
Where there are several stages each has its own rows, rewards and weights, all on the untrained model, and lines name
their stage; completions of a prompt that stages share, sampled alike, are made once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rewards.contract import Batch, completion_text
from rewards.errors import UsageError
from rewards.groups import group_statistics
from rewards.running import Crew
from trainer.backends.transformers import load_policy, policy_tokenizer_of
from trainer.bounds import completion_tokens
from trainer.data.prompts import Row, fit_to_model, iter_prompts
from trainer.environment import choose_threads, quiet_libraries, use_threads
from trainer.job import Job, Request, prepare_jobs
from trainer.leaving import has_rows_with, see_free
from trainer.models.generation import Completion, Sampling, complete
from trainer.models.naming import resolve_model
from trainer.rewarding.completions import ScoredBatch, write_batch
from trainer.rewarding.wrapped import Scoring, bind
from trainer.rundir import strict_json, write_whole
from trainer.watching.journal import say


@dataclass(frozen=True)
class DryRun:
    """What was generated: the scored rows, whether each completion ended by itself, and the file they are in.

    `stage` is "" where the training has one only; `notes` says what training would do otherwise.
    """

    scored: ScoredBatch
    ended: list[bool]
    lengths: list[int]
    weights: list[float]
    file: Path
    stage: str = ""
    notes: tuple[str, ...] = ()


OWN_KEYS = ("id", "prompt", "completion", "group", "scores", "total", "advantage", "errors")
OWN_COLUMNS = ("step", "prompt", "completion", "total", "group", "split", "credits", "errors", "seconds")
"""What rows of a dry run have: in JSONL (in Parquet too, where there are several stages), and in Parquet."""


def dry_run(request: Request, *, prompts: int, out: Path, overwrite: bool = False) -> list[DryRun]:
    """Generate `num_generations` completions for each of `prompts` training prompts, score them, write `out`.

    Returns one result for each stage.

    Args:
        overwrite: replace whatever file `out` is; else only one of a dry run that nobody has labelled.

    Raises:
        UsageError: `prompts` is below 1, `out` cannot be written, or is somebody's file.
    """
    if prompts < 1:
        raise UsageError(f"--prompts {prompts} must be at least 1")
    see_free(out, own=_is_own, overwrite=overwrite)
    _see_writable(out)
    quiet_libraries()
    jobs = prepare_jobs(request)
    first = jobs[0]
    folder = resolve_model(first.settings.model, root=first.root, say=say).path
    tokenizer = policy_tokenizer_of(folder, first.settings)
    use_threads(choose_threads(first.settings.own.threads, tiny=False))
    say(f"loading {first.settings.model}; {prompts} prompts x {first.sizes.group} completions")
    policy = load_policy(folder, first.settings, tokenizer)
    if first.settings.device == "cuda":
        policy.model.to("cuda")
    generate = _Generation(policy.model, tokenizer)
    results = []
    for job in jobs:
        data = fit_to_model(job.data, tokenizer, job.settings.own.max_prompt_length)
        rows = list(iter_prompts(data.train, prompts))
        replies = generate.replies(job, rows)
        flat = [one for group in replies for one in group]
        results.append(
            DryRun(
                score_replies(job, rows, replies),
                [one.ended for one in flat],
                [len(one.ids) for one in flat],
                weights_of(job),
                out,
                job.stage if len(jobs) > 1 else "",
                notes_of(job),
            )
        )
    write_samples(out, [(one.stage, one.scored) for one in results], list(first.data.columns))
    return results


def _is_own(file: Path) -> bool:
    return any(has_rows_with(keys)(file) for keys in (OWN_KEYS, OWN_COLUMNS))


def _see_writable(out: Path) -> None:
    """Make the folder of `out` and see that a file can be made there, before any time is spent.

    Raises:
        UsageError: it cannot.
    """
    folder = out.absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{out.name}."):
            pass
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}; give another --out") from error


def notes_of(job: Job) -> tuple[str, ...]:
    """What training would do otherwise than this: generate by vLLM, where transformers did here."""
    if not job.settings.trl.get("use_vllm"):
        return ()
    return (
        "generated by transformers, where training generates by vLLM: sampled alike, but not the same completions, "
        "and times say nothing of the run",
    )


def weights_of(job: Job) -> list[float]:
    """The weights of a job's rewards, those of its stage before the set's."""
    return [job.weights.get(name, job.description.reward(name).entry.weight) for name in job.rewards]


class _Generation:
    """Completions of the untrained model, kept for stages that ask for the same again."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._known: dict[tuple[str, int, Sampling], list[list[Completion]]] = {}

    def replies(self, job: Job, rows: list[Row]) -> list[list[Completion]]:
        """A group of completions for each row, sampled as the stage would."""
        prompts = [row["prompt"] for row in rows]
        key = (strict_json(prompts), job.sizes.group, sampling_of(job))
        if key not in self._known:
            self._known[key] = complete(
                self._model,
                self._tokenizer,
                prompts,
                samples=job.sizes.group,
                sampling=sampling_of(job),
                rows=max(job.sizes.rows, job.sizes.group),
                progress=_progress(),
            )
        return self._known[key]


def sampling_of(job: Job) -> Sampling:
    """How training would sample."""
    trl = job.settings.trl
    return Sampling(
        temperature=float(trl.get("temperature", 1.0)),
        top_p=float(trl.get("top_p", 1.0)),
        top_k=int(trl.get("top_k") or 0),
        min_p=None if trl.get("min_p") is None else float(trl["min_p"]),
        repetition_penalty=float(trl.get("repetition_penalty", 1.0)),
        max_new_tokens=completion_tokens(trl),
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
        bind(job.description, job.rewards, job.weights),
        crew.call_all,
        group=job.sizes.group,
        aggregation=job.description.aggregation,
        scale_rewards=job.description.scale_rewards,
        record=lambda scored: None,
        printed=lambda text: say(text.rstrip("\n")),
    )


def write_samples(out: Path, stages: Sequence[tuple[str, ScoredBatch]], columns: list[str]) -> None:
    """Write a samples file of the stages' rows: JSONL, or Parquet by its ending.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        if out.suffix == ".parquet" and len(stages) == 1:
            write_batch(out.absolute().parent, stages[0][1]).rename(out)
            return
        lines = [line for stage, scored in stages for line in sample_lines(scored, columns, stage)]
        if out.suffix == ".parquet":
            _write_parquet(out, lines)
        else:
            write_whole(out, "".join(strict_json(line) + "\n" for line in lines))
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error


def _write_parquet(out: Path, lines: list[dict[str, Any]]) -> None:
    """The lines as a table; scores and errors, whose names differ from stage to stage, as JSON texts."""
    import pyarrow as pa
    from pyarrow import parquet

    flat = [
        {**line, "scores": strict_json(line["scores"]), "errors": strict_json(line["errors"])}
        for line in lines
    ]
    temporary = out.with_name(f".{out.name}.tmp")
    parquet.write_table(pa.Table.from_pylist(flat), temporary)
    temporary.rename(out)


def sample_lines(scored: ScoredBatch, columns: list[str], stage: str = "") -> list[dict[str, Any]]:
    """The rows as samples: prompt, completion, columns, group, id, what they scored, and the stage if it has a name."""
    before = f"{stage}-" if stage else ""
    lines = []
    for row in range(len(scored)):
        values = [None if np.isnan(value) else float(value) for value in scored.scores[row]]
        total = scored.totals[row]
        lines.append(
            {
                "id": f"{before}{scored.groups[row]}-{row}",
                **({"stage": stage} if stage else {}),
                "prompt": scored.prompts[row],
                "completion": scored.completions[row],
                **{name: scored.columns[name][row] for name in columns if name in scored.columns},
                "group": f"{before}{scored.groups[row]}",
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
    lines = [f"stage '{result.stage}'"] if result.stage else []
    lines += [
        f"completion {row + 1}: {_shown(scored.completions[row])}" for row in range(min(2, len(scored)))
    ]
    for index, name in enumerate(scored.names):
        column = scored.scores[:, index]
        known = column[~np.isnan(column)]
        mean = f"mean {known.mean():.3f}, {known.min():g} to {known.max():g}" if len(known) else "no score"
        missing = f", {len(column) - len(known)} without a score" if len(known) < len(column) else ""
        lines.append(f"{name} (weight {result.weights[index]:g}): {mean}{missing}")
    mode = scored.aggregation
    statistics = group_statistics(scored.scores, result.weights, scored.groups, aggregation=mode)
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
    lines += [f"note: {note}" for note in result.notes]
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
