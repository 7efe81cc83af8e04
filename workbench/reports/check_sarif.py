"""A check report as SARIF 2.1.0, for code scanning and editors."""

from __future__ import annotations

import inspect
import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from workbench.checks.finding import Finding
from workbench.checks.manual import page
from workbench.checks.report import Report, Skipped
from workbench.checks.selection import CHECKS
from workbench.reports.check_places import place_of
from workbench.reports.check_text import finding_words

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "info": "note"}
FINGERPRINT = "rewardWorkbench/v1"


def check_sarif(report: Report, root: Path) -> str:
    """The report as one SARIF run; paths are relative to `root`, the checkout."""
    codes = sorted(
        {code for code, _ in report.ran}
        | {code for finding in report.all_findings for code in finding.checks}
    )
    run = {
        "tool": {
            "driver": {
                "name": "reward-workbench",
                "version": _version(),
                "rules": [_rule(code) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    _notification(item) for item in report.skipped
                ],
            }
        ],
        "results": [_result(finding, report, root, codes) for finding in report.all_findings],
        "properties": {
            "verdict": report.verdict,
            "strength": report.strength,
            "samples": report.rows,
            "seconds": round(report.seconds, 3),
        },
    }  # fmt: skip
    return (
        json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, allow_nan=False) + "\n"
    )


def _notification(item: Skipped) -> dict[str, Any]:
    why = f"not run: {item.to_json()['why']}"
    return {"level": "note", "descriptor": {"id": item.check}, "message": {"text": why}}


def _version() -> str:
    try:
        return version("reward-workbench")
    except PackageNotFoundError:
        return "0"


def _rule(code: str) -> dict[str, Any]:
    check = CHECKS[code]
    return {
        "id": code,
        "name": "".join(part.capitalize() for part in check.name.split("-")),
        "shortDescription": {"text": check.summary},
        "fullDescription": {"text": inspect.cleandoc(check.__doc__ or "").split("\n\n")[0]},
        "help": {"text": page(check)},
        "defaultConfiguration": {"level": LEVELS[check.severity]},
    }


def _result(finding: Finding, report: Report, root: Path, codes: list[str]) -> dict[str, Any]:
    place = place_of(finding, report, root)
    uri = place.path.as_uri() if place.path.is_absolute() else quote(place.path.as_posix())
    result: dict[str, Any] = {
        "ruleId": finding.check,
        "ruleIndex": codes.index(finding.check),
        "level": LEVELS[finding.severity],
        "message": {"text": finding_words(finding)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri},
                    "region": {"startLine": place.line},
                },
                "logicalLocations": [{"name": finding.reward, "kind": "function"}] if finding.reward else [],
            }
        ],
        "occurrenceCount": max(1, finding.count),
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
        "properties": {"reward": finding.reward, "evidence": finding.evidence.to_json()},
    }
    if finding.also:
        result["properties"]["also"] = finding.to_json()["also"]
    if finding.waived is not None:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": finding.waived}]
    if report.baseline is not None:
        result["baselineState"] = "unchanged" if finding.known else "new"
    return result


__all__ = ["FINGERPRINT", "check_sarif"]
