"""A check report as GitHub's workflow commands: an annotation for each finding, at its line.

GitHub shows ten errors and ten warnings of a step; findings come with the costliest first.
"""

from __future__ import annotations

from pathlib import Path

from workbench.checks.finding import Finding
from workbench.checks.report import Report
from workbench.reports.check_places import place_of
from workbench.reports.check_text import finding_words, safe

LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def check_github(report: Report, root: Path) -> str:
    """A line `::error file=...,line=...,title=...::message` for each finding that was not accepted, and the verdict.

    Paths are relative to `root`, the checkout.
    """
    lines = [_annotation(finding, report, root) for finding in report.all_findings if not finding.accepted]
    accepted = sum(finding.accepted for finding in report.all_findings)
    told = f"{len(lines)} finding{'s' * (len(lines) != 1)}" + (f", {accepted} accepted" if accepted else "")
    name = safe(report.description.name)
    return "\n".join([*lines, f"{name}: {report.verdict}, {told}, in {report.seconds:.1f} s"]) + "\n"


def _annotation(finding: Finding, report: Report, root: Path) -> str:
    place = place_of(finding, report, root)
    properties = {
        "file": place.path.as_posix(),
        "line": str(place.line),
        "title": f"{', '.join(finding.checks)} {finding.name} ({finding.reward or 'the set'})",
    }
    told = ",".join(f"{key}={escape_property(value)}" for key, value in properties.items())
    return f"::{LEVELS[finding.severity]} {told}::{escape_data(finding_words(finding))}"


def escape_data(text: str) -> str:
    """Text as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Text as a property of a workflow command."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


__all__ = ["check_github", "escape_data", "escape_property"]
