"""A check report in every format of `check --format`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.checks.report import Report
from workbench.reports.check_github import check_github
from workbench.reports.check_html import check_html
from workbench.reports.check_json import check_json
from workbench.reports.check_junit import check_junit
from workbench.reports.check_sarif import check_sarif
from workbench.reports.check_text import check_text


@dataclass(frozen=True)
class Manner:
    """How a report is written: `root` is the checkout that paths are relative to; the others concern text alone."""

    root: Path
    colour: bool = False
    durations: bool = False


FORMATS: dict[str, Callable[[Report, Manner], str]] = {
    "text": lambda report, manner: check_text(report, colour=manner.colour, durations=manner.durations),
    "json": lambda report, manner: check_json(report),
    "junit": lambda report, manner: check_junit(report),
    "sarif": lambda report, manner: check_sarif(report, manner.root),
    "github": lambda report, manner: check_github(report, manner.root),
    "html": lambda report, manner: check_html(report),
}
"""Every format of `check`, by its name on the command line."""

__all__ = ["FORMATS", "Manner"]
