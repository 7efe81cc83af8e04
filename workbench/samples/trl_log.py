"""TRL's completions log: what a run with `log_completions=True` writes, as text or as messages.

Its columns are `step`, `prompt`, `completion`, one number column for each reward, what `log_extra` added, and
`advantage`. The step, the rewards' scores and the advantage say what happened in the run; they are kept aside
and never passed to rewards as data. What `log_extra` added stays a column.

Which columns are rewards the log does not say. The output folder around it does (`attached.json`, or the history in a
checkpoint); without one it is guessed, and told. Where a prompt stands in the data twice, its two groups follow one
another in the log, and are told apart by the usual size of a group or by their advantages.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.samples.flat import flat_draft
from workbench.samples.format import Draft, Raw, Shape, Values

ADVANTAGES = ("advantage", "advantages")
LOG = ("step", "prompt", "completion")

ATTACHED, STATE = "attached.json", "trainer_state.json"
MEAN = re.compile(r"rewards/(.+)/mean")

NEAR = 1e-3
"""How far sums of advantages, and those of equal scores, may be apart: TRL computes them in float32."""


def _matches(values: Values) -> bool:
    return all(name in values for name in LOG) and any(name in values for name in ADVANTAGES)


def _drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    draft = flat_draft(raw, mapped)
    if mapped.get("step") != "step":
        draft.columns.pop("step", None)
    yield draft


def finish(
    drafts: list[Draft], mapped: Mapping[str, str], path: Path, present: Sequence[str]
) -> Iterator[str]:
    """Keep the scores aside and tell repeated prompts apart; yields what a reader should know of it.

    Args:
        drafts: of one file.
        mapped: `[data] columns`.
        path: the file, in whose folder or the one above the run's rewards are looked up.
        present: the names of its columns, in order.
    """
    if not drafts:
        return
    known = run_rewards(path)
    kept = set(mapped.values())
    advantages = [name for name in ADVANTAGES if name in drafts[0].columns]
    after = present[present.index("completion") + 1 :]
    names = [name for name in after if name in drafts[0].columns and name not in (*ADVANTAGES, *kept)]

    def scored(name: str) -> bool:
        return all(_is_score(draft.columns.get(name)) for draft in drafts)

    if known:
        scores = [name for name in names if name in known and scored(name)]
    else:  # the first column that is no reward begins those of `log_extra`
        scores = list(itertools.takewhile(scored, names))
    for draft in drafts:
        draft.recorded.update(
            {name: _score(draft.columns.pop(name, None)) for name in (*advantages, *scores)}
        )
    if scores and not known:
        yield (
            f"taken for scores of the run and kept from rewards: {', '.join(scores)} (the number columns right after "
            "`completion`; `[data] columns` makes one a column: name = name)"
        )
    _part_groups(drafts, scores)


def _is_score(value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return value is None
    if isinstance(value, str):
        try:
            return math.isfinite(float(value))
        except ValueError:
            return False
    return isinstance(value, (int, float))


def _score(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def run_rewards(path: Path) -> frozenset[str]:
    """The rewards of the run whose output folder holds a log, by `attached.json` or its last checkpoint; else none."""
    for folder in (path.parent, path.parent.parent):
        facts = _read(folder / ATTACHED)
        if isinstance(facts.get("weights"), dict):
            return frozenset(facts["weights"])
        states = sorted(folder.glob(f"checkpoint-*/{STATE}"), key=lambda file: file.stat().st_mtime)
        for file in (folder / STATE, *reversed(states[-1:])):
            history = _read(file).get("log_history")
            lines = [line for line in history if isinstance(line, dict)] if isinstance(history, list) else []
            found = {match[1] for line in lines for key in line if (match := MEAN.fullmatch(key))}
            if found:
                return frozenset(found)
    return frozenset()


def _read(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _part_groups(drafts: Sequence[Draft], scores: Sequence[str]) -> None:
    """Name the groups of prompts that follow one another more than once in a step; the others are left to `merge`."""
    if any(draft.group is not None for draft in drafts):
        return
    runs = [list(rows) for _, rows in itertools.groupby(drafts, key=lambda one: (one.step, one.prompt))]
    usual, times = Counter(map(len, runs)).most_common(1)[0]
    for number, run in enumerate(runs):
        size = usual if times * 2 > len(runs) > 1 else 0
        if not 1 < size < len(run) or len(run) % size:
            size = _size_by_advantages(run, scores)
        if size:
            for at, draft in enumerate(run):
                draft.group = f"r{number}.{at // size + 1}"


def _size_by_advantages(run: Sequence[Draft], scores: Sequence[str]) -> int:
    """The size of equal groups that a run of rows of one prompt falls into; 0 where it can be one group.

    In one group equal scores have equal advantages, and advantages sum to 0.
    """
    advantage = next((name for name in ADVANTAGES if name in run[0].recorded), None)
    if advantage is None or not scores:
        return 0
    rows = [(tuple(one.recorded[name] for name in scores), one.recorded[advantage] or 0.0) for one in run]
    if _is_group(rows):
        return 0
    sizes = [size for size in range(len(rows) // 2, 1, -1) if len(rows) % size == 0]
    return next(
        (
            size
            for size in sizes
            if all(_is_group(rows[at : at + size], zero=True) for at in range(0, len(rows), size))
        ),
        0,
    )


def _is_group(rows: Sequence[tuple[tuple[float | None, ...], float]], *, zero: bool = False) -> bool:
    """Whether equal scores have equal advantages, and (`zero`) these sum to 0."""
    seen: dict[tuple[float | None, ...], float] = {}
    alike = all(abs(seen.setdefault(scored, gain) - gain) <= NEAR for scored, gain in rows)
    return alike and (not zero or abs(sum(gain for _, gain in rows)) <= NEAR * len(rows))


TRL_LOG = Shape("TRL completions log", _matches, _drafts, finish)
