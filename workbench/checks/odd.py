"""Odd completions a policy writes on any ordinary day, made of the samples' own.

Empty and blank text, a refusal, a cut, an unclosed tag or fence, a number that is none, other scripts, a
repeated completion. Nothing here is an attack or large: hostile text is family RW5's matter. A sound reward
gives every one of them a finite number (or None, where it abstains).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.answer_form import Slot, places

_FORMULA = re.compile(r"(?=.*[-+*/])[\d\s.()+*/-]*\d[\d\s.()+*/-]*")
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True)
class Odd:
    """One odd completion text, what it is in words, and whether every training run meets it (`usual`)."""

    text: str
    what: str
    usual: bool = True


_JSON = re.compile(r"(?:```(?:json|JSON)?[ \t]*\r?\n|\A\s*)(\{[^`]*\}|\[[^`]*\])\s*(?:```|\Z)")

PLAIN = (
    Odd("", "an empty completion"),
    Odd(" ", "a blank completion"),
    Odd("\n\n", "nothing but new lines"),
    Odd("I'm sorry, but I can't help with that.", "a refusal"),
    Odd("?", "a single character"),
    Odd("42", "a bare number"),
    Odd("yes", "a single word"),
    Odd("🙂🙂", "nothing but emoji"),
    Odd("<answer></answer>", "an empty answer tag"),
    Odd("<think>", "an unclosed think tag"),
    Odd("</answer><answer>", "tags the wrong way round"),
    Odd("\\boxed{", "an unclosed box"),
    Odd("{}", "an empty JSON object"),
    Odd("[]", "an empty JSON list"),
    Odd("null", "the JSON null"),
    Odd("```python\n", "an unclosed code fence"),
    Odd("Answer:", "a label without an answer"),
    Odd("x\ud83dy", "a lone surrogate (a broken emoji)", usual=False),
)

_NOT_NUMBERS = (
    ("", "the answer left out"),
    ("-", "a minus sign as the answer"),
    ("1/0", "a division by zero as the answer"),
    ("NaN", "NaN as the answer"),
    ("1e999", "a number too large for a float as the answer"),
    ("٣", "a digit of another script as the answer"),
)


def odd_completions(examples: list[str]) -> list[Odd]:
    """Odd texts: the plain ones, then variations of each of `examples` (completions of the samples)."""
    found = list(PLAIN)
    for text in examples:
        if not text:
            continue
        found.append(Odd(text[: len(text) // 2], "a completion cut in the middle"))
        found.append(Odd(text[: max(1, len(text) - 3)], "a completion cut just before its end"))
        found.append(Odd(text.replace("\n", "\r\n"), "a completion with Windows line ends"))
        found += _other_json(text)
        found += _towers(text)
        numbers = list(_NUMBER.finditer(text))
        if numbers:
            last = numbers[-1]
            for other, what in _NOT_NUMBERS:
                found.append(Odd(text[: last.start()] + other + text[last.end() :], what))
    unique: dict[str, Odd] = {}
    for odd in found:
        unique.setdefault(odd.text, odd)
    return list(unique.values())


def _other_json(text: str) -> list[Odd]:
    """The text with other JSON values in the place of its object or list."""
    match = _JSON.search(text)
    if match is None:
        return []
    values = (
        ("[1, 2]", "a JSON list"),
        ("42", "a JSON number"),
        ('"text"', "a JSON text"),
        ("null", "the JSON null"),
        ("{}", "an empty JSON object"),
    )
    return [
        Odd(text[: match.start(1)] + value + text[match.end(1) :], f"{what} in the place of the JSON")
        for value, what in values
        if value != match[1]
    ]


def formulas(text: str) -> Iterator[Slot]:
    """The places in a text where a formula of numbers stands: digits, brackets and at least one operator."""
    yield from (
        place for place in places(text) if len(place.answer) < 200 and _FORMULA.fullmatch(place.answer)
    )


def _towers(text: str) -> list[Odd]:
    """The text with the numbers of its formula as powers of each other: whoever evaluates that never comes back."""
    found = []
    for place in formulas(text):
        numbers = re.findall(r"\d+", place.answer)
        if len(numbers) > 2:
            for order in (numbers, numbers[::-1]):
                found.append(
                    Odd(place.write("**".join(order)), "a tower of powers as the answer", usual=False)
                )
    return found


def repeated(text: str, times: int = 32) -> Odd:
    """A completion written again and again, as a policy does that found out what pays."""
    return Odd("\n".join([text] * times), f"a completion written {times} times over", usual=False)


__all__ = ["PLAIN", "Odd", "formulas", "odd_completions", "repeated"]
