"""The zoos: rewards with a known verdict in `fixtures/` of a checkout, each with what its author would declare.

A zoo is a folder with `zoo.jsonl` (a row an entry), the reward files and task files it names. What a check may
see of an entry is its file, its samples and its declaration; verdict and kind are for counting alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.errors import UsageError

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@dataclass(frozen=True)
class Entry:
    """One reward, or a set of several, with its verdict.

    `zoo` is the name of its folder, `file` and `tasks` are paths; `kind` and `severity` (of the defect) are None in
    sound ones; `declares` has `role`, `range`, `scope` and `abstains`.
    """

    id: str
    zoo: str
    file: Path
    functions: tuple[str, ...]
    weights: tuple[float, ...]
    tasks: Path
    declares: dict[str, Any]
    kind: str | None
    severity: str | None

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.kind is None

    @property
    def is_set(self) -> bool:
        """Whether it is a set of rewards; its weights are then part of what is examined."""
        return len(self.functions) > 1


def zoo_names(fixtures: Path = FIXTURES) -> list[str]:
    """The zoos of a checkout, by folder; none in an installed package."""
    return sorted(path.parent.name for path in fixtures.glob("zoo*/zoo.jsonl"))


def read_zoo(name: str, fixtures: Path = FIXTURES) -> list[Entry]:
    """The entries of one zoo, in the order of its table.

    Raises:
        UsageError: there is no such zoo.
    """
    folder = fixtures / name
    if name not in zoo_names(fixtures):
        known = ", ".join(zoo_names(fixtures)) or "none (selftest runs in a checkout of the project)"
        raise UsageError(f"there is no zoo '{name}' in {fixtures}; there are: {known}")
    lines = (folder / "zoo.jsonl").read_text(encoding="utf-8").splitlines()
    return [_entry(name, folder, json.loads(line)) for line in lines if line.strip()]


def _entry(zoo: str, folder: Path, row: dict[str, Any]) -> Entry:
    return Entry(
        row["id"],
        zoo,
        folder / row["file"],
        tuple(row["functions"]),
        tuple(row["weights"]),
        folder / row["tasks"],
        row["declares"],
        row["kind"] if row["verdict"] == "broken" else None,
        row["severity"] if row["verdict"] == "broken" else None,
    )


def manifest(entry: Entry, file: str, *, declared: bool = True) -> str:
    """A manifest for an entry whose code is in `file`: with everything it declares, or with its weights alone.

    The members of a set declare nothing of their own; the range of a set is that of its total.
    """
    said, tables = entry.declares, []
    for name, weight in zip(entry.functions, entry.weights, strict=True):
        table = f'[[reward]]\nfunction = "{file}::{name}"\nweight = {weight}\n'
        if declared and not entry.is_set:
            low, high = map(float, said["range"])
            table += f'kind = "{said["role"]}"\nrange = [{low}, {high}]\nscope = "{said["scope"]}"\n'
            table += f"abstains = {str(said['abstains']).lower()}\n"
        tables.append(table)
    return "\n".join(tables)


__all__ = ["FIXTURES", "Entry", "manifest", "read_zoo", "zoo_names"]
