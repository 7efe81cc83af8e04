"""One row in full: prompt, text as scored, scores, group; all of it read from the board, nothing run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from rewards.contract import Status
from workbench.app.view.board import Board
from workbench.app.view.numbers import cell

MAX_TEXT = 200_000
MAX_VALUE = 2_000
MAX_MEMBERS = 64


def row_detail(board: Board, row: int) -> dict[str, Any]:
    """JSON for the detail of `row`.

    Raises:
        IndexError: there is no such row.
    """
    if not 0 <= row < len(board):
        raise IndexError(row)
    text = board.texts[row]
    return {
        "row": row,
        "id": board.ids[row],
        "label": board.labels[row],
        "pinned": row in board.pinned,
        "prompt": messages(board.prompts[row]),
        "values": [[name, value_text(values[row])] for name, values in board.values.items()],
        "turns": turns(board.completions[row]),
        "text": text[:MAX_TEXT],
        "length": len(text),
        "scores": [_score(board, row, index) for index in range(len(board.columns))],
        "total": None if np.isnan(board.totals[row]) else cell(board.totals[row]),
        "group": _group(board, row),
    }


def messages(prompt: Any) -> list[list[str]]:
    """A prompt as `[role, text]` pairs; a plain text has the role "prompt"."""
    if isinstance(prompt, (list, tuple)):
        return [
            [str(part.get("role", "")), value_text(part.get("content", ""))]
            if isinstance(part, Mapping)
            else ["", value_text(part)]
            for part in prompt
        ]
    return [["prompt", value_text(prompt)]]


def turns(completion: Any) -> list[list[str]]:
    """A completion of several messages as `[role, text]` pairs, tool calls and answers included; [] for a single one.

    A call is shown as `add({"a": 1, "b": 2})` behind what the assistant said, a tool's answer under its name.
    """
    if not isinstance(completion, (list, tuple)) or len(completion) < 2:
        return []
    shown: list[list[str]] = []
    for role, text in messages(completion):
        message = completion[len(shown)]
        calls = (message.get("tool_calls") or []) if isinstance(message, Mapping) else []
        name = message.get("name") if isinstance(message, Mapping) else None
        said = [text] if text not in ("", "null") or not calls else []
        shown.append([f"{role} {name}" if name else role, "\n".join([*said, *map(_call, calls)])])
    return shown


def _call(call: Any) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return value_text(call)
    return f"{function.get('name')}({value_text(function.get('arguments') or '')})"


def value_text(value: Any) -> str:
    """A column's value in one readable text of bounded length."""
    if isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}… ({len(text)} characters)"


def _score(board: Board, row: int, index: int) -> dict[str, Any]:
    column = board.columns[index]
    status = int(board.status[row, index])
    score = board.scores[row, index]
    counted = status == Status.NUMBER
    wanted = (board.expected[row] if board.expected else None) or {}
    return {
        "name": column.name,
        "score": cell(score, status),
        "weight": cell(column.weight),
        "weighted": cell(score * column.weight) if counted else None,
        "status": Status(status).name.lower().replace("_", " "),
        "error": board.errors.get((row, column.name)),
        **({"expected": wanted[column.name]} if column.name in wanted else {}),
    }


def _group(board: Board, row: int) -> dict[str, Any]:
    name = board.groups[row]
    rows = board.members[name]
    place = board.statistics.names.index(name)
    ranked = sorted(rows, key=lambda member: (-board.advantages[member], member))
    if len(ranked) > MAX_MEMBERS:  # both ends are what one learns from, and the row itself must be there
        half = MAX_MEMBERS // 2
        kept = set(ranked[:half] + ranked[-half:]) | {row}
        ranked = [member for member in ranked if member in kept]
    mean, spread = board.statistics.mean[place], board.statistics.spread[place]
    return {
        "name": name,
        "short": board.short_groups[row],
        "size": len(rows),
        "mean": None if np.isnan(mean) else cell(mean),
        "spread": None if np.isnan(spread) else cell(spread),
        "dead": bool(board.statistics.zero_spread[place]),
        "aggregation": board.aggregation,
        "scale": board.scale_rewards,
        "rows": [
            [
                member,
                None if np.isnan(board.totals[member]) else cell(board.totals[member]),
                cell(board.advantages[member]),
                board.labels[member],
            ]
            for member in ranked
        ],
    }
