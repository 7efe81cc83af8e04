r"""Numeric answers: the extracted number is the reference, within a tolerance.

What counts as a number, and when two are the same without any tolerance, is told in `rewards.library.number`.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.extraction import FORMS, Found, check_forms, find_answer, unexclaimed
from rewards.library.number import Number, read_number, same_value
from rewards.library.parameters import flag, one_of, wrong
from rewards.library.references import not_scored, tell_unread
from rewards.marks import reward

__all__ = ["PERCENT_RULES", "UNIT_RULES", "numeric", "read_number"]

UNIT_RULES = ("where both", "required", "ignored")
PERCENT_RULES = ("number", "fraction", "either")


@dataclass(frozen=True)
class _Rules:
    """How numbers are read and compared in one call."""

    forms: tuple[str, ...]
    relative: Fraction
    absolute: Fraction
    units: str
    percent: str
    decimal_comma: bool


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), scope="row", abstains=True)
def numeric(
    completions: list[Any],
    answer: list[Any],
    *,
    relative_tolerance: float = 0.0,
    absolute_tolerance: float = 0.0,
    unit_rule: str = "where both",
    percent_rule: str = "number",
    decimal_comma: bool = False,
    answer_forms: Any = FORMS,
    log_metric: Any = None,
    **columns: Any,
) -> list[float | None]:
    r"""Reward the right number.

    1.0 where the number a completion ends with is the reference, else 0.0. The number is looked for as `find_answer`
    of `rewards.library.extraction` does it and read by `read_number` of `rewards.library.number`; so is the
    reference, which may be a number or a text such as a worked solution ending in `#### 18`. `2^4` is 16, `5!` 120.

    Without a tolerance the very number is asked for. Only a decimal of six or more significant digits may be
    the rounding of something longer: `0.333333` is one third, `0.33` is not. `relative_tolerance=0.01` takes what is
    within one per cent of the reference; a reference of 0 has no size, so that only `absolute_tolerance` counts there.

    Args:
        completions: chat or plain text.
        answer: column with the references.
        relative_tolerance: share of the reference, >= 0.
        absolute_tolerance: >= 0; within one of the two is enough.
        unit_rule: "where both": units have to agree where both sides write one (`5 cm` is not `5 m`, but is `5`);
            "required": the reference's unit has to be there; "ignored". Units are not converted.
        percent_rule: "number": `50%` is 50; "fraction": it is 0.5; "either": it is both.
        decimal_comma: whether numbers are written `1.234,5`, in completions and references.
        answer_forms: the forms an answer may have, of "tag", "boxed", "hash", "line", "whole", "number".
        log_metric: TRL's; told the share of references that are no number, where there are any.

    Returns:
        One of 0.0, 1.0 per completion; None where the reference is missing or no number.

    Raises:
        ValueError: if a tolerance is negative or no number, or another parameter has an unknown value.

    >>> numeric(["<answer>$1,234.50</answer>", "#### 7", "A: -7", "7 or 8"], answer=[1234.5, "7", "7", "7"])
    [1.0, 1.0, 0.0, 0.0]
    >>> numeric([r"\boxed{\frac{5}{4}}", "101"], answer=["1.25", "100"], relative_tolerance=0.01)
    [1.0, 1.0]
    >>> numeric(["50%", "50%"], answer=[50, 0.5]), numeric(["50%", "50%"], answer=[50, 0.5], percent_rule="fraction")
    ([1.0, 0.0], [0.0, 1.0])
    >>> numeric(["7", "7"], answer=["see the figure", None])
    [None, None]
    """
    rules = _Rules(
        check_forms("numeric", answer_forms),
        _tolerance("relative_tolerance", relative_tolerance),
        _tolerance("absolute_tolerance", absolute_tolerance),
        one_of("numeric", "unit_rule", unit_rule, UNIT_RULES),
        one_of("numeric", "percent_rule", percent_rule, PERCENT_RULES),
        flag("numeric", "decimal_comma", decimal_comma),
    )
    scores = [
        _numeric(completion_text(completion), reference, rules)
        for completion, reference in zip(completions, answer, strict=True)
    ]
    tell_unread(log_metric, "numeric", scores)
    return scores


def _numeric(text: str, reference: Any, rules: _Rules) -> float | None:
    wanted = _reference(reference, rules.decimal_comma)
    if wanted is None:
        return not_scored(reference, "a number")
    found = find_answer(text, forms=rules.forms)
    if found and found.form == "number" and rules.decimal_comma:
        found = _with_decimal_comma(text, rules.forms)
    got = _number_in(found, rules.decimal_comma) if found else None
    right = got is not None and _close(got, wanted, rules)
    plain = unexclaimed(found) if found is not None and not right else None
    if found is not None and plain is not None:
        got = _number_in(replace(found, text=plain), rules.decimal_comma)
        right = got is not None and _close(got, wanted, rules)
    return credit("number equals the reference", float(right), of=1.0, span=found.span if found else None)


def _with_decimal_comma(text: str, forms: tuple[str, ...]) -> Found | None:
    """The last number of a text in which commas are decimal."""
    found = find_answer(text.translate({ord(","): ".", ord("."): ","}), forms=forms)
    return found and Found(text[found.start : found.end], found.start, found.end, found.form)


def _close(got: Number, wanted: Number, rules: _Rules) -> bool:
    units_differ = wanted.unit not in ("", got.unit)
    if units_differ and (rules.units == "required" or (rules.units == "where both" and got.unit)):
        return False
    return any(
        same_value(one, other, got.digits, wanted.digits)
        or abs(one - other) <= max(rules.absolute, rules.relative * abs(other))
        for one, other in _values(got, wanted, rules.percent)
    )


def _values(got: Number, wanted: Number, rule: str) -> list[tuple[Fraction, Fraction]]:
    """The pairs of values that are compared; a percent sign on both sides means the same on both."""
    if got.percent == wanted.percent or rule == "number":
        return [(got.value, wanted.value)]
    shares = (
        got.value / 100 if got.percent else got.value,
        wanted.value / 100 if wanted.percent else wanted.value,
    )
    return [shares] if rule == "fraction" else [(got.value, wanted.value), shares]


def _reference(value: Any, decimal_comma: bool) -> Number | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return _plain_reference(value) if math.isfinite(value) else None
    return _text_reference(value, decimal_comma) if isinstance(value, str) else None


def _plain_reference(value: float) -> Number:
    """A number in the column is meant as it prints: 0.1 is one tenth, not the float next to it."""
    if isinstance(value, int):
        return Number(Fraction(value))
    return read_number(repr(float(value))) or Number(Fraction(value))


@functools.lru_cache(maxsize=1024)  # a reference comes once for every completion of its prompt
def _text_reference(text: str, decimal_comma: bool) -> Number | None:
    found = find_answer(text)
    return _number_in(found, decimal_comma) if found else None


def _number_in(found: Found, decimal_comma: bool) -> Number | None:
    """The number of an answer; a sentence may go on after it (`the answer is 7. Well done`), without digits."""
    number = read_number(found.text, decimal_comma=decimal_comma)
    if number is None and found.form == "line":
        first, stop, rest = found.text.partition(". ")
        if stop and not any(character.isdigit() for character in rest):
            number = read_number(first, decimal_comma=decimal_comma)
    return number


def _tolerance(name: str, value: Any) -> Fraction:
    if (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value >= 0
    ):
        return Fraction(value)
    raise wrong("numeric", name, value, "a number of at least 0")
