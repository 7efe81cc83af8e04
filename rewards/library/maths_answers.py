r"""What a mathematical answer is made of.

    read("x = 2 or x = -3")  ->  Several(Relation(x = 2), Relation(x = -3))

An answer is a term with perhaps a unit or percent sign, an equation or inequality, a pair or interval, a
set, a union, a matrix, a word, or several of them ("and", "or", commas; a plus-minus is two).
`rewards.library.maths_equality` tells when two of them are the same.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rewards.library.maths_terms import END, RELATIONS, Term, Terms, Token, Unread, plain_maths, tokens
from rewards.library.number import SPACED_THOUSANDS, read_number, without_exclamation

LONGEST = 1_000
MOST_PARTS = 60


@dataclass(frozen=True)
class Quantity:
    """A term, with its unit ("" where none is written) and whether a percent sign stands behind it."""

    term: Term
    unit: str = ""
    percent: bool = False


@dataclass(frozen=True)
class Relation:
    """`parts[0] ops[0] parts[1] ops[1] ...`; operators are =, <, >, <=, >=, != and "in"."""

    parts: tuple[Part, ...]
    ops: tuple[str, ...]


@dataclass(frozen=True)
class Tuple:
    """Two or more things in brackets: a pair, a point, an interval."""

    opening: str
    parts: tuple[Part, ...]
    closing: str


@dataclass(frozen=True)
class Set:
    """Things in braces."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Union:
    """Sets joined."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Matrix:
    """Rows of things."""

    rows: tuple[tuple[Part, ...], ...]


@dataclass(frozen=True)
class Word:
    """Text that is no mathematics, in lower case."""

    text: str


@dataclass(frozen=True)
class Several:
    """More than one answer; `either` tells that they are joined by "or"."""

    parts: tuple[Part, ...]
    either: bool = field(default=False, compare=False)


Part = Quantity | Relation | Tuple | Set | Union | Matrix | Word | Several

_AND_OR = re.compile(
    r"(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])"
    r"|(?<=[0-9}\])])(?:and|or)(?=-?[0-9\\({\[]|[a-z]\s*[<>=\\])"
    r"|\\(?:text|mbox|mathrm)\s*\{\s*,?\s*(?:and|or|,|;)\s*\}"
)
_AND_OR_IN_TEXT = re.compile(r"(\\(?:text|mbox|mathrm)\s*\{[^{}]*?[^{}\s,])[\s,]+(and|or)\s*\}")
_THOUSANDS = re.compile(r"(?<![0-9.,])([0-9]{1,3}(?:,[0-9]{3})+)(?![0-9,])")
_SPACED_THOUSANDS = re.compile(rf"-?{SPACED_THOUSANDS}(?:\.[0-9]+)?")
_RUN = re.compile(r"(?<!\\)(?<![A-Za-z\\])[A-Za-z]+")
_PROSE = re.compile(r"[A-Za-z]+(?:['\- ][A-Za-z]+)*")
_UNIT_WORD = re.compile(r"(?:[A-Za-zµμΩ°²³/· .\-]|\^-?[0-9])+")
_TEXT = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox)\s*\{([^{}]*)\}")
_FACTORIAL_OF_LETTER = re.compile(r"(?:\\[A-Za-z]{2,}|(?<![A-Za-z\\])(?<![0-9] )[A-Za-z])!\Z")
_TEXT_AT_END = re.compile(r"(\\(?:text|mathrm|mbox|textbf|mathbf)\ ?\{[^{}]*\})!+\Z")
_SHORT_UNITS = {
    "cm", "mm", "km", "kg", "mg", "ml", "ft", "hr", "am", "pm", "mi", "lb", "oz", "rad", "deg", "mph",
    "kmh", "kph", "cc", "min", "sec", "hrs", "men", "day", "cup", "egg", "car", "box", "ton", "yen", "kWh",
    "MHz", "Hz", "usd", "USD", "eur", "EUR", "pct",
}  # fmt: skip
_OPENINGS = {
    "(": ")",
    "[": "]",
    "\\{": "\\}",
    "{": "}",
    "langle": "rangle",
    "lfloor": "rfloor",
    "lceil": "rceil",
}
_CLOSING = set(_OPENINGS.values())
_OR = "∨"
_SEPARATORS = (",", ";", _OR)


# ------------------------------------------------------------------------------------------- reading


@functools.lru_cache(maxsize=4096)
def read(text: str) -> tuple[Part, ...]:
    """The ways a text can be read as a mathematical answer; () where it is none.

    There is more than one way where `1,234` may be a number or two. Time is linear in the text, and texts of more than
    1,000 characters are not read.

    >>> [type(way).__name__ for way in read("1,234")]
    ['Quantity', 'Several']
    >>> read("see the figure")
    (Word(text='see the figure'),)
    >>> read("2 +")
    ()
    """
    if not text.strip() or len(text) > LONGEST:
        return ()
    number = _plain_quantity(text)
    if number is not None and "," not in text:
        return (number,)
    plain = _AND_OR_IN_TEXT.sub(r"\1} \2 ", plain_maths(_unexclaimed(text)).replace(_OR, ";"))
    plain = _AND_OR.sub(lambda match: f" {_OR if 'or' in match[0] else ';'} ", plain)
    plain = _bare(plain)
    if plain.startswith("**") and plain.endswith("**"):
        plain = _bare(plain[2:-2])
    word = _word(plain)
    if word is not None:
        return (word,)
    joined = _THOUSANDS.sub(lambda match: match[1].replace(",", ""), plain)
    if _SPACED_THOUSANDS.fullmatch(joined):
        joined = plain = joined.replace(" ", "")
    ways: list[Part] = [] if number is None else [number]
    for way in dict.fromkeys((joined, plain)):
        try:
            ways.append(_Answers(tokens(way)).answer())
        except (Unread, ZeroDivisionError):
            continue
    return tuple(dict.fromkeys(ways))


def _bare(text: str) -> str:
    return _unexclaimed(text.lstrip(" .;,:!").rstrip(" .;,:")).rstrip(" .;,:")


def _unexclaimed(text: str) -> str:
    """The text without exclamation marks at its end; `n!` and `\\alpha!` are factorials, `7 cm!` is none."""
    if _FACTORIAL_OF_LETTER.search(text):
        return text
    closed = _TEXT_AT_END.search(text)
    return text[: closed.end(1)] if closed else without_exclamation(text)


def _plain_quantity(text: str) -> Quantity | None:
    """A number with perhaps a unit that nobody would take for a product of quantities."""
    number = read_number(text)
    if number is None:
        return None
    behind = re.search(r"[A-Za-zµμΩ²³/· .\-]*(?:(?<=[A-Za-zµμΩ])\^\{?-?[0-9]\}?)?[.!$*`\s)\]\\]*$", text)
    letters = (behind[0] if behind else "").split("^")[0].strip(" .!$*`)]\\")
    if letters and not _is_unit(letters, spaced=" " in (behind[0] if behind else "")):
        return None
    if "=" in text:
        return None
    return Quantity(("n", number.value, number.digits), number.unit, number.percent)


def _is_unit(letters: str, *, spaced: bool) -> bool:
    return letters in _SHORT_UNITS or (spaced and len(letters) >= 4) or not letters.isascii()


def _word(plain: str) -> Word | None:
    """Text in words, or a word or letter in `\\text{}`; None where there is anything to calculate."""
    text = _TEXT.sub(r"\1", plain).strip(" .*_`\"'")
    if len(text) > 2 and text[0] + text[-1] in ("()", "[]") and text[1:-1].isalpha():
        text = text[1:-1]
    if not text or not (text.isalpha() or _PROSE.fullmatch(text)):
        return None
    runs = _RUN.findall(text)
    longest = max(map(len, runs), default=0)
    if text == plain and text.isascii() and longest < (3 if len(runs) > 1 else 4):
        return None
    return Word(" ".join(text.casefold().split()))


class _Answers:
    """Reads the parts of an answer from tokens."""

    def __init__(self, found: list[Token]) -> None:
        self.tokens = found
        self.partner, self.listed = _brackets(found)
        self.place = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def answer(self) -> Part:
        parts = self.parts(len(self.tokens) - 1)
        signs = [token.value for token in self.tokens if token.value in _SEPARATORS]
        either = _OR in signs and ";" not in signs
        return parts[0] if len(parts) == 1 else Several(tuple(parts), either)

    def parts(self, end: int) -> list[Part]:
        """The parts up to the token at `end`, between commas."""
        found: list[Part] = []
        while self.place < end:
            if self.next.value in _SEPARATORS:
                self.place += 1
                continue
            start = self.place
            part, either_sign = self.part(1)
            found.append(part)
            if either_sign:
                self.place = start
                found.append(self.part(-1)[0])
            if self.place < end and self.next.value not in _SEPARATORS:
                raise Unread(f"{self.next.value!r} was not expected")
            if len(found) > MOST_PARTS:
                raise Unread("too many parts")
        if self.place != end or not found:
            raise Unread("nothing there")
        return found

    def part(self, sign: int) -> tuple[Part, bool]:
        """One part and whether a plus-minus stands in it."""
        parts: list[Part] = []
        ops: list[str] = []
        either = False
        if self.next.kind == "cmd" and RELATIONS.get(self.next.value) == "approx":
            self.place += 1
        while True:
            thing, one_either = self.joined(sign)
            parts.append(thing)
            either = either or one_either
            op = RELATIONS.get(self.next.value) if self.next.kind in ("cmd", "op") else None
            if op is None:
                break
            self.place += 1
            if op == "approx":  # what follows is rounded
                while self.next is not END and self.next.value not in _SEPARATORS:
                    self.place += 1
                break
            if op == "so":
                parts, ops = [], []
                continue
            ops.append(op)
        return (Relation(tuple(parts), tuple(ops)) if ops else parts[0]), either

    def joined(self, sign: int) -> tuple[Part, bool]:
        thing, either = self.thing(sign)
        things = [thing]
        while self.next.kind == "cmd" and self.next.value == "cup":
            self.place += 1
            thing, one_either = self.thing(sign)
            things.append(thing)
            either = either or one_either
        return (things[0] if len(things) == 1 else Union(tuple(things))), either

    def thing(self, sign: int) -> tuple[Part, bool]:
        token = self.next
        if token.kind == "cmd" and token.value == "begin":
            return self._matrix(), False
        if token.kind == "txt":
            self.place += 1
            return Word(" ".join(token.value.casefold().split())), False
        closing = self.partner.get(self.place)
        if (
            token.value == "{"
            and closing is not None
            and closing not in self.listed
            and self._ends(closing + 1)
        ):
            self.place += 1
            inside = self.part(sign)
            if self.place != closing:
                raise Unread("braces round more than one part")
            self.place += 1
            return inside
        if closing is not None and (closing in self.listed or token.value == "\\{"):
            return self._group(token, closing)
        reader = Terms(self.tokens, sign)
        reader.place = self.place
        term = reader.term()
        self.place = reader.place
        unit, percent = self._unit()
        if term[0] == "%":
            term, percent = term[1], True
        if term[0] == "deg":
            term, unit = term[1], unit or "°"
        return Quantity(term, unit, percent), reader.either_sign

    def _ends(self, place: int) -> bool:
        return self.tokens[place] is END or self.tokens[place].value in (*_SEPARATORS, "}", ")", "]")

    def _group(self, token: Token, closing: int) -> tuple[Part, bool]:
        self.place += 1
        if token.value == "\\{" and self.place == closing:  # the empty set
            self.place += 1
            return Set(()), False
        inside = tuple(self.parts(closing))
        end = self.tokens[closing].value
        self.place = closing + 1
        if token.value in ("\\{", "{"):
            return Set(inside), False
        opening = "(" if token.value == "langle" else token.value
        return Tuple(opening, inside, ")" if end == "rangle" else end), False

    def _unit(self) -> tuple[str, bool]:
        """A unit in `\\text{}` behind a term."""
        words = []
        while self.next.kind == "txt" or (
            self.next.value == "cdot" and self.tokens[self.place + 1].kind == "txt"
        ):
            words.append("·" if self.next.kind == "cmd" else self.next.value)
            self.place += 1
            if self.next.value == "^":
                words.append(self._unit_power())
        unit = "".join(words).strip()
        if not unit:
            return "", False
        if not _UNIT_WORD.fullmatch(unit.replace("%", "percent")):
            raise Unread("text behind a term that is no unit")
        as_written = read_number(f"1 {unit}")
        return (as_written.unit, as_written.percent) if as_written else (unit.casefold(), False)

    def _unit_power(self) -> str:
        self.place += 1
        last = self.partner.get(self.place, self.place)
        power = "".join(token.value for token in self.tokens[self.place : last + 1]).strip("{}")
        self.place = last + 1
        return f"^{power}"

    def _matrix(self) -> Matrix:
        name = self._environment("begin")
        rows: list[list[Part]] = [[]]
        while not (self.next.kind == "cmd" and self.next.value == "end"):
            if self.next is END:
                raise Unread("a matrix is not closed")
            if self.next.value == "&":
                self.place += 1
            elif self.next.value in ("\\\\", "\\"):
                self.place += 1
                rows.append([])
            else:
                rows[-1].append(self.part(1)[0])
        if self._environment("end") != name or "matrix" not in name:
            raise Unread("no matrix")
        return Matrix(tuple(tuple(row) for row in rows if row))

    def _environment(self, command: str) -> str:
        if self.next.value != command or self.tokens[self.place + 1].value != "{":
            raise Unread(command)
        self.place += 2
        letters = []
        while self.next.value != "}":
            if self.next is END:
                raise Unread(command)
            letters.append(self.next.value)
            self.place += 1
        self.place += 1
        return "".join(letters)


def _brackets(found: Sequence[Token]) -> tuple[dict[int, int], set[int]]:
    """For each opening bracket the place of its closing one, and the closing ones of those with a comma inside."""
    partner: dict[int, int] = {}
    listed: set[int] = set()
    open_at: list[tuple[int, bool]] = []
    for place, token in enumerate(found):
        if token.kind not in ("op", "cmd"):
            continue
        if token.value in _OPENINGS:
            open_at.append((place, False))
        elif token.value in _SEPARATORS and open_at:
            open_at[-1] = (open_at[-1][0], True)
        elif token.value in _CLOSING:
            if not open_at:
                raise Unread("a bracket too many")
            start, has_comma = open_at.pop()
            partner[start] = place
            if has_comma:
                listed.add(place)
    if open_at:
        raise Unread("a bracket is not closed")
    return partner, listed
