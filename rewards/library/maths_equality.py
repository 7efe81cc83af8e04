r"""When two mathematical answers are the same one.

- several answers: all of them and no other, in any order; one of two is not the answer;
- `x = 5` answers what 5 answers; an equation that is no assignment only its multiples;
- inequalities, intervals and unions are compared as sets of numbers, inequalities joined by "or" too;
- pairs and tuples in order; sets in any;
- `28%` is 28 and 0.28; units have to agree where both sides write one;
- a decimal of six or more digits may be a rounding (`rewards.library.number`);
- quantities named `x` and `X` are the same where nothing speaks against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from rewards.library.maths_answers import Matrix, Part, Quantity, Relation, Set, Several, Tuple, Union, Word
from rewards.library.maths_terms import Term, quantities
from rewards.library.maths_units import unit_powers, unit_term
from rewards.library.maths_values import as_fraction, constant, exact, proportion, same
from rewards.library.number import same_value


def same_answer(gold: Part, found: Part) -> bool:
    """Whether `found` answers what `gold` answers. Not symmetric: `x = 5` is answered by 5, and 5 by `x = 5`,
    but an equation is not answered by its right side.

    >>> from rewards.library.maths_answers import read
    >>> one = lambda text: read(text)[0]
    >>> same_answer(one("x = 2 or x = -3"), one("-3, 2")), same_answer(one("x = 2 or x = -3"), one("2"))
    (True, False)
    >>> same_answer(one("1 < x < 2"), one("(1, 2)")), same_answer(one("3x - y = 0"), one("0"))
    (True, False)
    """
    if gold == found:
        return True
    found = _renamed(gold, found)
    if gold == found:
        return True
    if isinstance(gold, Word) or isinstance(found, Word):
        return _as_text(gold) == _as_text(found) != ""
    gold, found = _values_where_one_is_named(gold, found)
    if _is_named_set(gold) or _is_named_set(found):
        return _same_span(gold, found)
    if _is_union(gold) or _is_union(found):
        return _same_several(gold, found) or _same_span(gold, found)
    if isinstance(gold, Several | Set) or isinstance(found, Several | Set):
        return _same_several(gold, found)
    if isinstance(gold, Relation) and isinstance(found, Relation):
        return _same_relation(gold, found) or (_names(gold) == _names(found) and _same_span(gold, found))
    if isinstance(gold, Quantity) and isinstance(found, Quantity):
        return _same_quantity(gold, found)
    if isinstance(gold, Tuple) and isinstance(found, Tuple):
        return _same_tuple(gold, found)
    if isinstance(gold, Matrix) and isinstance(found, Matrix):
        return [len(row) for row in gold.rows] == [len(row) for row in found.rows] and all(
            same_answer(one, other)
            for rows in zip(gold.rows, found.rows, strict=True)
            for one, other in zip(*rows, strict=True)
        )
    return _same_span(gold, found)


def _same_quantity(gold: Quantity, found: Quantity) -> bool:
    if gold.unit and found.unit and unit_powers(gold.unit) != unit_powers(found.unit):
        return False
    if bool(gold.unit) != bool(found.unit):
        gold, found = _with_units_as_quantities(gold, found)
    if same_term(gold.term, found.term):
        return True
    if gold.percent == found.percent:
        return False
    hundredth: Term = ("n", Fraction(1, 100), 0)
    shares = [("*", one.term, hundredth) if one.percent else one.term for one in (gold, found)]
    return same_term(*shares)


def _with_units_as_quantities(gold: Quantity, found: Quantity) -> tuple[Quantity, Quantity]:
    """`5 m/s` may be read as a product of three quantities; then the unit of the other is one, too."""
    one, other = (gold, found) if gold.unit else (found, gold)
    factor = unit_term(one.unit) if quantities(other.term) else None
    if factor is None or not quantities(factor) <= quantities(other.term):
        return gold, found
    one = Quantity(("*", one.term, factor), "", one.percent)
    return (one, other) if gold.unit else (other, one)


def same_term(gold: Term, found: Term) -> bool:
    """Whether two terms are the same, decimals of six or more digits being roundings."""
    digits = [term[2] if term[0] == "n" else 0 for term in (_unsigned(gold), _unsigned(found))]
    if any(digits) and not quantities(gold) and not quantities(found):
        values = [_rational(term) for term in (gold, found)]
        if values[0] is not None and values[1] is not None:
            return same_value(values[0], values[1], *digits)
    return same(gold, found)


def _unsigned(term: Term) -> Term:
    return term[1] if term[0] == "neg" else term


def _rational(term: Term) -> Fraction | None:
    value = exact(term)
    if value is None:
        number = constant(term)
        value = None if number is None else as_fraction(number)
    return value


def _same_tuple(gold: Tuple, found: Tuple) -> bool:
    if len(gold.parts) == 2 and (gold.opening, gold.closing) != (found.opening, found.closing):
        return _same_span(gold, found)
    return _in_order(gold.parts, found.parts)


def _in_order(gold: Sequence[Part], found: Sequence[Part]) -> bool:
    return len(gold) == len(found) and all(map(same_answer, gold, found))


def _same_several(gold: Part, found: Part) -> bool:
    """Lists and sets: each part once, in any order; a tuple, or values of different names, in order."""
    wanted, got = _parts(gold), _parts(found)
    if isinstance(gold, Tuple) or isinstance(found, Tuple):
        whole = len(wanted) == 1 or len(got) == 1
        return (
            not whole and not isinstance(gold, Set) and not isinstance(found, Set) and _in_order(wanted, got)
        )
    names = {_name(part) for part in wanted}
    if len(names) > 1 and None not in names and all(_name(part) is None for part in got):
        return _in_order(wanted, got)
    wanted, got = _different(wanted), _different(got)
    if len(wanted) != len(got):
        return False
    left = list(got)
    for part in wanted:
        match = next((number for number, other in enumerate(left) if same_answer(part, other)), None)
        if match is None:
            return False
        del left[match]
    return True


def _parts(part: Part) -> Sequence[Part]:
    if isinstance(part, Several):
        return [inner for one in part.parts for inner in (_parts(one) if isinstance(one, Set) else [one])]
    return part.parts if isinstance(part, Set | Tuple) else [part]


def _different(parts: Sequence[Part]) -> list[Part]:
    kept: list[Part] = []
    for part in parts:
        if not any(same_answer(one, part) for one in kept):
            kept.append(part)
    return kept


# ----------------------------------------------------------------------- equations, names, inequalities


def _name(part: Part) -> Part | None:
    """What an assignment names: the `x` of `x = 5`, the `f(x)` of `f(x) = x^2`; None where it is no assignment."""
    if not isinstance(part, Relation) or set(part.ops) != {"="}:
        return None
    first = part.parts[0]
    if isinstance(first, Tuple):
        return first if all(isinstance(one, Quantity) and _is_name(one.term) for one in first.parts) else None
    if isinstance(first, Word):
        return first
    return first if isinstance(first, Quantity) and _is_name(first.term) else None


def _is_name(term: Term) -> bool:
    if term[0] == "v":
        return term[1] not in ("e", "i", "pi")
    return (
        term[0] in ("*", "/", "abs")
        and all(
            _is_name(part) or (term[0] == "*" and number > 0 and part[0] == "n")  # f(2)
            for number, part in enumerate(term[1:])
        )
    )


def _values_where_one_is_named(gold: Part, found: Part) -> tuple[Part, Part]:
    """`x = 5` beside 5 is 5; two assignments of the same name are their values."""
    names = _name(gold), _name(found)
    if names[0] is not None and names[1] is not None:
        return (_value(gold), _value(found)) if names[0] == names[1] else (gold, found)
    if names[0] is not None and not isinstance(found, Relation | Several):
        return _value(gold), found
    if not isinstance(gold, Relation | Several) and (names[1] is not None or _is_calculation(found)):
        return gold, _value(found)
    if _is_chain(gold) and not isinstance(found, Relation):
        return _value(gold), found
    for one, other in ((gold, found), (found, gold)):
        if (
            isinstance(one, Relation)
            and one.ops == ("in",)
            and not (isinstance(other, Relation) and "in" in other.ops)
        ):
            return (one.parts[1], other) if one is gold else (other, one.parts[1])
    return gold, found


def _is_chain(part: Part) -> bool:
    return isinstance(part, Relation) and len(part.parts) > 2 and set(part.ops) == {"="}


def _value(part: Part) -> Part:
    return part.parts[-1] if isinstance(part, Relation) else part


def _is_calculation(part: Part) -> bool:
    """`2 + 3 = 5`: nothing but numbers, and true."""
    if (
        not isinstance(part, Relation)
        or set(part.ops) != {"="}
        or not all(isinstance(one, Quantity) for one in part.parts)
    ):
        return False
    terms = [one.term for one in part.parts if isinstance(one, Quantity)]
    return not any(quantities(term) for term in terms) and all(same_term(terms[-1], term) for term in terms)


_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!=", "=": "="}


def _same_relation(gold: Relation, found: Relation) -> bool:
    if gold.ops == found.ops and _in_order(gold.parts, found.parts):
        return True
    flipped = tuple(_FLIPPED.get(op, op) for op in reversed(found.ops))
    if gold.ops == flipped and _in_order(gold.parts, found.parts[::-1]):
        return True
    one, other = _difference(gold), _difference(found)
    if one is None or other is None:
        return False
    factor = proportion(one[0], other[0])
    return factor is not None and one[1] == (other[1] if factor > 0 else _FLIPPED[other[1]])


def _difference(relation: Relation) -> tuple[Term, str] | None:
    """A relation as (left side minus right side, operator); a chain of equations as its ends."""
    if (
        len(set(relation.ops)) > 1
        or "in" in relation.ops
        or (len(relation.ops) > 1 and relation.ops[0] != "=")
    ):
        return None
    ends = relation.parts[0], relation.parts[-1]
    if not all(isinstance(end, Quantity) for end in ends):
        return None
    left, right = (end.term for end in ends if isinstance(end, Quantity))
    return ("+", left, ("neg", right)), relation.ops[0]


# ------------------------------------------------------------------------------------ sets of numbers


def _same_span(gold: Part, found: Part) -> bool:
    one, other = _spans(gold), _spans(found)
    if one is None or other is None:
        return False
    return len(one) == len(other) and _all_among(one, other) and _all_among(other, one)


def _all_among(spans: list[_Span], others: list[_Span]) -> bool:
    return all(
        any(
            (low_in, high_in) == (other_low_in, other_high_in)
            and same_answer(low, other_low)
            and same_answer(high, other_high)
            for other_low, other_low_in, other_high, other_high_in in others
        )
        for low, low_in, high, high_in in spans
    )


_Span = tuple[Part, bool, Part, bool]
"""Lower end, whether it belongs to it, upper end, whether it belongs to it."""

_INFINITE = Quantity(("v", "infty"))
_MINUS_INFINITE = Quantity(("neg", ("v", "infty")))
_REALS = Quantity(("v", "mathbb R"))
_NONE = Quantity(("v", "emptyset"))


def _spans(part: Part) -> list[_Span] | None:
    """A part as a set of numbers: spans from an end to an end; None where it is none."""
    if _is_named_set(part):
        return [(_MINUS_INFINITE, False, _INFINITE, False)] if part == _REALS else []
    if isinstance(part, Union) or (isinstance(part, Several) and _is_union(part)):
        inner = [_spans_of_one(one) for one in part.parts]
        return (
            [span for one in inner for span in one or ()] if all(one is not None for one in inner) else None
        )
    if isinstance(part, Set):
        return [(one, True, one, True) for one in part.parts]
    if isinstance(part, Tuple) and len(part.parts) == 2:
        low, high = part.parts
        return [
            (
                low,
                part.opening == "[" and not _is_infinite(low),
                high,
                part.closing == "]" and not _is_infinite(high),
            )
        ]
    return _spans_of_relation(part) if isinstance(part, Relation) else None


def _spans_of_one(part: Part) -> list[_Span] | None:
    """The spans of a part of a union, in which `x = 5` is a point."""
    named = _name(part) is not None and isinstance(part, Relation) and len(part.parts) == 2
    if named and _is_constant(_value(part)):
        return [(_value(part), True, _value(part), True)]
    return _spans(part)


def _is_named_set(part: Part) -> bool:
    """Whether a part is the real numbers or the empty set."""
    return part in (_REALS, _NONE, Set(()))


def _is_union(part: Part) -> bool:
    """Whether a part is relations of one name joined by "or", an inequality among them."""
    return (
        isinstance(part, Several)
        and part.either
        and len(_names(part) - {"infty"}) == 1
        and all(isinstance(one, Relation) and _names(one) - {"infty"} for one in part.parts)
        and any(isinstance(one, Relation) and not {"=", "in"} & set(one.ops) for one in part.parts)
    )


def _is_infinite(part: Part) -> bool:
    return isinstance(part, Quantity) and _unsigned(part.term) == ("v", "infty")


def _spans_of_relation(relation: Relation) -> list[_Span] | None:
    parts, ops = relation.parts, relation.ops
    if (
        len(parts) == 3
        and ops[0][0] == ops[1][0] in "<>"
        and _is_constant(parts[0])
        and _is_constant(parts[2])
    ):
        ends = (parts[0], ops[0] == "<=", parts[2], ops[1] == "<=")
        if ops[0][0] == ">":
            ends = (parts[2], ops[1] == ">=", parts[0], ops[0] == ">=")
        return [ends]
    if len(parts) != 2 or ops[0] not in _FLIPPED or ops[0] == "=":
        return None
    op, bound = ops[0], parts[1]
    if _is_constant(parts[0]):
        op, bound = _FLIPPED[op], parts[0]
    if not _is_constant(bound) or not _is_plain(parts[1 if bound is parts[0] else 0]):
        solved = _solved(relation)
        if solved is None:
            return None
        op, bound = solved
    if op == "!=":
        return [(_MINUS_INFINITE, False, bound, False), (bound, False, _INFINITE, False)]
    if op[0] == "<":
        return [(_MINUS_INFINITE, False, bound, op == "<=")]
    return [(bound, op == ">=", _INFINITE, False)]


def _is_plain(part: Part) -> bool:
    return isinstance(part, Quantity) and _is_name(part.term)


def _solved(relation: Relation) -> tuple[str, Part] | None:
    """The operator and bound of an inequality that is linear in its one quantity; None where it is not."""
    difference = _difference(relation)
    if difference is None:
        return None
    term, op = difference
    names = quantities(term)
    if len(names) != 1:
        return None
    (name,) = names
    values = [exact(_put(term, name, place)) for place in (0, 1, 2, -5)]
    if any(value is None for value in values):
        return None
    here, there, further, back = (value for value in values if value is not None)
    slope = there - here
    if not slope or further != here + 2 * slope or back != here - 5 * slope:
        return None
    return (op if slope > 0 else _FLIPPED[op]), Quantity(("n", -here / slope, 0))


def _put(term: Term, name: str, value: int) -> Term:
    if term == ("v", name):
        return ("n", Fraction(value), 0)
    return tuple(_put(part, name, value) if isinstance(part, tuple) else part for part in term)


def _is_constant(part: Part) -> bool:
    return isinstance(part, Quantity) and not quantities(part.term) - {"infty"}


# --------------------------------------------------------------------------------------------- names


def _renamed(gold: Part, found: Part) -> Part:
    """`found` with its quantities named as in `gold` where they only differ in case, or in a function's argument."""
    wanted, got = _names(gold), _names(found)
    if not got - wanted:
        return found
    by_case = {name.casefold(): name for name in wanted}
    if len(by_case) == len(wanted) and len({name.casefold() for name in got}) == len(got):
        renaming = {name: by_case[name.casefold()] for name in got if name.casefold() in by_case}
        if renaming and set(renaming.values()) | (got - set(renaming)) >= wanted:
            return _with_names(found, renaming)
    heads = _function_head(gold), _function_head(found)
    if heads[0] and heads[1] and heads[0][0] == heads[1][0] and heads[0][1] not in got:
        return _with_names(found, {heads[1][1]: heads[0][1]})
    return found


def _function_head(part: Part) -> tuple[str, str] | None:
    """The names of `f(x) = ...`."""
    name = _name(part)
    if not isinstance(name, Quantity) or name.term[0] != "*" or len(name.term) != 3:
        return None
    function, argument = name.term[1:]
    return (function[1], argument[1]) if function[0] == argument[0] == "v" else None


def _names(part: Part) -> frozenset[str]:
    if isinstance(part, Quantity):
        return quantities(part.term)
    if isinstance(part, Word):
        return frozenset()
    inner = [one for row in part.rows for one in row] if isinstance(part, Matrix) else part.parts
    return frozenset().union(*map(_names, inner))


def _with_names(part: Part, renaming: dict[str, str]) -> Part:
    if isinstance(part, Quantity):
        return replace(part, term=_term_with_names(part.term, renaming))
    if isinstance(part, Word):
        return part
    if isinstance(part, Matrix):
        return Matrix(tuple(tuple(_with_names(one, renaming) for one in row) for row in part.rows))
    return replace(part, parts=tuple(_with_names(one, renaming) for one in part.parts))


def _term_with_names(term: Term, renaming: dict[str, str]) -> Term:
    if term[0] == "v":
        return ("v", renaming.get(term[1], term[1]))
    return tuple(_term_with_names(part, renaming) if isinstance(part, tuple) else part for part in term)


def _as_text(part: Part) -> str:
    """A word, or the letters of a product: `\\text{odd}` is `odd`."""
    if isinstance(part, Word):
        return part.text.strip("() .")
    if not isinstance(part, Quantity):
        return ""
    factors = part.term[1:] if part.term[0] == "*" else [part.term]
    return (
        "".join(str(factor[1]) for factor in factors).casefold() if all(f[0] == "v" for f in factors) else ""
    )
