"""The hooks of loops and comprehensions: what is gone through, item by item, and what lets an item in."""

from __future__ import annotations

from typing import Any

from rewards.tracing.assigning import draw
from rewards.tracing.nodes import NODES
from rewards.tracing.provenance import NUMBERS, Origin, Record
from rewards.tracing.state import STATE, guard_of, operand, tests_of


def start(record: Record, number: int, value: Any, /) -> Any:
    """A comprehension begins."""
    record["elements", number] = []
    record.pop(("tests", number), None)
    return each(record, NODES[number].extra, value)


def elt(record: Record, number: int, value: Any, /) -> Any:
    """An element of a comprehension, or what a generator yields."""
    node = NODES[number]
    origin = operand(record, node.kids[0], value, number)
    STATE.element = origin if isinstance(origin, Origin) else None
    if node.extra:
        record.setdefault(("elements", node.extra), []).append(origin)
        if not isinstance(origin, Origin) and (test := letting_in(record, number)) is not None:
            record.setdefault(("tests", node.extra), []).append(test)
    return value


def comp(record: Record, number: int, value: Any, /) -> Any:
    """A comprehension is done."""
    origins = record.pop(("elements", number), [])
    tests = record.pop(("tests", number), None)
    if tests is not None:
        STATE.let_in[id(value)] = (value, tests)
    if len(origins) == len(value):
        if type(value) is list:
            STATE.items[id(value)] = (value, origins)
        elif type(value) is dict:
            for key, origin in zip(value, origins, strict=True):
                if isinstance(origin, Origin):
                    STATE.store_item(value, key, origin)
    return value


def each(record: Record, number: int, value: Any, /) -> Any:
    """A loop is about to go through something."""
    record["each", number] = [value, -1, STATE.keys_of(value)]
    return value


def advanced(record: Record, number: int, value: Any) -> None:
    """A loop got its next value."""
    node = NODES[number]
    source = record.get(("each", number))
    element, STATE.element = STATE.element, None
    if source is not None:
        source[1] += 1
        if source[2] is not None and type(value) in NUMBERS and source[1] < len(source[2][1]):
            element = STATE.item(source[2][0], source[2][1][source[1]], value)
        draw(source[0], source[1], value, number)
        record[number] = _entered(record, number, source[0], source[1])
        STATE.bind_loop(record, node, node.extra, value, source[0], source[1], element)
    else:
        record[number] = guard_of(record, number)
        STATE.bind(record, node, node.extra, value, None)


def letting_in(record: Record, number: int) -> Origin | None:
    """The test that lets a thing into a list here; that the whole runs under a test says nothing of the thing."""
    guard = NODES[number].guard
    test = record.get(guard) if guard else None
    if test is None or NODES[guard].kind == "loop":
        return test if test is not None and test.op == "let" else None
    return test  # type: ignore[no-any-return]


def _entered(record: Record, number: int, source: Any, at: int) -> Origin | None:
    """The test under which a round of a loop runs: the one that let its item into the list, else that of the loop."""
    around = guard_of(record, number)
    if type(source) is filter:  # its function has just returned
        passed = STATE.left_behind()
        return Origin("let", True, number, (passed,), around) if passed is not None else around
    tests = tests_of(source)
    if tests is None or at >= len(tests) or tests[at] is None:
        return around
    return Origin("let", True, number, (tests[at],), around)
