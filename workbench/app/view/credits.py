"""Partial credit of one row as the page draws it: the credits beside the text they were given for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.app.view.numbers import cell
from workbench.app.view.row import MAX_TEXT, value_text
from workbench.app.view.spans import Span, pieces

MAX_CREDITS = 200
MAX_LINES = 400
MAX_SPANS = 20


def credits_view(
    explanation: Mapping[str, Any],
    text: str,
    sources: Mapping[str, str] | None = None,
    files: Mapping[str, str | None] | None = None,
) -> dict[str, Any]:
    """JSON of the explained row.

    `explanation` is what `explain --format json` gives for a row, `sources` maps file names to their text and
    `files` rewards to the file they are defined in. Every credit gets a number, to which `pieces` refers. A
    credit's `colour` is its place in the palette, None where it paid nothing or has no place in the text.
    """
    marks = _Marks()
    rewards = []
    for reward in explanation.get("rewards", ()):
        file = (files or {}).get(reward.get("name", ""))
        source = (sources or {}).get(file or "", "").split("\n")
        rewards.append(
            {
                "name": reward.get("name", ""),
                "file": file,
                "score": _score(reward.get("score")),
                "exact": bool(reward.get("exact")),
                "alone": reward.get("alone") is not False,
                "error": reward.get("error"),
                "notes": list(reward.get("notes") or ()),
                "credits": list(marks.credits(reward.get("credits") or ())),
                "missed": list(marks.credits(reward.get("missed") or ())),
                "lines": [_line(line, source) for line in (reward.get("lines") or ())[:MAX_LINES]],
            }
        )
    return {"row": explanation.get("row"), "pieces": pieces(text[:MAX_TEXT], marks.spans), "rewards": rewards}


class _Marks:
    """Numbers and colours of all credits of a row."""

    def __init__(self) -> None:
        self.spans: dict[int, list[Span]] = {}
        self.number = self.colour = 0

    def credits(self, given: Any) -> Iterator[dict[str, Any]]:
        for credit in given[:MAX_CREDITS]:
            places = [(int(begin), int(end)) for begin, end in credit.get("spans") or ()][:MAX_SPANS]
            coloured = bool(places) and bool(credit.get("points"))
            if places:
                self.spans[self.number] = places
            yield {
                "number": self.number,
                "name": str(credit.get("name") or ""),
                "points": _score(credit.get("points") or 0.0),
                "of": _score(credit.get("of")),
                "line": credit.get("line"),
                "place": credit.get("place"),
                "condition": credit.get("condition"),
                "value": credit.get("value"),
                "compared": credit.get("compared"),
                "note": credit.get("note"),
                "approximate": bool(credit.get("approximate")),
                "placed": bool(places),
                "colour": self.colour if coloured else None,
            }
            self.number += 1
            self.colour += coloured


def _score(score: Any) -> Any:
    return cell(score) if isinstance(score, (int, float)) else score


def _line(line: Mapping[str, Any], source: list[str]) -> dict[str, Any]:
    number = line.get("line")
    code = source[number - 1].strip() if isinstance(number, int) and 0 < number <= len(source) else ""
    values = (line.get("values") or {}).items()
    return {
        "line": number,
        "hits": line.get("hits"),
        "code": code[:200],
        "values": [[str(name), value_text(value)[:120]] for name, value in values],
    }
