"""How well the tracer meets hand-made keys of functions that were written without sight of it.

`fixtures/blind_credits` has the functions, their rows and the keys; its README says how a key is read. `measured`
explains every row of a function and compares.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewards.contract import Batch, completion_text
from rewards.rewardset import RewardSet
from rewards.tracing import Credit, Explainer, RewardExplanation

FOLDER = Path(__file__).parents[3] / "fixtures/blind_credits"

PER_HIT = frozenset(
    ["while_scan", "finditer_steps", "fields_exact_share", "runs_tests", "connective_reward", "json_ladder",
     "lines_enumerate"]
)  # fmt: skip
"""A loop pays per hit: one credit for all hits of a line is coarser, not wrong."""

ONE_OR_MANY = frozenset(["overlap_plus_bonus"])
"""The key has one credit for a statement; one credit a keyword is as good."""

_NEAR = 1e-6


@functools.cache
def functions() -> dict[str, str]:
    """Every function with its file."""
    found = {}
    for file in sorted(FOLDER.glob("functions_*.py")):
        for line in file.read_text().splitlines():
            if line.startswith("# ---- "):
                found[line.removeprefix("# ---- ").strip()] = file.name
    return found


def target(name: str) -> str:
    """A function as a command takes it."""
    return f"{FOLDER / functions()[name]}::{name}"


def samples_file(name: str) -> Path:
    return FOLDER / f"samples_{name}.jsonl"


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of a function."""
    return [json.loads(line) for line in samples_file(name).read_text().splitlines()]


def key_of(name: str) -> list[dict[str, Any]] | None:
    """The key of a function; None for one that does not pay in parts."""
    file = FOLDER / "keys" / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else None


def batch_of(name: str) -> Batch:
    """The rows of a function as one call gets them."""
    rows = rows_of(name)
    columns = {key: [row[key] for row in rows] for key in rows[0] if key not in ("prompt", "completion")}
    prompts = [row["prompt"] for row in rows]
    return Batch(prompts, [row["completion"] for row in rows], columns=columns,
                 groups=[f"g{prompts.index(prompt)}" for prompt in prompts])  # fmt: skip


@functools.cache
def explainer(name: str) -> Explainer:
    """The explainer of one function."""
    return Explainer(functools.partial(RewardSet.load, target(name)))


@functools.cache
def explained(name: str) -> list[RewardExplanation]:
    """Every row of a function, explained."""
    made, batch = explainer(name), batch_of(name)
    return [made.explain(made.plain.names[0], batch, row) for row in range(len(batch))]


@dataclass
class Measure:
    """Counts over rows: `wanted` credits of the key, of them `met`; `given` credits, of them `good`."""

    name: str
    rows: int = 0
    sums: int = 0
    wanted: int = 0
    met: int = 0
    given: int = 0
    good: int = 0
    spans: int = 0
    spans_exact: int = 0
    spans_contained: int = 0
    nothing: int = 0
    nothing_shown: int = 0
    conditions: int = 0
    conditions_met: int = 0
    misses: list[str] = field(default_factory=list)

    def add(self, other: Measure) -> None:
        """Count another measure in."""
        for key, value in vars(other).items():
            if key != "name":
                setattr(self, key, getattr(self, key) + value)

    def __str__(self) -> str:
        return (
            f"{self.name}: rows that add up {self.sums}/{self.rows}, recall {self.met}/{self.wanted} "
            f"= {self.met / max(1, self.wanted):.4f}, precision {self.good}/{self.given} "
            f"= {self.good / max(1, self.given):.4f}, spans exact {self.spans_exact}, contained "
            f"{self.spans_contained} of {self.spans}, none where none is due {self.nothing_shown}/{self.nothing}, "
            f"conditions {self.conditions_met}/{self.conditions}"
        )


def measured(name: str, explanations: Sequence[RewardExplanation]) -> Measure:
    """The explanations of a function's rows against its key."""
    key = key_of(name)
    assert key is not None
    measure = Measure(name)
    for row, (explanation, sample) in enumerate(zip(explanations, rows_of(name), strict=True)):
        measure.rows += 1
        total = sum(credit.points for credit in explanation.credits)
        score = explanation.score if isinstance(explanation.score, float) else 0.0
        measure.sums += explanation.exact and abs(total - score) < _NEAR
        _row(measure, row, [one for one in key if one["row"] == row], explanation, sample["completion"])
    return measure


def _row(
    measure: Measure, row: int, key: list[dict[str, Any]], explanation: RewardExplanation, completion: Any
) -> None:
    given = [credit for credit in explanation.credits if abs(credit.points) > _NEAR]
    measure.wanted += len(key)
    measure.given += len(given)
    pairs = _paired(measure.name, key, given)
    met = {id(entry) for entry, _ in pairs}
    good = {id(credit) for _, credit in pairs}
    measure.met += len(met)
    measure.good += len(good)
    for entry in key:
        if id(entry) not in met:
            measure.misses.append(
                f"row {row} lacks {entry['points']:+.4g} line {entry['line']} {entry['condition']}"
            )
    for credit in given:
        if id(credit) not in good:
            measure.misses.append(
                f"row {row} has   {credit.points:+.4g} line {credit.line} {credit.condition} ({credit.name})"
            )
    for entry, credit in pairs:
        _compare(measure, row, entry, credit, completion)


def _on_line(entry: dict[str, Any], credit: Credit) -> bool:
    lines = [entry["line"], *entry.get("lines", [])]
    if "file" in entry:
        inside = credit.place is not None and credit.place in [f"{entry['file']}:{line}" for line in lines]
        return inside or credit.line in entry.get("call_lines", [])
    return credit.place is None and credit.line in lines


def _paired(name: str, key: list[dict[str, Any]], given: list[Credit]) -> list[tuple[Any, Credit]]:
    """Credits of the key with those that meet them, each used once where the key does not allow more."""
    pairs: list[tuple[Any, Credit]] = []
    left = list(given)
    for strict in (True, False):  # the right condition first
        for entry in [one for one in key if not any(one is done for done, _ in pairs)]:
            for credit in left:
                same = _on_line(entry, credit) and abs(credit.points - entry["points"]) < _NEAR
                if same and (not strict or _same_condition(entry, credit)):
                    pairs.append((entry, credit))
                    left = [one for one in left if one is not credit]
                    break
    open_ = [entry for entry in key if not any(entry is done for done, _ in pairs)]
    if name in PER_HIT:
        for credit in left:
            hits = [entry for entry in open_ if _on_line(entry, credit) and _same_condition(entry, credit)]
            if hits and abs(sum(entry["points"] for entry in hits) - credit.points) < _NEAR:
                pairs += [(entry, credit) for entry in hits]
    if name in ONE_OR_MANY:
        for entry in open_:
            hits = [credit for credit in left if _on_line(entry, credit)]
            if hits and abs(sum(credit.points for credit in hits) - entry["points"]) < _NEAR:
                pairs += [(entry, credit) for credit in hits]
    clamps = [entry for entry in open_ if entry.get("kind") == "clamp"]
    if clamps and abs(sum(e["points"] for e in key) - sum(c.points for c in given)) < _NEAR:
        spread = [(entry, credit) for entry in open_ for credit in left if _on_line(entry, credit)]
        pairs += spread + [(entry, given[-1]) for entry in clamps]
    return pairs


def _words(text: str | None) -> str | None:
    return None if text is None else "".join(text.split())


def _same_condition(entry: dict[str, Any], credit: Credit) -> bool:
    if _words(entry["condition"]) != _words(credit.condition):
        return False
    return "holds" not in entry or bool(credit.value) == entry["holds"]


def _compare(measure: Measure, row: int, entry: dict[str, Any], credit: Credit, completion: Any) -> None:
    """Condition and span of a credit that was met."""
    measure.conditions += 1
    if _same_condition(entry, credit):
        measure.conditions_met += 1
    else:
        measure.misses.append(
            f"row {row} condition {credit.condition} = {credit.value!r}; the key: {entry['condition']}"
        )
    text = completion_text(completion)
    if entry["span"] is None:
        if not entry.get("soft_span"):
            measure.nothing += 1
            measure.nothing_shown += not credit.spans
            if credit.spans:
                shown = [text[start:end] for start, end in credit.spans]
                measure.misses.append(
                    f"row {row} shows {shown} for {entry['condition']}, which is about none"
                )
        return
    if not isinstance(completion, str) and entry.get("message", len(completion) - 1) != len(completion) - 1:
        return  # spans count in the last message
    allowed = [tuple(span) for span in [entry["span"], *entry.get("spans", [])]]
    measure.spans += 1
    as_good = entry.get("soft_span") and (not credit.spans or _around(allowed, credit))
    if as_good or any(span in allowed for span in credit.spans):
        measure.spans_exact += 1
    elif _around(allowed, credit):
        measure.spans_contained += 1
    if not any(span in allowed for span in credit.spans) and not entry.get("soft_span"):
        shown = [text[start:end] for start, end in credit.spans]
        measure.misses.append(
            f"row {row} shows {shown} for {entry['text']!r} of {entry['condition']} (line {credit.line})"
        )


def _around(allowed: list[tuple[int, ...]], credit: Credit) -> bool:
    return any(
        (start <= first and last <= end) or (first <= start and end <= last)
        for start, end in credit.spans
        for first, last in allowed
    )
