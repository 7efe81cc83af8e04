"""Counting the results: how many broken rewards of each kind were found, how many sound ones were called broken."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.checks.intervals import wilson
from workbench.selftest.measuring import Result
from workbench.selftest.zoo import zoo_names


@dataclass(frozen=True)
class Count:
    """How many of how many, and the 95 % interval of the share."""

    hits: int
    of: int

    @property
    def share(self) -> float:
        """The share; NaN of none."""
        return self.hits / self.of if self.of else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson interval of the share."""
        return wilson(self.hits, self.of)

    def __str__(self) -> str:
        return f"{self.hits} of {self.of}"


@dataclass(frozen=True)
class Tally:
    """One way of running the checks (with declarations or without) over all entries.

    `kinds` are the found by kind of defect, `critical` those of critical severity alone; `findings` is the mean
    number of findings at warning level or above on a found entry; `median_s` and `longest_s` are seconds.
    """

    declared: bool
    found: Count
    critical: Count
    alarms: Count
    kinds: dict[str, Count]
    missed: tuple[Result, ...]
    alarmed: tuple[Result, ...]
    findings: float
    median_s: float
    longest_s: float

    def to_json(self) -> dict[str, Any]:
        """The counts as strict JSON."""
        return {
            "declared": self.declared,
            "found": [self.found.hits, self.found.of],
            "critical": [self.critical.hits, self.critical.of],
            "false_alarms": [self.alarms.hits, self.alarms.of],
            "kinds": {kind: [count.hits, count.of] for kind, count in self.kinds.items()},
            "missed": [result.id for result in self.missed],
            "alarmed": [result.id for result in self.alarmed],
            "findings_each": round(self.findings, 2),
            "median_s": round(self.median_s, 2),
            "longest_s": round(self.longest_s, 2),
        }


def tally(results: Iterable[Result], *, declared: bool) -> Tally | None:
    """The counts of the results with declarations, or of those without; None where there are none."""
    mine = [result for result in results if result.declared == declared]
    if not mine:
        return None
    broken = [result for result in mine if result.kind is not None]
    sound = [result for result in mine if result.kind is None]
    critical = [result for result in broken if result.severity == "critical"]
    hits = [result for result in broken if result.found]
    times = sorted(result.seconds for result in mine)
    return Tally(
        declared,
        _found(broken),
        _found(critical),
        Count(sum(result.alarmed for result in sound), len(sound)),
        {
            kind: _found([r for r in broken if r.kind == kind])
            for kind in sorted({str(r.kind) for r in broken})
        },
        tuple(result for result in broken if not result.found),
        tuple(result for result in sound if result.alarmed),
        sum(len(result.loud) for result in hits) / len(hits) if hits else math.nan,
        times[len(times) // 2],
        times[-1],
    )


def _found(results: Sequence[Result]) -> Count:
    return Count(sum(result.found for result in results), len(results))


def markdown(results: Sequence[Result]) -> str:
    """`docs/selftest.md`: what was measured, by kind, and every miss and false alarm by name."""
    tallies = [t for t in (tally(results, declared=True), tally(results, declared=False)) if t is not None]
    parts = [
        "# Self-test",
        "",
        "What the checks find in rewards with a known verdict, and whether they leave sound ones alone. Written by "
        f"`reward-workbench selftest {_chosen(results)}--format markdown --out docs/selftest.md` in a checkout.",
        "",
        "A broken reward counts as found where a finding at warning level or above names its defect or a "
        "consequence of it (`workbench/selftest/naming.py`); any such finding on a sound reward is a "
        "false alarm. *Declared*: kind, range, scope and abstaining are stated in a manifest. *Bare*: the file and its "
        "samples alone. Intervals are 95 %.",
        "",
        f"Zoos: {_zoos(results)}. `zoo_held_out`, `zoo_second`, `zoo_third` and `zoo_fourth` were measured before "
        "they were looked at, and the last two were written without sight of the checks: "
        "`docs/decisions/0022-zoos-and-what-counts.md` has those numbers, and the last of them are the ones to expect "
        "of rewards that nobody has seen.",
        "",
        *_overview(results, tallies),
        "",
        "## By kind of defect",
        "",
        *_by_kind(tallies),
    ]
    for counted in tallies:
        parts += ["", f"## {_way(counted)}: missed and false alarms", ""]
        parts += [f"- missed `{r.zoo}/{r.id}` ({r.kind}){_why(r)}" for r in counted.missed]
        parts += [f"- false alarm `{r.zoo}/{r.id}`: {_said(r)}" for r in counted.alarmed]
        if not counted.missed and not counted.alarmed:
            parts.append("None.")
    return "\n".join(parts) + "\n"


def _chosen(results: Sequence[Result]) -> str:
    """The options that name the zoos measured, where not all of the checkout's were."""
    measured = {result.zoo for result in results}
    return "" if measured >= set(zoo_names()) else "".join(f"--zoo {name} " for name in sorted(measured))


def _zoos(results: Sequence[Result]) -> str:
    names = sorted({result.zoo for result in results})
    told = []
    for name in names:
        ids = {result.id: result for result in results if result.zoo == name}
        sound = sum(result.kind is None for result in ids.values())
        told.append(f"`{name}` ({len(ids) - sound} broken, {sound} sound)")
    return ", ".join(told)


def _overview(results: Sequence[Result], tallies: Sequence[Tally]) -> list[str]:
    lines = [
        "| | zoo | broken found | critical found | false alarms | findings each | seconds, median and longest |",
        "|---|---|---|---|---|---|---|",
    ]
    zoos = sorted({result.zoo for result in results})
    for counted in tallies:
        for zoo in (*zoos, "all") if len(zoos) > 1 else zoos:
            one = tally([r for r in results if zoo in (r.zoo, "all")], declared=counted.declared)
            if one is None:
                continue
            lines.append(
                f"| {_way(one)} | {zoo} | {_share(one.found)} | {one.critical} | {_share(one.alarms)} | "
                f"{one.findings:.1f} | {one.median_s:.1f}, {one.longest_s:.1f} |"
            )
    return lines


def _by_kind(tallies: Sequence[Tally]) -> list[str]:
    head = "| kind |" + "".join(f" {_way(t).lower()} |" for t in tallies)
    lines = [head, "|---|" + "---|" * len(tallies)]
    for kind in sorted({kind for t in tallies for kind in t.kinds}):
        lines.append(f"| {kind} |" + "".join(f" {t.kinds.get(kind, Count(0, 0))} |" for t in tallies))
    return lines


def _way(counted: Tally) -> str:
    return "Declared" if counted.declared else "Bare"


def _share(count: Count) -> str:
    if not count.of:
        return str(count)
    low, high = count.interval
    return f"{count}, {count.share:.0%} ({low:.0%} to {high:.0%})"


def _why(result: Result) -> str:
    if result.problem:
        return f": {result.problem}"
    return f"; said instead: {_said(result)}" if result.loud else ""


def _said(result: Result) -> str:
    return ", ".join(dict.fromkeys(said.check for said in result.loud))


__all__ = ["Count", "Tally", "markdown", "tally"]
