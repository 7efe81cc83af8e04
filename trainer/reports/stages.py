"""The stages of a run as card and report tell of them: what each was paid for, its settings, how its reward went.

A run without `[[train.stage]]` has one stage. A stage may use some of the set's rewards only, weigh them otherwise and
have settings of its own, and an adaptive weight moves while it lasts. So nothing is told of "the" weight or "the"
total of a run that is not so in every stage.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainer.reports.reproduction import unset_names
from trainer.rewarding.wrapped import distinct
from trainer.rundir import RESERVED, RunDir
from trainer.runfiles import OF_A_STAGE

Lines = list[dict[str, Any]]


@dataclass(frozen=True)
class Weight:
    """The weight of a reward in a stage: as declared, and as it was when the stage ended, None where it never moved."""

    declared: float
    reached: float | None = None

    def __str__(self) -> str:
        if self.reached is not None:
            return f"{self.declared:g}, adapted to {self.reached:.4g}"
        return f"{self.declared:g}"


@dataclass(frozen=True)
class Course:
    """How the total went over steps that were paid alike; `name` says which, "" for the whole run.

    `first` and `last` are means of `count` of its `lines` logged steps; `moved`: weights adapted in between, so that
    the two are not weighed alike.
    """

    name: str
    first: float
    last: float
    count: int
    lines: int
    moved: bool


def stage_tables(run: RunDir, manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The `[[train.stage]]` table of every stage, empty where there is none."""
    tables = list(manifest.get("train", {}).get("stage", []))
    return [tables[at] if at < len(tables) else {} for at in range(len(run.stages()))]


def lines_of_stages(run: RunDir) -> list[Lines]:
    """The lines of metrics of every stage."""
    stages = run.stages()
    names = [stage.name for stage in stages]
    starts = [run.offset(at) for at in range(len(stages))]
    found: list[Lines] = [[] for _ in stages]
    for line in run.metrics():
        if line.get("stage") in names:
            found[names.index(line["stage"])].append(line)
        elif found:  # a line without a name is of a run of one stage, or of an older one
            found[max(at for at, start in enumerate(starts) if at == 0 or start < line["step"])].append(line)
    return found


def weights_of_stages(run: RunDir, manifest: Mapping[str, Any]) -> list[dict[str, Weight]]:
    """For every stage its rewards with their weights."""
    declared = {entry.get("name"): float(entry.get("weight", 1.0)) for entry in manifest.get("reward", [])}
    found = []
    for stage, table, lines in zip(
        run.stages(), stage_tables(run, manifest), lines_of_stages(run), strict=True
    ):
        own, logged = table.get("weights", {}), _logged_names(stage.rewards)
        weights = {}
        for name in stage.rewards:
            weight = float(own.get(name, declared.get(name, 1.0)))
            key = f"rewards/{logged[name]}/weight"
            course = [float(line[key]) for line in lines if isinstance(line.get(key), (int, float))]
            weights[name] = Weight(weight, course[-1] if course and course[-1] != weight else None)
        found.append(weights)
    return found


def _logged_names(names: Sequence[str]) -> dict[str, str]:
    """The names under which a stage's rewards stand in the metrics, as `trainer.rewarding.wrapped.bind` gives them."""
    taken = {*RESERVED}
    logged = {}
    for name in names:
        logged[name] = distinct(name, taken)
        taken.add(logged[name])
    return logged


def reward_rows(run: RunDir, manifest: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Name, kind, weight and range of each reward that the run used."""
    stages, weights = run.stages(), weights_of_stages(run, manifest)
    rows = []
    for entry in manifest.get("reward", []):
        name, bounds = str(entry.get("name")), entry.get("range")
        used = {stage.name: one[name] for stage, one in zip(stages, weights, strict=True) if name in one}
        if not used:
            continue
        promised = f"{bounds[0]:g} to {bounds[1]:g}" if bounds else "not declared"
        rows.append((name, str(entry.get("kind") or "not declared"), _weights_text(used), promised))
    return rows


def unused_rewards(run: RunDir, manifest: Mapping[str, Any]) -> list[str]:
    """The rewards of the set that no stage used."""
    used = {name for stage in run.stages() for name in stage.rewards}
    return [str(entry.get("name")) for entry in manifest.get("reward", []) if entry.get("name") not in used]


def watched_rewards(run: RunDir, manifest: Mapping[str, Any]) -> list[str]:
    """The rewards that were used and weighed nothing wherever they were."""
    weights = weights_of_stages(run, manifest)
    names = dict.fromkeys(name for one in weights for name in one)
    return [name for name in names if all(_is_watched(one[name]) for one in weights if name in one)]


def _is_watched(weight: Weight) -> bool:
    return weight.declared == 0 and not weight.reached


def _weights_text(used: Mapping[str, Weight]) -> str:
    """The weight in all stages; where they differ, in each."""
    different = set(used.values())
    if len(different) == 1:
        (only,) = different
        return f"{only} (watched, not trained on)" if _is_watched(only) else str(only)
    return "; ".join(f"{weight} in {stage}" for stage, weight in used.items())


def rewards_of_stage(table: Mapping[str, Any], weights: Mapping[str, Weight]) -> str:
    """A stage's rewards, with the weights that are its own or have moved."""
    own = table.get("weights", {})
    return ", ".join(
        f"{name} (weight {weight})" if name in own or weight.reached is not None else name
        for name, weight in weights.items()
    )


def settings_rows(manifest: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Every setting with its value; where stages differ, the text `0.002 (format), 0.001 (answers)`."""
    train = manifest.get("train", {})
    tables = train.get("stage", []) or [{}]
    shared = {name: value for name, value in train.items() if name != "stage"}
    own = dict.fromkeys(name for table in tables for name in table if name not in OF_A_STAGE)
    rows: list[tuple[str, Any]] = []
    for name in dict.fromkeys([*shared, *own]):
        values = [table.get(name, shared.get(name)) for table in tables]
        same = all(value == values[0] for value in values)
        rows.append((name, values[0] if same else _by_stage(tables, values)))
    return [*rows, *((name, "none") for name in unset_names(train))]


def _by_stage(tables: Sequence[Mapping[str, Any]], values: Sequence[Any]) -> str:
    """TOML has no `none`, so that a value which is missing is TRL's own."""
    return ", ".join(
        f"{'default' if value is None else value} ({table.get('name') or number})"
        for number, (table, value) in enumerate(zip(tables, values, strict=True), 1)
    )


def courses(run: RunDir, manifest: Mapping[str, Any], changes: Sequence[int] = ()) -> list[Course]:
    """How the total went, apart for every stretch of steps that was paid alike.

    Args:
        run: the run.
        manifest: its manifest.
        changes: the steps from which on the run went on with other rewards.
    """
    stages = run.stages()
    found = []
    for stage, lines, weights in zip(
        stages, lines_of_stages(run), weights_of_stages(run, manifest), strict=True
    ):
        of_stage = [f"stage '{stage.name}'"] if len(stages) > 1 else []
        for part in _cut_at(lines, changes):
            first, last = ends(part, "reward")
            if first is None or last is None:
                continue
            steps = f"steps {part[0]['step']} to {part[-1]['step']}"
            name = ", ".join([*of_stage, *([steps] if changes else [])])
            moved = any(weight.reached is not None for weight in weights.values())
            found.append(Course(name, first, last, counted(part, "reward"), len(part), moved))
    return found


def _cut_at(lines: Lines, changes: Sequence[int]) -> list[Lines]:
    bounds = [float("-inf"), *sorted(changes), float("inf")]
    parts = [
        [line for line in lines if low <= line["step"] < high] for low, high in itertools.pairwise(bounds)
    ]
    return [part for part in parts if part]


def ends(lines: Sequence[Mapping[str, Any]], key: str) -> tuple[float | None, float | None]:
    """The means of a metric over the first and the last quarter of its lines, ten lines at most."""
    known = [float(line[key]) for line in lines if isinstance(line.get(key), (int, float))]
    if not known:
        return None, None
    count = counted(lines, key)
    return sum(known[:count]) / count, sum(known[-count:]) / count


def counted(lines: Sequence[Mapping[str, Any]], key: str) -> int:
    """How many lines `ends` takes from each side."""
    known = sum(isinstance(line.get(key), (int, float)) for line in lines)
    return min(10, max(1, known // 4))
