"""What came of a run, as the Result page shows it: the proof line by line, the paired comparison, answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.app.view.numbers import Cell, cell
from workbench.app.view.row import messages, value_text

MAX_TEXT = 20_000
MAX_PROMPTS = 200
SIDES = ("base", "trained")
COUNTED = re.compile(r"^(base|trained): (\d+) of (\d+) \w+$", re.MULTILINE)


def proof_view(proof: Mapping[str, Any]) -> dict[str, Any]:
    """JSON of merge-proof.json: whether it is proved, and each check with its sentence."""
    return {
        "proved": proof.get("proved") is True,
        "dtype": proof.get("dtype"),
        "merged": proof.get("merged"),
        "lines": [
            {
                "number": check.get("number"),
                "name": str(check.get("name", "")),
                "passed": check.get("passed"),
                "sentence": str(check.get("sentence", "")),
            }
            for check in proof.get("checks", [])
        ],
    }


def comparison_view(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """JSON of comparison.json: a line a reward with its interval on one common scale, the worst regressions."""
    lines = comparison.get("lines", [])
    ends = [abs(end) for line in lines for end in _ends(line["paired"])]
    reach = max(ends, default=0.0) or 1.0
    fields = ("sentence", "prompts", "completions", "source", "trained_prompts", "overlapping")
    return {
        **{name: comparison.get(name) for name in fields},
        "sampling": comparison.get("sampling"),
        "notes": [str(note) for note in comparison.get("notes", ())],
        "errors": [[name, str(why)] for name, why in comparison.get("errors", {}).items()],
        "lines": [_line(line, reach) for line in lines],
        "worst": [
            {
                "prompt": messages(one["prompt"]),
                "base": one["base"][:MAX_TEXT],
                "trained": one["trained"][:MAX_TEXT],
                "totals": [_number(one["base_total"]), _number(one["trained_total"])],
            }
            for one in comparison.get("worst", ())
        ],
    }


def _line(line: Mapping[str, Any], reach: float) -> dict[str, Any]:
    pair = line["paired"]
    low, high = pair.get("low"), pair.get("high")
    known = isinstance(low, (int, float)) and isinstance(high, (int, float))
    return {
        "name": line["name"],
        "kind": line.get("kind"),
        "weight": line.get("weight"),
        "base": _number(line["base"]),
        "trained": _number(line["trained"]),
        "difference": _number(pair["mean"]),
        "low": _number(low),
        "high": _number(high),
        # places on a scale from -reach to reach, 0 to 1, for the picture
        "places": [_place(end, reach) for end in (low, high, pair["mean"])] if known else None,
        "detectable": _number(pair.get("detectable")),
        "counts": [pair.get("wins", 0), pair.get("losses", 0), pair.get("ties", 0)],
        "p": _number(pair.get("p")),
        "verdict": line.get("verdict", ""),
        "unscored": line.get("unscored", 0),
    }


def _ends(pair: Mapping[str, Any]) -> list[float]:
    ends = (pair.get("low"), pair.get("high"), pair.get("mean"))
    return [float(end) for end in ends if isinstance(end, (int, float))]


def _place(value: Any, reach: float) -> float:
    return min(1.0, max(0.0, 0.5 + 0.5 * float(value) / reach)) if isinstance(value, (int, float)) else 0.5


def _number(value: Any) -> Cell:
    """A number of a file of ours, where "nan" and "inf" are texts already."""
    return cell(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def answers_view(answers: Mapping[str, Any]) -> dict[str, Any]:
    """JSON of what `sample --out` wrote: each prompt once, its answers side by side."""
    prompts: list[dict[str, Any]] = []
    for one in answers.get("answered", []):
        if not prompts or prompts[-1]["_key"] != one["prompt"]:
            asked = messages(one["prompt"])
            prompts.append(
                {"_key": one["prompt"], "prompt": asked, "held_out": one["held_out"], "answers": []}
            )
        prompts[-1]["answers"].append([_answer(one, side) for side in one["texts"]])
    return {
        "prompts": [{k: v for k, v in prompt.items() if k != "_key"} for prompt in prompts],
        "sampling": answers.get("sampling"),
        "unscored": [[name, str(why)] for name, why in answers.get("unscored", {}).items()],
    }


def _answer(one: Mapping[str, Any], side: str) -> dict[str, Any]:
    text = one["texts"][side]
    return {
        "side": side,
        "text": text[:MAX_TEXT],
        "ended": one["ended"][side],
        "scores": [[name, _number(value)] for name, value in one["scores"].get(side, {}).items()],
        "total": _number(one["totals"].get(side)),
    }


def held_out_view(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The first held-out prompts to choose from: number from 1, what is asked, the columns beside it."""
    return [
        {
            "number": number,
            "asks": messages(row.get("prompt", ""))[-1][1] if row.get("prompt") else "",
            "values": [[name, value_text(value)[:200]] for name, value in row.items() if name != "prompt"],
        }
        for number, row in enumerate(rows[:MAX_PROMPTS], 1)
    ]


def progress_of(said: str) -> float | None:
    """How far a comparison or answering is, in [0, 1], by the last count it told; None before the first.

    >>> progress_of("base: 32 of 64 completions"), progress_of("trained: 64 of 64 completions"), progress_of("loading")
    (0.25, 1.0, None)
    """
    counts = COUNTED.findall(said)
    if not counts:
        return None
    side, done, total = counts[-1]
    return (SIDES.index(side) + int(done) / max(1, int(total))) / len(SIDES)
