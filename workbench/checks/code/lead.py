"""What reading the code alone gives: leads, and how a finding that shows the matter takes one in.

A lead is a note about a line that often is a fault. It becomes more only through a completion that proves it: where a
check that runs the reward finds a consequence of the same matter, that finding takes over the lead's line and
reason, and the lead is not told again. Leads that are worth nothing by themselves (`alone = False`) are only told
in this way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from workbench.checks.check import RewardCheck
from workbench.checks.code.reading import Code
from workbench.checks.finding import Cost, Evidence, Finding, Severity
from workbench.checks.subject import RewardSubject


@dataclass(frozen=True)
class Spot:
    """A place in the code: its line, a clause about it ("takes the first match of ..."), and what it is in short.

    `alone` says whether it is told without a finding that proves it. `evidence` is of the samples, where they have
    any.
    """

    line: int
    why: str
    cause: str
    alone: bool = True
    evidence: Evidence = field(default_factory=Evidence)
    count: int = 1


class Lead(RewardCheck):
    """Base of the checks that read code.

    `proved_by` are the checks whose findings may be a consequence; `alone` whether a lead is worth telling by
    itself; `advice` what to do.
    """

    severity: ClassVar[Severity] = "info"
    cost = Cost.HAMPERS
    needs = "nothing"
    advice: ClassVar[str]
    proved_by: ClassVar[tuple[str, ...]] = ()
    alone: ClassVar[bool] = True

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """The places of this kind."""
        raise NotImplementedError

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One note for each cause, at its first line."""
        code = Code.of(subject)
        if code.line is None:
            return
        told: dict[str, list[Spot]] = {}
        for spot in self.spots(code, subject):
            told.setdefault(spot.cause, []).append(spot)
        for cause, spots in told.items():
            yield self.note(subject, cause, spots)

    def note(self, subject: RewardSubject, cause: str, spots: Sequence[Spot]) -> Finding:
        """The note about spots of one cause."""
        first = spots[0]
        more = f" (also on line {', '.join(str(spot.line) for spot in spots[1:5])})" if len(spots) > 1 else ""
        mark = "" if self.alone and first.alone else SILENT
        return self.finding(
            f"{subject.name}: line {first.line} {first.why}{more}.",
            advice=self.advice,
            cause=mark + cause,
            reward=subject.name,
            severity="info",
            evidence=first.evidence,
            line=first.line,
            count=first.count,
        )


NO_DOTALL = "without re.DOTALL"

SILENT = "only with proof: "
"""The beginning of the cause of leads that are told with a proof only."""


def fold(
    findings: Iterable[Finding], proofs: Mapping[str, tuple[str, ...]], lines: Mapping[str, int | None]
) -> list[Finding]:
    """The findings with each proved lead taken into what proves it, and silent leads without proof left out.

    Args:
        findings: of one run.
        proofs: by the code of a lead, the starts of the codes of checks that prove it.
        lines: the line each reward is defined on; a finding that says no more takes the lead's line.
    """
    everything = list(findings)
    leads = [finding for finding in everything if finding.check in proofs and finding.severity == "info"]
    others = [finding for finding in everything if finding not in leads]
    kept = []
    for lead in leads:
        proved = False
        for place, finding in enumerate(others):
            if _proves(finding, lead, proofs[lead.check]):
                proved = True
                others[place] = _with_lead(finding, lead, lines.get(lead.reward or ""))
        if not proved and SILENT not in lead.cause:
            kept.append(lead)
    return others + kept


def _proves(finding: Finding, lead: Finding, codes: tuple[str, ...]) -> bool:
    return (
        finding.reward == lead.reward
        and finding.severity != "info"
        and any(finding.check.startswith(code) for code in codes)
    )


def _with_lead(finding: Finding, lead: Finding, defined: int | None) -> Finding:
    """A finding with the reason of a lead, and the line of the first one where its own is only the reward's."""
    reason = lead.message.partition(": ")[2]
    if NO_DOTALL in reason and NO_DOTALL in finding.advice:
        return finding  # told with what the flag would earn
    line = lead.line if finding.line in (None, defined) else finding.line
    return replace(finding, advice=f"{reason[:1].upper()}{reason[1:]} {finding.advice}", line=line)


__all__ = ["SILENT", "Lead", "Spot", "fold"]
