"""Units of a quantity as products: `m/s`, `m s^-1` and `m·s^{-1}` are one unit. Nothing is converted."""

from __future__ import annotations

import functools
import re
from collections import Counter

from rewards.library.maths_terms import Term, Terms, Unread, tokens
from rewards.library.number import read_number

_FACTOR = re.compile(
    r"(?P<sign>[/·]?) ?(?P<name>[^\W\d_²³]+|°(?: ?[cf])?)(?:\^?(?P<power>-?[0-9])|(?P<mark>[²³]))?"
)


@functools.lru_cache(maxsize=1024)
def unit_powers(unit: str) -> dict[str, int] | str:
    """The power of each unit in a product of units; the text where it is none.

    >>> unit_powers("m/s") == unit_powers("m s^-1"), unit_powers("km/h") == unit_powers("km/s")
    (True, False)
    """
    powers: Counter[str] = Counter()
    rest = unit.strip()
    while rest:
        match = _FACTOR.match(rest)
        if match is None:
            return unit
        power = {"²": 2, "³": 3}.get(match["mark"]) or int(match["power"] or 1)
        powers[_name(match["name"])] += -power if match["sign"] == "/" else power
        rest = rest[match.end() :].lstrip()
    return {name: power for name, power in powers.items() if power}


def _name(word: str) -> str:
    """A unit's short name, as `read_number` has it."""
    read = read_number(f"1 {word}")
    return (read.unit if read else "") or word


def unit_term(unit: str) -> Term | None:
    """A unit as the term that its letters spell where they are taken for quantities.

    >>> unit_term("m/s")
    ('/', ('v', 'm'), ('v', 's'))
    """
    reader = Terms(tokens(unit.replace("·", "*")))
    try:
        term = reader.term()
    except Unread:
        return None
    return term if reader.next.kind == "end" else None
