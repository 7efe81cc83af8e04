"""A check report as strict JSON, in the fixed form of `check --format json`."""

from __future__ import annotations

import json

from workbench.checks.report import Report


def check_json(report: Report) -> str:
    """The report as one JSON object, indented, with a final new line; ASCII, so that broken emoji survive."""
    return json.dumps(report.to_json(), indent=2, allow_nan=False) + "\n"


__all__ = ["check_json"]
