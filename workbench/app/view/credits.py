"""Partial credit of one row as the page draws it: the credits beside the text they were given for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.app.view.numbers import cell
from workbench.app.view.row import MAX_TEXT, value_text
from workbench.app.view.spans import pieces

MAX_CREDITS = 200


def credits_view(explanation: Mapping[str, Any], text: str, source: Sequence[str] = ()) -> dict[str, Any]:
    """JSON of the explained row.

    `explanation` is what `explain --format json` gives for a row, `source` the lines of the reward file. Every
    credit gets a number; `pieces` refers to these numbers. A credit's `colour` is its place in the palette,
    None where it paid nothing.
    """
    text = text[:MAX_TEXT]
    spans: dict[int, list[tuple[int, int]]] = {}
    rewards = []
    number = colour = 0
    for reward in explanation.get("rewards", ()):
        found = []
        for credit in reward.get("credits", ())[:MAX_CREDITS]:
            places = [(int(begin), int(end)) for begin, end in credit.get("spans") or ()]
            if places:
                spans[number] = places
            paid = bool(credit.get("points"))
            found.append(
                {
                    "number": number,
                    "name": str(credit.get("name") or ""),
                    "points": cell(credit.get("points") or 0.0),
                    "of": None if credit.get("of") is None else cell(credit["of"]),
                    "line": credit.get("line"),
                    "condition": credit.get("condition"),
                    "value": credit.get("value"),
                    "spans": [list(place) for place in places[:8]],
                    "colour": colour if places and paid else None,
                }
            )
            colour += 1 if places and paid else 0
            number += 1
        rewards.append(
            {
                "name": reward.get("name", ""),
                "score": _score(reward.get("score")),
                "exact": bool(reward.get("exact")),
                "credits": found,
                "lines": [_line(line, source) for line in reward.get("lines", ())],
                **({"note": reward["note"]} if reward.get("note") else {}),
            }
        )
    return {"row": explanation.get("row"), "pieces": pieces(text, spans), "rewards": rewards}


def _score(score: Any) -> Any:
    return cell(score) if isinstance(score, (int, float)) else score


def _line(line: Mapping[str, Any], source: Sequence[str]) -> dict[str, Any]:
    number = line.get("line")
    code = source[number - 1].strip() if isinstance(number, int) and 0 < number <= len(source) else ""
    return {
        "line": number,
        "hits": line.get("hits"),
        "code": code[:200],
        "values": [
            [str(name), value_text(value)[:120]] for name, value in (line.get("values") or {}).items()
        ],
    }
