"""A run folder at its birth: the files that say what is trained, under what, and from what.

`manifest.toml` is a manifest like any other: it can be trained again. What it has no key for (the model's folder, the
seal, fingerprints, threads) stands in `run.json`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tomlkit

from rewards.errors import UsageError
from trainer import tools
from trainer.backends.choice import prepare
from trainer.environment import describe_environment
from trainer.job import Job, Request
from trainer.models.loading import fingerprint_weights
from trainer.ranks import launched
from trainer.reports.reproduction import write_reproduction
from trainer.rundir import RunDir, Stage, read_json, strict_json, write_json
from trainer.settings import Settings

FACTS = "run.json"
OF_A_STAGE = ("name", "rewards", "weights", "where", "until")
"""What a stage's table has besides settings."""


@dataclass(frozen=True)
class RunFacts:
    """What a run is made of besides its manifest.

    `fingerprint` is the reward set's, `data_fingerprint` that of all rows and their split; `sealed` says whether the
    set was sealed as it is, `unsealed_because` why it was not (the run was then started with --allow-unsealed, or
    resumed so on other rewards).
    `processes`: how many trained together; `tools_fingerprint`: of the files of tools and environment.
    """

    target: str
    root: str
    model: str
    model_path: str
    device: str
    threads: int
    fingerprint: str
    data_fingerprint: str
    sealed: bool
    allow_unsealed: bool
    unsealed_because: tuple[str, ...]
    evidence: str | None
    max_steps: int
    train_prompts: int
    holdout_prompts: int
    notes: tuple[str, ...]
    created: str
    command: str
    processes: int = 1
    tools_fingerprint: str = ""

    @classmethod
    def of(cls, jobs: Sequence[Job], request: Request, *, model: Path, threads: int) -> RunFacts:
        """The facts of the jobs about to start with the model in the folder `model`."""
        job = jobs[0]
        path = Path(request.target.partition("::")[0]).expanduser()
        suffix = request.target[len(request.target.partition("::")[0]) :]
        return cls(
            target=f"{path.resolve()}{suffix}" if path.exists() else request.target,
            root=str(job.root),
            model=job.settings.model,
            model_path=str(model),
            device=job.settings.device,
            threads=threads,
            fingerprint=job.description.fingerprint,
            data_fingerprint=data_fingerprint(jobs),
            sealed=job.seal.holds,
            allow_unsealed=request.allow_unsealed,
            unsealed_because=job.seal.problems,
            evidence=job.seal.seal.strength if job.seal.seal else None,
            max_steps=sum(one.plan.max_steps for one in jobs),
            train_prompts=max(len(one.data.train) for one in jobs),
            holdout_prompts=len(job.data.holdout),
            notes=tuple(dict.fromkeys(note for one in jobs for note in one.settings.notes)),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            command=shlex.join(["python", "-P", "-m", "trainer", *sys.argv[1:]]),
            processes=launched(),
            tools_fingerprint=tools_fingerprint(jobs),
        )


def data_fingerprint(jobs: Sequence[Job]) -> str:
    """32 hex digits over the rows of every stage and their split."""
    if len(jobs) == 1:
        return jobs[0].data.fingerprint
    return hashlib.sha256("".join(job.data.fingerprint for job in jobs).encode()).hexdigest()[:32]


def tools_fingerprint(jobs: Sequence[Job]) -> str:
    """32 hex digits over the tools of every stage; "" where there are none."""
    return "".join(dict.fromkeys(tools.fingerprint(job.settings.own) for job in jobs))


def read_facts(run: RunDir) -> RunFacts:
    """The facts of a run.

    Raises:
        UsageError: run.json is missing or damaged.
    """
    values = read_json(run.path / FACTS)
    try:
        return RunFacts(
            **{
                **values,
                "unsealed_because": tuple(values["unsealed_because"]),
                "notes": tuple(values["notes"]),
            }
        )
    except (KeyError, TypeError) as error:
        raise UsageError(f"{run.path / FACTS} lacks a part or has one too many: {error}") from error


def create_run(folder: Path, jobs: Sequence[Job], facts: RunFacts) -> RunDir:
    """Make the run folder, whole or not at all.

    Raises:
        UsageError: it cannot be written, or somebody else made it meanwhile.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise UsageError(
            f"the run folder {folder} cannot be made: {error.strerror}; give another --run"
        ) from error
    try:
        _fill(RunDir(temporary), folder, jobs, facts)
        temporary.chmod(0o755)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        os.rename(temporary, folder)
    except OSError as error:
        raise UsageError(
            f"the run folder {folder} cannot be made: {error.strerror}; give another --run"
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return RunDir(folder.resolve())


def _fill(run: RunDir, final: Path, jobs: Sequence[Job], facts: RunFacts) -> None:
    job = jobs[0]
    run.manifest_path.write_text(tomlkit.dumps(resolved_manifest(jobs, final)), encoding="utf-8")
    if job.seal.holds:
        shutil.copyfile(job.seal.path, run.seal_path)
    write_json(run.path / FACTS, asdict(facts))
    environment = {
        **describe_environment(job.settings.device),
        "threads": facts.threads,
        "base_fingerprint": fingerprint_weights(facts.model_path),  # the merge is refused on any other base
    }
    write_json(run.path / "environment.json", environment)
    write_reproduction(
        run.path,
        python=platform.python_version(),
        fingerprint=facts.fingerprint,
        sealed=facts.sealed,
        threads=facts.threads,
    )
    run.write_stages([Stage(one.stage, tuple(one.rewards), one.plan.max_steps) for one in jobs])
    run.holdout_path.write_text(
        "".join(strict_json(row) + "\n" for row in job.data.holdout), encoding="utf-8"
    )
    run.metrics_path.touch()
    run.completions.mkdir()
    run.checkpoints.mkdir()


def resolved_manifest(jobs: Sequence[Job], folder: Path) -> dict[str, Any]:
    """The manifest that gives this run again, every setting as resolved, paths seen from `folder`.

    `[train]` has what all stages share, each stage the rest of its own.
    """
    job = jobs[0]
    manifest = job.manifest
    settings: dict[str, Any] = {
        "name": job.description.name,
        "tokenizer": job.description.tokenizer,
        "aggregation": job.description.aggregation,
        "scale_rewards": job.description.scale_rewards,
    }
    if manifest:
        settings["samples"] = [_seen_from(folder, path) for path in manifest.sample_paths]
    source = (job.root / Path(job.data_settings.train).expanduser()).resolve()
    data = job.data_settings.model_dump(mode="json")
    data["train"] = _seen_from(folder, source) if source.exists() else job.data_settings.train
    tables = [_without_none(one.settings.to_manifest()) for one in jobs]
    train = {
        key: value
        for key, value in tables[0].items()
        if all(key in table and table[key] == value for table in tables)
    }
    train["stage"] = [
        {**_stage_table(one), **{key: value for key, value in table.items() if key not in train}}
        for one, table in zip(jobs, tables, strict=True)
    ]
    table: dict[str, Any] = {
        "set": settings,
        "reward": [_entry(job, index, folder) for index in range(len(job.description.rewards))],
    }
    if manifest:
        table["check"] = manifest.check.model_dump(mode="json")
    table["data"], table["train"] = data, train
    return dict(_without_none(table))


def _stage_table(job: Job) -> dict[str, Any]:
    table: dict[str, Any] = {"name": job.stage, "rewards": list(job.rewards), "max_steps": job.plan.max_steps}
    if job.until is not None:
        table["until"] = job.until.model_dump(mode="json", exclude_none=True)
    return {
        **table,
        **{key: dict(value) for key, value in (("weights", job.weights), ("where", job.where)) if value},
    }


def settings_of(run: RunDir, facts: RunFacts) -> tuple[Settings, ...]:
    """The settings every stage of a run was started under, exactly: no preset is looked up again.

    Raises:
        UsageError, MissingExtraError: what their backend needs is not here.
    """
    table = dict(run.manifest()["train"])
    stages = table.pop("stage")
    found = tuple(
        Settings.from_manifest(
            {**table, **{key: value for key, value in stage.items() if key not in OF_A_STAGE}},
            device=facts.device,
            notes=facts.notes,
        )
        for stage in stages
    )
    for one in found:
        prepare(one)
    return found


def _entry(job: Job, index: int, folder: Path) -> dict[str, Any]:
    entry = job.description.rewards[index].entry.model_dump(mode="json")
    where, separator, name = entry["function"].partition("::")
    if separator:
        entry["function"] = f"{_seen_from(folder, (job.root / where).resolve())}::{name}"
    return {key: value for key, value in entry.items() if value not in (None, {})}


def _seen_from(folder: Path, path: Path) -> str:
    """`path` relative to the run where both lie in one project, else absolute."""
    relative = os.path.relpath(path, folder.absolute())
    return relative if relative.count("..") <= 2 else str(path)


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_without_none(item) for item in value if item is not None]
    return value
