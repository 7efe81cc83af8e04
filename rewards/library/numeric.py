r"""Numeric answers: the extracted number is the reference, within a tolerance.

A number may be written with thousands separators, a sign (also the typographic minus), a currency, a unit, as a
fraction or mixed number, in scientific notation, and in LaTeX. Anything else is no number: two numbers are not
one answer, and a number in the middle of a sentence is not picked out of it.
"""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.extraction import FORMS, Found, check_forms, find_answer
from rewards.marks import reward

LONGEST = 200
"""An answer of more characters is no number."""

_CURRENCY = "$€£¥₹"
_DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)"
_NUMBER = re.compile(
    rf"""
    (?:[A-Za-z]\w{{0,15}}\ ?=\ ?)?                      # x =
    [≈~]?\ ?(?P<sign>[+-]?)\ ?[{_CURRENCY}]?\ ?(?P<sign2>[+-]?)
    (?:
        (?:(?P<whole>[0-9]+)\ ?)?\\[dt]?frac\ ?\{{(?P<up>-?[0-9]+)\}}\ ?\{{(?P<down>[0-9]+)\}}
      | (?:(?P<whole2>[0-9]+)\ )?(?P<up2>[0-9]+)\ ?/\ ?(?P<down2>[0-9]+)
      | (?P<decimal>{_DIGITS}(?:\.[0-9]*)?|\.[0-9]+)
        (?:[eE](?P<power>[+-]?[0-9]{{1,3}})|\ ?(?:\\times|\\cdot|[×x*])\ ?10\^\{{?(?P<power2>[+-]?[0-9]{{1,3}})\}}?)?
    )
    (?P<rest>.*)
    """,
    re.VERBOSE | re.DOTALL,
)
_UNIT = re.compile(rf"\ ?(?:[{_CURRENCY}%°]|[A-Za-zµμΩ°²³/·. -]|\^\{{?-?[0-9]\}}?)*")
_BARE = re.compile(r"[0-9,]+(?:\.[0-9]+)?")
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|textbf|mathbf|mbox|operatorname)\ ?\{([^{}]*)\}")
_REPLACED = (
    ("\\left", ""), ("\\right", ""), ("\\(", ""), ("\\)", ""), ("\\[", ""), ("\\]", ""), ("\\$", "$"),
    ("\\%", "%"), ("{,}", ","), ("\\!", ""), ("\\,", " "), ("\\;", " "), ("\\ ", " "), ("~", " "),
    ("\u2212", "-"), ("\u2013", "-"), ("\u00a0", " "), ("\u202f", " "), ("**", ""), ("`", ""), ("$$", ""),
)  # fmt: skip


@dataclass(frozen=True)
class Number:
    """A number that was read: its exact value and its unit ("" where none is written)."""

    value: Fraction
    unit: str = ""


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), abstains=True)
def numeric(
    completions: list[Any],
    answer: list[Any],
    *,
    relative_tolerance: float = 1e-6,
    absolute_tolerance: float = 1e-9,
    answer_forms: Any = FORMS,
    **columns: Any,
) -> list[float | None]:
    r"""Reward the right number.

    1.0 where the number a completion ends with is within `relative_tolerance` of the reference's size or within
    `absolute_tolerance` of it, else 0.0. The number is looked for as `find_answer` of
    `rewards.library.extraction` does it and read by `read_number`; so is the reference, which may be a number or
    a text such as a worked solution ending in `#### 18`. Units are compared where both sides write one.

    The defaults ask for the very number. `relative_tolerance=0.01` takes what is within one per cent; a reference
    of 0 has no size, so that only `absolute_tolerance` counts there.

    Args:
        completions: chat or plain text.
        answer: column with the references.
        relative_tolerance: share of the reference, >= 0.
        absolute_tolerance: >= 0.
        answer_forms: the forms an answer may have, of "tag", "boxed", "hash", "line", "whole", "number".

    Returns:
        One of 0.0, 1.0 per completion; None where the reference is missing or no number.

    Raises:
        ValueError: if a tolerance is negative or no number, or `answer_forms` names an unknown form.

    >>> numeric(["<answer>$1,234.50</answer>", "#### 7", "A: -7", "7 or 8"], answer=[1234.5, "7", "7", "7"])
    [1.0, 1.0, 0.0, 0.0]
    >>> numeric([r"\boxed{\frac{5}{4}}", "101"], answer=["1.25", "100"], relative_tolerance=0.01)
    [1.0, 1.0]
    >>> numeric(["7", "7"], answer=["see the figure", None])
    [None, None]
    """
    forms = check_forms("numeric", answer_forms)
    relative = _tolerance("relative_tolerance", relative_tolerance)
    absolute = _tolerance("absolute_tolerance", absolute_tolerance)
    return [
        _numeric(completion_text(completion), reference, forms, relative, absolute)
        for completion, reference in zip(completions, answer, strict=True)
    ]


def _numeric(
    text: str, reference: Any, forms: tuple[str, ...], relative: Fraction, absolute: Fraction
) -> float | None:
    wanted = _reference(reference)
    if wanted is None:
        return None
    found = find_answer(text, forms=forms)
    got = _number_in(found) if found else None
    right = got is not None and _close(got, wanted, relative, absolute)
    return credit("number equals the reference", float(right), of=1.0, span=found.span if found else None)


def _close(got: Number, wanted: Number, relative: Fraction, absolute: Fraction) -> bool:
    if got.unit and wanted.unit and got.unit != wanted.unit:
        return False
    return got.value == wanted.value or abs(got.value - wanted.value) <= max(
        absolute, relative * abs(wanted.value)
    )


def _reference(value: Any) -> Number | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return Number(Fraction(value)) if math.isfinite(value) else None
    return _text_reference(value) if isinstance(value, str) else None


@functools.lru_cache(maxsize=1024)  # a reference comes once for every completion of its prompt
def _text_reference(text: str) -> Number | None:
    found = find_answer(text)
    return _number_in(found) if found else None


def _number_in(found: Found) -> Number | None:
    """The number of an answer; a sentence may go on after it (`the answer is 7. Well done`), without digits."""
    number = read_number(found.text)
    if number is None and found.form == "line":
        first, stop, rest = found.text.partition(". ")
        if stop and not any(character.isdigit() for character in rest):
            number = read_number(first)
    return number


def read_number(text: str) -> Number | None:
    r"""The one number a text consists of, exactly; None where it is anything else.

    A leading `x =`, a currency and a unit after it are allowed.

    >>> read_number("-1,234.5").value
    Fraction(-2469, 2)
    >>> read_number(r"1\frac{1}{4} \text{ cups}")
    Number(value=Fraction(5, 4), unit='cup')
    >>> read_number("7 or 8") is None, read_number("about seven") is None, read_number("1/0") is None
    (True, True, True)
    """
    return _read(text) if len(text) <= LONGEST else None


@functools.lru_cache(maxsize=4096)
def _read(text: str) -> Number | None:
    match = _NUMBER.fullmatch(_plain(text))
    if match is None or not _UNIT.fullmatch(match["rest"]) or (match["sign"] and match["sign2"]):
        return None
    unit = _unit(match["rest"])
    value = _value(match)
    if value is None or unit is None:
        return None
    return Number(-value if "-" in (match["sign"], match["sign2"]) else value, unit)


def _plain(text: str) -> str:
    """The text without LaTeX's wrappers and with plain signs and spaces."""
    if _BARE.fullmatch(text):
        return text
    text = _LATEX_TEXT.sub(r" \1", text)
    for old, new in _REPLACED:
        text = text.replace(old, new)
    text = " ".join(text.split())
    if len(text) > 1 and text[0] == "$" == text[-1]:
        text = text[1:-1].strip()
    return text.rstrip(".!")


def _value(match: re.Match[str]) -> Fraction | None:
    if match["decimal"]:
        power = int(match["power"] or match["power2"] or 0)
        value = Fraction(match["decimal"].replace(",", "").rstrip("."))
        return value * Fraction(10) ** power if power else value
    up, down = int(match["up"] or match["up2"]), int(match["down"] or match["down2"])
    if down == 0:
        return None
    whole = match["whole"] or match["whole2"]
    if whole is not None and not 0 <= up < down:
        return None
    return int(whole or 0) + Fraction(up, down)


def _unit(rest: str) -> str | None:
    """The unit after a number, in lower case and singular; None where a sentence goes on instead."""
    words = rest.lower().strip(" .-").split()
    if len(words) > 4 or {"or", "and", "not", "to", "but", "wrong"} & set(words):
        return None
    if rest[:1].isalpha() and len(words[0]) > 12:
        return None
    unit = " ".join(words)
    return "" if unit in _CURRENCY else unit.removesuffix("s")


def _tolerance(name: str, value: Any) -> Fraction:
    if (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value >= 0
    ):
        return Fraction(value)
    raise ValueError(
        f"reward 'numeric': {name}={value!r} ({type(value).__name__}) must be a number of at least 0; "
        "if the data have a column of that name, rename it"
    )
