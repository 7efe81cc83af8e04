r"""Reading one number as people and models write it, and telling when two are the same.

A number may have thousands separators (commas or spaces), a sign (also the typographic minus), a currency, a unit, a
percent sign; it may be a fraction or mixed number, a power or factorial of a whole number, in scientific notation,
and in LaTeX. Anything else is no number: two numbers are not one, and a number in the middle of a sentence is not
picked out of it.

A decimal stands for itself; one written with six or more significant digits stands for every number that it is the
rounding of: `0.333333` is one third, `0.33` is not.
"""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

LONGEST = 200
"""A text of more characters is no number."""

ROUNDED_FROM = 6
"""Significant digits from which on a decimal may be a rounding of something longer."""

LONGEST_POWER = 10_000
"""Binary digits; a power that may have more is not computed."""

LARGEST_FACTORIAL = 1_000

_NOISE_FROM = 15  # what a binary float cannot hold

_CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound sterling", "¥": "yen", "₹": "rupee"}
_CURRENCY = "".join(_CURRENCIES)
SPACED_THOUSANDS = r"[1-9][0-9]{0,2}(?: [0-9]{3})+(?![0-9])"
"""Digits in groups of three with a space between."""

_DIGITS = rf"(?:[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+|{SPACED_THOUSANDS}|[0-9]+)".replace(" ", "\\ ")
_NUMBER = re.compile(
    rf"""
    (?:[A-Za-z]\w{{0,15}}\ ?=\ ?)?                      # x =
    [≈~]?\ ?(?P<sign>[+-]?)\ ?(?P<money>[{_CURRENCY}]?)\ ?(?P<sign2>[+-]?)
    (?:
        (?:(?P<whole>[0-9]+)\ ?)?\\[dtc]?frac\ ?\{{(?P<up>-?[0-9]+)\}}\ ?\{{(?P<down>[0-9]+)\}}
      | (?:(?P<whole2>[0-9]+)\ )?(?P<up2>[0-9]+)\ ?/\ ?(?P<down2>[0-9]+)
      | (?P<base>[0-9]+)\ ?(?:
            \^\ ?(?:(?P<exponent>[+-]?[0-9]{{1,4}})|[{{(](?P<exponent2>[+-]?[0-9]{{1,4}})[}})])
          | (?P<mark>[²³])
        )
      | (?P<factorial>[0-9]{{1,4}})!(?!!)
      | (?P<decimal>{_DIGITS}(?:\.[0-9]*)?|\.[0-9]+)
        (?:
            [eE](?P<power>[+-]?[0-9]{{1,3}})
          | \ ?(?:\\times|\\cdot|[×x*·])\ ?10\ ?\^\ ?[{{(]?(?P<power2>[+-]?[0-9]{{1,3}})[}})]?
        )?
    )
    (?P<rest>.*)
    """,
    re.VERBOSE | re.DOTALL,
)
_LETTERS = "A-Za-zµμΩ"
_UNIT = re.compile(
    rf"""\ ?(?:
        (?:[-/·](?=\ ?[{_LETTERS}]{{2}})|(?=[{_LETTERS}°%{_CURRENCY}])|(?=[. ]*\Z))   # `5 cm`, `$5/hour`, `5-foot`
        (?:[{_LETTERS}{_CURRENCY}%°²³/·.\ -]|(?<=[{_LETTERS}°])\^\{{?-?[0-9]\}}?)*
    )?""",
    re.VERBOSE,
)
_BARE = re.compile(r"[0-9,]+(?:\.[0-9]+)?")
_POWER_SIGN = re.compile(r"(?<=[0-9])\ ?\*\*\ ?(?=[0-9({+-])")
_EXCLAIMED = re.compile(r"(?<![0-9)\]}!])!+\Z|(?<=\\[)\]])!+\Z")
"""What ends a sentence; right behind a digit or bracket it is a factorial."""
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|textbf|mathbf|mbox|operatorname)\ ?\{([^{}]*)\}")
_DEGREE = re.compile(r"\^(?:\{\\circ\}|\\circ(?![A-Za-z]))")
_REPLACED = (
    ("\\left", ""), ("\\right", ""), ("\\(", ""), ("\\)", ""), ("\\[", ""), ("\\]", ""), ("\\$", "$"),
    ("\\%", "%"), ("{,}", ","), ("\\!", ""), ("\\,", " "), ("\\;", " "), ("\\ ", " "), ("~", " "),
    ("\u2212", "-"), ("\u2013", "-"), ("\u00a0", " "), ("\u202f", " "), ("\u2009", " "), ("**", ""), ("`", ""),
    ("$$", ""),
)  # fmt: skip
_PLURAL = re.compile(r"(?<=[^\W\d_]{2})s\Z")
_PERCENT = {"%", "percent", "per cent", "pct", "percentage"}
_ALIASES = {
    "feet": "foot", "ft": "foot", "inches": "inch", "meter": "m", "metre": "m", "kilometer": "km", "kilometre": "km",
    "centimeter": "cm", "centimetre": "cm", "millimeter": "mm", "millimetre": "mm", "gram": "g", "kilogram": "kg",
    "liter": "l", "litre": "l", "hour": "h", "hr": "h", "minute": "min", "second": "s", "sec": "s", "degree": "°",
    "usd": "dollar", "eur": "euro", "square meter": "m^2", "square metre": "m^2", "m²": "m^2", "cm²": "cm^2",
    "m³": "m^3", "cm³": "cm^3", "mile": "mi", "mile per hour": "mph",
}  # fmt: skip
_NO_UNIT = {"or", "and", "not", "to", "but", "wrong"}


@dataclass(frozen=True)
class Number:
    """A number that was read.

    `value` is exact (of `50%` it is 50, and `percent` is true); `unit` is "" where none is written; `digits` are the
    significant digits of a decimal, 0 for whole numbers and fractions.
    """

    value: Fraction
    unit: str = ""
    digits: int = 0
    percent: bool = False


def read_number(text: str, *, decimal_comma: bool = False) -> Number | None:
    r"""The one number a text consists of, exactly; None where it is anything else.

    A leading `x =`, a currency and a unit after it are allowed.

    Args:
        text: what may be a number.
        decimal_comma: whether `1.234,5` is meant where others write `1,234.5`; a point that cannot stand between
            thousands is a decimal point all the same.

    >>> read_number("-1,234.5").value
    Fraction(-2469, 2)
    >>> read_number(r"1\frac{1}{4} \text{ cups}")
    Number(value=Fraction(5, 4), unit='cup', digits=0, percent=False)
    >>> str(read_number("10^{-3}").value), str(read_number("5!").value), str(read_number("1 000").value)
    ('1/1000', '120', '1000')
    >>> read_number("7 or 8") is None, read_number("about seven") is None, read_number("1/0") is None
    (True, True, True)
    """
    if len(text) > LONGEST:
        return None
    return (_read(text, True) if decimal_comma else None) or _read(text, False)


def same_value(one: Fraction, other: Fraction, one_digits: int = 0, other_digits: int = 0) -> bool:
    """Whether two numbers are the same one; digits are those of `Number`, 0 where a number is exact.

    >>> same_value(Fraction("0.333333"), Fraction(1, 3), 6, 0), same_value(Fraction("0.333"), Fraction(1, 3), 3, 0)
    (True, False)
    >>> same_value(Fraction("0.30000000000000004"), Fraction("0.3"), 17, 1)
    True
    """
    if one == other:
        return True
    if one_digits >= _NOISE_FROM and other_digits >= _NOISE_FROM:
        return _is_rounding(one, other, _NOISE_FROM)
    return any(
        written_digits >= ROUNDED_FROM and _is_rounding(written, meant, min(written_digits, _NOISE_FROM))
        for written, written_digits, meant in ((one, one_digits, other), (other, other_digits, one))
    )


def _is_rounding(written: Fraction, meant: Fraction, digits: int) -> bool:
    """Whether `written` is what `meant` is rounded to at `digits` significant digits."""
    if written == 0:
        return False
    size = (Decimal(abs(written.numerator)) / Decimal(written.denominator)).adjusted()
    return abs(meant - written) <= Fraction(10) ** (size - digits + 1) / 2


@functools.lru_cache(maxsize=4096)
def _read(text: str, decimal_comma: bool) -> Number | None:
    plain = _plain(text)
    if decimal_comma:
        plain = plain.translate({ord(","): ".", ord("."): ","})
    match = _NUMBER.fullmatch(plain)
    if match is None or not _UNIT.fullmatch(match["rest"]) or (match["sign"] and match["sign2"]):
        return None
    unit = _unit(match["rest"])
    value = _value(match)
    if value is None or unit is None:
        return None
    percent = unit in _PERCENT
    unit = "" if percent else unit or _CURRENCIES.get(match["money"], "")
    value = -value if "-" in (match["sign"], match["sign2"]) else value
    return Number(value, unit, _significant(match), percent)


def _plain(text: str) -> str:
    """The text without LaTeX's wrappers and with plain signs and spaces."""
    if _BARE.fullmatch(text):
        return text
    text = _POWER_SIGN.sub("^", without_exclamation(text))
    text = _DEGREE.sub("°", _LATEX_TEXT.sub(r" \1", text))
    for old, new in _REPLACED:
        text = text.replace(old, new)
    text = " ".join(text.split())
    if len(text) > 1 and text[0] == "$" == text[-1]:
        text = text[1:-1].strip()
    return without_exclamation(text)


def without_exclamation(text: str) -> str:
    """The text without full stops and exclamation marks at its end, factorials apart.

    >>> without_exclamation("7 apples!"), without_exclamation("5!."), without_exclamation("$7$!")
    ('7 apples', '5!', '$7$')
    """
    return _EXCLAIMED.sub("", text.rstrip(" .")).rstrip(" .")


def _value(match: re.Match[str]) -> Fraction | None:
    if match["decimal"]:
        power = int(match["power"] or match["power2"] or 0)
        value = Fraction(match["decimal"].replace(",", "").replace(" ", "").rstrip("."))
        return value * Fraction(10) ** power if power else value
    if match["base"]:
        exponent = {"²": 2, "³": 3}.get(match["mark"]) or int(match["exponent"] or match["exponent2"] or 0)
        return _power(int(match["base"]), exponent)
    if match["factorial"]:
        count = int(match["factorial"])
        return Fraction(math.factorial(count)) if count <= LARGEST_FACTORIAL else None
    up, down = int(match["up"] or match["up2"]), int(match["down"] or match["down2"])
    if down == 0:
        return None
    whole = match["whole"] or match["whole2"]
    if whole is not None and (not 0 <= up < down or (match["up2"] or "").startswith("0")):
        return None
    return int(whole or 0) + Fraction(up, down)


def _power(base: int, exponent: int) -> Fraction | None:
    if base.bit_length() * abs(exponent) > LONGEST_POWER or (base == 0 and exponent <= 0):
        return None
    return Fraction(base) ** exponent


def _significant(match: re.Match[str]) -> int:
    decimal = match["decimal"]
    if not decimal or not ("." in decimal or match["power"] or match["power2"]):
        return 0
    return len(decimal.translate({ord(sign): None for sign in ",. "}).lstrip("0"))


def _unit(rest: str) -> str | None:
    """The unit after a number, in lower case and singular; None where a sentence goes on instead."""
    words = rest.lower().strip(" .-").split()
    if len(words) > 4 or _NO_UNIT & set(words):
        return None
    if rest[:1].isalpha() and len(words[0]) > 12:
        return None
    unit = " ".join(words).replace("{", "").replace("}", "")
    if unit in _CURRENCIES:
        return _CURRENCIES[unit]
    unit = _ALIASES.get(unit, unit)
    unit = _PLURAL.sub("", unit)
    return _ALIASES.get(unit, unit)
