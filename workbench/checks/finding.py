"""What a check says: a finding with its evidence, as a record.

A finding names the check, how severe the matter is, what is wrong in one sentence, the smallest completion
that shows it, and what to do. Turning findings into text or JSON is `workbench.reports`' task; this module
only knows the JSON fields of one finding, because they are a fixed contract.

One cause is one finding: `merge` joins findings of the same cause and adds up their counts. A cause is a
short text that does not move when code is re-formatted (an exception's type and statement, a column's name),
and the fingerprint is made of it, never of line numbers or measured values.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Literal

Severity = Literal["error", "warning", "info"]

SEVERITIES: dict[str, int] = {"info": 0, "warning": 1, "error": 2}
"""How severe each level is, ascending."""


class Cost(IntEnum):
    """What a matter costs when it is trained on, the worst first; findings are shown in this order."""

    STOPS = 0  # the run stops, or never starts
    RUINS = 1  # weights or records become garbage without a word
    TEACHES_NOTHING = 2  # no gradient comes of it
    TEACHES_WRONG = 3  # the wrong thing is paid
    HAMPERS = 4  # slow, noisy, in the way


@dataclass(frozen=True)
class Evidence:
    """The input that shows a matter, what came of it, and what would have been right.

    `completion` is the smallest one known; `columns` holds the columns of its row; every field may be None.
    """

    prompt: Any = None
    completion: Any = None
    columns: dict[str, Any] | None = None
    got: Any = None
    expected: Any = None

    def to_json(self) -> dict[str, Any]:
        """The five fields as strict JSON values."""
        return {
            "prompt": plain(self.prompt),
            "completion": plain(self.completion),
            "columns": plain(self.columns),
            "got": plain(self.got),
            "expected": plain(self.expected),
        }

    @property
    def size(self) -> int:
        """How much text a reader has to take in; infinite where there is no completion."""
        if self.completion is None:
            return 1 << 30
        return len(str(self.completion))


@dataclass(frozen=True)
class Finding:
    """One matter found by one check in one reward (`reward` is None where it concerns the whole set).

    `count` says how many samples show it; `cause` tells equal matters apart and goes into the fingerprint;
    `cost` orders findings; `waived` is the user's reason for accepting it; `known` says that a baseline has it.
    `lines` are all lines it is about, each with a sentence, for the margin of the code; no report shows them.
    `also` are findings of the same cause that it speaks for (`workbench.checks.one_cause`).
    """

    check: str
    name: str
    severity: Severity
    message: str
    advice: str
    cause: str
    cost: Cost
    reward: str | None = None
    evidence: Evidence = field(default_factory=Evidence)
    line: int | None = None
    count: int = 1
    waived: str | None = None
    known: bool = False
    lines: tuple[tuple[int, str], ...] = ()
    also: tuple[Finding, ...] = ()

    @property
    def checks(self) -> tuple[str, ...]:
        """The codes of the checks that found it, its own first."""
        return tuple(dict.fromkeys((self.check, *(other.check for other in self.also))))

    @property
    def accepted(self) -> bool:
        """True where it fails nothing: it was waived, or the baseline has it."""
        return self.waived is not None or self.known

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that stay the same while the cause does."""
        text = "\x1f".join((self.check, self.reward or "", self.cause))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def at_least(self, level: str) -> bool:
        """True where the severity is `level` or above."""
        return SEVERITIES[self.severity] >= SEVERITIES[level]

    def to_json(self) -> dict[str, Any]:
        """The fields of `check --format json`; `waived`, `known` and `also` are there only where they hold."""
        shown: dict[str, Any] = {
            "check": self.check,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "evidence": self.evidence.to_json(),
            "advice": self.advice,
            "line": self.line,
            "count": self.count,
            "fingerprint": self.fingerprint,
        }
        if self.waived is not None:
            shown["waived"] = self.waived
        if self.known:
            shown["known"] = True
        if self.also:
            shown["also"] = [
                {
                    "check": other.check,
                    "name": other.name,
                    "severity": other.severity,
                    "message": other.message,
                    "fingerprint": other.fingerprint,
                }
                for other in self.also
            ]
        return shown


def order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings with what costs most to train on first; waived and known ones last."""
    return sorted(
        findings,
        key=lambda f: (f.accepted, -SEVERITIES[f.severity], f.cost, f.check, -f.count, f.cause),
    )


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each reward and cause, in the order of `order`.

    The costliest of those with one cause stays, with the smallest evidence among its equals. Counts of one
    check add up; the same cause seen by another check is not counted again.
    """
    kept: dict[tuple[str | None, str], Finding] = {}
    for finding in order(findings):
        key = (finding.reward, finding.cause)
        known = kept.get(key)
        if known is None:
            kept[key] = finding
        elif known.check == finding.check:
            smaller = min((known.evidence, finding.evidence), key=lambda e: e.size)
            kept[key] = replace(known, count=known.count + finding.count, evidence=smaller)
    return order(kept.values())


def plain(value: Any) -> Any:
    """`value` as strict JSON: NaN and infinities become the texts "nan", "inf", "-inf", other objects their repr."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    item = getattr(value, "item", None)  # NumPy scalars
    if callable(item) and not getattr(value, "shape", None):
        return plain(item())
    return repr(value)


__all__ = ["SEVERITIES", "Cost", "Evidence", "Finding", "Severity", "merge", "order", "plain"]
