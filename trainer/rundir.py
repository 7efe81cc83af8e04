"""The run folder: where everything about one training run lies, and how it stays whole.

    manifest.toml      the reward set and every setting as resolved; [run] says what and from what
    seal.json          the seal the run started from (absent where it was overridden, at the start or by a resume on
                       other rewards; then manifest and run.json say so)
    rewards.json       which rewards which steps were trained on, where a resume changed them
    environment.json   versions and hardware
    metrics.jsonl      one line for each logging step
    completions/       step_00001.parquet ... a file for each generation batch, eval_... for held-out ones
    checkpoints/       checkpoint-N; with several stages 1-NAME/checkpoint-N, counted from the stage's own start
    stages.json        what has been done
    diagnoses.jsonl    what the monitor told, a line each
    curriculum.jsonl   which dead prompts were passed over and tried again (skip_dead)
    evaluations.jsonl  every reward on held-out prompts, paired with the untrained model, whose answers lie in
                       held-out-base-PROMPTSxLENGTH-SEED.jsonl
    samples/           a few completions of every so many steps, with scores, credits and advantages
    holdout.jsonl      the held-out rows, which the run never trained on
    adapter/           the trained LoRA adapter (model/ after full fine-tuning)

Files are written whole or not at all: under a temporary name, then renamed. Lines are appended and flushed.
So a run killed at any moment is readable, and `RunDir` reads it without torch.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from rewards.errors import UsageError

PENDING, RUNNING, STOPPED, FAILED, DONE = "pending", "running", "stopped", "failed", "done"

ADAPTER_FILES = ("adapter_model.safetensors", "adapter_model.bin")
TRACKED = "runs"
"""Where a tracker that writes files (tensorboard) keeps them, beside the checkpoints."""
CHECKPOINT_RECORD = "whole.json"
CHECKPOINT_STATE = "trainer_state.json"

RESERVED = (
    "step",
    "prompt",
    "completion",
    "advantage",
    "total",
    "group",
    "split",
    "credits",
    "errors",
    "seconds",
)
"""Columns of a completions file that are no reward's and nothing that was logged."""


@dataclass(frozen=True)
class Stage:
    """One stage of a run and how far it got; `status` is pending, running, stopped, failed or done."""

    name: str
    rewards: tuple[str, ...]
    max_steps: int
    step: int = 0
    status: str = PENDING
    started: str | None = None
    finished: str | None = None
    reason: str | None = None
    summary: dict[str, Any] | None = None


@dataclass(frozen=True)
class RunDir:
    """A run folder on disk. Creating the object reads nothing; every method reads what is there now."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> RunDir:
        """The run in `path`.

        Raises:
            UsageError: if the folder is missing or is not a run folder.
        """
        path = Path(path)
        if not path.is_dir():
            raise UsageError(f"no such run folder: {path}")
        if not (path / "manifest.toml").is_file() or not (path / "stages.json").is_file():
            raise UsageError(f"{path} is not a run folder: it has no manifest.toml and stages.json")
        return cls(path.resolve())

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def manifest_path(self) -> Path:
        """manifest.toml"""
        return self.path / "manifest.toml"

    @property
    def seal_path(self) -> Path:
        """seal.json"""
        return self.path / "seal.json"

    @property
    def metrics_path(self) -> Path:
        """metrics.jsonl"""
        return self.path / "metrics.jsonl"

    @property
    def completions(self) -> Path:
        """completions/"""
        return self.path / "completions"

    @property
    def checkpoints(self) -> Path:
        """checkpoints/"""
        return self.path / "checkpoints"

    @property
    def adapter(self) -> Path:
        """adapter/"""
        return self.path / "adapter"

    @property
    def full_model(self) -> Path:
        """model/: the trained weights of a full fine-tune."""
        return self.path / "model"

    @property
    def holdout_path(self) -> Path:
        """holdout.jsonl"""
        return self.path / "holdout.jsonl"

    def manifest(self) -> dict[str, Any]:
        """manifest.toml as plain values."""
        try:
            return tomllib.loads(self.manifest_path.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise UsageError(f"{self.manifest_path} cannot be read: {error}") from error

    def environment(self) -> dict[str, Any]:
        """environment.json as plain values."""
        return dict(read_json(self.path / "environment.json"))

    def stages(self) -> list[Stage]:
        """The stages in their order."""
        known = set(Stage.__dataclass_fields__)
        stages = read_json(self.path / "stages.json")["stages"]
        return [
            Stage(**{**{k: v for k, v in stage.items() if k in known}, "rewards": tuple(stage["rewards"])})
            for stage in stages
        ]

    def write_stages(self, stages: list[Stage]) -> None:
        """Replace stages.json."""
        write_json(self.path / "stages.json", {"stages": [asdict(stage) for stage in stages]})

    def update_stage(self, index: int, **changes: Any) -> Stage:
        """Replace fields of one stage and write stages.json."""
        stages = self.stages()
        stages[index] = replace(stages[index], **changes)
        self.write_stages(stages)
        return stages[index]

    def is_finished(self) -> bool:
        """True where every stage is done."""
        return all(stage.status == DONE for stage in self.stages())

    def is_live(self) -> bool:
        """True while a trainer process works in this folder."""
        try:
            with self.locked():
                return False
        except UsageError:
            return True

    @property
    def diagnoses_path(self) -> Path:
        """diagnoses.jsonl"""
        return self.path / "diagnoses.jsonl"

    @property
    def evaluations_path(self) -> Path:
        """evaluations.jsonl"""
        return self.path / "evaluations.jsonl"

    @property
    def curriculum_path(self) -> Path:
        """curriculum.jsonl"""
        return self.path / "curriculum.jsonl"

    @property
    def samples(self) -> Path:
        """samples/"""
        return self.path / "samples"

    def diagnoses(self) -> list[dict[str, Any]]:
        """The lines of diagnoses.jsonl, in the order they were told."""
        return list(read_lines(self.diagnoses_path))

    def offset(self, index: int) -> int:
        """The steps made by the stages before this one: its own step 1 is step `offset + 1` of the run."""
        return sum(stage.step for stage in self.stages()[:index])

    def checkpoints_of(self, index: int) -> Path:
        """Where a stage keeps its checkpoints."""
        stages = self.stages()
        if len(stages) == 1:
            return self.checkpoints
        return self.checkpoints / f"{index + 1}-{slug(stages[index].name)}"

    def metrics(self) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl in order of step, one for each step (a later line adds to and wins over
        an earlier).

        A last line cut short by a kill is left out. Numbers that are not finite stand as the texts "nan",
        "inf", "-inf".
        """
        by_step: dict[int, dict[str, Any]] = {}
        for line in read_lines(self.metrics_path):
            by_step.setdefault(line["step"], {}).update(line)
        return [by_step[step] for step in sorted(by_step)]

    def holdout(self) -> list[dict[str, Any]]:
        """The held-out rows: prompt as the model saw prompts in training, and the other columns."""
        return list(read_lines(self.holdout_path))

    def whole_checkpoints(self, index: int = 0) -> list[Path]:
        """The checkpoints of a stage that were written to the end, lowest step first."""
        numbered = []
        for path in self.checkpoints_of(index).glob("checkpoint-*"):
            step = checkpoint_step(path)
            if step is not None and is_whole_checkpoint(path):
                numbered.append((step, path))
        return [path for _, path in sorted(numbered)]

    def stage_checkpoint(self, index: int) -> Path | None:
        """The latest whole checkpoint of a stage, or None."""
        whole = self.whole_checkpoints(index)
        return whole[-1] if whole else None

    def last_checkpoint(self) -> Path | None:
        """The latest whole checkpoint of the latest stage that has one, or None."""
        found = (self.stage_checkpoint(index) for index in reversed(range(len(self.stages()))))
        return next((path for path in found if path is not None), None)

    def drop_after(self, step: int, index: int = 0) -> int:
        """Forget what was recorded after `step` of the run, in stage `index`; returns how many metric lines went.

        A resumed run makes those steps again. Checkpoints that are not whole, or later, or of later stages, go too.
        """
        dropped = self.drop_records(step)
        for later in range(index, len(self.stages())):
            self._drop_checkpoints(later, step - self.offset(index) if later == index else 0)
        return dropped

    def drop_records(self, step: int) -> int:
        """The same for the records alone: metrics, diagnoses, evaluations, completions, samples."""
        lines = list(read_lines(self.metrics_path))
        for path in (self.metrics_path, self.diagnoses_path, self.evaluations_path, self.curriculum_path):
            if path.exists():
                _write_lines(path, [line for line in read_lines(path) if line["step"] <= step])
        for file in [*self.completions.glob("*.parquet"), *self.samples.glob("*.jsonl")]:
            number = re.match(r"(?:step|eval)_(\d+)", file.name)
            if number and int(number.group(1)) > step:
                file.unlink()
        for folder in (self.path, self.completions, self.samples):
            for left_over in folder.glob(".*.tmp"):
                left_over.unlink()  # of a write that a kill cut short
        return sum(line["step"] > step for line in lines)

    def _drop_checkpoints(self, index: int, step: int) -> None:
        whole = set(self.whole_checkpoints(index))
        for path in self.checkpoints_of(index).glob("*"):
            number = checkpoint_step(path)
            if path.name == TRACKED:
                continue
            if path.is_dir() and (path not in whole or (number is not None and number > step)):
                shutil.rmtree(path)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for one trainer process; the lock ends with the process, however that ends.

        Raises:
            UsageError: if another process holds it.
        """
        import fcntl

        with (self.path / ".lock").open("a") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise UsageError(f"run {self.path} is being trained by another process right now") from error
            yield


def checkpoint_step(path: Path) -> int | None:
    """The step in a checkpoint folder's name, or None."""
    found = re.fullmatch(r"checkpoint-(\d+)", path.name)
    return int(found.group(1)) if found else None


def is_whole_checkpoint(path: Path) -> bool:
    """True where everything that belongs to the checkpoint was written to its end.

    `whole.json`, our record of file sizes, is written last, after the trainer's own files and the states of what
    listens (adaptive weights, monitor): without it a kill came in between, however whole the trainer's part looks. The
    sizes have to agree. A checkpoint of weights that are not finite is no use to anybody and does not count.
    """
    try:
        state = json.loads((path / CHECKPOINT_STATE).read_text(encoding="utf-8"))
        if state.get("global_step") != checkpoint_step(path):
            return False
        content = json.loads((path / CHECKPOINT_RECORD).read_text(encoding="utf-8"))
        sizes: dict[str, int] = content["sizes"]
        right = all((path / name).stat().st_size == size for name, size in sizes.items())
        return bool(content.get("finite", True)) and right
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return False


def record_checkpoint(path: Path, *, finite: bool = True) -> None:
    """Write down the size of every file of a finished checkpoint, so that later damage is seen.

    `finite` says whether its weights are all finite.
    """
    sizes = {
        str(file.relative_to(path)): file.stat().st_size
        for file in sorted(path.rglob("*"))
        if file.is_file() and file.name != CHECKPOINT_RECORD
    }
    write_json(path / CHECKPOINT_RECORD, {"sizes": sizes, "finite": finite})


def choose_run_folder(root: Path, name: str, asked: Path | None) -> Path:
    """Where a new run goes: `asked`, or the first free `runs/NAME-N` under `root`.

    Raises:
        UsageError: if `asked` exists and is not an empty folder.
    """
    if asked is not None:
        path = Path(asked).absolute()
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            hint = "; go on with it by --resume, or" if (path / "stages.json").exists() else ";"
            raise UsageError(f"{asked} exists already{hint} give another --run")
        return path
    number = 1 + max((number for number, _ in _numbered_runs(root, name)), default=0)
    return root.absolute() / "runs" / f"{slug(name)}-{number}"


def latest_run(root: Path, name: str) -> Path | None:
    """The newest `runs/NAME-N` under `root`, or None."""
    runs = _numbered_runs(root, name)
    return max(runs)[1] if runs else None


def find_run(text: str | Path, root: Path | None = None) -> RunDir:
    """The run called `text`: a path, or a name under `runs/` of `root` (default: the current folder).

    Raises:
        UsageError: if there is no such run.
    """
    under_runs = (root or Path.cwd()) / "runs" / str(text)
    if not Path(text).exists() and under_runs.is_dir():
        return RunDir.open(under_runs)
    return RunDir.open(Path(text))


def slug(name: str) -> str:
    """`name` as it may stand in a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "run"


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that it is there whole or not at all; an older one survives a failure."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any) -> None:
    """Write strict JSON, indented, whole or not at all."""
    write_whole(path, json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def strict_json(value: Any) -> str:
    """One line of strict JSON; numbers that are not finite become the texts "nan", "inf" and "-inf"."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def append_line(stream: TextIO, value: Mapping[str, Any]) -> None:
    """Append one line of strict JSON to an open file and flush it."""
    stream.write(strict_json(value) + "\n")
    stream.flush()


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    return value


def _numbered_runs(root: Path, name: str) -> list[tuple[int, Path]]:
    runs = []
    for path in (root.absolute() / "runs").glob(f"{slug(name)}-*"):
        number = path.name[len(slug(name)) + 1 :]
        if path.is_dir() and number.isdigit():
            runs.append((int(number), path))
    return runs


def read_json(path: Path) -> Any:
    """The content of a JSON file of a run.

    Raises:
        UsageError: it is missing or damaged.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    write_whole(path, "".join(strict_json(line) + "\n" for line in lines))


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file; lines that do not parse (cut short by a kill) are passed over."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as stream:
        for line in stream:
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value
