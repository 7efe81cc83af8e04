"""Changing a completion by its structure: one small change at a time, chosen by whoever calls.

A text is taken apart into pieces (tags, fences, boxes, line ends, sentences). Each operation drops, repeats, moves,
nests, cuts or renames pieces, changes white space, letters or numbers, or brings in material of other rows. What is
chosen comes from `pick`, a function from a number of choices to one of them: Hypothesis draws it in
`workbench.strategies`, a seeded generator in the exploit search.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.answer_form import Slot, find_slot
from workbench.answer_variants import equal_forms

Pick = Callable[[int], int]
"""`pick(n)` is one of 0, ..., n - 1; smaller is simpler."""

LONGEST = 20_000
"""No operation makes a text longer than this many characters."""

_PIECE = re.compile(r"</?[A-Za-z][\w.-]{0,30}>|```[\w+-]*|\\boxed\{|####|\r?\n|(?<=[.!?,;:])[ ]+|[ ]+")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]{0,30})>")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")

TAG_NAMES = ("answer", "think", "final", "result", "output", "ANSWER")


@dataclass(frozen=True)
class Material:
    """What may be brought in: other completions, answers of other rows, and words."""

    texts: Sequence[str] = ()
    answers: Sequence[str] = ()
    words: Sequence[str] = ()


def pieces(text: str) -> list[str]:
    """The pieces of a text; joined they are the text.

    >>> pieces("<b>so it is</b>")
    ['<b>', 'so', ' ', 'it', ' ', 'is', '</b>']
    """
    found: list[str] = []
    end = 0
    for match in _PIECE.finditer(text):
        if match.start() > end:
            found.append(text[end : match.start()])
        if match.group():
            found.append(match.group())
        end = match.end()
    if end < len(text):
        found.append(text[end:])
    return found


def _drop(text: str, pick: Pick, material: Material) -> str:
    parts = pieces(text)
    start, count = pick(len(parts)), 1 + pick(min(4, len(parts)))
    return "".join(parts[:start] + parts[start + count :])


def _cut(text: str, pick: Pick, material: Material) -> str:
    parts = pieces(text)
    return "".join(parts[: pick(len(parts))])


def _behead(text: str, pick: Pick, material: Material) -> str:
    parts = pieces(text)
    return "".join(parts[1 + pick(len(parts)) :])


def _repeat(text: str, pick: Pick, material: Material) -> str:
    parts = pieces(text)
    start, count, times = pick(len(parts)), 1 + pick(min(6, len(parts))), 2 + pick(7)
    return "".join(parts[:start] + parts[start : start + count] * times + parts[start + count :])


def _twice(text: str, pick: Pick, material: Material) -> str:
    return "\n".join([text] * (2 + pick(7)))


def _swap(text: str, pick: Pick, material: Material) -> str:
    parts = pieces(text)
    one, other = pick(len(parts)), pick(len(parts))
    parts[one], parts[other] = parts[other], parts[one]
    return "".join(parts)


def _reverse(text: str, pick: Pick, material: Material) -> str:
    return "".join(reversed(pieces(text)))


def _lines(text: str, pick: Pick, material: Material) -> str:
    lines = text.split("\n")
    start = pick(len(lines))
    return "\n".join(lines[start:] + lines[:start])


def _nest(text: str, pick: Pick, material: Material) -> str:
    parts = pieces(text)
    names = [match[2] for match in _TAG.finditer(text)] or list(TAG_NAMES)
    name = names[pick(len(names))]
    start, count = pick(len(parts)), 1 + pick(len(parts))
    return "".join(
        [*parts[:start], f"<{name}>", *parts[start : start + count], f"</{name}>", *parts[start + count :]]
    )


def _rename(text: str, pick: Pick, material: Material) -> str:
    names = list(dict.fromkeys(match[2] for match in _TAG.finditer(text)))
    if not names:
        return text
    old, new = names[pick(len(names))], TAG_NAMES[pick(len(TAG_NAMES))]
    return re.sub(rf"<(/?){re.escape(old)}>", rf"<\g<1>{new}>", text)


def _unclose(text: str, pick: Pick, material: Material) -> str:
    tags = [match.span() for match in _TAG.finditer(text)]
    if not tags:
        return text
    start, end = tags[pick(len(tags))]
    return text[:start] + text[end:]


def _space(text: str, pick: Pick, material: Material) -> str:
    ways: tuple[Callable[[str], str], ...] = (
        str.strip,
        lambda t: f"{t}\n",
        lambda t: f"\n{t}",
        lambda t: f" {t} ",
        lambda t: t.replace("\n", "\r\n"),
        lambda t: t.replace(" ", "  "),
        lambda t: t.replace(" ", "\u00a0"),
        lambda t: t.replace("\n", " "),
        lambda t: t.replace("\n", "\n\n"),
    )
    return ways[pick(len(ways))](text)


def _letters(text: str, pick: Pick, material: Material) -> str:
    ways: tuple[Callable[[str], str], ...] = (
        str.lower,
        str.upper,
        lambda t: unicodedata.normalize("NFD", t),
        lambda t: unicodedata.normalize("NFKC", t),
        lambda t: t.replace("-", "\u2212"),
        lambda t: t + "\u200b",
        lambda t: t + " \U0001f642",
        lambda t: t.replace("e", "\u0435"),
    )
    return ways[pick(len(ways))](text)


def _number(text: str, pick: Pick, material: Material) -> str:
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return text
    match = numbers[len(numbers) - 1 - pick(len(numbers))]
    forms = [variant.text for variant in equal_forms(match.group().replace(",", ""))] or [match.group()]
    others = ["", "-", "0", "1/0", "NaN", "1e999", "\u0663"]
    choices = forms + others
    return text[: match.start()] + choices[pick(len(choices))] + text[match.end() :]


def _answer(text: str, pick: Pick, material: Material) -> str:
    slot = _slot(text, material)
    if slot is None or not material.answers:
        return text
    return slot.write(str(material.answers[pick(len(material.answers))]))


def _form(text: str, pick: Pick, material: Material) -> str:
    slot = _slot(text, material)
    answer = slot.answer if slot is not None else text
    forms = (
        "{}",
        "\\boxed{{{}}}",
        "#### {}",
        "<answer>{}</answer>",
        "Answer: {}",
        "**{}**",
        "The answer is {}.",
    )
    return forms[pick(len(forms))].format(answer)


def _slot(text: str, material: Material) -> Slot | None:
    return next((slot for answer in material.answers if (slot := find_slot(text, answer)) is not None), None)


def _join(text: str, pick: Pick, material: Material) -> str:
    if not material.texts:
        return text
    other = material.texts[pick(len(material.texts))]
    return f"{other}\n{text}" if pick(2) else f"{text}\n{other}"


def _words(text: str, pick: Pick, material: Material) -> str:
    if not material.words:
        return text
    parts = pieces(text)
    place = pick(len(parts) + 1)
    words = [material.words[pick(len(material.words))] for _ in range(1 + pick(4))]
    return "".join(parts[:place]) + " " + " ".join(words) + " " + "".join(parts[place:])


OPERATIONS: dict[str, Callable[[str, Pick, Material], str]] = {
    "drop": _drop,
    "cut": _cut,
    "unclose": _unclose,
    "space": _space,
    "letters": _letters,
    "number": _number,
    "repeat": _repeat,
    "twice": _twice,
    "swap": _swap,
    "reverse": _reverse,
    "lines": _lines,
    "nest": _nest,
    "rename": _rename,
    "behead": _behead,
    "answer": _answer,
    "form": _form,
    "join": _join,
    "words": _words,
}
"""Every operation by its name, the simplest first."""


def mutate(text: str, operation: str, pick: Pick, material: Material) -> str:
    """`text` changed once; as it is where the operation has nothing to work on, or would make it too long.

    >>> mutate("<a>1</a>", "drop", lambda choices: 0, Material())
    '1</a>'
    """
    if not text and operation not in ("words", "join", "form"):
        return text
    changed = OPERATIONS[operation](text, pick, material)
    return changed if len(changed) <= LONGEST else text


__all__ = ["OPERATIONS", "Material", "Pick", "mutate", "pieces"]
