r"""Mathematical text as a tree: tokens of LaTeX or plain notation, and the terms they spell.

    tokens(r"\frac{1}{2}x^2")   ->  what stands there, spacing and wrappers apart
    Terms(tokens).term()        ->  ("*", ("/", 1, 2), ("^", x, 2)), as nested tuples

Both are read: `\frac{1}{2}`, `1/2` and `½`; `\sqrt2`, `sqrt(2)` and `√2`; mixed numbers (`1 1/4`, `1\frac{1}{4}`);
`2e5`; products without a sign; functions with and without brackets; `|x|`, `n!`, `\binom{n}{k}`, floors, subscripts,
primes and derivatives (a derivative is one quantity with a name, nothing is differentiated).

A letter is a quantity of its own, four or more letters in a row are one word; `e`, `i` and `π` are what they
are. Time and depth are bounded by the length of the text, and nothing is evaluated here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Term = tuple[Any, ...]
"""("n", value, digits) a number; ("v", name) a quantity; ("+" | "*", one, other, ...); ("/" | "^", one, other);
("neg" | "abs" | "!" | "%" | "deg", one); ("f", name, one); ("root", degree, one); ("log", base, one); ("binom",
n, k)."""

DEEPEST = 40
LARGEST_POWER_OF_TEN = 5_000


class Unread(Exception):
    """A text is no mathematics of the kind read here."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind`: "num", "let", "cmd", "txt" (a `\\text{}`), "op" or "end"; `spaced`: white space stands before it."""

    kind: str
    value: str
    spaced: bool = False


END = Token("end", "")

FUNCTIONS = {
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp",
    "ln", "log", "lg", "sqrt", "abs",
}  # fmt: skip
_GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota",
    "kappa", "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi",
    "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
}  # fmt: skip
_QUANTITIES = _GREEK | {
    "hbar",
    "ell",
    "infty",
    "emptyset",
    "varnothing",
    "odot",
    "mho",
    "aleph",
    "partial",
    "nabla",
}
RELATIONS = {
    "=": "=", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "!=": "!=", "lt": "<", "gt": ">", "le": "<=",
    "leq": "<=", "leqslant": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=", "ne": "!=", "neq": "!=",
    "in": "in", "approx": "approx", "sim": "approx", "implies": "so", "Rightarrow": "so",
    "Longrightarrow": "so", "rightarrow": "so", "to": "so", "equiv": "=",
}  # fmt: skip
_OTHER_COMMANDS = {
    "frac", "sqrt", "cdot", "times", "div", "pm", "mp", "pi", "binom", "lfloor", "rfloor", "lceil", "rceil",
    "langle", "rangle", "circ", "degree", "prime", "cup", "begin", "end", "lvert", "rvert", "vert", "mid",
}  # fmt: skip
_ACCENTS = {
    "overline", "bar", "hat", "vec", "dot", "ddot", "tilde", "widehat", "overrightarrow", "angle",
    "triangle", "mathcal", "mathbb",
}  # fmt: skip
_KNOWN = _ACCENTS | _QUANTITIES | set(RELATIONS) | FUNCTIONS | _OTHER_COMMANDS
_BEGIN_FACTORS = _QUANTITIES | FUNCTIONS | _ACCENTS | {"frac", "pi", "binom", "lfloor", "lceil", "lvert"}
_LONGEST_NAME = max(map(len, _KNOWN))

_SYMBOLS = {
    "−": "-", "–": "-", "×": r"\times ", "·": r"\cdot ", "÷": "/", "∕": "/", "⁄": "/", "≤": "<=", "≥": ">=",
    "≠": "!=", "≈": r"\approx ", "∞": r"\infty ", "√": r"\sqrt ", "±": r"\pm ", "∓": r"\mp ", "∪": r"\cup ",
    "∈": r"\in ", "°": r"^\circ ", "π": r"\pi ", "′": "'", "’": "'", "α": r"\alpha ", "β": r"\beta ",
    "γ": r"\gamma ", "δ": r"\delta ", "ε": r"\epsilon ", "θ": r"\theta ", "λ": r"\lambda ", "μ": r"\mu ",
    "ρ": r"\rho ", "σ": r"\sigma ", "τ": r"\tau ", "φ": r"\phi ", "ω": r"\omega ", "Δ": r"\Delta ",
    "Ω": r"\Omega ", "²": "^{2}", "³": "^{3}", "½": r"\frac{1}{2}", "⅓": r"\frac{1}{3}",
    "⅔": r"\frac{2}{3}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "（": "(", "）": ")", "，": ",", "；": ";",
    "\u00a0": " ", "\u202f": " ", "\u2009": " ", "∅": r"\emptyset ", "ℝ": r"\mathbb{R} ",
}  # fmt: skip
_SYMBOL = re.compile("|".join(map(re.escape, _SYMBOLS)))
_NOTHING = re.compile(
    r"\\(?:left|right|[bB]igg?[lr]?|displaystyle|textstyle|limits)(?![A-Za-z])\s*\.?(?=[(\[{\\|)\]}<>.]|\s|$)|\\!\s*|\$|\\\(|\\\)"
)
_BLANK = re.compile(r"\\(?:[,;: ]|q?quad)|~|(?<!\\)\\\n")
_DOUBLED = re.compile(r"\\\\(?=[A-Za-z])")  # as JSON writes a backslash
_SMALL_FRACTION = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_UPRIGHT = re.compile(
    r"\\(?:mathit|mathbf|boldsymbol)\s*\{\s*([A-Za-z])\s*\}|\\(?:mathrm|rm)\s*\{\s*([deiTPCN])\s*\}"
)  # others are units
_OPENED_BOX = re.compile(r"\\boxed\s*(?=\{)")
_PAINT = re.compile(
    r"\\(?:color|textcolor|colorbox)\s*(?:\[[A-Za-z]{1,9}\])?\s*\{[A-Za-z0-9!., -]{1,40}\}"
    r"|\\underline\s*(?=\{)|\\tag\*?\s*\{[^{}]{1,40}\}"
)
_UNIT_FRACTION = re.compile(
    r"\\frac\s*\{\s*\\(?:text|mathrm)\s*\{([A-Za-z ]{1,20})\}\s*\}"
    r"\s*\{\s*\\(?:text|mathrm)\s*\{([A-Za-z ]{1,20})\}(?:\^\{?([0-9])\}?)?\s*\}"
    r"|\\(?:text|mathrm)\s*\{\s*\\frac\s*\{([A-Za-z ]{1,20})\}\s*\{([A-Za-z ]{1,20})\}\s*\}"
)
_JOINED_THOUSANDS = re.compile(r"(?<=[0-9])(?:\{,\}|\\,|\\ |\\;)(?=[0-9]{3}(?![0-9]))")
_MIXED = re.compile(r"(?<![0-9.])([0-9]+)\s+([0-9]+)\s*/\s*([0-9]+)(?![0-9.])")
_REPEATING = re.compile(r"(?<![0-9.])([0-9]{0,40})\.([0-9]{0,40})\\(?:overline|bar)\{([0-9]{1,40})\}")
_DOTTED = re.compile(r"(?<=[0-9.])\\dot\s*\{([0-9])\}(?:([0-9]{0,40})\\dot\s*\{([0-9])\})?")
_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<num>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+(?![0-9A-Za-z.]))?)
    | \\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mbox|operatorname\*?)\s*\{(?P<txt>[^{}]*)\}
    | \\(?P<cmd>[A-Za-z]+)
    | (?P<let>[A-Za-z])
    | (?P<op>\*\*|<=|>=|!=|\\[{}|%\\&]|.)
    """,
    re.VERBOSE | re.DOTALL,
)


def plain_maths(text: str) -> str:
    r"""The text with LaTeX's wrappers gone and one spelling of each sign.

    >>> plain_maths(r"\left( 3,\, \dfrac{π}{2} \right)")
    '( 3,  \\frac{\\pi }{2} )'
    """
    text = _SYMBOL.sub(lambda match: _SYMBOLS[match[0]], text)
    if "\\begin" not in text:
        text = _DOUBLED.sub(r"\\", text)
    text = _UNIT_FRACTION.sub(_unit_fraction, _SMALL_FRACTION.sub(r"\\frac", _PAINT.sub("", text)))
    text = _JOINED_THOUSANDS.sub("", text.replace("\\$", "").replace("\\[", "").replace("\\]", ""))
    text = _OPENED_BOX.sub("", _UPRIGHT.sub(r" \1\2 ", text))
    text = _BLANK.sub(" ", _NOTHING.sub("", text)).replace("\\left", "").replace("\\right", "")
    return _MIXED.sub(_mixed, _REPEATING.sub(_repeating, _DOTTED.sub(_overlined, text))).strip()


def _unit_fraction(match: re.Match[str]) -> str:
    """`\\frac{\\text{m}}{\\text{s}}` as `\\text{m/s}`."""
    up, down = match[1] or match[4], match[2] or match[5]
    return f"\\text{{ {up.strip()}/{down.strip()}}}" + (f"^{{{match[3]}}}" if match[3] else "")


def _overlined(match: re.Match[str]) -> str:
    """The repeating digits between dots, under a line."""
    return rf"\overline{{{match[1]}{match[2] or ''}{match[3] or ''}}}"


def _repeating(match: re.Match[str]) -> str:
    """`0.1\\overline{6}` as a fraction."""
    whole, fixed, again = match[1] or "0", match[2], match[3]
    nines = (10 ** len(again) - 1) * 10 ** len(fixed)
    return f"({whole}+{int(fixed + again) - int(fixed or 0)}/{nines})"


def _mixed(match: re.Match[str]) -> str:
    whole, up, down = (int(part) for part in match.groups())
    return f"({whole}+{up}/{down})" if 0 < up < down else match[0]


def tokens(text: str) -> list[Token]:
    r"""The tokens of a text that went through `plain_maths`, ending with `END`.

    >>> [token.value for token in tokens(r"2\pi r^{2}")]
    ['2', 'pi', 'r', '^', '{', '2', '}', '']
    """
    found: list[Token] = []
    spaced = False
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind == "space":
            spaced = True
            continue
        if kind == "cmd":
            found += _commands(match["cmd"], spaced)
        else:
            value = "^" if match[kind] == "**" else match[kind]
            found.append(Token(kind, value.lstrip("\\") if value in ("\\%", "\\|") else value, spaced))
        spaced = False
    return [*found, END]


def _commands(name: str, spaced: bool) -> list[Token]:
    r"""A command, or the known one it begins with and letters: `\pir` is written where `\pi r` is meant."""
    if name in _KNOWN:
        return [Token("cmd", name, spaced)]
    for length in range(min(len(name) - 1, _LONGEST_NAME), 1, -1):
        if name[:length] in _KNOWN:
            letters = [Token("let", letter) for letter in name[length:]]
            return [Token("cmd", name[:length], spaced), *letters]
    return [Token("cmd", name, spaced)]


def number_term(text: str) -> Term:
    """The term of a number as it is written.

    Raises:
        Unread: its power of ten is beyond reason.
    """
    mantissa, _, power = text.lower().partition("e")
    if len(mantissa) > LARGEST_POWER_OF_TEN or len(power) > 6 or abs(int(power or 0)) > LARGEST_POWER_OF_TEN:
        raise Unread("a number too long")
    if not power and "." not in mantissa:
        return ("n", Fraction(int(mantissa)), 0)
    digits = len(mantissa.replace(".", "").lstrip("0"))
    return ("n", Fraction(mantissa) * Fraction(10) ** int(power or 0), digits)


class Terms:
    """Reads terms from tokens; `place` is the next token.

    `sign` is what a plus-minus stands for in this reading, and `either_sign` tells whether there was one.
    """

    def __init__(self, tokens: list[Token], sign: int = 1) -> None:
        self.tokens = tokens
        self.place = 0
        self.sign = sign
        self.either_sign = False
        self._depth = 0
        self._bars = 0

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.place]

    def take(self) -> Token:
        """The next token, which is passed."""
        token = self.tokens[self.place]
        self.place += token is not END
        return token

    def taken(self, *values: str, kind: str = "op") -> bool:
        """Whether the next token is one of `values`; it is passed if so."""
        token = self.tokens[self.place]
        if token.kind == kind and token.value in values:
            self.place += 1
            return True
        return False

    def need(self, *values: str, kind: str = "op") -> None:
        """Pass one of `values`.

        Raises:
            Unread: something else comes next.
        """
        if not self.taken(*values, kind=kind):
            raise Unread(f"{values[0]!r} was expected")

    def term(self) -> Term:
        """A sum, as far as it goes.

        Raises:
            Unread: there is none.
        """
        parts = [self._signed(self._product)]
        while (sign := self._sign()) is not None:
            part = self._signed(self._product)  # `x + -1` is written, too
            parts.append(part if sign > 0 else ("neg", part))
        return parts[0] if len(parts) == 1 else ("+", *parts)

    def _sign(self) -> int | None:
        """The sign that comes next, passed; None where none does."""
        if self.taken("+"):
            return 1
        if self.taken("-"):
            return -1
        if self.next.kind == "cmd" and self.next.value in ("pm", "mp"):
            self.either_sign = True
            return self.sign if self.take().value == "pm" else -self.sign
        return None

    def _signed(self, read: Callable[[], Term]) -> Term:
        sign = 1
        while (one := self._sign()) is not None:
            sign *= one
        part = read()
        return part if sign > 0 else ("neg", part)

    def _product(self, *, of_argument: bool = False) -> Term:
        """Factors, with and without a sign between; an argument without brackets ends at a function."""
        factors = [self._factor()]
        divisions = 0
        while True:
            token = self.next
            divides = self._divides(token)
            if divides is not None and not of_argument:
                self.take()
                other = self._signed(self._factor)
                if divides:
                    divisions += 1
                    factors = [("/", _product_of(factors), other)]
                else:
                    factors.append(other)
            elif self._begins_factor(token) and not (of_argument and self._is_function(token)):
                mixed = self._mixed_number(factors[-1])
                if mixed is not None:
                    factors[-1] = mixed
                else:
                    factors.append(self._factor())
            else:
                return _product_of(factors)
            if divisions > DEEPEST:
                raise Unread("too many divisions")

    def _divides(self, token: Token) -> bool | None:
        """Whether a token divides; None where it does not multiply either."""
        if token.kind == "op" and token.value in "*/:":
            return token.value != "*"
        if token.kind == "cmd" and token.value in ("cdot", "times", "div"):
            return token.value == "div"
        return None

    def _mixed_number(self, before: Term) -> Term | None:
        """`1\\frac{1}{4}` is a number, not a product."""
        if before[0] != "n" or before[2] or self.next.value != "frac" or self.next.kind != "cmd":
            return None
        place = self.place
        part = self._factor()
        if part[0] == "/" and part[1][0] == part[2][0] == "n" and 0 < part[1][1] < part[2][1]:
            return ("+", before, part)
        self.place = place
        return None

    def _begins_factor(self, token: Token) -> bool:
        if token.kind == "let":
            return True
        if token.kind == "num":  # `2 3` is two numbers; `(2)3` and `x 3` are not written
            return False
        if token.kind == "op":
            return token.value in "([{" or (token.value == "|" and not self._bars)
        if token.kind == "cmd":
            return token.value in _BEGIN_FACTORS
        return False

    def _is_function(self, token: Token) -> bool:
        return token.value in FUNCTIONS or (token.kind == "let" and self._word() in FUNCTIONS)

    def _factor(self) -> Term:
        """A thing with what stands behind it: powers, factorials, percent, primes."""
        thing = self._thing()
        for _ in range(DEEPEST):
            if self.taken("^"):
                thing = self._power(thing)
            elif self.taken("!"):
                if self.next.value == "!":
                    raise Unread("too many factorials in a row")
                thing = ("!", thing)
            elif self.taken("%"):
                thing = ("%", thing)
            elif thing[0] == "v" and self.taken("'"):
                thing = ("v", thing[1] + "'")
            else:
                return thing
        raise Unread("too deep")

    def _power(self, base: Term) -> Term:
        braced = self.taken("{")
        if self.taken("circ", "degree", kind="cmd"):
            power: Term = ("deg", base)
        elif self.next.value == "prime" or self.next.value == "'":
            name = base[1] if base[0] == "v" else None
            while self.taken("prime", kind="cmd") or self.taken("'"):
                if name is None:
                    raise Unread("a prime behind something without a name")
                name += "'"
            power = ("v", name)
        elif braced:
            power = ("^", base, self.term())
        else:
            power = ("^", base, self._exponent())
        if braced:
            self.need("}")
        return power

    def _exponent(self) -> Term:
        """What follows `^` without braces: a sign and one thing (`2^10` as people write it, too)."""
        negative = self.taken("-")
        self.taken("+")
        thing = self._thing(then_power=True)
        if self.taken("!"):
            thing = ("!", thing)
        return ("neg", thing) if negative else thing

    def _thing(self, *, then_power: bool = False) -> Term:
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unread("too deep")
        thing = self._bare_thing()
        if then_power and self.taken("^"):
            thing = self._power(thing)
        self._depth -= 1
        return thing

    def _bare_thing(self) -> Term:
        token = self.take()
        if token.kind == "num":
            if self.taken("_"):  # a number in another base has the name it is written with
                return ("v", f"{token.value}_{self._index()}")
            return number_term(token.value)
        if token.kind == "let":
            self.place -= 1
            return self._letters()
        if token.kind == "op" and token.value in "([{":
            return self._bracketed()
        if token.kind == "op" and token.value == "|":
            return self._between_bars("|")
        if token.kind == "cmd":
            return self._command(token)
        raise Unread(f"{token.value!r} was not expected")

    def _bracketed(self) -> Term:
        bars, self._bars = self._bars, 0
        inside = self.term()
        self.need(")", "]", "}")
        self._bars = bars
        return inside

    def _between_bars(self, closing: str) -> Term:
        self._bars += 1
        inside = self.term()
        self._bars -= 1
        if not (self.taken("|") or self.taken("rvert", "vert", kind="cmd")):
            raise Unread(f"{closing!r} is not closed")
        return ("abs", inside)

    def _word(self) -> str:
        """The letters from here on, up to a space."""
        letters: list[str] = []
        for token in self.tokens[self.place :]:
            if token.kind != "let" or (letters and token.spaced):
                break
            letters.append(token.value)
        return "".join(letters)

    def _letters(self) -> Term:
        word = self._word()
        name = next(
            (name for name in sorted(FUNCTIONS, key=len, reverse=True) if word.startswith(name)), None
        )
        if name is not None and (len(word) == len(name) or len(word) - len(name) <= 2):
            self.place += len(name)
            return self._function(name)
        if word in ("pi", "inf", "infty", "infinity") or word in _GREEK:
            self.place += len(word)
            return ("v", "pi" if word == "pi" else word if word in _GREEK else "infty")
        length = len(word) if len(word) >= 4 else 1
        self.place += length
        return self._named(word[:length])

    def _named(self, name: str) -> Term:
        """A quantity, with its index."""
        if not self.taken("_"):
            return ("v", name)
        return ("v", f"{name}_{self._index()}")

    def _index(self) -> str:
        if not self.taken("{"):
            return self.take().value
        parts = []
        depth = 1
        while depth:
            token = self.take()
            if token is END:
                raise Unread("an index is not closed")
            depth += {"{": 1, "}": -1}.get(token.value, 0)
            parts.append(token.value.strip())
        return "".join(parts[:-1])

    def _command(self, token: Token) -> Term:
        name = token.value
        if name == "frac":
            return self._fraction()
        if name == "sqrt":
            return self._function("sqrt")
        if name == "binom":
            return ("binom", self._argument(), self._argument())
        if name in ("lfloor", "lceil"):
            inside = self.term()
            self.need("rfloor" if name == "lfloor" else "rceil", kind="cmd")
            return ("f", "floor" if name == "lfloor" else "ceil", inside)
        if name in ("lvert", "vert"):
            return self._between_bars(name)
        if name in FUNCTIONS:
            return self._function(name)
        if name in _ACCENTS:
            return self._named(f"{name} {self._index()}")
        if name == "pi" or name in _QUANTITIES:
            return self._named("emptyset" if name == "varnothing" else name)
        raise Unread(f"\\{name}")

    def _fraction(self) -> Term:
        start = self.place
        up = self._argument()
        middle = self.place
        down = self._argument()
        first, second = self.tokens[start:middle], self.tokens[middle : self.place]
        if _is_differential(first) and _is_differential(second):
            names = (
                "".join(token.value for token in part if token.value not in "{}") for part in (first, second)
            )
            return ("v", "/".join(names))
        return ("/", up, down)

    def _argument(self) -> Term:
        """`{...}`, or the one digit or thing that TeX takes."""
        if self.taken("{"):
            inside = self.term()
            self.need("}")
            return inside
        if self.next.kind == "num" and len(self.next.value) > 1:
            token = self.next
            if not token.value.isdigit():
                raise Unread("a decimal where TeX takes a digit")
            self.tokens[self.place] = Token("num", token.value[1:])
            return number_term(token.value[0])
        return self._thing()

    def _function(self, name: str) -> Term:
        degree: Term | None = None
        if name == "sqrt" and self.taken("["):
            degree = self.term()
            self.need("]")
        base = self._base() if name == "log" and self.taken("_") else None
        power = None
        if name != "sqrt" and self.taken("^"):
            power = self._argument() if self.next.value == "{" else self._exponent()
        inner = self._function_argument(name)
        if power == ("neg", ("n", Fraction(1), 0)) and f"arc{name}" in FUNCTIONS:
            return ("f", f"arc{name}", inner)
        found = _applied(name, inner, degree, base)
        return found if power is None else ("^", found, power)

    def _base(self) -> Term:
        return self._argument()

    def _function_argument(self, name: str) -> Term:
        if self.next.value in ("(", "[", "{") and self.next.kind == "op":
            self.take()
            return self._bracketed()
        if name == "sqrt":
            return self._argument()
        return self._product(of_argument=True)


def _product_of(factors: list[Term]) -> Term:
    return factors[0] if len(factors) == 1 else ("*", *factors)


def _applied(name: str, inner: Term, degree: Term | None, base: Term | None) -> Term:
    if name == "sqrt":
        return ("root", degree or ("n", Fraction(2), 0), inner)
    if name == "abs":
        return ("abs", inner)
    if base is not None or name == "lg":
        return ("log", base or ("n", Fraction(10), 0), inner)
    return ("f", name, inner)


def _is_differential(part: list[Token]) -> bool:
    """`{dx}`, `{d^2\\theta}`, `{dt}`."""
    inside = [token for token in part if token.value not in ("{", "}")]
    return (
        len(inside) > 1
        and inside[0].value in ("d", "partial")
        and (inside[1].kind in ("let", "cmd") or inside[1].value == "^")
    )


@functools.lru_cache(maxsize=4096)
def quantities(term: Term) -> frozenset[str]:
    """The names of the quantities in a term, constants apart.

    >>> sorted(quantities(Terms(tokens("2x + e^y")).term()))
    ['x', 'y']
    """
    if term[0] == "v":
        return frozenset() if term[1] in CONSTANTS else frozenset((term[1],))
    if term[0] == "n":
        return frozenset()
    inner = (quantities(part) for part in term[1:] if isinstance(part, tuple))
    return frozenset().union(*inner)


CONSTANTS = frozenset({"pi", "e", "i"})
