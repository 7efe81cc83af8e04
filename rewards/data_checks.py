"""Faults of prompts and ground truths that no reward can repair, found by plain arithmetic on rows.

Every function takes prompts (texts or chat message lists) or the values of one column, one a row, and gives back
the rows concerned; nothing is judged here. `check` uses them on samples, `preflight` on the training data.

Not covered: whether a ground truth is right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

GOLD_NAMES = frozenset(
    [
        "answer",
        "answers",
        "solution",
        "target",
        "gold",
        "ground_truth",
        "reference",
        "expected_answer",
        "final_answer",
    ]
)
"""Columns with these names hold ground truths."""

MOST = 3_000
"""Different prompts that are compared with each other, at most."""
ALIKE = 0.97
"""Similarity of two prompts, in [0, 1], from which they are near duplicates; numbers must be equal."""

_TAGGED = re.compile(r"<([A-Za-z][\w.-]{0,30})>([^<>]{1,200})</\1>")
_BOXED = re.compile(r"\\boxed\{([^{}]{1,200})\}")
_HASHED = re.compile(r"####[ \t]*(\S[^\n]{0,80})")
_LABELLED = re.compile(
    r"(?im)^[ \t]*(?:the )?(?:correct |final |right |expected )?(?:answer|solution|result)(?: is)?[ \t]*[:=]"
    r"[ \t]*(\S[^\n]{0,80})$"
)
_PLACEHOLDER = re.compile(
    r"\.\.\.|…|^[\[{(<*_]|\b(?:your|here|answer|final|number|letter|result|option|text|reasoning|value|solution|thoughts?|"
    r"json|code|name|label|choice|integer|response|insert|etc)\b",
    re.IGNORECASE,
)
_NOTHING = frozenset(
    ["nan", "none", "null", "n/a", "#n/a", "na", "tbd", "todo", "unknown", "?", "-", "--", "undefined"]
)
_BROKEN = re.compile("\ufffd|Ã[\u0080-\u00bf]|â€|Â[\u00a0-\u00bf]")
_OPENED = re.compile(r"<([A-Za-z][\w.-]{0,30})>\s*$")
_OPTION = re.compile(r"(?m)(?:^|\s)\(?[A-Ha-h1-9][).:]\s")
_THOUGHTS = ("think", "thinking", "thought", "reasoning", "reason", "scratchpad", "analysis")


@dataclass(frozen=True)
class Shown:
    """An answer that a prompt shows: its text, the mark it stands in ("tag:NAME", "boxed", "hash", "line"), the row."""

    row: int
    mark: str
    answer: str
    text: str


def prompt_text(prompt: Any) -> str:
    """The text of a prompt: itself, or the contents of its messages, one after another."""
    if isinstance(prompt, str):
        return prompt
    if not isinstance(prompt, (list, tuple)):
        return ""
    return "\n".join(_content(message) for message in prompt if isinstance(message, Mapping))


def question_text(prompt: Any) -> str:
    """The part of a prompt that differs from row to row: its last user message, else all of it."""
    if isinstance(prompt, (list, tuple)):
        for message in reversed(prompt):
            if isinstance(message, Mapping) and message.get("role") == "user":
                return _content(message)
    return prompt_text(prompt)


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, (list, tuple)):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def empty_prompts(prompts: Sequence[Any]) -> list[int]:
    """Rows whose question is empty or blank."""
    return [row for row, prompt in enumerate(prompts) if not question_text(prompt).strip()]


def repeated_prompts(prompts: Sequence[Any]) -> list[list[int]]:
    """Rows of equal prompts, a list for each prompt that stands in more than one row."""
    return [rows for rows in _by_text(prompts).values() if len(rows) > 1]


def near_repeats(prompts: Sequence[Any]) -> list[tuple[int, int]]:
    """Pairs of rows whose prompts are not equal, but the same question: only case, punctuation and spaces differ, or
    `ALIKE` of a long text, with the same numbers in the same order.
    """
    first = [rows[0] for rows in _by_text(prompts).values()][:MOST]
    texts = {row: _plain(question_text(prompts[row])) for row in first}
    found: list[tuple[int, int]] = []
    known: dict[str, int] = {}
    for row, text in texts.items():
        if text and text in known:
            found.append((known[text], row))
        else:
            known[text] = row
    by_numbers: dict[tuple[str, ...], list[int]] = {}
    for text, row in known.items():
        if len(text) >= 60:
            by_numbers.setdefault(tuple(re.findall(r"\d+", text)), []).append(row)
    for rows in by_numbers.values():
        found += _alike(rows, texts)
    return found


def _alike(rows: Sequence[int], texts: Mapping[int, str]) -> list[tuple[int, int]]:
    from rapidfuzz import fuzz  # late: only long prompts need it

    found: list[tuple[int, int]] = []
    budget = 200_000  # comparisons: rows of one template without numbers may be many
    for place, row in enumerate(rows):
        for other in rows[place + 1 :]:
            budget -= 1
            if budget < 0:
                return found
            if fuzz.ratio(texts[row], texts[other], score_cutoff=100 * ALIKE):
                found.append((row, other))
    return found


def conflicting_values(prompts: Sequence[Any], values: Sequence[Any]) -> list[tuple[int, int]]:
    """Pairs of rows with equal prompts and different values, one for each prompt that has several values."""
    found = []
    for rows in _by_text(prompts).values():
        other = next((row for row in rows if _differ(values[rows[0]], values[row])), None)
        if other is not None:
            found.append((rows[0], other))
    return found


def _differ(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return False
    return bool(_plain_answer(one) != _plain_answer(other))


def shown_answers(prompts: Sequence[Any]) -> list[Shown]:
    """Every filled answer in the prompts, in the marks completions use; placeholders ("...") are none."""
    found = []
    for row, prompt in enumerate(prompts):
        text = prompt_text(prompt)
        for match in _TAGGED.finditer(text):
            if match[1].lower() not in _THOUGHTS:
                found.append(Shown(row, f"tag:{match[1]}", match[2].strip(), match[0]))
        for mark, pattern in (("boxed", _BOXED), ("hash", _HASHED), ("line", _LABELLED)):
            found += [
                Shown(row, mark, match[1].strip(), match[0].strip()) for match in pattern.finditer(text)
            ]
    return [item for item in found if re.search(r"\w", item.answer) and not _PLACEHOLDER.search(item.answer)]


def leaked_answers(prompts: Sequence[Any], values: Sequence[Any]) -> list[Shown]:
    """Prompts that show their own row's value in a mark; [] where chance explains it.

    An example that is the same in all prompts agrees with a row now and then: at least two different values have to
    be shown, and each prompt counts once.
    """
    own = [
        item
        for item in shown_answers(prompts)
        if values[item.row] is not None and _plain_answer(values[item.row]) == _plain_answer(item.answer)
    ]
    different = {_plain_answer(item.answer) for item in own}
    seen: set[str] = set()
    once = []
    for item in own:
        key = prompt_text(prompts[item.row])
        if key not in seen:
            seen.add(key)
            once.append(item)
    return once if len(different) > 1 else []


def visible_values(prompts: Sequence[Any], values: Sequence[Any]) -> list[int]:
    """Rows (one a prompt) whose value stands word for word in the question, without a decoy beside it.

    Values of fewer than three characters prove nothing. A value among options, or beside another row's value of the
    same question, is a choice that is offered.
    """
    texts = {text: rows[0] for text, rows in _by_text(prompts).items()}
    every = {_plain_answer(value) for value in values if isinstance(value, (str, int, float))}
    found = []
    for row in texts.values():
        value = values[row]
        wanted = _plain_answer(value)
        if not isinstance(value, (str, int, float)) or isinstance(value, bool) or len(wanted) < 3:
            continue
        question = question_text(prompts[row])
        words = f" {_plain(question)} "
        decoys = any(f" {_plain(other)} " in words for other in every if len(other) >= 3 and other != wanted)
        if f" {_plain(str(value))} " in words and not decoys and len(_OPTION.findall(question)) < 2:
            found.append(row)
    return found


def unreadable_values(values: Sequence[Any]) -> list[tuple[int, str]]:
    """(row, why) of values that look like no answer: placeholders, broken encoding, cut LaTeX, a whole solution."""
    texts = [str(value).strip() for value in values if isinstance(value, str) and value.strip()]
    usual = sorted(map(len, texts))[len(texts) // 2] if texts else 0
    placeholders = sum(text.lower() in _NOTHING for text in texts)
    found = []
    for row, value in enumerate(values):
        why = ""
        if isinstance(value, float) and not math.isfinite(value):
            why = f"is {value}"
        elif isinstance(value, str):
            why = _unreadable(value.strip(), usual, rare=placeholders <= 0.2 * len(texts))
        if why:
            found.append((row, why))
    return found


def _unreadable(text: str, usual: int, *, rare: bool) -> str:
    if text.lower() in _NOTHING and rare:
        return f"is the placeholder {text!r}"
    if _BROKEN.search(text):
        return "has broken characters (a wrong encoding)"
    if "\\" in text and text.replace("\\{", "").count("{") != text.replace("\\}", "").count("}"):
        return "has unbalanced braces (cut LaTeX)"
    if "\n" in text and len(text) > 200 and usual <= 40:
        return "is a whole solution, where the others are short answers"
    return ""


def opened_tags(rendered: str) -> list[str]:
    """Tags that a rendered prompt opens at its very end, as chat templates of thinking models do: the completion then
    starts inside them, and does not open them itself.

    >>> opened_tags("<|im_start|>assistant\\n<think>\\n")
    ['think']
    """
    found: list[str] = []
    while match := _OPENED.search(rendered):
        found.insert(0, match[1])
        rendered = rendered[: match.start()]
    return found


def _by_text(prompts: Iterable[Any]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, prompt in enumerate(prompts):
        rows.setdefault(prompt_text(prompt), []).append(row)
    return rows


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s.]|\.(?!\d)", " ", text.casefold()).split())


def _plain_answer(value: Any) -> str:
    """An answer without case, thousands separators, decoration and a trailing `.0`."""
    text = str(value).strip().strip("$*_`()[]\"'. \t").casefold().removeprefix("#### ")
    text = re.sub(r"(?<=\d),(?=\d{3}(?:\D|$))", "", text)
    try:
        number = float(text) if text.isascii() and len(text) < 20 else math.nan
    except ValueError:
        return text
    return f"{number:.12g}" if math.isfinite(number) else text


__all__ = [
    "GOLD_NAMES",
    "Shown", "conflicting_values", "empty_prompts", "leaked_answers", "near_repeats", "opened_tags", "prompt_text",
    "question_text", "repeated_prompts", "shown_answers", "unreadable_values", "visible_values",
]  # fmt: skip
