"""The monitor: watches the course of a run and says what is wrong with it, once.

A finding is told when it appears and when it gets worse, never again in between. Most rules have to hold twice in a
row, so that one odd batch says nothing. What was told is part of the state that goes with a checkpoint: a resumed run
does not repeat itself, and what its lost steps had told is told again when it happens again.

Nothing here knows a trainer or a file. A live run, a folder read from disk and a simulated run are watched alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from trainer.diagnoses import RULES, Course, Diagnosis, Facts, Thresholds
from trainer.diagnoses.course import WINDOW_SHARE
from trainer.diagnoses.truncation import CUT_OFF, NEARLY_ALL

JUDGEMENTS = 100
"""A run is judged about so often over its length, and at least at every logged point of a short one."""


@dataclass(frozen=True)
class Told:
    """A diagnosis and the step at which it was told."""

    step: int
    diagnosis: Diagnosis

    def to_json(self) -> dict[str, Any]:
        """One line of diagnoses.jsonl."""
        values = asdict(self.diagnosis)
        del values["at_once"]
        return {"step": self.step, **values}

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Told:
        """Read what `to_json` gave; keys of others are passed over."""
        known = {key: line[key] for key in Diagnosis.__dataclass_fields__ if key in line}
        return cls(int(line["step"]), Diagnosis(**known))


class Monitor:
    """Watches one stage of a run.

    Args:
        facts: what is known of the run beforehand.
        thresholds: where the rules draw their lines.
        halt: names of diagnoses that stop the run when they are critical; see `must_halt` and `trainer.watching.halt`.
    """

    def __init__(
        self, facts: Facts, thresholds: Thresholds | None = None, halt: Collection[str] = ()
    ) -> None:
        self.course = Course(facts)
        self.thresholds = thresholds or Thresholds()
        self.halt = tuple(halt)
        self.told: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._grave_since: dict[str, int] = {}
        self._halted: set[str] = set()
        self._judged = 0
        self._spoilt = 0

    def observe(self, step: int, metrics: Mapping[str, Any]) -> list[Diagnosis]:
        """Take the metrics of a step; returns what is new, worst first. Several calls may bring one step's metrics."""
        self.course.add(step, metrics)
        spoilt = len(self.course.not_finite) > self._spoilt
        every = max(1, max(self.course.facts.total_steps, step) // JUDGEMENTS)
        if not spoilt and step - self._judged < every:
            return []
        self._judged, self._spoilt = step, len(self.course.not_finite)
        return self.judge()

    def judge(self) -> list[Diagnosis]:
        """Ask every rule now; returns what has appeared or got worse, worst first."""
        holding = {one.key: one for one in self.holding()}
        fresh = [one for one in holding.values() if self._is_news(one)]
        for one in fresh:
            self.told[one.key] = one.rank
        self._before = {key: one.rank for key, one in holding.items()}
        grave = {key for key, one in holding.items() if is_grave(one)}
        self._grave_since = {key: self._grave_since.get(key, self.course.step) for key in sorted(grave)}
        return sorted(fresh, key=lambda one: -one.rank)

    def holding(self) -> Iterable[Diagnosis]:
        """Everything that holds now, told or not."""
        for rule in RULES.values():
            yield from rule(self.course, self.thresholds)

    def must_halt(self) -> str | None:
        """The key of a critical diagnosis the run was to be stopped for, or None.

        A lack of signal has to last for two windows; that nearly all is cut off has to be seen twice, the second time
        with a batch that is new; the others stop at once. What a run was halted for once and resumed after does not
        halt it again.
        """
        for key, since in self._grave_since.items():
            name = key.partition(":")[0]
            asked = name in self.halt and key in self.told and key not in self._halted
            if asked and self._has_lasted(name, since):
                return key
        return None

    def _has_lasted(self, name: str, since: float) -> bool:
        if name == "no-signal":
            planned = max(self.course.facts.total_steps, self.course.step)
            return self.course.step - since >= WINDOW_SHARE * planned
        if name == "truncation":
            return len(self.course.series(CUT_OFF).between(since + 0.5, self._judged)) > 0
        return True

    def _is_news(self, diagnosis: Diagnosis) -> bool:
        if diagnosis.rank <= self.told.get(diagnosis.key, -1):
            return False
        if diagnosis.at_once:
            return True
        return self._before.get(diagnosis.key, -1) >= diagnosis.rank

    def to_json(self) -> dict[str, Any]:
        """Everything the monitor knows, for a checkpoint."""
        halting = {key for key in (self.must_halt(),) if key}
        return {
            "halted": sorted(self._halted | halting),
            "course": self.course.to_json(),
            "told": self.told,
            "before": self._before,
            "critical_since": self._grave_since,
            "judged": self._judged,
            "spoilt": self._spoilt,
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Become what `to_json` gave."""
        self._halted = set(values["halted"])
        self.course.restore(values["course"])
        self.told, self._before = dict(values["told"]), dict(values["before"])
        self._grave_since = dict(values["critical_since"])
        self._judged, self._spoilt = int(values["judged"]), int(values["spoilt"])


def is_grave(diagnosis: Diagnosis) -> bool:
    """Whether a run may be halted for it: critical, and of truncation only that of nearly all completions."""
    if diagnosis.name == "truncation" and diagnosis.evidence["clipped_ratio"] < NEARLY_ALL:
        return False
    return diagnosis.severity == "critical"


def watch_over(
    lines: Iterable[Mapping[str, Any]], facts: Facts, thresholds: Thresholds | None = None
) -> list[Told]:
    """What a monitor would have told about a run that was logged line by line, each with its `step`."""
    monitor, told = Monitor(facts, thresholds), []
    for line in lines:
        step = int(line["step"])
        told += [Told(step, one) for one in monitor.observe(step, line)]
    return told
