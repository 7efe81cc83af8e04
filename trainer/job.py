"""A job: everything that is known about one stage of a training before its model is loaded.

`train`, `preflight` and `dry-run` all start from it: reward set, seal, settings, data, batch sizes, plan. A training
without `[[train.stage]]` has one stage; `preflight` and `dry-run` look at the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rewards.errors import SealError, ShortfallError, UsageError
from rewards.manifest import DataSettings, Manifest, Stage, TrainSettings, Until, read_manifest
from rewards.rewardset import SetDescription
from rewards.running import Runner
from rewards.seal import Seal, read_seal, verify
from trainer.data.prompts import TrainingData, load_data
from trainer.environment import find_device
from trainer.plan import Batching, Plan, batching, plan_run
from trainer.ranks import launched
from trainer.settings import Settings, check_with_trl, parse_sets, resolve
from trainer.tools import seen_from
from trainer.watching.weights import check_adaptive_weight

MAIN_STAGE = "main"


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    target: str
    model: str | None = None
    run: Path | None = None
    resume: bool = False
    sets: tuple[str, ...] = ()
    allow_unsealed: bool = False


@dataclass(frozen=True)
class SealState:
    """The seal of a reward set as it is now; `problems` says why it does not hold ([] while it does)."""

    path: Path
    seal: Seal | None
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """True while the sealed set is the set at hand."""
        return not self.problems


@dataclass(frozen=True)
class Job:
    """One stage of a training, resolved and checked.

    `rewards` are the names used in it, `weights` those that differ from the set's, `where` the rows it trains on,
    `until` what ends it early.
    """

    manifest: Manifest | None
    description: SetDescription
    seal: SealState
    settings: Settings
    data_settings: DataSettings
    data: TrainingData
    sizes: Batching
    plan: Plan
    stage: str
    rewards: tuple[str, ...]
    weights: Mapping[str, float] = field(default_factory=dict)
    where: Mapping[str, Any] = field(default_factory=dict)
    until: Until | None = None

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.description.root


def prepare_job(request: Request) -> Job:
    """The first stage of `prepare_jobs`."""
    return prepare_jobs(request)[0]


def prepare_jobs(request: Request) -> tuple[Job, ...]:
    """Describe the reward set, resolve the settings, read the data, make the plan of every stage. No model is loaded.

    Raises:
        RewardWorkbenchError: whatever is wrong with target, settings or data, in one sentence.
    """
    description, manifest = describe(request.target)
    train = manifest.train if manifest else TrainSettings()
    values = parse_sets(request.sets)
    data_settings = data_from(manifest, values)
    own = {name: value for name, value in values.items() if not name.startswith("data.")}
    stages = stages_of(train)
    settings = [
        check_with_trl(
            resolve(
                train,
                device=find_device(),
                model=request.model,
                stage=stage,
                sets=own,
                processes=launched(),
            )
        )
        for stage in stages
    ]
    settings = [one.model_copy(update={"own": seen_from(one.own, description.root)}) for one in settings]
    data = load_data(data_settings, description.root, seed=settings[0].seed)
    return tuple(
        make_job(manifest, description, one, data_settings, data, stage)
        for one, stage in zip(settings, stages, strict=True)
    )


def describe(target: str) -> tuple[SetDescription, Manifest | None]:
    """A reward set as a process of its own loads it, and its manifest.

    Raises:
        LoadError, TargetError, ManifestError: the target cannot be loaded.
    """
    with Runner() as runner:
        description = runner.inspect(target)
    return description, read_manifest(description.manifest_path) if description.manifest_path else None


def make_job(
    manifest: Manifest | None,
    description: SetDescription,
    settings: Settings,
    data_settings: DataSettings,
    data: TrainingData,
    stage: Stage,
) -> Job:
    """Put the parts together: required columns checked, rows chosen, sizes and plan computed."""
    names = tuple(stage.rewards) or tuple(description.names)
    used = description.only(list(names))
    made = ["environments"] if settings.own.environment_factory else []
    used.require_columns(dict.fromkeys([*data.columns, *made]))
    check_adaptive(used, stage.weights)
    if str(settings.trl.get("eval_strategy") or "no") != "no" and not data.holdout:
        raise UsageError(
            f"eval_strategy={settings.trl['eval_strategy']} needs held-out rows, and there are none: holdout = 0.1 in "
            "[data]; or leave it at no"
        )
    data = rows_of(stage, data)
    sizes = batching(settings.trl, launched())
    plan = plan_run(
        sizes,
        len(data.train),
        max_steps=int(settings.trl.get("max_steps", -1)),
        epochs=float(settings.trl.get("num_train_epochs", 3.0)),
    )
    return Job(
        manifest,
        description,
        seal_state(description),
        settings.planned(plan.max_steps, sizes.window),
        data_settings,
        data,
        sizes,
        plan,
        stage.name,
        names,
        weights=stage.weights,
        where=stage.where,
        until=stage.until,
    )


def replan(job: Job, data: TrainingData) -> Job:
    """The same job over other rows (long prompts left out)."""
    plan = plan_run(
        job.sizes,
        len(data.train),
        max_steps=int(job.settings.trl.get("max_steps", -1)),
        epochs=float(job.settings.trl.get("num_train_epochs", 3.0)),
    )
    return replace(job, data=data, plan=plan, settings=job.settings.planned(plan.max_steps, job.sizes.window))


def stages_of(train: TrainSettings) -> tuple[Stage, ...]:
    """The stages with a name each; one called main where the manifest has none.

    Raises:
        UsageError: two stages have one name, or a weight is given for a reward the stage does not use.
    """
    if not train.stage:
        return (Stage(name=MAIN_STAGE),)
    only = len(train.stage) == 1
    stages = tuple(
        stage if stage.name else stage.model_copy(update={"name": MAIN_STAGE if only else f"stage-{number}"})
        for number, stage in enumerate(train.stage, 1)
    )
    names = [stage.name for stage in stages]
    for stage in stages:
        if names.count(stage.name) > 1:
            raise UsageError(f"two [[train.stage]] are named '{stage.name}'; give one of them another name")
        idle = set(stage.weights) - set(stage.rewards) if stage.rewards else set()
        if idle:
            raise UsageError(f"stage '{stage.name}' weighs reward '{sorted(idle)[0]}', which it does not use")
    return stages


def rows_of(stage: Stage, data: TrainingData) -> TrainingData:
    """The data with only those training rows that the stage's `where` asks for.

    Raises:
        UsageError: no such column, or no row is left.
    """
    if not stage.where:
        return data
    for column in stage.where:
        if column not in data.columns:
            raise UsageError(
                f"stage '{stage.name}': the data has no column '{column}' (columns: {', '.join(data.columns)})"
            )
    wanted = {column: value if isinstance(value, list) else [value] for column, value in stage.where.items()}
    kept = [row for row in data.train if all(row.get(column) in values for column, values in wanted.items())]
    if not kept:
        raise UsageError(
            f"stage '{stage.name}': none of the {len(data.train)} training rows has {dict(stage.where)}"
        )
    return replace(data, train=kept)


def check_adaptive(description: SetDescription, weights: Mapping[str, float]) -> None:
    """See that every adaptive reward says what its best score is, and has a weight that can be moved.

    `weights` replace declared ones.

    Raises:
        UsageError: one declares no range, or begins below the least weight it may have.
    """
    for reward in description.rewards:
        weight = weights.get(reward.name, reward.entry.weight)
        if reward.entry.adaptive is not None:
            check_adaptive_weight(reward.name, weight, reward.entry.adaptive)
        if reward.entry.adaptive is not None and reward.entry.range is None:
            raise UsageError(
                f"reward '{reward.name}' is adaptive, so it must declare its range: success is the share of "
                "completions at the upper end of it; add range = [0.0, 1.0]"
            )


def data_from(manifest: Manifest | None, sets: dict[str, Any]) -> DataSettings:
    """`[data]` with the keys `data.train`, `data.system_prompt`, `data.holdout` of `--set` on top.

    A file given on the command line is relative to the current folder.
    """
    stated = manifest.data if manifest else DataSettings()
    changes = {name.removeprefix("data."): value for name, value in sets.items() if name.startswith("data.")}
    unknown = set(changes) - set(DataSettings.model_fields)
    if unknown:
        raise UsageError(
            f"there is no setting 'data.{unknown.pop()}'; known: {', '.join(DataSettings.model_fields)}"
        )
    if "train" in changes and Path(str(changes["train"])).exists():
        changes["train"] = str(Path(changes["train"]).resolve())
    try:
        return DataSettings(**{**stated.model_dump(), **changes})
    except ValueError as error:
        raise UsageError(f"--set data...: {error}") from error


def seal_state(description: SetDescription) -> SealState:
    """Read and verify the seal of a set."""
    try:
        seal = read_seal(description.seal_path)
    except SealError as error:
        return SealState(description.seal_path, None, (str(error),))
    return SealState(description.seal_path, seal, tuple(verify(seal, description)))


def require_seal(job: Job, request: Request) -> None:
    """See that the set is the one that was sealed, unless that was overridden.

    Raises:
        ShortfallError: it is not; the sentence has the line that checks it and the line that overrides.
    """
    if job.seal.holds or request.allow_unsealed:
        return
    raise ShortfallError(
        f"the reward set is not sealed as it is: {'; '.join(job.seal.problems)}; check it: reward-workbench check "
        f"{request.target} --seal; or train it all the same: reward-workbench train {request.target} --allow-unsealed"
    )
