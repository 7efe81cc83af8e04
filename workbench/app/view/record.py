"""The completions of one training step as the Train page shows them: suspects first, one in full, words that rise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.app.recorded import RecordedStep
from workbench.app.view.numbers import Cell, cell
from workbench.app.view.row import MAX_TEXT, messages, value_text
from workbench.app.view.rows import preview
from workbench.phrases import Phrase

MAX_ROWS = 200


def step_view(recorded: RecordedStep) -> dict[str, Any]:
    """JSON of a step: its rewards and up to `MAX_ROWS` rows, suspects first."""
    rows = recorded.suspects_first[:MAX_ROWS]
    witnesses = {each.name for each in recorded.oracles}
    return {
        "step": recorded.step,
        "held_out": recorded.held_out,
        "total": len(recorded),
        "groups": len(set(recorded.groups)),
        "rewards": [
            {
                "name": each.name,
                "weight": cell(each.weight),
                "oracle": each.name in witnesses,
                **_range(recorded, each.name, each.range),
            }
            for each in recorded.rewards
        ],
        "rows": [
            {
                "row": row,
                "text": preview(recorded.texts[row]),
                "scores": [_cell(recorded.scores[each.name][row]) for each in recorded.rewards],
                "total": _cell(recorded.totals[row]),
                "advantage": _cell(recorded.advantages[row]),
                "failed": bool(recorded.errors[row]),
            }
            for row in rows
        ],
    }


def _range(recorded: RecordedStep, name: str, declared: tuple[float, float] | None) -> dict[str, Cell]:
    known = [score for score in recorded.scores[name] if score is not None]
    low, high = declared or (min(known, default=0.0), max(known, default=1.0))
    return {"low": cell(low), "high": cell(high)}


def recorded_row(recorded: RecordedStep, row: int) -> dict[str, Any]:
    """JSON of one completion in full, with the credits it got in the run.

    Raises:
        IndexError: there is no such row.
    """
    if not 0 <= row < len(recorded):
        raise IndexError(row)
    text = recorded.texts[row]
    return {
        "row": row,
        "step": recorded.step,
        "held_out": recorded.held_out,
        "prompt": messages(recorded.prompts[row]),
        "values": [[name, value_text(values[row])] for name, values in recorded.values.items()],
        "text": text[:MAX_TEXT],
        "length": len(text),
        "total": _cell(recorded.totals[row]),
        "advantage": _cell(recorded.advantages[row]),
        "rewards": [
            {
                "name": each.name,
                "weight": cell(each.weight),
                "score": _cell(recorded.scores[each.name][row]),
                "error": recorded.errors[row].get(each.name),
                "credits": [
                    {
                        "name": str(credit.get("name") or ""),
                        "points": _cell(credit.get("points")),
                        "of": _cell(credit.get("of")),
                    }
                    for credit in recorded.credits[row]
                    if credit.get("reward") == each.name
                ],
            }
            for each in recorded.rewards
        ],
    }


def phrases_view(phrases: Sequence[Phrase], steps: Sequence[int], completions: int) -> dict[str, Any]:
    """JSON of the words that rise, with the counts they rest on."""
    return {
        "steps": [steps[0], steps[-1]] if len(steps) > 1 else list(steps),
        "completions": completions,
        "sides": [phrases[0].of_above, phrases[0].of_below] if phrases else None,
        "phrases": [
            {"text": each.text, "above": each.above, "below": each.below, "rise": cell(each.rise)}
            for each in phrases
        ],
    }


def _cell(value: float | None) -> Cell:
    return None if value is None else cell(value)
