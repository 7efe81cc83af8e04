"""What an export consists of: the rewards with their declarations, the files to take along, and what the files need.

Made without running any of the user's code but the loading that describes the set.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.errors import UsageError
from rewards.fingerprint import local_files
from rewards.manifest import RewardEntry
from rewards.reward_model import is_model_reference
from rewards.rewardset import RewardDescription, SetDescription

GROUND_TRUTH = (
    "answer",
    "solution",
    "gold",
    "target",
    "ground_truth",
    "reference",
    "label",
    "expected_answer",
)
"""Names that a ground-truth column usually has, the likeliest first."""


@dataclass(frozen=True)
class Exported:
    """One reward: its declaration, and how the adapter names it (`FILE.py::NAME`, a module, or a reward model)."""

    entry: RewardEntry
    reference: str
    model: bool = False


@dataclass(frozen=True)
class Plan:
    """An export.

    `name` is the set's; `files` maps places in the export to the user's files; `chat`: the rewards read chat messages;
    `gold` is the column that a system's single ground truth becomes, "" where no reward reads one; `columns` are
    all columns that the rewards require; `needs` the packages that the files import.
    """

    name: str
    rewards: tuple[Exported, ...]
    files: dict[str, Path]
    chat: bool
    gold: str
    columns: tuple[str, ...]
    needs: tuple[str, ...]
    aggregation: str
    scale_rewards: str

    @property
    def functions(self) -> list[Exported]:
        """The rewards that are functions."""
        return [reward for reward in self.rewards if not reward.model]

    @property
    def models(self) -> list[Exported]:
        """The rewards that are models, which only TRL takes."""
        return [reward for reward in self.rewards if reward.model]

    @property
    def of_groups(self) -> list[str]:
        """Names of the functions that compare the completions of a prompt."""
        return [reward.entry.name for reward in self.functions if reward.entry.scope == "group"]


def plan_export(description: SetDescription, *, chat: bool | None = None) -> Plan:
    """The plan for a loaded set.

    Args:
        description: the set.
        chat: whether its samples are chat messages; None: as far as the code tells.

    Raises:
        UsageError: a parameter that cannot be written down, or a function that is written for another system.
    """
    files: dict[str, Path] = {}
    rewards = []
    for reward in description.rewards:
        if reward.written_for:
            raise UsageError(
                f"{reward.name} is written for {reward.written_for}, and what is exported calls functions as TRL does; "
                "export a function that takes completions and calls it"
            )
        _writable(reward.entry)
        exported, own = _exported(reward, description.root)
        rewards.append(exported)
        files |= own
    sources = [file.read_text(encoding="utf-8", errors="replace") for file in files.values()]
    columns = dict.fromkeys(column for reward in description.rewards for column in reward.signature.required)
    modules = [
        exported.reference for exported in rewards if not exported.model and ".py::" not in exported.reference
    ]
    return Plan(
        name=description.name,
        rewards=tuple(rewards),
        files=files,
        chat=chat
        if chat is not None
        else any('"content"' in text or "'content'" in text for text in sources),
        gold=_gold(description.rewards),
        columns=tuple(columns),
        needs=tuple(sorted(_needed(sources, files) | {_package(name.partition(":")[0]) for name in modules})),
        aggregation=description.aggregation,
        scale_rewards=description.scale_rewards,
    )


def _exported(reward: RewardDescription, root: Path) -> tuple[Exported, dict[str, Path]]:
    written = reward.entry.function
    if is_model_reference(written, root):
        place = root / written
        return Exported(reward.entry, str(place.resolve()) if place.exists() else written, model=True), {}
    where, separator, name = written.partition("::")
    if not separator:
        folder = root / written.partition(":")[0].replace(".", "/")
        file = folder.with_suffix(".py") if folder.with_suffix(".py").is_file() else folder / "__init__.py"
        return Exported(reward.entry, written), _places(file, root) if file.is_file() else {}
    file = (root / where).resolve()
    own = _places(file, root)
    label = next(label for label, path in own.items() if path == file)
    return Exported(reward.entry, f"{label}::{name}"), own


def _places(file: Path, root: Path) -> dict[str, Path]:
    """The file and the local ones it imports, by their place in the export."""
    root = root.resolve()
    base = root if file.resolve().is_relative_to(root) else file.resolve().parent
    found = [path for path in local_files(file, base) if path.is_relative_to(base)]
    return {path.relative_to(base).as_posix(): path for path in found}


def _writable(entry: RewardEntry) -> None:
    for table in (entry.params, entry.when):
        for key, value in table.items():
            try:
                same = ast.literal_eval(repr(value)) == value
            except (ValueError, SyntaxError):
                same = False
            if not same:
                raise UsageError(
                    f"reward '{entry.name}': {key} = {value!r} ({type(value).__name__}) cannot be written into an "
                    "export; use numbers, texts, lists and tables"
                )


def _gold(rewards: Iterable[RewardDescription]) -> str:
    names = [name for reward in rewards for name in (*reward.signature.required, *reward.signature.optional)]
    for name in GROUND_TRUTH:
        if name in names:
            return name
    required = {name for reward in rewards for name in reward.signature.required}
    return required.pop() if len(required) == 1 else ""


def _needed(sources: Iterable[str], files: Iterable[str]) -> set[str]:
    """Packages that the files import and that are neither Python's own nor among the files."""
    own = {file.partition("/")[0].removesuffix(".py") for file in files}
    found: set[str] = set()
    for text in sources:
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            found |= {
                _package(name)
                for name in names
                if name.partition(".")[0] not in own | set(sys.stdlib_module_names)
            }
    return found


def _package(module: str) -> str:
    top = module.partition(".")[0]
    return "reward-workbench" if top in ("rewards", "workbench", "trainer") else top


def table_of(reward: Exported) -> dict[str, Any]:
    """One reward as the adapter writes it down."""
    entry = reward.entry
    return {
        "name": entry.name,
        "function": reward.reference,
        "weight": entry.weight,
        "scope": entry.scope,
        "params": dict(entry.params),
        "when": dict(entry.when),
    }


__all__ = ["Exported", "Plan", "plan_export", "table_of"]
