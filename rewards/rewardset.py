"""RewardSet: the rewards that are trained on together.

`RewardSet.load` runs the user's code; it is called in worker processes, the trainer's process and tests.
Everyone else works with a `SetDescription`, the same set without its functions, as a worker reports it.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from rewards.adapters import Adapted, adapted
from rewards.contract import (
    Batch,
    Reward,
    Signature,
    class_call,
    describe_exception,
    keywords_for,
    reads_completion_ids,
    signature,
    trl_name,
    unwrap,
)
from rewards.errors import LoadError, ManifestError, MissingColumnError, TargetError
from rewards.fingerprint import LIBRARY, code_fingerprint, digest, library_fingerprint, module_versions
from rewards.loading import Transform, find_rewards, forget_local, load_file, load_module
from rewards.manifest import (
    Aggregation,
    Manifest,
    RewardEntry,
    ScaleRewards,
    default_name,
    explain_validation,
    read_manifest,
)
from rewards.marks import MARK, mark_of
from rewards.packages import OUR_PACKAGES, find
from rewards.reward_model import RewardModel, is_model_reference, model_digest
from rewards.targets import Target, did_you_mean, parse_target

SEALED_KEYS = (
    "name",
    "kind",
    "weight",
    "range",
    "scope",
    "abstains",
    "deterministic",
    "timeout_s",
    "memory_mb",
    "runs",
    "cost",
    "params",
    "when",
    "adaptive",
)
"""The keys of a `[[reward]]` table that a seal covers: all but `function`, whose code it covers."""

SEALED_SETTINGS = ("read_as", "tokenizer", "aggregation", "scale_rewards")
"""The keys of `[set]` that a seal covers: not `name`, which changes no score, nor `samples`, which are the evidence."""


@dataclass(frozen=True)
class RewardDescription:
    """One reward of a loaded set, without its function.

    `file` and `line` say where it is defined (None where Python cannot tell); `trl_name` is the name TRL
    would log; `code` maps each file it uses to a digest; `fingerprint` covers code and declaration; `wished` is
    the name its mark asks for where another reward has that name already, else ""; `reads_token_ids` says that its
    code names `completion_ids`; `written_for` names the other system it is written for (`rewards.adapters`), else "".
    """

    entry: RewardEntry
    trl_name: str
    signature: Signature
    file: str | None
    line: int | None
    code: dict[str, str]
    fingerprint: str
    declared: tuple[str, ...] = ()
    wished: str = ""
    reads_token_ids: bool = False
    written_for: str = ""

    @property
    def name(self) -> str:
        """The name scores stand under."""
        return self.entry.name

    @property
    def timeout_s(self) -> float:
        """Seconds one completion may take: as declared, else 60 for async functions and warm ones, else 5."""
        slow = self.signature.is_async or self.entry.runs == "warm" or ":" not in self.entry.function
        return self.entry.timeout_s or (60.0 if slow else 5.0)

    @property
    def declaration(self) -> dict[str, Any]:
        """What a seal covers of its table or mark; where a limit was left out, the one that holds then (None: none)."""
        stated = {**self.entry.model_dump(mode="json"), "timeout_s": self.timeout_s}
        if ":" not in self.entry.function and "memory_mb" not in self.declared:
            stated["memory_mb"] = None
        return {key: stated[key] for key in SEALED_KEYS}

    def missing_columns(self, columns: Mapping[str, Any]) -> list[str]:
        """Required columns that are not among `columns`."""
        return [name for name in self.signature.required if name not in columns]


@dataclass(frozen=True)
class SetDescription:
    """A loaded reward set without its functions; what crosses the process boundary as JSON."""

    target: str
    name: str
    root: Path
    seal_path: Path
    manifest_path: Path | None
    aggregation: Aggregation
    scale_rewards: ScaleRewards
    tokenizer: str
    rewards: tuple[RewardDescription, ...]
    fingerprint: str
    read_as: str = ""

    @property
    def names(self) -> list[str]:
        """The rewards' names, in order."""
        return [reward.name for reward in self.rewards]

    @property
    def weights(self) -> list[float]:
        """The declared weights, in order."""
        return [reward.entry.weight for reward in self.rewards]

    def reward(self, name: str) -> RewardDescription:
        """The reward called `name`.

        Raises:
            TargetError: there is none.
        """
        for reward in self.rewards:
            if reward.name == name:
                return reward
        hint = did_you_mean(name, self.names) or f"; it has {', '.join(self.names)}"
        raise TargetError(f"{self.target} has no reward '{name}'{hint}")

    def only(self, names: list[str]) -> SetDescription:
        """The same set with only these rewards, in the order of the set."""
        for name in names:
            self.reward(name)
        return replace(self, rewards=tuple(reward for reward in self.rewards if reward.name in names))

    def require_columns(self, columns: Mapping[str, Any]) -> None:
        """See that every reward gets the columns it cannot do without.

        Raises:
            MissingColumnError: names the argument, the columns there are and the likely one.
        """
        for reward in self.rewards:
            for name in reward.missing_columns(columns):
                raise MissingColumnError(missing_column(reward.name, name, columns))

    def to_json(self) -> dict[str, Any]:
        """JSON-ready; `from_json` reads it back."""
        values = asdict(replace(self, rewards=()))
        values["root"], values["seal_path"] = str(self.root), str(self.seal_path)
        values["manifest_path"] = str(self.manifest_path) if self.manifest_path else None
        values["rewards"] = [
            {**asdict(replace(reward, entry=cast(Any, None))), "entry": reward.entry.model_dump(mode="json")}
            for reward in self.rewards
        ]
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SetDescription:
        """Read what `to_json` gave."""
        rewards = []
        for item in values["rewards"]:
            lists = {key: tuple(item["signature"][key]) for key in ("names", "required", "optional")}
            facts = {**item["signature"], **lists}
            rewards.append(
                RewardDescription(
                    **{
                        **item,
                        "entry": RewardEntry(**item["entry"]),
                        "signature": Signature(**facts),
                        "declared": tuple(item["declared"]),
                    }
                )
            )
        manifest = values["manifest_path"]
        return cls(
            **{
                **values,
                "root": Path(values["root"]),
                "seal_path": Path(values["seal_path"]),
                "manifest_path": Path(manifest) if manifest else None,
                "rewards": tuple(rewards),
            }
        )


def missing_column(reward: str, argument: str, columns: Mapping[str, Any]) -> str:
    """The sentence for a required column the samples lack."""
    there = ", ".join(sorted(columns)) or "none besides prompt and completion"
    likely = _likely_column(argument, list(columns))
    hint = (
        f"; '{likely}' looks like it: [data] columns = {{ {likely} = \"{argument}\" }}, "
        f"or --columns {likely}={argument}"
        if likely
        else ""
    )
    return f"reward '{reward}' requires the column '{argument}', which the samples do not have (columns: {there}){hint}"


_GROUND_TRUTH = (
    "answer",
    "solution",
    "gold",
    "target",
    "ground_truth",
    "reference",
    "label",
    "expected_answer",
    "expert_answer",
)


def _likely_column(wanted: str, columns: list[str]) -> str | None:
    import difflib

    near = difflib.get_close_matches(wanted, columns, n=1, cutoff=0.6)
    if near:
        return near[0]
    inside = [name for name in columns if wanted.lower() in name.lower() or name.lower() in wanted.lower()]
    if inside:
        return inside[0]
    if wanted.lower() in _GROUND_TRUTH:
        known = [name for name in columns if name.lower() in _GROUND_TRUTH]
        return known[0] if known else None
    return None


@dataclass(frozen=True)
class RewardSet:
    """Loaded rewards with their declarations.

    `functions` are the user's callables as they are; `entries` their resolved declarations, in the same
    order, each under a name of its own. `declared` names for each entry the keys that a mark or the manifest stated,
    `wished` the name a mark asks for and cannot have ("": none).
    """

    target: Target
    entries: tuple[RewardEntry, ...]
    functions: tuple[Reward, ...]
    files: tuple[Path | None, ...]
    declared: tuple[tuple[str, ...], ...] = ()
    manifest: Manifest | None = field(default=None)
    wished: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The rewards' names, in order."""
        return [entry.name for entry in self.entries]

    @property
    def weights(self) -> list[float]:
        """The declared weights, in order."""
        return [entry.weight for entry in self.entries]

    @property
    def root(self) -> Path:
        """The folder relative paths belong to."""
        return self.target.root

    @property
    def seal_path(self) -> Path:
        """Where the seal is kept."""
        return self.target.seal_path

    @property
    def aggregation(self) -> Aggregation:
        """TRL's `multi_objective_aggregation`."""
        return self.manifest.set.aggregation if self.manifest else "sum_then_normalize"

    @property
    def scale_rewards(self) -> ScaleRewards:
        """TRL's `scale_rewards`."""
        return self.manifest.set.scale_rewards if self.manifest else "group"

    @property
    def fingerprint(self) -> str:
        """32 hex digits over code, `[set]` and `[[reward]]`; a seal holds as long as it stays the same."""
        return self.describe().fingerprint

    def entry(self, name: str) -> RewardEntry:
        """The declaration of the reward called `name`; TargetError if there is none."""
        return self.entries[self.index(name)]

    def function(self, name: str) -> Reward:
        """The user's callable of the reward called `name`; TargetError if there is none."""
        return self.functions[self.index(name)]

    def index(self, name: str) -> int:
        """The position of the reward called `name`; TargetError if there is none."""
        if name not in self.names:
            raise TargetError(f"{self.target.text} has no reward '{name}'{did_you_mean(name, self.names)}")
        return self.names.index(name)

    def keywords(self, name: str, batch: Batch, log: Any, trainer_state: Any = None) -> dict[str, Any]:
        """The keywords of TRL's call to one reward, its `params` bound."""
        return keywords_for(self.function(name), batch, self.entry(name).params, log, trainer_state)

    @classmethod
    def load(cls, target: str | Path | Target, *, transform: Transform | None = None) -> RewardSet:
        """Load every reward of a target. Runs the user's code.

        Args:
            target: see `rewards.targets`.
            transform: changes the syntax tree of the user's files before they are compiled (tracing).

        Raises:
            TargetError: no such file, function or project, or a file without any reward.
            ManifestError: the manifest cannot be used, or a mark says something impossible.
            LoadError: the user's file failed to load.
        """
        parsed = target if isinstance(target, Target) else parse_target(target)
        forget_local()
        if parsed.kind == "project":
            manifest = read_manifest(parsed.path)
            loader = _Loader(manifest.root, transform)
            parts = [(entry, *loader.function(entry.function)) for entry in manifest.reward]
            stated = [entry.stated for entry in manifest.reward]
            return _resolve(parsed, parts, stated, manifest)
        loader = _Loader(parsed.root, transform)
        if parsed.name is None:
            functions = find_rewards(loader.file(parsed.path.name))
            if not functions:
                raise TargetError(
                    f"{parsed.text} defines no reward: a public function with a parameter named 'completions', or one "
                    "as verl, OpenRLHF or verifiers call it"
                )
            parts = [
                (RewardEntry(function=f"{parsed.path.name}::{name}"), adapted(function), parsed.path)
                for name, function in functions.items()
            ]
        else:
            where = f"{parsed.module}:" if parsed.module else f"{parsed.path.name}::"
            entry = RewardEntry(function=where + parsed.name)
            parts = [(entry, *loader.function(entry.function))]
        return _resolve(parsed, parts, [{"function"}] * len(parts), None)

    def describe(self) -> SetDescription:
        """The set without its functions, with fingerprints and signatures."""
        rewards = tuple(self._describe(index) for index in range(len(self.entries)))
        settings = self.manifest.set if self.manifest else None
        stated = settings.model_dump(mode="json", include=set(SEALED_SETTINGS)) if settings else {}
        return SetDescription(
            target=self.target.text,
            name=(settings.name if settings else "") or self.target.name or self.root.name,
            root=self.root,
            seal_path=self.seal_path,
            manifest_path=self.manifest.path if self.manifest else None,
            aggregation=self.aggregation,
            scale_rewards=self.scale_rewards,
            tokenizer=settings.tokenizer if settings else "",
            read_as=settings.read_as if settings else "",
            rewards=rewards,
            fingerprint=digest([stated, [reward.fingerprint for reward in rewards]]),
        )

    def _describe(self, index: int) -> RewardDescription:
        entry, function, file = self.entries[index], self.functions[index], self.files[index]
        code = _code(entry, file, self.root)
        name = default_name(entry.function)
        described = RewardDescription(
            entry=entry,
            trl_name=trl_name(function),
            signature=signature(function, entry.params),
            file=defined_in(function, file),
            line=_line(function, file, name),
            code=code,
            fingerprint="",
            declared=self.declared[index] if self.declared else (),
            wished=self.wished[index] if self.wished else "",
            reads_token_ids=reads_completion_ids(function),
            written_for=function.system if isinstance(function, Adapted) else "",
        )
        return replace(described, fingerprint=digest([name, described.declaration, code]))


def _code(entry: RewardEntry, file: Path | None, root: Path) -> dict[str, str]:
    if file is None:
        return model_digest(entry.function, root) if is_model_reference(entry.function, root) else {}
    if file.is_relative_to(LIBRARY):
        return library_fingerprint()
    top = entry.function.partition(":")[0].partition(".")[0]
    module = find(top) if "::" not in entry.function else None
    if module is not None and module.installed and top not in OUR_PACKAGES:
        return module_versions([top])
    if file.is_relative_to(root.resolve()):
        return code_fingerprint(file, root, dotted="::" not in entry.function)
    folder = file.parent  # a package outside the project: its own modules import each other from above it
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return code_fingerprint(file, folder, dotted=True)


def defined_in(function: Reward, file: Path | None) -> str | None:
    """The file whose line `_line` names: a package may offer a function that another of its files defines."""
    inner = unwrap(function)
    code = getattr(inspect.unwrap(inner) if callable(inner) else inner, "__code__", None)
    named = Path(code.co_filename) if code is not None else None
    if named is not None and named.is_absolute() and named.is_file():
        return str(named)
    return str(file) if file else None


def _line(function: Reward, file: Path | None, name: str) -> int | None:
    inner = unwrap(function)
    code = getattr(inspect.unwrap(inner) if callable(inner) else inner, "__code__", None)
    if code is None:
        code = getattr(class_call(inner), "__code__", None)
        if code is not None and file is not None and Path(code.co_filename) != file:
            return _assigned_at(file, name)  # an object of a class from elsewhere: where it got its name
    return code.co_firstlineno if code is not None else None


def _assigned_at(file: Path, name: str) -> int | None:
    """The line on which a file gives something this name, None where it does not."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return node.lineno
    return None


class _Loader:
    """Loads each file of one set once."""

    def __init__(self, root: Path, transform: Transform | None) -> None:
        self.root = root
        self.transform = transform
        self.file = functools.lru_cache(maxsize=None)(self._file)

    def _file(self, name: str) -> Any:
        path = self.root / name
        if not path.is_file():
            near = did_you_mean(Path(name).name, [file.name for file in path.parent.glob("*.py")])
            raise TargetError(f"there is no file {path}{near}")
        return load_file(path, transform=self.transform)

    def function(self, reference: str) -> tuple[Reward, Path | None]:
        """The callable and its file for `FILE.py::NAME` or `package.module:NAME`."""
        if is_model_reference(reference, self.root):
            model_digest(reference, self.root)  # tells a folder that holds none
            return RewardModel(reference, self.root), None
        where, separator, name = reference.partition("::")
        if not separator:
            where, _, name = reference.partition(":")
            _see_meant(where, name, self.root)
            module = load_module(where, transform=self.transform, folder=self.root)
        else:
            module = self.file(where)
        found = _member(module, where, name)
        if inspect.isclass(found):
            raise TargetError(
                f"{reference} is a class, not a function: name an instance of it, made in the file"
            )
        if not callable(found):
            raise TargetError(f"{reference} is {type(found).__name__}, not a function")
        file = getattr(module, "__file__", None)
        return adapted(found), Path(file).resolve() if file else None


def _see_meant(dotted: str, name: str, root: Path) -> None:
    """Refuse a module that is not the file of that name which lies there, or that is a package of this product.

    Raises:
        TargetError: says how to name the file.
    """
    beside = root.joinpath(*dotted.split(".")).with_suffix(".py")
    top = dotted.partition(".")[0]
    taken = find(top)
    ours = dotted in OUR_PACKAGES
    hidden = beside.is_file() and taken is not None and taken.folder != root.resolve()
    if ours or (hidden and top not in OUR_PACKAGES):
        what = "a package of Reward Workbench itself" if ours else "an installed module"
        write = f"{beside.relative_to(root)}::{name}"
        hint = (
            f"for the file beside it write {write}"
            if beside.is_file()
            else f"a file is named FILE.py::{name}"
        )
        library = f", a reward of the library as rewards.library:{name}" if dotted == "rewards" else ""
        raise TargetError(f"{dotted}:{name} means {what}: {hint}{library}")


def _member(module: Any, where: str, name: str) -> Any:
    """What a dotted name means in a module."""
    found = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            known = [
                key for key, value in vars(module).items() if callable(value) and not key.startswith("_")
            ]
            raise TargetError(
                f"{where} has no function '{name}'{did_you_mean(name, known) or _listed(module)}"
            ) from None
        except Exception as error:  # a property of the user's raised
            raise LoadError(f"{where}: '{name}' cannot be read: {describe_exception(error)}") from error
    return found


def _listed(module: Any) -> str:
    names = list(find_rewards(module))
    return f"; its rewards are {', '.join(names)}" if names else "; it defines no reward"


def _resolve(
    target: Target,
    parts: list[tuple[RewardEntry, Reward, Path | None]],
    stated: list[set[str]],
    manifest: Manifest | None,
) -> RewardSet:
    entries, declared = [], []
    marks = [_mark(function, keys) for (_, function, _), keys in zip(parts, stated, strict=True)]
    wished = _names_twice([entry.name for entry, _, _ in parts], marks)
    for (entry, _, _), keys, marked, lost in zip(parts, stated, marks, wished, strict=True):
        written = {key: getattr(entry, key) for key in keys}
        kept = {key: value for key, value in marked.items() if not (lost and key == "name")}
        try:
            entries.append(RewardEntry(**{"name": entry.name, **kept, **written, "function": entry.function}))
        except ValidationError as error:
            why = explain_validation(error, model=RewardEntry)
            raise ManifestError(f"@reward of {entry.function}: {why}") from error
        declared.append(tuple(sorted({*keys, *kept} - {"function"})))
    functions = tuple(function for _, function, _ in parts)
    files = tuple(file for _, _, file in parts)
    return RewardSet(
        target,
        tuple(entries),
        functions,
        files,
        tuple(declared),
        manifest,
        tuple(name or "" for name in wished),
    )


def _mark(function: Reward, stated: set[str]) -> dict[str, Any]:
    """The keys a mark adds to those stated in the manifest; a partial of a marked function has a name of its own."""
    own = isinstance(getattr(function, MARK, None), dict)
    return {
        key: value for key, value in mark_of(function).items() if key not in stated and (own or key != "name")
    }


def _names_twice(names: list[str], marks: list[dict[str, Any]]) -> list[Any]:
    """The names that marks ask for and that another reward has: scores are kept by name.

    Args:
        names: the names without the marks, each one once.
        marks: what the marks say.
    """
    lost: list[Any] = [None] * len(names)
    while True:
        now = [
            name if gone else mark.get("name", name)
            for name, mark, gone in zip(names, marks, lost, strict=True)
        ]
        again = [
            at for at, name in enumerate(now) if now.count(name) > 1 and "name" in marks[at] and not lost[at]
        ]
        if not again:
            return lost
        for at in again:
            lost[at] = now[at]
