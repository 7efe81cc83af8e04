"""A job: everything that is known about a training before its model is loaded.

`train`, `preflight` and `dry-run` all start from it: reward set, seal, settings, data, batch sizes, plan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rewards.errors import ManifestError, SealError, ShortfallError, UsageError
from rewards.manifest import DataSettings, Manifest, Stage, TrainSettings, read_manifest
from rewards.rewardset import SetDescription
from rewards.running import Runner
from rewards.seal import Seal, read_seal, verify
from trainer.data import TrainingData, load_data
from trainer.environment import find_device
from trainer.plan import Batching, Plan, batching, plan_run
from trainer.settings import Settings, check_with_trl, parse_sets, resolve

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
    """One training, resolved and checked."""

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

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.description.root


def prepare_job(request: Request) -> Job:
    """Describe the reward set, resolve the settings, read the data, make the plan. No model is loaded.

    Raises:
        RewardWorkbenchError: whatever is wrong with target, settings or data, in one sentence.
    """
    description, manifest = describe(request.target)
    train = manifest.train if manifest else TrainSettings()
    stage = the_stage(train)
    values = parse_sets(request.sets)
    data_settings = data_from(manifest, values)
    own = {name: value for name, value in values.items() if not name.startswith("data.")}
    settings = resolve(train, device=find_device(), model=request.model, stage=stage, sets=own)
    settings = check_with_trl(settings)
    data = load_data(data_settings, description.root, seed=settings.seed)
    return make_job(manifest, description, settings, data_settings, data, stage)


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
    stage: Stage | None = None,
) -> Job:
    """Put the parts together: required columns checked, sizes and plan computed."""
    names = tuple(stage.rewards) if stage and stage.rewards else tuple(description.names)
    description.only(list(names)).require_columns(dict.fromkeys(data.columns))
    sizes = batching(settings.trl)
    plan = plan_run(
        sizes,
        len(data.train),
        max_steps=int(settings.trl.get("max_steps", -1)),
        epochs=float(settings.trl.get("num_train_epochs", 3.0)),
    )
    seal = seal_state(description)
    name = stage.name if stage and stage.name else MAIN_STAGE
    return Job(manifest, description, seal, settings, data_settings, data, sizes, plan, name, names)


def replan(job: Job, data: TrainingData) -> Job:
    """The same job over other rows (long prompts left out)."""
    plan = plan_run(
        job.sizes,
        len(data.train),
        max_steps=int(job.settings.trl.get("max_steps", -1)),
        epochs=float(job.settings.trl.get("num_train_epochs", 3.0)),
    )
    return replace(job, data=data, plan=plan)


def the_stage(train: TrainSettings) -> Stage | None:
    """The one stage of the manifest, None without any.

    Raises:
        ManifestError: there are several; a run has one stage.
    """
    if len(train.stage) > 1:
        names = ", ".join(stage.name or str(index) for index, stage in enumerate(train.stage, 1))
        raise ManifestError(f"[[train.stage]] stands {len(train.stage)} times ({names}); a run has one stage")
    return train.stage[0] if train.stage else None


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
