"""What a column's ground truths mean as answers, seen from how right samples write them.

Most are the answer itself. A list may hold all the parts of the answer or several answers that are each accepted, and
True may be written `true`, `yes` or `correct`: the right samples say which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.answer_form import Slot, find_slot, gold_text, places, same_answer, value_of

SIMPLE = (str, int, float)
_SEPARATOR = re.compile(r"\s*(?:[,;]|\band\b)\s*")


def find_gold(text: str, gold: Any) -> Slot | None:
    """The place in `text` where a ground truth stands: as a whole, or one of its items where it is a list.

    >>> find_gold("Answer: Paris", ["Paris", "Lutetia"]).answer
    'Paris'
    """
    found = find_slot(text, gold)
    if found is not None or not _is_list(gold):
        return found
    return next((slot for item in gold if (slot := find_slot(text, item)) is not None), None)


def read_golds(golds: Mapping[int, Any], slots: Mapping[int, Slot]) -> dict[int, Any]:
    """The answer that each row's ground truth asks for.

    Args:
        golds: the column's value by row.
        slots: where right samples have it, by row.

    Returns:
        The values themselves, but the accepted item of a list of alternatives (of rows without a right sample the
        first), and the word that stands for True or False.
    """
    if any(isinstance(gold, bool) for gold in golds.values()):
        return _words(golds, slots)
    if not any(_one_of(golds.get(row), slot) for row, slot in slots.items()):
        return dict(golds)
    return {row: _item(gold, slots.get(row)) for row, gold in golds.items()}


def alternatives(raw: Any, gold: Any) -> Sequence[Any]:
    """The other answers that are accepted beside `gold`, where the column's value `raw` lists several."""
    if not _is_list(raw) or isinstance(gold, (list, tuple)):
        return ()
    return [item for item in raw if item != gold]


def _is_list(gold: Any) -> bool:
    return (
        isinstance(gold, (list, tuple))
        and len(gold) > 0
        and all(isinstance(item, SIMPLE) and not isinstance(item, bool) for item in gold)
    )


def _one_of(gold: Any, slot: Slot) -> bool:
    """Whether the answer is one item of a list of several, and not the whole of it."""
    return _is_list(gold) and len(gold) > 1 and find_slot(slot.text, gold) is None


def _item(gold: Any, slot: Slot | None) -> Any:
    if not _is_list(gold):
        return gold
    inside = (item for item in gold if slot is not None and find_slot(slot.text, item) is not None)
    return next(inside, gold[0])


def _words(golds: Mapping[int, Any], slots: Mapping[int, Slot]) -> dict[int, Any]:
    """True and False as the right samples write them; a value whose word is not seen stays."""
    said: dict[bool, str] = {}
    for row, slot in slots.items():
        gold = golds.get(row)
        if isinstance(gold, bool):
            said.setdefault(gold, slot.answer.strip().strip("*_`.\"'()"))
    return {row: said.get(gold, gold) if isinstance(gold, bool) else gold for row, gold in golds.items()}


def is_less(text: str, gold: Any, form: str) -> bool:
    """Whether the answer in `text`, of that form, is proved to be less than a ground truth, or another one.

    Proved is a part of a list, another number, another record; other words may say the same.

    >>> is_less("Items: 2, 3", ["2", "3", "5"], "line"), is_less("Date: 4 May", "2024-05-04", "line")
    (True, False)
    """
    said = next((place.answer.strip(" .*_`()") for place in places(text) if place.form == form), None)
    if said is None or gold is None or isinstance(gold, bool):
        return False
    if isinstance(gold, Mapping):
        return same_answer(said, gold) is False
    if _is_list(gold):
        wanted = {gold_text(item).casefold() for item in gold}
        parts = {part.casefold() for part in _SEPARATOR.split(said) if part}
        return bool(parts) and parts < wanted
    numbers = value_of(said) is not None and value_of(gold_text(gold)) is not None
    return numbers and same_answer(said, gold) is False


def different(golds: Iterable[Any]) -> bool:
    """Whether there is more than one ground truth.

    >>> different([1, 1]), different(["a", "b"])
    (False, True)
    """
    return len({gold_text(gold) if isinstance(gold, SIMPLE) else str(gold) for gold in golds}) > 1


__all__ = ["alternatives", "different", "find_gold", "is_less", "read_golds"]
