"""`rewardset.toml`: the reward set, its checks, its data and its training, as typed objects.

Reading runs none of the user's code. Everything wrong with the file becomes one sentence that names the
file, the table and the key. Writing keeps comments and layout.
"""

from __future__ import annotations

import itertools
import math
import os
import re
import sys
import tempfile
import tomllib
import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from rewards.errors import ManifestError
from rewards.reward_model import is_model_reference
from rewards.targets import did_you_mean
from rewards.writable import writable

Aggregation = Literal["sum_then_normalize", "normalize_then_sum"]
ScaleRewards = Literal["group", "batch", "none"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


class Adaptive(_Table):
    """`adaptive = {...}`: how training moves a weight by the share of completions at the top of the range."""

    low: float = Field(0.3, ge=0, le=1)
    high: float = Field(0.8, ge=0, le=1)
    up: float = Field(1.2, ge=1)
    down: float = Field(0.9, gt=0, le=1)
    min: float = Field(0.1, ge=0)
    max: float = Field(10.0, gt=0)


class RewardEntry(_Table):
    """One `[[reward]]` table; what is not declared is None or has the default.

    `function`: `FILE.py::NAME`, `package.module:NAME`, or a reward model (a folder or hub name, as in TRL).
    `weight`: TRL's reward weight (0 = logged only).
    `range`: what the function promises to return, two finite numbers. `scope`: "group" where comparing the completions
    of one prompt is intended. `abstains`: None for some rows is meant. `timeout_s`: seconds a completion may take
    (None: 5, async functions 60), at most a day. `memory_mb`: memory of its process, 64 to 2^24. `params`: bound as
    keywords, they win over a column of that name; text, finite numbers, true, false, and lists and tables of these.
    `when`: abstains on prompts whose columns differ.
    """

    function: str
    name: str = Field("", validate_default=False)
    kind: (
        Literal["correctness", "format", "length", "style", "content", "relevance", "diversity", "other"]
        | None
    ) = None
    weight: float = 1.0
    range: tuple[float, float] | None = None
    scope: Literal["row", "group"] = "row"
    abstains: bool = False
    deterministic: bool = True
    timeout_s: float | None = Field(None, gt=0, le=86_400)
    memory_mb: int = Field(2048, ge=64, le=1 << 24)
    runs: Literal["fork", "warm"] = "fork"
    cost: Literal["free", "paid"] = "free"
    params: dict[str, Any] = Field(default_factory=dict)
    when: dict[str, Any] = Field(default_factory=dict)
    adaptive: Adaptive | None = None

    @property
    def stated(self) -> set[str]:
        """The keys that were written down; a name equal to the function's, or made of it, does not count."""
        stated = set(self.model_fields_set)
        made = next(_longer_names(self.function)).removesuffix(")")
        own = self.name == default_name(self.function) or self.name.startswith((f"{made})", f"{made}, "))
        return stated - {"name"} if own else stated

    @field_validator("name")
    @classmethod
    def _can_be_written(cls, value: str) -> str:
        if writable(value) != value:
            raise ValueError("must be text that can be written; it holds half a character (a lone surrogate)")
        return value

    @field_validator("range", mode="before")
    @classmethod
    def _pair(cls, value: Any) -> Any:
        finite = isinstance(value, (list, tuple)) and all(map(_is_finite, value))
        if value is not None and not (finite and len(value) == 2):
            raise ValueError("must be two finite numbers, [low, high]; where there is no limit, leave it out")
        return value

    @field_validator("params", "when")
    @classmethod
    def _plain(cls, value: dict[str, Any]) -> dict[str, Any]:
        for key, one in value.items():
            if _is_deep(one):
                raise ValueError(f"nests {key} more than {_DEEPEST} deep; write it flatter")
            odd = _not_plain(one)
            if odd is not None:
                raise ValueError(
                    f"has {key} = {_shown(odd[0])} ({type(odd[0]).__name__}), which must be text, a finite number, "
                    "true, false, or a list or table of these; a date can be written as text"
                )
        return value

    @field_validator("range")
    @classmethod
    def _ordered(cls, value: tuple[float, float] | None) -> tuple[float, float] | None:
        if value is not None and not value[0] < value[1]:
            raise ValueError(f"must be [low, high] with low below high, not [{value[0]:g}, {value[1]:g}]")
        return value

    @model_validator(mode="before")
    @classmethod
    def _named(cls, values: Any) -> Any:
        if isinstance(values, dict) and not values.get("name") and isinstance(values.get("function"), str):
            return {**values, "name": default_name(values["function"])}
        return values


_LARGE = 1 << 1024
"""No float is as large, and Python refuses to write much larger integers as digits."""


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGE


_DEEPEST = 50
"""Levels of lists and tables in a parameter: what lies deeper would not reach the processes of rewards."""


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST + 1):
        tables = [one for one in level if isinstance(one, Mapping)]
        lists = [one for one in level if isinstance(one, (list, tuple))]
        inner = itertools.chain(*(one.values() for one in tables), *lists)
        level = list(
            {id(item): item for item in inner}.values()
        )  # each once: a list may contain itself twice
    return bool(level)


def _not_plain(value: Any) -> tuple[Any] | None:
    """A part of a parameter that a seal could not hold, in a tuple of its own; None where there is none."""
    if value is None or isinstance(value, (str, bool)) or _is_finite(value):
        return None
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        parts: Iterable[Any] = value.values()
    elif isinstance(value, (list, tuple)):
        parts = value
    else:
        return (value,)
    return next((odd for part in parts if (odd := _not_plain(part)) is not None), None)


def default_name(function: str) -> str:
    """The name of a reward without one: what stands after `::` or `:`, or a reward model's last part."""
    return function.rstrip("/").replace("::", ":").rpartition(":" if ":" in function else "/")[2]


def _longer_names(function: str) -> Iterator[str]:
    """Names of a reward without one where others have its default: with its file, then with a number too."""
    name = default_name(function)
    where = function.rstrip("/").removesuffix(name).rstrip(":/").rpartition("/")[2]
    yield f"{name} ({where})"
    for number in itertools.count(2):
        yield f"{name} ({where}, {number})"


class SetSettings(_Table):
    """`[set]`: name, where the samples are, and TRL's aggregation.

    `read_as`: have the samples read as chat messages or as text, whichever they are in ("": as they are).
    """

    name: str = ""
    samples: tuple[str, ...] = ()
    read_as: Literal["", "chat", "text"] = ""
    tokenizer: str = ""
    aggregation: Aggregation = "sum_then_normalize"
    scale_rewards: ScaleRewards = "group"

    @field_validator("samples", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value


class Waiver(_Table):
    """A finding that is accepted, and why: `{ check = "RW203", reward = "length", reason = "..." }`."""

    check: str
    reward: str | None = None
    reason: str = Field(min_length=1)


class CheckSettings(_Table):
    """`[check]`: Hypothesis examples a property, seed, what fails, what is waived."""

    examples: int = Field(100, ge=1)
    seed: int = 0
    fail_on: Literal["error", "warning"] = "error"
    waive: tuple[Waiver, ...] = ()


class DataSettings(_Table):
    """`[data]`: the training prompts. `columns` maps source to target; `holdout` is a share of the prompts."""

    train: str = ""
    system_prompt: str = ""
    columns: dict[str, str] = Field(default_factory=dict)
    holdout: float = Field(0.1, ge=0, lt=1)


class Until(_Table):
    """`until = {...}` of a stage: it ends early once the mean of `metric` over the last `window` steps is reached."""

    metric: str
    above: float | None = None
    below: float | None = None
    window: int = Field(10, ge=1)

    @model_validator(mode="after")
    def _one_bound(self) -> Until:
        if (self.above is None) == (self.below is None):
            raise ValueError("must have one of above = NUMBER and below = NUMBER")
        return self


class Stage(BaseModel):
    """`[[train.stage]]`: rewards and settings of one stage; any TRL setting may stand beside them.

    `weights` replace the rewards' own in this stage. `where` keeps the rows whose columns have these values (or one
    of a list). `until` ends the stage before its `max_steps`.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = ""
    rewards: tuple[str, ...] = ()
    max_steps: int | None = None
    weights: dict[str, float] = Field(default_factory=dict)
    where: dict[str, Any] = Field(default_factory=dict)
    until: Until | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The TRL settings of this stage by their own names."""
        return dict(self.model_extra or {})


class TrainSettings(BaseModel):
    """`[train]`: preset, model and LoRA; any TRL setting may stand beside them and wins over the preset."""

    model_config = ConfigDict(extra="allow", frozen=True)

    preset: str = "cpu"
    model: str = ""
    lora: bool | dict[str, Any] = True
    stage: tuple[Stage, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """The TRL settings named in the manifest, by their own names."""
        return dict(self.model_extra or {})


class Manifest(_Table):
    """A whole `rewardset.toml`; `path` is the file, relative paths in it belong to `root`."""

    path: Path
    set: SetSettings = Field(default_factory=SetSettings)
    reward: tuple[RewardEntry, ...] = ()
    check: CheckSettings = Field(default_factory=CheckSettings)
    data: DataSettings = Field(default_factory=DataSettings)
    train: TrainSettings = Field(default_factory=TrainSettings)

    @property
    def root(self) -> Path:
        """The folder of the manifest."""
        return self.path.parent

    def resolve(self, path: str) -> Path:
        """A path written in the manifest, as one that can be opened from anywhere."""
        return (self.root / Path(path).expanduser()).resolve()

    @property
    def sample_paths(self) -> list[Path]:
        """The sample files of `[set] samples`."""
        return [self.resolve(path) for path in self.set.samples]


def read_manifest(path: Path) -> Manifest:
    """Read and check a `rewardset.toml`.

    Raises:
        ManifestError: the file is missing, no TOML, or says something impossible; one sentence.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors on Windows begin a file with a mark
        tables = tomllib.loads(text)
    except OSError as error:
        raise ManifestError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ManifestError(f"{path} is not UTF-8 text (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(f"{path.name} is no valid TOML: {error}") from error
    except ValueError as error:  # the only other one that reading TOML raises
        raise ManifestError(
            f"{path.name}, line {_line_of_digits(text)}: a number of more than {sys.get_int_max_str_digits()} digits "
            "cannot be read; write a smaller one"
        ) from error
    except RecursionError as error:
        raise ManifestError(
            f"{path.name} nests lists or tables too deeply to be read; write them flatter"
        ) from error
    try:
        manifest = Manifest(path=path.resolve(), **tables)
    except ValidationError as error:
        raise ManifestError(f"{path.name}: {explain_validation(error, tables)}") from error
    except TypeError as error:
        raise ManifestError(f"{path.name}: '{_unexpected(error)}' is no table of a manifest") from error
    manifest = manifest.model_copy(update={"reward": _each_named(manifest, tables.get("reward", []))})
    _check_names(manifest)
    return manifest


def _line_of_digits(text: str) -> int:
    """The line with the longest number of a text."""
    longest = [max(map(len, re.findall(r"[0-9_]+", line)), default=0) for line in text.split("\n")]
    return longest.index(max(longest)) + 1


def _unexpected(error: TypeError) -> str:
    return str(error).rpartition("argument ")[2].strip("'")


def _each_named(manifest: Manifest, tables: list[dict[str, Any]]) -> tuple[RewardEntry, ...]:
    """The rewards, each under a name of its own (scores are kept by name); `tables` are theirs as written.

    Raises:
        ManifestError: one name is written for two rewards.
    """
    written = [table["name"] for table in tables if table.get("name")]
    twice = next((name for name in written if written.count(name) > 1), None)
    if twice is not None:
        raise ManifestError(
            f"{manifest.path.name} names two rewards '{twice}'; give one of them another name = \"...\""
        )
    taken = set(written)
    entries = []
    for entry, table in zip(manifest.reward, tables, strict=True):
        if not table.get("name"):
            names = itertools.chain([entry.name], _longer_names(entry.function))
            entry = entry.model_copy(update={"name": next(name for name in names if name not in taken)})
            taken.add(entry.name)
        entries.append(entry)
    return tuple(entries)


def _check_names(manifest: Manifest) -> None:
    if not manifest.reward:
        raise ManifestError(
            f'{manifest.path.name} has no [[reward]] table; add one with function = "FILE.py::NAME"'
        )
    names = [entry.name for entry in manifest.reward]
    for entry in manifest.reward:
        if ":" not in entry.function and not is_model_reference(entry.function, manifest.root):
            raise ManifestError(
                f"{manifest.path.name}: reward '{entry.name}': function = \"{entry.function}\" must be "
                '"FILE.py::NAME", "package.module:NAME" or a reward model (a folder or hub name)'
            )
    for stage in manifest.train.stage:
        for name in (*stage.rewards, *stage.weights):
            if name not in names:
                raise ManifestError(
                    f"{manifest.path.name}: stage '{stage.name}' uses reward '{name}', which is not in the set"
                    f"{did_you_mean(name, names)}"
                )


def explain_validation(
    error: ValidationError,
    values: Mapping[str, Any] | None = None,
    *,
    model: type[BaseModel] | None = None,
) -> str:
    """The first problem of a pydantic error as one clause: place, what came, what is wanted.

    `model` is what was validated, by default a whole manifest; its keys are told where one is unknown.
    """
    problem = error.errors()[0]
    place = list(problem["loc"])
    items = ""
    while place and isinstance(place[-1], int) and place[:-1] != ["reward"]:
        items = f"[{place.pop()}]{items}"
    key = f"{place.pop()}{items}" if place and isinstance(place[-1], str) else "value"
    table = _table_name(place, values)
    if problem["type"] == "extra_forbidden":
        known = _known_keys(place, model or Manifest)
        return f"{table}'{key}' is no key here{did_you_mean(key, known) or '; known: ' + ', '.join(known)}"
    if problem["type"] == "missing":
        return f"{table}'{key}' is missing"
    came = problem.get("input")
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Input ")
    if message.startswith("should"):
        message = "must" + message.removeprefix("should")
    return f"{table}{key}={_shown(came)} ({type(came).__name__}) {message}"


def _shown(value: Any) -> str:
    """A value as Python writes it, cut; what Python refuses to write is said to be that."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "a value too long to be shown"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _table_name(place: list[Any], values: Mapping[str, Any] | None) -> str:
    if not place:
        return ""
    if place[0] == "reward" and len(place) > 1 and values:
        rewards = values.get("reward")
        index = place[1]
        label = ""
        if isinstance(rewards, list) and isinstance(index, int) and isinstance(rewards[index], dict):
            label = str(rewards[index].get("name") or rewards[index].get("function") or "")
        return f"[[reward]] {index + 1}{f' ({label!r})' if label else ''}: "
    return f"[{'.'.join(str(part) for part in place)}]: "


def _known_keys(place: list[Any], model: type[BaseModel]) -> list[str]:
    """The keys of the table at a place below `model`."""
    for part in place:
        if part in model.model_fields:
            model = _table_in(model.model_fields[part].annotation) or model
    return sorted(name for name in model.model_fields if name != "path")


def _table_in(annotation: Any) -> type[BaseModel] | None:
    """The table that an annotation speaks of: itself, or one of `X | None` and `tuple[X, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_table_in, typing.get_args(annotation))), None)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: a temporary file beside it, flushed, then renamed over it.

    Raises:
        ManifestError: the folder is read-only or the disk is full; the old file is untouched.
    """
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise ManifestError(
            f"{path} cannot be written: {error.strerror}; the old file is unchanged"
        ) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            os.chmod(temporary, path.stat().st_mode & 0o7777)
        else:
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise ManifestError(
            f"{path} cannot be written: {error.strerror}; the old file is unchanged"
        ) from error


def update_reward(path: Path, name: str, **keys: Any) -> None:
    """Change keys of one `[[reward]]` table in place; comments and layout of the file are kept.

    Raises:
        ManifestError: there is no such reward, or the file cannot be read or written.
    """
    import tomlkit

    manifest = read_manifest(path)
    document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
    rewards: Any = document.get("reward", [])
    for entry, table in zip(manifest.reward, rewards, strict=True):
        if entry.name == name:
            table.update(keys)
            write_text(path, tomlkit.dumps(document))
            return
    raise ManifestError(f"{path.name} has no reward '{name}'")
