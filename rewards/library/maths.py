r"""Mathematical answers: the answer a completion ends with is worth what the reference is worth.

Read by `rewards.library.maths_answers` and `maths_terms`, compared by `maths_equality` and `maths_values`, in
bounded time and without signals; what those cannot read (sums, integrals, limits) is asked of math-verify behind the
fences of `rewards.library.symbolic`. The cheap questions come first: the same text, the same number.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library import symbolic
from rewards.library.extraction import FORMS, Found, check_forms, find_answer, joined_boxes, unexclaimed
from rewards.library.maths_answers import Part, Quantity, Several, Word, read
from rewards.library.maths_equality import same_answer
from rewards.library.maths_terms import plain_maths
from rewards.library.references import not_scored, tell_unread
from rewards.marks import reward

_IN_MATHS = re.compile(r"\s*(?:\$.*\$|\\\(.*\\\)|\\\[.*\\\])[.\s]*", re.DOTALL)
_HAS_MATHS = re.compile(r"[0-9\\=<>+*/^_|!√π∞°≤≥≠±]")
_DIFFERENCE = re.compile(r"[A-Za-z]{1,2}(?:'?\s*-\s*[A-Za-z]'?|\s+-\s+[A-Za-z]{1,2}'?){1,9}[.\s]*")
"""`p - q`, not `x-ray` nor `co-op`."""
_COMMAND = re.compile(r"\\(?!(?:text|mathrm|mathbf|mbox)|q?quad(?![a-z]))[A-Za-z]{2,}")
_TEXT_ALONE = re.compile(r"\\(?:text|textbf|textit|textrm|mbox|mathrm)\s*\{[^{}]*\}[.\s]*")
_BRACES = re.compile(r"[{}\s]")
_CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}")
_RATIO = re.compile(r"[0-9.]+(?::[0-9.]+)+")
_LEADING_MATHS = re.compile(r"(\$[^$\n]{1,300}\$|\\\([^\n]{1,300}?\\\))")


@dataclass(frozen=True)
class Reference:
    """A reference that was read: its text and the ways to read it; () where only math-verify can."""

    text: str
    ways: tuple[Part, ...]


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), scope="row", abstains=True)
def maths_equal(
    completions: list[Any],
    answer: list[Any],
    *,
    answer_forms: Any = FORMS,
    log_metric: Any = None,
    **columns: Any,
) -> list[float | None]:
    r"""Reward the right mathematical answer, however it is written.

    1.0 where the answer a completion ends with is worth what the reference is worth, else 0.0. It is looked for as
    `find_answer` of `rewards.library.extraction` does it; boxes joined by "and", "or" or a comma are one answer.
    The same are, among others, `\frac{5}{4}`, `1.25`, `1 1/4`; `2\sqrt{2}`, `\sqrt{8}`; `x = 2 or x = -3`,
    `\{-3, 2\}`; `x < 3`, `(-\infty, 3)`; `y = 2x + 1`, `2x - y + 1 = 0`; `28\%`, `28`, `0.28`; `\pm 2`, `2, -2`;
    `5 m/s`, `5\text{ m s}^{-1}`; `3:4`, `\frac{3}{4}`; `x < 1 or x > 2`, `(-\infty, 1) \cup (2, \infty)`.
    One of two answers is not the answer. `rewards.library.maths_equality` has the rules.

    Nothing here takes long, whatever a model writes: a tower of powers is not computed, and is not equal. What only
    math-verify can read has one second of computing, in any thread.

    Args:
        completions: chat or plain text.
        answer: column with the references: numbers, LaTeX with or without `$` and `\boxed{}`, plain notation, or a
            worked solution that ends in one of the first four forms.
        answer_forms: the forms an answer may have, of "tag", "boxed", "hash", "line", "whole", and, only if asked
            for, "math" (the last formula of the text) and "number" (its last number).
        log_metric: TRL's; told the share of references that cannot be read, where there are any.

    Returns:
        One of 0.0, 1.0 per completion; None where the reference is missing or cannot be read as mathematics. That is
        said in the row's credits. Bare words and letters are not read, since they may be anything: write
        `\boxed{C}`, `\text{C}` or `$n$`, or use `multiple_choice` or `exact_match`.

    Raises:
        ValueError: if `answer_forms` names an unknown form.

    >>> maths_equal([r"\boxed{1 1/4}", r"so $x = \boxed{\frac{10}{8}}$", "1.24"], answer=["5/4", "1.25", "5/4"])
    [1.0, 1.0, 0.0]
    >>> maths_equal([r"\boxed{2, -3}", r"\boxed{2}", r"\boxed{9^{9^{9^9}}}"], answer=["x = 2 or x = -3"] * 2 + ["7"])
    [1.0, 0.0, 0.0]
    >>> maths_equal([r"\boxed{5}", r"\boxed{5}"], answer=["see the figure", None])
    [None, None]
    """
    forms = check_forms("maths_equal", answer_forms)
    scores = [
        _maths(completion_text(completion), reference, forms)
        for completion, reference in zip(completions, answer, strict=True)
    ]
    tell_unread(log_metric, "maths_equal", scores)
    return scores


def _maths(text: str, reference: Any, forms: tuple[str, ...]) -> float | None:
    wanted = read_reference(reference)
    if wanted is None:
        return not_scored(reference, "mathematics that can be read")
    found = find_answer(text, forms=forms)
    if found is not None and found.form == "boxed":
        found = joined_boxes(text, found)
    right = found is not None and any(_answers(wanted, piece) for piece in _pieces(found))
    return credit("answer equals the reference", float(right), of=1.0, span=found.span if found else None)


def _pieces(found: Found) -> Iterator[str]:
    """What may be the answer in the place found, the whole of it first; of a line also a part that says all.

    A sentence may go on behind an answer or lead up to it, but not with other numbers and not in two minds; `7!` at its
    end may be said aloud.
    """
    yield found.text
    plain = unexclaimed(found)
    if plain is not None:
        yield from _pieces(replace(found, text=plain))
    if found.form != "line" or len(found.text) > 1_000 or read(found.text):
        return
    first, stop, rest = found.text.partition(". ")
    if stop and not any(character.isdigit() for character in rest):
        yield first
    else:
        first = found.text
    formula = _LEADING_MATHS.match(first)
    if formula and not re.search(r"[0-9$\\]|\b(?:or|and|not)\b", first[formula.end() :]):
        yield formula[0]
    before, said, last = first.rpartition(" is ")
    if said and not re.search(r"\b(?:not|or|either|neither|perhaps|maybe)\b", before):
        yield last


def _answers(wanted: Reference, text: str) -> bool:
    """Whether a piece of text answers the reference."""
    if text == wanted.text:
        return True
    told = _told_by_colons(wanted.text, text)
    if told is not None:
        return told
    ways = read(text)
    if ways and wanted.ways:
        return any(same_answer(one, other) for one in wanted.ways for other in ways)
    if not symbolic.can_help(text) and not (text and symbolic.can_help(wanted.text)):
        return False
    return _bare(text) == _bare(wanted.text) or symbolic.equal(wanted.text, text)


def _told_by_colons(gold: str, found: str) -> bool | None:
    """Whether two texts are the same where a colon in one is no quotient (`12:30`, `1:2:3`); None where it may be."""
    if ":" not in gold and ":" not in found:
        return None
    wanted, got = (_BRACES.sub("", plain_maths(text)).strip(".") for text in (gold, found))
    if _CLOCK.fullmatch(wanted) or (_RATIO.fullmatch(wanted) and wanted.count(":") > 1):
        return wanted == got
    if not _RATIO.fullmatch(got):
        return None
    quotient = got.count(":") == 1 and (":" in wanted or "/" in wanted or "\\frac" in wanted)
    return None if quotient else wanted == got


def _bare(text: str) -> str:
    return "".join(text.split()).strip("$.")


def read_reference(value: Any) -> Reference | None:
    r"""A reference as it is compared; None where it cannot be read as mathematics.

    >>> read_reference("16 - 3 = 13\n#### 13").text
    '13'
    >>> read_reference("C") is None, read_reference(r"\boxed{C}").text, read_reference("the area is large") is None
    (True, 'C', True)
    """
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, (int, float)):
        value = repr(value)
    return _read_reference(value) if isinstance(value, str) else None


@functools.lru_cache(maxsize=2048)  # a reference comes once for every completion of its prompt
def _read_reference(text: str) -> Reference | None:
    found = find_answer(text)
    if found is None or not found.text:
        return None
    found = joined_boxes(text, found) if found.form == "boxed" else found
    set_off = found.form == "boxed" or _IN_MATHS.fullmatch(found.text) is not None
    for piece in _pieces(found):
        ways = tuple(way for way in read(piece) if set_off or _is_certain(way, piece))
        if ways:
            return Reference(piece, ways)
    if symbolic.can_help(found.text) and symbolic.parsed(found.text):
        return Reference(found.text, ())
    return None


def _is_certain(way: Part, text: str) -> bool:
    """Whether a bare text is mathematics: it has a digit, a sign or a command, and is not in words.

    A reference that is one `\\text{}` is meant as text.
    """
    if _TEXT_ALONE.fullmatch(text):
        return True
    if not _HAS_MATHS.search(text) and not _DIFFERENCE.fullmatch(text):
        return False
    commanded = _COMMAND.search(text) is not None
    parts = way.parts if isinstance(way, Several) else (way,)
    return not any(
        isinstance(part, Word) or (isinstance(part, Quantity) and not commanded and _is_prose(part))
        for part in parts
    )


def _is_prose(part: Quantity) -> bool:
    return (
        part.term[0] == "v" and len(part.term[1]) >= 4 and part.term[1].isalpha() and part.term[1].islower()
    )
