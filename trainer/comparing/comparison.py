"""The trained model beside its base on prompts neither was trained on.

Both answer the same prompts, several times each, from the same random numbers; the run's reward set scores
all of it, the rewards of weight 0 included, which watched and did not pull. Completions of a prompt are
averaged, and what is compared are the pairs. A prompt that the run trained on is left out and counted, never
compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.contract import Batch
from rewards.errors import UsageError
from rewards.manifest import DataSettings, read_manifest
from rewards.running import Crew
from rewards.targets import parse_target
from trainer.bare import attached_facts, is_bare
from trainer.bounds import COMPLETION_TOKENS, completion_tokens
from trainer.comparing.sides import WITHHELD, Sides, compare_scores, counted_totals, per_prompt
from trainer.comparing.statistics import FEWEST, NOTHING, prompts_needed
from trainer.data.held_out import Prompts, Row, prompts_for
from trainer.environment import find_device
from trainer.job import describe
from trainer.merging.merge import base_of, find_trained
from trainer.models.generation import Completion, Prompt, Sampling, complete
from trainer.models.loading import load_model, load_tokenizer
from trainer.models.naming import resolve_model
from trainer.reports.card import write_card
from trainer.rewarding.completions import ScoredBatch
from trainer.rewarding.wrapped import Scoring, bind
from trainer.rundir import RunDir, find_run, write_json
from trainer.runfiles import FACTS, read_facts

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMPARISON = "comparison.json"
WORST = 5
TOTAL = "total"

MOST_COMPLETIONS, MOST_SAMPLES = 256, 8
"""Completions of each model in all, and for one prompt.

Enough to see a difference, few enough to wait for.
"""

Answers = list[list[Completion]]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True)
class Line(Sides):
    """One reward (or the total) over all prompts; the total has neither kind nor weight."""

    name: str
    kind: str | None
    weight: float | None

    @property
    def unscored(self) -> int:
        """Completions of both models that have no score."""
        return self.unscored_base + self.unscored_trained


@dataclass(frozen=True)
class Regression:
    """A prompt on which the trained model's total is lower, on the mean of its completions.

    What shows the loss: the best-paid completion of the base beside the worst-paid of the trained model.
    """

    prompt: Any
    base: str
    trained: str
    base_total: float
    trained_total: float


@dataclass(frozen=True)
class Comparison:
    """Everything about one comparison; `lines` has the total first, then each reward."""

    base: str
    trained: str
    prompts: int
    completions: int
    source: str
    trained_prompts: int
    overlapping: int
    sampling: Sampling
    lines: list[Line]
    worst: list[Regression]
    notes: tuple[str, ...] = ()
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> Line:
        """The line of the weighted total."""
        return self.lines[0]


def compare_answers(
    answers: tuple[Answers, Answers],
    prompts: Prompts,
    crew: Crew,
    *,
    sampling: Sampling = Sampling(),
    labels: tuple[str, str] = ("base", "trained"),
    notes: Sequence[str] = (),
) -> Comparison:
    """Score what the base and the trained model answered to each prompt, equally often, and compare prompt by
    prompt.
    """
    samples = len(answers[0][0])
    scored = [score(crew, prompts.rows, one) for one in answers]
    entries = [crew.description.reward(name).entry for name in crew.names]
    scores = (scored[0].scores, scored[1].scores)
    weights, ranges = [entry.weight for entry in entries], [entry.range for entry in entries]
    heads = [(TOTAL, None, None), *((entry.name, entry.kind, entry.weight) for entry in entries)]
    lines = [
        Line(name=name, kind=kind, weight=weight, **vars(side))
        for (name, kind, weight), side in zip(
            heads, compare_scores(*scores, weights, ranges, samples=samples), strict=True
        )
    ]
    paid = counted_totals(*scores, weights, ranges, samples)
    return Comparison(
        *labels,
        prompts=len(prompts.rows),
        completions=samples,
        source=prompts.source,
        trained_prompts=prompts.trained,
        overlapping=prompts.overlapping,
        sampling=sampling,
        lines=lines,
        worst=regressions([row["prompt"] for row in prompts.rows], answers, paid, samples),
        notes=tuple(notes),
        errors=_first_errors(scored),
    )


def score(crew: Crew, rows: Sequence[Row], answers: Sequence[Sequence[Completion]]) -> ScoredBatch:
    """Score the answers to each row in one call per reward, as in training.

    Rows of a prompt follow one another.
    """
    flat = [(number, row, one) for number, row in enumerate(rows) for one in answers[number]]
    columns = [name for name in dict.fromkeys(key for row in rows for key in row) if name != "prompt"]
    batch = Batch(
        prompts=[row["prompt"] for _, row, _ in flat],
        completions=[one.as_reply(row["prompt"]) for _, row, one in flat],
        completion_ids=[one.ids for _, _, one in flat],
        columns={name: [row.get(name) for _, row, _ in flat] for name in columns},
        groups=[str(number) for number, _, _ in flat],
    )
    scoring = Scoring(
        bind(crew.description, crew.names),
        crew.call_all,
        group=len(answers[0]) if answers else 1,
        record=lambda scored: None,
    )
    return scoring.score(batch, step=0, split="eval")


def regressions(
    prompts: Sequence[Prompt],
    answers: Sequence[list[list[Completion]]],
    totals: tuple[NDArray[Any], NDArray[Any]],
    samples: int,
) -> list[Regression]:
    """The prompts that lost most of the total, worst first, at most five."""
    import numpy as np

    before, after = (per_prompt(values, samples) for values in totals)
    loss = np.nan_to_num(before - after)
    order = [int(row) for row in np.argsort(-loss, kind="stable") if loss[row] > 0][:WORST]
    return [
        Regression(
            prompt=prompts[row],
            base=_lowest(answers[0][row], -totals[0], row, samples),
            trained=_lowest(answers[1][row], totals[1], row, samples),
            base_total=float(before[row]),
            trained_total=float(after[row]),
        )
        for row in order
    ]


def _lowest(answers: Sequence[Completion], totals: NDArray[Any], row: int, samples: int) -> str:
    import numpy as np

    mine = np.nan_to_num(totals[row * samples : (row + 1) * samples], nan=np.inf)
    return answers[int(np.argmin(mine))].text


def _first_errors(scored: Sequence[ScoredBatch]) -> dict[str, str]:
    """The first error of each reward that failed on some row."""
    errors: dict[str, str] = {}
    for batch in scored:
        for by_reward in batch.errors.values():
            for name, sentence in by_reward.items():
                errors.setdefault(name, sentence)
    return errors


@dataclass(frozen=True)
class _Side:
    """What is needed to compare what a folder holds with its base."""

    run: RunDir
    base: Path
    label: str
    target: str
    names: tuple[str, ...]
    fingerprint: str | None
    length: int
    template: Mapping[str, Any]
    data: DataSettings


def compare_run(
    where: str | Path,
    *,
    prompts: Path | None = None,
    target: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare a merged model with its base and write comparison.json into the folder.

    Args:
        where: the run folder, its name under runs/, or an output folder of TRL's.
        prompts: a file of prompts with the columns the rewards read; default: the run's held-out prompts.
        target: the reward set that scores; needed for a folder of TRL's that no set was attached to.
        seed: of the sampling.
        progress: called with what is being done, completions done, and completions in all.

    Raises:
        UsageError: not merged yet, no held-out prompt, or a column is missing.
    """
    path = Path(where).expanduser()
    side = _of_output(path.resolve(), target) if is_output(path) else _of_run(find_run(where), target)
    trained = trained_folder(side.run)
    chosen = prompts_for(side.run, prompts, limit=MOST_COMPLETIONS, data=side.data)
    description, _ = describe(side.target)
    columns = dict.fromkeys(key for row in chosen.rows for key in row if key != "prompt")
    names = side.names or tuple(description.names)
    description.only(list(names)).require_columns(columns)
    samples = max(1, min(MOST_SAMPLES, MOST_COMPLETIONS // len(chosen.rows)))
    sampling = Sampling(max_new_tokens=side.length, seed=seed)
    answers = tuple(
        answer(folder, trained, chosen, samples, sampling, _told(progress, label), template=side.template)
        for folder, label in zip((side.base, trained), ("base", "trained"), strict=True)
    )
    changed = side.fingerprint is not None and description.fingerprint != side.fingerprint
    with Crew(side.target, names) as crew:
        comparison = compare_answers(
            (answers[0], answers[1]),
            chosen,
            crew,
            sampling=sampling,
            labels=(side.label, str(trained)),
            notes=_notes(changed, chosen, side.run),
        )
    write_comparison(side.run, comparison)
    if (side.run.path / FACTS).is_file():
        write_card(side.run)
    return comparison


def _of_run(run: RunDir, target: str | None) -> _Side:
    facts = read_facts(run)
    used = {name for stage in run.stages() for name in stage.rewards}
    manifest = read_manifest(run.manifest_path)
    order = [entry.name for entry in manifest.reward]
    return _Side(
        run=run,
        base=resolve_model(base_of(run)).path,
        label=facts.model,
        target=target or facts.target,
        names=()
        if target
        else tuple(sorted(used, key=lambda name: order.index(name) if name in order else 0)),
        fingerprint=None if target else facts.fingerprint,
        length=trained_length(run) or COMPLETION_TOKENS,
        template=trained_template(run),
        data=manifest.data,
    )


def rewards_of(run: RunDir) -> tuple[str, tuple[str, ...]]:
    """The target that scores a run's answers and the names of its rewards, in the set's order.

    Raises:
        UsageError: run.json or the manifest cannot be read.
    """
    side = _of_run(run, None)
    return side.target, side.names


def is_output(path: Path) -> bool:
    """Whether a folder is no run folder but an output folder of TRL's, merged or not."""
    return (
        path.is_dir()
        and not (path / "stages.json").is_file()
        and (is_bare(path) or (path / "merged").is_dir())
    )


def _of_output(path: Path, target: str | None) -> _Side:
    facts = attached_facts(path)
    chosen = target or facts.get("target")
    if not chosen:
        raise UsageError(
            f"{path} does not say which rewards it was trained by; give the set that is to score: --target TARGET"
        )
    trained = find_trained(path)
    manifest_path = parse_target(chosen).path
    known = manifest_path.name.endswith(".toml") and manifest_path.is_file()
    return _Side(
        run=RunDir(path),
        base=trained.base,
        label=trained.base.name,
        target=chosen,
        names=() if target else tuple(facts.get("rewards") or ()),
        fingerprint=None if target else facts.get("fingerprint"),
        length=completion_tokens(facts),
        template=facts.get("chat_template_kwargs") or {},
        data=read_manifest(manifest_path).data if known else DataSettings(),
    )


def write_comparison(run: RunDir, comparison: Comparison) -> None:
    """Write comparison.json into the run folder."""
    path = run.path / COMPARISON
    try:
        write_json(path, to_json(comparison))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def trained_folder(run: RunDir) -> Path:
    """The folder of the run's trained model as a whole: `merged/`, or `model/` after full fine-tuning.

    Raises:
        UsageError: there is none yet.
    """
    merged = run.path / "merged"
    for folder in (merged, run.full_model):
        if (folder / "config.json").is_file():
            return folder
    raise UsageError(f"{run.path} is not merged yet; do that first: reward-workbench merge {run.path}")


def answer(
    folder: Path,
    tokenizer_folder: Path,
    prompts: Prompts,
    samples: int,
    sampling: Sampling,
    progress: Callable[[int, int], None] | None,
    *,
    template: Mapping[str, Any] | None = None,
) -> Answers:
    """What the model in `folder` answers to every prompt.

    Both models read prompts through the trained one's tokenizer, with the `chat_template_kwargs` of the training.
    """
    model = load_model(folder, dtype="auto").to(find_device())
    tokenizer = load_tokenizer(tokenizer_folder, template=template)
    questions = [row["prompt"] for row in prompts.rows]
    return complete(model, tokenizer, questions, samples=samples, sampling=sampling, progress=progress)


def _told(progress: Progress | None, label: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(label, done, total)


def trained_length(run: RunDir) -> int | None:
    """The longest completion of the training, which is what the rewards know; None where the run does not say.

    Where stages differ it is that of the last one with steps: the model as it is now came from there.
    """
    length = _trained_with(run).get("max_completion_length")
    return int(length) if length else None


def trained_template(run: RunDir) -> dict[str, Any]:
    """The `chat_template_kwargs` of the training, {} where it had none: prompts read as then, e.g. without thinking."""
    return dict(_trained_with(run).get("chat_template_kwargs") or {})


def _trained_with(run: RunDir) -> dict[str, Any]:
    """The settings that shaped the model as it is now: those of the last stage with steps over the set's."""
    train = _train_table(run)
    made = [stage.step > 0 for stage in run.stages()]
    stages = [table for table, any_steps in zip(train.get("stage", []), made, strict=False) if any_steps]
    return {**train, **(stages[-1] if stages else {})}


def _train_table(run: RunDir) -> Mapping[str, Any]:
    return run.manifest().get("train", {}) if run.manifest_path.is_file() else {}


def _notes(changed: bool, prompts: Prompts, run: RunDir) -> list[str]:
    notes = []
    stages = _train_table(run).get("stage", [])
    if any("weights" in stage for stage in stages):
        notes.append(
            "stages of the run weighed the rewards otherwise; the total here is by the set's weights"
        )
    if changed:
        notes.append("the reward set has changed since the run; it is scored by the set as it is now")
    if prompts.spared:
        notes.append(f"{prompts.spared} more held-out prompts were left aside to keep this short")
    return notes


def to_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison as it stands in comparison.json."""
    values = asdict(comparison)
    for line, one in zip(values["lines"], comparison.lines, strict=True):
        line["unscored"] = one.unscored
        line["verdict"] = one.verdict
    values["sentence"] = sentence(comparison)
    return values


def sentence(comparison: Comparison) -> str:
    """The outcome in one sentence: the total's difference, its interval, what has no score, what could have shown."""
    line, result = comparison.total, comparison.total.paired
    most = "" if result.pairs == comparison.prompts else f" of {comparison.prompts}"
    text = f"total {line.base:.3f} -> {line.trained:.3f} on {result.pairs}{most} held-out prompts: {line.verdict}"
    if result.low is not None and result.high is not None:
        text += f" (difference {result.mean:+.3f}, 95 % interval {result.low:+.3f} to {result.high:+.3f})"
    if line.unscored:
        text += f"; completions without a score: base {line.unscored_base}, trained {line.unscored_trained}"
    if line.counted is not None:
        return text + _counted(comparison)
    if result.verdict == NOTHING and result.pairs < FEWEST:
        text += f"; fewer than {FEWEST} prompts can show none"
    elif result.verdict == NOTHING and result.detectable is not None:
        text += (
            f"; a true difference of {result.detectable:.3f} would have shown in 80 of 100 such comparisons, "
            "smaller ones less often"
        )
        if result.mean:
            needed = prompts_needed(abs(result.mean), result.spread**2 + result.mean**2)
            text += f", one like this takes about {needed} prompts"
    return text


def _counted(comparison: Comparison) -> str:
    """Which rewards scored the sides unevenly, and the total where what is missing counts as the worst."""
    line, uneven = comparison.total, [one for one in comparison.lines[1:] if one.counted is not None]
    assert line.counted is not None
    told = "; ".join(
        f"{one.name}: base {one.unscored_base}, trained {one.unscored_trained}" for one in uneven
    )
    counted = line.counted
    text = (
        f"; the sides lack scores unevenly ({told}); with the missing counted as the worst the total is "
        f"{counted.base:.3f} -> {counted.trained:.3f} on {counted.paired.pairs} prompts: {counted.paired.verdict}"
    )
    return text if line.verdict != WITHHELD else f"{text}, so the verdict depends on them"
