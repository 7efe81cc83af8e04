"""What a diagnosis says, and what it is made from.

A *rule* is a function of a `Course` (the run so far) that gives the diagnoses that hold now, or none. Rules are pure:
the same numbers give the same diagnoses, in a live run, in one read from disk, and in a simulated one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from trainer.diagnoses.course import Course
from trainer.watching.thresholds import Thresholds

Severity = Literal["info", "warning", "critical"]
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "critical")


@dataclass(frozen=True)
class Diagnosis:
    """Something a run does, or has: what is seen, what it means, what to do.

    `subject` tells apart diagnoses of one name (a reward, a part of the step); "" where there is one only. `at_once`:
    needs no second look before it is told.
    """

    name: str
    severity: Severity
    seen: str
    means: str
    advice: str
    subject: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    at_once: bool = False

    @property
    def key(self) -> str:
        """What makes two diagnoses the same: name and subject."""
        return f"{self.name}:{self.subject}" if self.subject else self.name

    @property
    def rank(self) -> int:
        """0 info, 1 warning, 2 critical."""
        return SEVERITIES.index(self.severity)

    def sentence(self) -> str:
        """`critical no-signal: what is seen; what it means; what to do`, in one line."""
        return f"{self.severity} {self.key}: {self.seen}. {self.means}. {self.advice}"


class Rule(Protocol):
    """Gives the diagnoses that hold for a course now."""

    def __call__(self, course: Course, thresholds: Thresholds) -> Iterable[Diagnosis]:
        """What holds, in no particular order; often nothing."""
