"""A baseline: findings that were there before, so that only new ones fail.

It is the report of an earlier check as JSON (`check --format json --out baseline.json`). A finding is known by its
fingerprint, which layout, comments and line numbers of the code do not change; one that has become more severe is new.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rewards.errors import UsageError
from workbench.checks.finding import SEVERITIES, Finding
from workbench.checks.report import Report

MAKE_ONE = "write one with --format json --out FILE"


@dataclass(frozen=True)
class Baseline:
    """The findings of an earlier check: the severity of each by fingerprint; `file` is where they were read."""

    file: Path
    severities: Mapping[str, str]

    def knows(self, finding: Finding) -> bool:
        """Whether the finding was there, at least as severe, with all that it speaks for."""
        before = self.severities.get(finding.fingerprint)
        there = before is not None and SEVERITIES[before] >= SEVERITIES[finding.severity]
        return there and all(map(self.knows, finding.also))


def read_baseline(file: Path) -> Baseline:
    """Read a report of `check --format json`.

    Raises:
        UsageError: there is no such file, or it is no such report; one sentence.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"there is no baseline {file}; {MAKE_ONE}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the baseline {file} cannot be read ({type(error).__name__}); {MAKE_ONE}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the baseline {file} is no JSON ({error}); {MAKE_ONE}") from error
    try:
        found = {finding["fingerprint"]: finding["severity"] for finding in _findings(content)}
        unknown = [str(level) for level in found.values() if level not in SEVERITIES]
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"the baseline {file} is no report of a check; {MAKE_ONE}") from error
    if unknown or not all(isinstance(key, str) for key in found):
        raise UsageError(f"the baseline {file} has a finding without severity or fingerprint; {MAKE_ONE}")
    return Baseline(file, found)


def _findings(content: Any) -> Iterator[Mapping[str, Any]]:
    told = [*content["set"]["findings"]]
    for reward in content["rewards"]:
        told += reward["findings"]
    for finding in told:
        yield finding
        yield from finding.get("also", ())


def against(report: Report, baseline: Baseline) -> Report:
    """The report with the findings marked that the baseline knows; what it has and is gone is a note.

    Findings of checks that did not run this time are not taken for gone.
    """
    found = {one.fingerprint for finding in report.all_findings for one in (finding, *finding.also)}
    gone = len(set(baseline.severities) - found) if len(report.ran) else 0
    notes = report.notes
    if gone and not report.skipped:
        notes = (
            *notes,
            f"{gone} finding{'s' * (gone != 1)} of the baseline {baseline.file} "
            f"{'are' if gone != 1 else 'is'} gone: {MAKE_ONE.replace('one', 'it anew')}",
        )
    return replace(
        report,
        rewards=tuple(
            replace(reward, findings=tuple(_mark(finding, baseline) for finding in reward.findings))
            for reward in report.rewards
        ),
        findings=tuple(_mark(finding, baseline) for finding in report.findings),
        notes=notes,
        baseline=len(baseline.severities),
    )


def _mark(finding: Finding, baseline: Baseline) -> Finding:
    return replace(finding, known=True) if baseline.knows(finding) else finding


__all__ = ["Baseline", "against", "read_baseline"]
