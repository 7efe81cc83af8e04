r"""Lists and sets as answers: the right items, and no others.

An answer may be written `[1, 2]`, `{1, 2}`, `(1, 2)`, "1, 2 and 3", as JSON, or as a list with bullets or numbers
(`1) red 2) blue`), and a word or a few may lead up to it ("Colours: red, blue"). "red or blue" is no list of two,
unless the reference is written so.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.exact import plain_answer
from rewards.library.extraction import FORMS, check_forms, find_answer
from rewards.library.number import read_number
from rewards.library.parameters import flag
from rewards.library.references import is_missing, not_scored, tell_unread
from rewards.marks import reward

MOST_ITEMS = 1_000
LONGEST = 100_000

_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\(?[0-9]{1,3}[.)])[ \t]+(.*\S)", re.MULTILINE)
_AND = re.compile(r"(?:,\s*+|(?<!\s)\s++)(?:and|&)\s+|\\(?:text|mbox)\{\s*,?\s*and\s*\}", re.IGNORECASE)
_AND_OR = re.compile(
    r"(?:,\s*+|(?<!\s)\s++)(?:and|or|&)\s+|\\(?:text|mbox)\{\s*,?\s*(?:and|or)\s*\}", re.IGNORECASE
)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_LEAD = re.compile(
    r"[A-Za-z][\w'-]{0,30}+(?:[ \t]+[A-Za-z][\w'-]{0,30}+){0,4}[ \t]*:(?:\s+|(?=[\[{(]))(?=\S)"
)
_NUMBERED = re.compile(r"(?<!\S)\(?([0-9]{1,3})[.)][ \t]+")
_APART = re.compile(r",\s+|;|\n")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_BRACKETS = ("[]", "{}", "()")


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), scope="row", abstains=True)
def set_match(
    completions: list[Any],
    answer: list[Any],
    *,
    in_order: bool = False,
    count_repeats: bool = False,
    partial_credit: bool = True,
    answer_forms: Any = FORMS,
    log_metric: Any = None,
    **columns: Any,
) -> list[float | None]:
    """Reward the right items of a list or set.

    With `shared` items in common the score is 2 * shared / (items given + items wanted), the F1: an item too
    many costs as much as one left out, so naming everything does not pay. Items are compared as numbers where
    both are numbers, else as text (as in `exact_match`).

    Args:
        completions: chat or plain text.
        answer: column with the references: lists, or text in any of the forms a list may have.
        in_order: whether the order counts: `shared` is then the longest run of items in the same order, others between
            allowed.
        count_repeats: whether an item counts as often as it stands there; else repeats are ignored on both sides.
        partial_credit: whether part of the items earns part of the score; else it is 1.0 or 0.0.
        answer_forms: the forms an answer may have, of "tag", "boxed", "hash", "line", "whole".
        log_metric: TRL's; told the share of references that are missing, where there are any.

    Returns:
        A value in [0, 1] per completion; None where the reference is missing or has no item.

    Raises:
        ValueError: if `answer_forms` names an unknown form, or a flag is no flag.

    >>> set_match(["{3, 1, 2}", "1, 2", "<answer>1, 2, 3, 4, 5</answer>", "none"], answer=[[1, 2, 3]] * 4)
    [1.0, 0.8, 0.75, 0.0]
    >>> set_match(["1, 3, 2", "1, 2, 3"], answer=["1, 2, 3"] * 2, in_order=True, partial_credit=False)
    [0.0, 1.0]
    """
    forms = check_forms("set_match", answer_forms)
    ordered = flag("set_match", "in_order", in_order)
    repeats = flag("set_match", "count_repeats", count_repeats)
    partial = flag("set_match", "partial_credit", partial_credit)
    scores = [
        _set(completion_text(completion), reference, forms, ordered, repeats, partial)
        for completion, reference in zip(completions, answer, strict=True)
    ]
    tell_unread(log_metric, "set_match", scores)
    return scores


def _set(
    text: str, reference: Any, forms: tuple[str, ...], ordered: bool, repeats: bool, partial: bool
) -> float | None:
    wanted = _reference(reference)
    if not wanted:
        return not_scored(reference, "a list with an item")
    found = find_answer(text, forms=forms)
    either = isinstance(reference, str) and _OR.search(reference) is not None
    said = found.text if found else ""
    with_colon = any(":" in one or said[: len(one) + 1].casefold() == f"{one}:" for one in wanted)
    got = items(said, either=either, with_colon=with_colon)
    if not repeats:
        wanted, got = list(dict.fromkeys(wanted)), list(dict.fromkeys(got))
    shared = _run_in_order(got, wanted) if ordered else sum((Counter(got) & Counter(wanted)).values())
    score = 2 * shared / (len(got) + len(wanted))
    score = score if partial else float(score == 1.0)
    note = f"{shared} of {len(wanted)} items, {len(got) - shared} others"
    return credit("items of the reference", score, of=1.0, span=found.span if found else None, note=note)


def _run_in_order(got: Sequence[str], wanted: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    best = [0] * (len(wanted) + 1)
    for item in got[: 2 * len(wanted) + 50]:
        before = 0
        for place, other in enumerate(wanted, start=1):
            best[place], before = (
                (before + 1 if item == other else max(best[place], best[place - 1])),
                best[place],
            )
    return best[-1]


def _reference(value: Any) -> list[str]:
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = [part for part in list(value)[:MOST_ITEMS] if not is_missing(part)]
        return [one for one in map(_item, map(_text, parts)) if one]
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or is_missing(value):
        return []
    found = find_answer(str(value))
    return items(found.text, either=True) if found else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def items(text: str, *, either: bool = False, with_colon: bool = False) -> list[str]:
    """The items a text lists, each in the form in which it is compared; at most 1,000.

    Args:
        text: a list in one of the forms above.
        either: whether "or" stands between items, as "and" does.
        with_colon: whether an item may have a colon; else what leads up to one colon is no item.

    >>> items("[0.5, 'b']"), items("1/2, B and c"), items("- 1,000"), items("1,000, 2,000")
    (['1/2', 'b'], ['1/2', 'b', 'c'], ['1000'], ['1000', '2000'])
    """
    text = text.strip() if len(text) <= LONGEST else ""
    if text.startswith("$") and text.endswith("$"):
        text = text.strip("$").strip()
    lead = None if with_colon or text.count(":") != 1 else _LEAD.match(text)
    text = text[lead.end() :] if lead else text
    return [one for one in map(_item, _pieces(text, _AND_OR if either else _AND)[:MOST_ITEMS]) if one]


def _numbered(text: str) -> list[str]:
    """The items of `1) red 2) blue`, numbered from 1 in a line; [] where a text is none of these."""
    marks = list(_NUMBERED.finditer(text))
    if len(marks) < 2 or marks[0].start() or any(int(mark[1]) != at for at, mark in enumerate(marks, 1)):
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    pieces = (text[mark.end() : end].rstrip(" \t,;") for mark, end in zip(marks, ends, strict=True))
    return [piece.removesuffix(" and").removesuffix(" &").rstrip(" \t,;") for piece in pieces]


def _pieces(text: str, joiner: re.Pattern[str]) -> list[str]:
    listed = _json_list(text)
    if listed is not None:
        return [_text(one) for one in listed]
    numbered = _numbered(text) if "\n" not in text else []
    if numbered:
        return numbered
    bullets = _BULLET.findall(text)
    if bullets:
        return [str(bullet) for bullet in bullets]
    inside = text.replace("\\{", "{").replace("\\}", "}").rstrip(".").strip()
    if len(inside) > 1 and inside[0] + inside[-1] in _BRACKETS:
        inside = inside[1:-1]
    elif _THOUSANDS.fullmatch(inside):
        return [inside]
    apart = [piece for part in joiner.split(inside) for piece in _APART.split(part)]
    with_comma = [piece for piece in apart if "," in piece]
    if len(apart) > 1 and with_comma and all(map(read_number, with_comma)):
        return apart  # `1,000, 2,000`: commas without a space stand between thousands
    separator = ";" if ";" in inside else "\n" if "\n" in inside and "," not in inside else ","
    return [piece for part in inside.split(separator) for piece in joiner.split(part)]


def _json_list(text: str) -> list[Any] | None:
    if not text.startswith("["):
        return None
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, list) else None


@functools.lru_cache(maxsize=4096)
def _item(text: str) -> str:
    """An item as it is compared: an exact number, or plain text."""
    number = read_number(text)
    if number is None:
        return plain_answer(text)
    return f"{number.value}{'%' if number.percent else ''}{' ' if number.unit else ''}{number.unit}"
