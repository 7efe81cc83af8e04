"""What the checks found, as cards: the smallest completion, what came and what was expected, what can be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewards.contract import completion_text
from workbench.app.view.row import MAX_VALUE, messages, value_text
from workbench.reports.check_text import value_words

MAX_FINDINGS = 200
MAX_SKIPPED = 120
MAX_TEXT = 2_000
MAX_LINES = 300
EXPLOITS = "RW3"


def findings_view(result: Mapping[str, Any]) -> dict[str, Any]:
    """JSON of a finished run; numbers of findings are their places in it."""
    findings = result["findings"]
    return {
        **{
            name: result[name]
            for name in ("verdict", "strength", "fail_on", "quick", "seconds", "rows", "right", "wrong")
        },
        "checks": len(result["ran"]),
        "rewards": result["rewards"],
        "counts": {level: _count(findings, level) for level in ("error", "warning", "info")},
        "waived": sum("waived" in finding for finding in findings),
        "findings": [finding_card(finding, number) for number, finding in enumerate(findings[:MAX_FINDINGS])],
        "more": max(0, len(findings) - MAX_FINDINGS),
        "held_back": list(result["held_back"]),
        "skipped": _skipped(result["skipped"]),
    }


def open_view(findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Cards of the findings made so far; numbers are their places."""
    return [finding_card(finding, number) for number, finding in enumerate(findings[:MAX_FINDINGS])]


def margin_view(
    findings: Sequence[Mapping[str, Any]], files: Mapping[str, str | None]
) -> list[dict[str, Any]]:
    """JSON of the lines that findings point at, in their order; `files` are those of the rewards.

    `kind` is `unpinned` for a change of the code that no sample notices, else `found`; a waived finding has none.
    """
    lines = []
    for finding in findings:
        if "waived" in finding:
            continue
        own = finding.get("lines") or ([[finding["line"], finding["message"]]] if finding.get("line") else [])
        kind = "unpinned" if finding.get("lines") else "found"
        file = files.get(str(finding.get("reward")))
        lines += [
            {
                "file": file,
                "line": line,
                "kind": kind,
                "check": finding["check"],
                "reward": finding.get("reward"),
                "text": text[:MAX_VALUE],
            }
            for line, text in own
        ]
    return sorted(lines, key=lambda each: (each["file"] or "", each["line"]))[:MAX_LINES]


def finding_card(finding: Mapping[str, Any], number: int) -> dict[str, Any]:
    """JSON of one finding as a card draws it."""
    evidence = finding.get("evidence") or {}
    completion, prompt = evidence.get("completion"), evidence.get("prompt")
    return {
        "number": number,
        "check": finding["check"],
        "name": finding["name"],
        "severity": finding["severity"],
        "reward": finding.get("reward"),
        "message": finding["message"],
        "advice": finding["advice"],
        "line": finding.get("line"),
        "count": finding.get("count", 1),
        "waived": finding.get("waived"),
        "text": None if completion is None else completion_text(completion)[:MAX_TEXT],
        "length": 0 if completion is None else len(completion_text(completion)),
        "prompt": [] if prompt is None else messages(prompt),
        "columns": [
            [str(name), value_text(value)] for name, value in (evidence.get("columns") or {}).items()
        ],
        "got": shown(evidence.get("got")),
        "expected": shown(evidence.get("expected")),
        "table": _table(evidence.get("got")),
        "likely": "hack" if finding["check"].startswith(EXPLOITS) else None,
    }


def shown(value: Any) -> str | None:
    """A value of the evidence in one readable text; None where there is none."""
    if value is None:
        return None
    if isinstance(value, str):
        return value[:MAX_VALUE]
    return value_words(value)[:MAX_VALUE]


def _table(got: Any) -> list[list[Any]] | None:
    """Rows of the scoreboard, `[strategy, share, low, high]`, where that is the evidence."""
    if (
        not isinstance(got, list)
        or not got
        or not all(isinstance(row, Mapping) and "strategy" in row for row in got)
    ):
        return None
    return [[str(row["strategy"]), row.get("share"), row.get("low"), row.get("high")] for row in got]


def _count(findings: Sequence[Mapping[str, Any]], level: str) -> int:
    return sum(finding["severity"] == level and "waived" not in finding for finding in findings)


def _skipped(skipped: Sequence[Mapping[str, str]]) -> list[list[Any]]:
    """Checks that did not run, those with the same reason together: `[reason, codes]`."""
    found: dict[str, list[str]] = {}
    for item in skipped[: 10 * MAX_SKIPPED]:
        found.setdefault(item["why"], []).append(item["check"])
    return [[why, codes] for why, codes in found.items()][:MAX_SKIPPED]
