"""What a term is worth, and whether two terms are worth the same.

A term without quantities is worth a number: an exact fraction where it has one, else a number of 50 digits. Two terms
with quantities are the same where they agree at a dozen fixed points of real numbers, those apart where one of them
leaves the reals (a root or logarithm of a negative number). No algebra is done, so nothing can take long: numbers of
more than 30,000 binary digits, larger factorials and the like are refused before they are computed.

Not decided here: sums over an index, integrals, limits (`rewards.library.symbolic` asks math-verify about those).
"""

from __future__ import annotations

import functools
import math
import threading
import zlib
from fractions import Fraction
from typing import Any

from rewards.library.maths_terms import Term, quantities

LONGEST_NUMBER = 30_000
"""Binary digits; a number that needs more is not computed."""

_DIGITS = 50
_AGREED = 35  # digits in which values that are the same agree; the rest is what computing may lose
_LARGEST_FACTORIAL = 1_000
_POINTS = 16
_MOST_POINTS_USED = 6

Value = Any
"""A number of mpmath."""


class NoValue(Exception):
    """A term has no number, or none that is computed here."""


class NotReal(NoValue):
    """A part of a term left the real numbers."""


# --------------------------------------------------------------------------------------------- exact


@functools.lru_cache(maxsize=8192)
def exact(term: Term) -> Fraction | None:
    """The rational number a term is; None where it is none, or one too long.

    >>> from rewards.library.maths_terms import Terms, tokens
    >>> exact(Terms(tokens("2^{-3}+1/4")).term())
    Fraction(3, 8)
    """
    try:
        return _exact(term)
    except (NoValue, ZeroDivisionError):
        return None


def _exact(term: Term) -> Fraction:
    kind = term[0]
    if kind == "n":
        return Fraction(term[1])
    if kind in ("v", "f", "log"):
        raise NoValue
    if kind == "root":
        return _exact_root(term)
    values = [_exact(part) for part in term[1:]]
    return _bounded(_combined(kind, values))


def _combined(kind: str, values: list[Fraction]) -> Fraction:
    one, other = values[0], values[-1]
    if kind == "+":
        return sum(values, Fraction(0))
    if kind == "*":
        product = Fraction(1)
        for value in values:
            product = _bounded(product * value)
        return product
    if kind == "/":
        return one / other
    if kind == "neg":
        return -one
    if kind == "%":
        return one / 100
    if kind == "abs":
        return abs(one)
    if kind == "^":
        return _exact_power(one, other)
    if kind == "!":
        return Fraction(math.factorial(_count(one)))
    if kind == "binom":
        return Fraction(math.comb(_count(one), _count(other)))
    raise NoValue


def _exact_power(base: Fraction, power: Fraction) -> Fraction:
    if power.denominator != 1:
        raise NoValue
    bits = max(abs(base.numerator).bit_length(), base.denominator.bit_length())
    if bits * abs(power.numerator) > LONGEST_NUMBER and bits > 1:
        raise NoValue
    if base == 1 or base == -1:
        return base if power.numerator % 2 else Fraction(1)
    return base**power.numerator


def _exact_root(term: Term) -> Fraction:
    degree, inside = _exact(term[1]), _exact(term[2])
    if degree != 2 or inside < 0:
        raise NoValue
    up, down = math.isqrt(inside.numerator), math.isqrt(inside.denominator)
    if up * up != inside.numerator or down * down != inside.denominator:
        raise NoValue
    return Fraction(up, down)


def _count(value: Fraction) -> int:
    if value.denominator != 1 or not 0 <= value <= _LARGEST_FACTORIAL:
        raise NoValue
    return value.numerator


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > LONGEST_NUMBER:
        raise NoValue
    return value


# ------------------------------------------------------------------------------------------- numbers


_lock = threading.RLock()
"""Held while mpmath works: its context keeps state, and rewards may be called from several threads."""


@functools.lru_cache(maxsize=1)
def _mpmath() -> Any:
    """mpmath's arithmetic in a context of our own, with our precision."""
    from mpmath.ctx_mp import MPContext  # type: ignore[import-untyped]

    context = MPContext()
    context.dps = _DIGITS
    return context


class _Evaluation:
    """One evaluation of a term: `scale` is the largest summand met, to judge what is left of a difference."""

    def __init__(self, point: int, *, stay_real: bool) -> None:
        self.context = _mpmath()
        self.point = point
        self.stay_real = stay_real
        self.scale = self.context.mpf(0)

    def value(self, term: Term) -> Value:
        """The number of a term.

        Raises:
            NoValue: it has none here.
        """
        kind = term[0]
        if kind == "n":
            return self.context.mpf(term[1].numerator) / term[1].denominator
        if kind == "v":
            return self._quantity(term[1])
        if kind == "f":
            return self._function(term[1], term[2])
        values = [self.value(part) for part in term[1:]]
        return self._bounded(self._combined(kind, values))

    def _quantity(self, name: str) -> Value:
        if name == "pi":
            return +self.context.pi
        if name == "e":
            return +self.context.e
        if name == "i":
            return self.context.mpc(0, 1)
        return _coordinate(name, self.point)

    def _combined(self, kind: str, values: list[Value]) -> Value:
        one, other = values[0], values[-1]
        if kind == "+":
            self.scale = max(self.scale, *map(abs, values))
            return self.context.fsum(values)
        if kind == "*":
            return self.context.fprod(values)
        if kind == "/":
            return one / other
        if kind == "neg":
            return -one
        if kind == "%":
            return one / 100
        if kind == "abs":
            return abs(one)
        if kind == "deg":
            return one * self.context.pi / 180
        if kind == "^":
            return self._power(one, other)
        if kind == "root":
            return self._root(one, other)
        if kind == "log":
            return self._logarithm(other) / self._logarithm(one)
        if kind == "!":
            return self._factorial(one)
        if kind == "binom":
            if max(abs(one), abs(other)) > _LARGEST_FACTORIAL:
                raise NoValue
            return self.context.binomial(one, other)
        raise NoValue

    def _bounded(self, value: Value) -> Value:
        if self.context.isnan(value) or self.context.isinf(value):
            raise NoValue
        if value and abs(self.context.mag(value)) > LONGEST_NUMBER:
            raise NoValue
        return value

    def _power(self, base: Value, power: Value) -> Value:
        if base == 0 and self.context.re(power) <= 0:
            raise NoValue
        if base and abs(power) * (abs(self.context.mag(base)) + 1) > LONGEST_NUMBER:
            raise NoValue
        if self._is_negative(base) and not self._is_whole(power):
            self._leave_reals()
        return self.context.power(base, power)

    def _root(self, degree: Value, inside: Value) -> Value:
        if not self._is_whole(degree) or not 1 <= self.context.re(degree) <= 1000:
            return self._power(inside, 1 / degree)
        if self._is_negative(inside):
            if int(self.context.re(degree)) % 2:
                return -self.context.root(-inside, int(self.context.re(degree)))
            self._leave_reals()
        return self.context.root(inside, int(self.context.re(degree)))

    def _logarithm(self, inside: Value) -> Value:
        if inside == 0:
            raise NoValue
        if self._is_negative(inside):
            self._leave_reals()
        return self.context.log(inside)

    def _factorial(self, inside: Value) -> Value:
        if abs(inside) > _LARGEST_FACTORIAL:
            raise NoValue
        return self.context.gamma(inside + 1)

    def _function(self, name: str, argument: Term) -> Value:
        inside = self.value(argument)
        if name in ("log", "ln"):
            return self._logarithm(inside)
        if name in ("exp", "sinh", "cosh", "tanh") and abs(inside) > LONGEST_NUMBER / 2:
            raise NoValue
        if abs(self.context.mag(inside) if inside else 0) > 200:  # a sine of 10^60 has no digit left
            raise NoValue
        if name in ("arcsin", "arccos") and abs(self.context.re(inside)) > 1:
            self._leave_reals()
        if name in ("floor", "ceil") and self.context.im(inside):
            raise NoValue
        known = {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}.get(name, name)
        return self._bounded(getattr(self.context, known)(inside))

    def _leave_reals(self) -> None:
        if self.stay_real:
            raise NotReal

    def _is_negative(self, value: Value) -> bool:
        return bool(self.context.im(value) == 0 and self.context.re(value) < 0)

    def _is_whole(self, value: Value) -> bool:
        return bool(self.context.im(value) == 0 and self.context.isint(self.context.re(value)))


def constant(term: Term) -> Value | None:
    """The number of a term without quantities; None where it has none."""
    with _lock:
        found = _at(term, 0, False)
    return found[0] if found else None


@functools.lru_cache(maxsize=16_384)
def _at(term: Term, point: int, stay_real: bool) -> tuple[Value, Value] | None:
    """The number of a term at a point and the scale of what was added up in it; None where it has none."""
    evaluation = _Evaluation(point, stay_real=stay_real)
    try:
        value = evaluation.value(term)
    except (NoValue, ZeroDivisionError, OverflowError, ValueError, evaluation.context.NoConvergence):
        return None
    return value, max(evaluation.scale, abs(value))


def as_fraction(value: Value) -> Fraction | None:
    """A real number of mpmath to 40 digits; None where it is not real."""
    context = _mpmath()
    if context.im(value) != 0:
        return None
    return Fraction(context.nstr(context.re(value), 40, min_fixed=-10, max_fixed=60))


# ------------------------------------------------------------------------------------------ identity


def same(one: Term, other: Term) -> bool:
    """Whether two terms are worth the same, whatever their quantities are.

    >>> from rewards.library.maths_terms import Terms, tokens
    >>> term = lambda text: Terms(tokens(text)).term()
    >>> same(term("(a+b)^2"), term("a^2+2ab+b^2")), same(term("(a+b)^2"), term("a^2+b^2"))
    (True, False)
    """
    if one == other:
        return True
    values = exact(one), exact(other)
    if values[0] is not None and values[1] is not None:
        return values[0] == values[1]
    ratio = proportion(one, other)
    return ratio is not None and abs(ratio - 1) < _tolerance()


def proportion(one: Term, other: Term) -> Value | None:
    """The real number that `one` is times `other`, at all points; None where there is none.

    Zero times everything is not meant: two terms that vanish are in proportion 1, one that does is in none.
    """
    points = _POINTS if quantities(one) or quantities(other) else 1
    with _lock:
        found = _ratios(one, other, points, stay_real=True)
        if found == []:
            found = _ratios(one, other, min(points, 4), stay_real=False)
        if not found:
            return None
        context = _mpmath()
        return context.re(found[0]) if abs(context.im(found[0])) < _tolerance() * abs(found[0]) else None


def _ratios(one: Term, other: Term, points: int, *, stay_real: bool) -> list[Value] | None:
    """The proportions found, which agree; [] where no point tells one, None where they differ."""
    found: list[Value] = []
    vanished = False
    for point in range(points):
        ratio = _ratio(_at(one, point, stay_real), _at(other, point, stay_real))
        if ratio is _BOTH_VANISH:
            vanished = True
        elif ratio is _NOTHING_SAID:
            continue
        elif ratio is None or (found and abs(ratio - found[0]) > _tolerance() * abs(found[0])):
            return None
        else:
            found.append(ratio)
        if len(found) == _MOST_POINTS_USED:
            break
    return found or ([_mpmath().mpf(1)] if vanished else [])


_NOTHING_SAID = object()
_BOTH_VANISH = object()


def _ratio(one: tuple[Value, Value] | None, other: tuple[Value, Value] | None) -> Value | None:
    """one / other at a point; None where they are in no proportion, or one of the two marks above."""
    if one is None or other is None:
        return _NOTHING_SAID
    nothing = [abs(value) <= scale * _tolerance() for value, scale in (one, other)]
    if all(nothing):
        return _BOTH_VANISH
    if any(nothing):
        return None
    return one[0] / other[0]


def _tolerance() -> Value:
    return _mpmath().mpf(10) ** -_AGREED


@functools.lru_cache(maxsize=4096)
def _coordinate(name: str, point: int) -> Value:
    """The value of a quantity at a point: near one with either sign, then larger, then small; the same in every run."""
    seed = zlib.crc32(f"{name} {point}".encode("utf-8", "surrogatepass"))
    share = (seed + _mpmath().mpf(1) / 3) / 2**32
    size = 0.3 + 2 * share if point < 10 else 4 + 30 * share if point < 13 else share
    return -size if 2 <= point < 8 and seed & 1 else size
