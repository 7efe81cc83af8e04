"""Other answers made of a ground truth: the same in another form, near misses, and ones that are far from it.

What stands here as equal is equal by value, and only in forms that any reader takes (signs, separators, trailing
zeros, a currency sign, fractions, percent, white space). What stands here as wrong is proved to differ by
`workbench.answer_form.same_answer`; what cannot be proved is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from workbench.answer_form import gold_text, same_answer, value_of

FAR = ("58", "713", "9", "2604", "0.37", "-88")
FAR_TEXT = ("purple", "a wooden chair", "nobody knows")
LEAST_DIFFERENCE = Fraction(1, 50)
"""Numbers that differ by less than this share of the larger one may be meant as equal: no near miss."""

_LETTER = re.compile(r"[A-Z]")
_PLAIN_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Variant:
    """An answer's text, and in words what it is."""

    text: str
    what: str


def is_letter(gold: Any) -> bool:
    """Whether a ground truth is the letter of an option."""
    return isinstance(gold, str) and bool(_LETTER.fullmatch(gold.strip()))


def equal_forms(gold: Any, *, form: str = "whole") -> list[Variant]:
    r"""The same answer written in other ways, for the form it stands in (see `Slot.form`).

    >>> [variant.text for variant in equal_forms("1250")][:4]
    ['1250.0', '1250.00', '+1250', '1,250']
    """
    found: list[Variant] = []
    if isinstance(gold, Mapping):
        found += _equal_json(gold)
    elif not isinstance(gold, (list, tuple, bool)):
        text = gold_text(gold)
        value = value_of(text)
        if value is not None:
            found += _equal_numbers(text, value, form)
        elif is_letter(text) and (form.startswith("tag:") or form == "boxed"):
            found += [
                Variant(f"({text})", "with the letter in brackets"),
                Variant(f"{text}.", "with a full stop"),
            ]
        if form.startswith("tag:") or (form == "boxed" and value is not None):
            found += [Variant(f" {text} ", "with spaces around it")]
        if form.startswith("tag:"):
            found += [
                Variant(f"\n{text}\n", "on a line of its own"),
                Variant(f"\r\n{text}\r\n", "on a line of its own, with Windows line ends"),
            ]
    return list({variant.text: variant for variant in found if variant.text != gold_text(gold)}.values())


def _equal_numbers(text: str, value: Fraction, form: str) -> Iterator[Variant]:
    if not _PLAIN_NUMBER.fullmatch(text.replace(",", "")) and "/" not in text:
        return
    whole = value.denominator == 1
    digits = text.replace(",", "")
    fraction = "/" in text
    if not fraction:
        more = (f"{digits}.0", f"{digits}.00") if "." not in digits else (f"{digits}0",)
        yield from (Variant(other, "with trailing zeros") for other in more)
    if value > 0:
        yield Variant(f"+{text}", "with a plus sign")
    if whole and abs(value) >= 1000 and not fraction:
        yield Variant(f"{int(value):,}", "with thousands separators")
        yield Variant(
            text.replace(",", "") if "," in text else f"{int(value):,}.00", "with thousands separators"
        )
    if value < 0:
        yield Variant(text.replace("-", "\u2212"), "with a typographic minus")
    if value > 0 and not fraction and form != "boxed":
        yield Variant(f"${text}", "with a currency sign")
    if not fraction:
        yield Variant(f"{text}.", "with a final full stop")
    if not whole:
        yield from _as_fraction(value, form)


def _as_fraction(value: Fraction, form: str) -> Iterator[Variant]:
    sign = "-" if value < 0 else ""
    size = abs(value)
    if size.denominator <= 100:
        yield Variant(f"{sign}{size.numerator}/{size.denominator}", "as a fraction")
        if form == "boxed":
            latex = f"{sign}\\frac{{{size.numerator}}}{{{size.denominator}}}"
            yield Variant(latex, "as a LaTeX fraction")
        if size > 1:
            whole, rest = divmod(size, 1)
            yield Variant(f"{sign}{int(whole)} {rest.numerator}/{rest.denominator}", "as a mixed number")
    if _finite(size) and size.denominator <= 1000:
        yield Variant(f"{sign}{float(size):.10g}", "as a decimal")
    if _finite(size * 100) and size < 1 and (size * 100).denominator <= 10:
        yield Variant(f"{sign}{float(size * 100):.10g}%", "as a percentage")


def _finite(value: Fraction) -> bool:
    """Whether a decimal with few places is the number exactly."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _equal_json(gold: Mapping[str, Any]) -> Iterator[Variant]:
    backwards = dict(reversed(list(gold.items())))
    if len(gold) > 1:
        yield Variant(json.dumps(backwards, ensure_ascii=False), "with its keys in another order")
    yield Variant(json.dumps(gold, indent=2, ensure_ascii=False), "indented")
    yield Variant(json.dumps(gold, separators=(",", ":"), ensure_ascii=False), "without spaces")


def near_misses(
    gold: Any, others: Sequence[Any] = (), *, form: str = "whole", joint: str = ", "
) -> list[Variant]:
    """Wrong answers that resemble the right one, each proved to differ from it.

    Args:
        gold: the ground truth.
        others: ground truths of other rows, or the options there are.
        form: the form the answer stands in (see `Slot.form`).
        joint: what stands between the items of a list.

    >>> [variant.text for variant in near_misses("42")][:5]
    ['142', '420', '421', '4', '2']
    """
    if isinstance(gold, Mapping):
        found = list(_near_json(gold))
    elif isinstance(gold, (list, tuple)):
        found = list(_near_list(gold, form, joint))
    elif isinstance(gold, bool):
        found = [Variant("no" if gold else "yes", "the opposite")]
    else:
        text = gold_text(gold)
        value = value_of(text)
        if value is not None:
            found = list(_near_numbers(text, value))
        elif is_letter(text):
            found = list(_near_letters(text, others))
        else:
            found = list(_near_texts(text))
    return list({v.text: v for v in found if v.text and same_answer(v.text, gold) is not True}.values())


def _near_numbers(text: str, value: Fraction) -> Iterator[Variant]:
    bare = text.replace(",", "")
    if not _PLAIN_NUMBER.fullmatch(bare):
        if "/" in bare:
            yield Variant(f"{value.denominator}/{value.numerator}", "turned over")
            yield Variant(f"1{bare}", "with a digit in front")
            yield Variant(f"{value.numerator}/{value.denominator + 3}", "with another denominator")
            yield Variant(f"{value.numerator}", "without its denominator")
        return
    sign, digits = ("-", bare[1:]) if bare[0] == "-" else ("", bare)
    yield Variant(f"{sign}1{digits}", "with a digit in front")
    if "." in digits:
        yield Variant(f"{float(value * 10):.10g}", "ten times as large")
        yield Variant(f"{sign}9{digits}", "with a digit more")
    else:
        yield Variant(f"{sign}{digits}0", "ten times as large")
        yield Variant(f"{sign}{digits}1", "with a digit more")
    if len(digits.replace(".", "")) > 1:
        yield Variant(f"{sign}{digits[0]}", "only its first digit")
        yield Variant(f"{sign}{digits[-1]}", "only its last digit")
    yield Variant(digits if sign else f"-{digits}", "with the other sign")
    yield from _shifted(sign, digits, value)


def _shifted(sign: str, digits: str, value: Fraction) -> Iterator[Variant]:
    """Digits changed or swapped, off by one, off by a part: where the difference is not small."""
    first = str((int(digits[0]) + 1) % 9 + 1)
    candidates = [Variant(f"{sign}{first}{digits[1:]}", "with another first digit")]
    if len(digits) > 1 and digits.isdigit() and digits[-1] != digits[-2]:
        candidates.append(Variant(f"{sign}{digits[:-2]}{digits[-1]}{digits[-2]}", "with two digits swapped"))
    if value.denominator == 1:
        candidates += [Variant(str(int(value) + step), "off by one") for step in (1, -1)]
        candidates.append(Variant(f"{sign}{digits}.5", "off by a half"))
        candidates.append(Variant(f"{sign}{digits}.9", "with other decimal places"))
    else:
        candidates.append(Variant(f"{sign}{digits.partition('.')[0]}", "without its decimal places"))
        candidates.append(Variant(f"{float(value * Fraction(11, 10)):.6g}", "a tenth too large"))
    for candidate in candidates:
        other = value_of(candidate.text)
        if other is None or other == value:
            continue
        size = max(abs(other), abs(value))
        if abs(other - value) >= LEAST_DIFFERENCE * size:
            yield candidate


def _near_letters(text: str, others: Sequence[Any]) -> Iterator[Variant]:
    letters = dict.fromkeys(str(other).strip() for other in others if is_letter(other))
    for other in [letter for letter in letters if letter != text] or ["A" if text != "A" else "B"]:
        yield Variant(other, "another option")
        yield Variant(f"{text}{other}", "two options at once")
        yield Variant(f"{other}{text}", "two options at once")
        break


def _near_texts(text: str) -> Iterator[Variant]:
    words = text.split()
    if len(words) > 2:
        yield Variant(" ".join(words[: len(words) // 2]), "only its first half")
    if len(text) > 3 and len(words) == 1:
        yield Variant(text[: max(1, len(text) // 2)], "only its beginning")
        if text.isalpha():
            yield Variant(f"{text}{text[-1]}ing", "a longer word")
    yield Variant(text[:1], "only its first letter")
    places = [place for place, character in enumerate(text) if character in "0123456789"]
    for place, what in (
        ((places[-1], "with another last digit"), (places[0], "with another first digit")) if places else ()
    ):
        other = str((int(text[place]) + 3) % 10)
        yield Variant(text[:place] + other + text[place + 1 :], what)


def _near_json(gold: Mapping[str, Any]) -> Iterator[Variant]:
    for key, value in list(gold.items())[:3]:
        changed = _other_value(value)
        if changed != value:
            yield Variant(_dumped({**gold, key: changed}), f"with another {key}")
    if len(gold) > 1:
        for key in list(gold)[:2]:
            yield Variant(_dumped({k: v for k, v in gold.items() if k != key}), f"without its {key}")
        first = next(iter(gold))
        yield Variant(_dumped({first: gold[first]}), f"with its {first} alone")


def _other_value(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value * 3 + 7
    if isinstance(value, str):
        return "zebra" if value != "zebra" else "lion"
    return None


def _near_list(gold: Sequence[Any], form: str, joint: str) -> Iterator[Variant]:
    if not gold or any(isinstance(item, (Mapping, list, tuple)) or item is None for item in gold):
        return
    items = list(gold)
    more = _others_like(items)
    if len(items) > 1:
        yield Variant(_joined(items[:-1], form, joint), "without one of its parts")
        yield Variant(_joined(items[:1], form, joint), "one part of it alone")
    if more:
        yield Variant(_joined([*items, more[0]], form, joint), "with a wrong part more")
        yield Variant(_joined([*items, *more], form, joint), "with several wrong parts more")
        yield Variant(_joined([*items[:-1], more[0]], form, joint), "with one part wrong")


def _others_like(items: Sequence[Any]) -> list[Any]:
    """A few values of the same sort as the items that are none of them."""
    if all(is_letter(item) for item in items):
        return [letter for letter in "ABCDE" if letter not in {str(item).strip() for item in items}]
    if all(value_of(gold_text(item)) is not None for item in items):
        known = {value_of(gold_text(item)) for item in items}
        numbers = [far for far in FAR if value_of(far) not in known]
        return (
            [float(n) if "." in n else int(n) for n in numbers] if not isinstance(items[0], str) else numbers
        )
    if all(isinstance(item, str) for item in items):
        return [word for word in ("zebra", "umbrella", "tuesday", "oxygen") if word not in items]
    return []


def _joined(items: Sequence[Any], form: str, joint: str = ", ") -> str:
    if form == "json":
        return json.dumps(list(items), ensure_ascii=False)
    return joint.join(gold_text(item) for item in items)


def far_wrong(gold: Any, others: Sequence[Any] = (), *, form: str = "whole") -> list[Variant]:
    """Answers of the same sort that have nothing to do with the right one; at least one, at most three.

    >>> far_wrong("42")[0].text, far_wrong("B", ["A", "B"])[0].text, far_wrong("Paris", ["Rome", "Paris"])[0].text
    ('58', 'A', 'Rome')
    """
    if isinstance(gold, Mapping):
        return [Variant(_dumped({key: _other_value(value) for key, value in gold.items()}), "a wrong record")]
    if isinstance(gold, (list, tuple)):
        more = _others_like(gold) if gold else []
        return [Variant(_joined(more[: max(1, len(gold))], form), "a wrong list")] if more else []
    text = gold_text(gold)
    if value_of(text) is not None:
        kept = [far for far in FAR if not set(far) & set(text.lstrip("-")) - {".", "-"}] or list(FAR)
        candidates = [Variant(far, "a wrong number") for far in kept]
    elif is_letter(text):
        letters = dict.fromkeys(str(o).strip() for o in others if is_letter(o) and str(o).strip() != text)
        candidates = [Variant(other, "another option") for other in letters]
        candidates = candidates or [Variant("A" if text != "A" else "B", "another option")]
    else:
        names = dict.fromkeys(gold_text(other) for other in others if isinstance(other, str))
        candidates = [Variant(name, "another row's answer") for name in names]
        candidates += [Variant(name, "a wrong answer") for name in FAR_TEXT]
    proved = [c for c in candidates if same_answer(c.text, gold) is False]
    return proved[:3]


def _dumped(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


__all__ = ["Variant", "equal_forms", "far_wrong", "is_letter", "near_misses"]
