"""The hooks that store: variables, attributes, items of containers."""

from __future__ import annotations

from typing import Any

from rewards.tracing.arrays import holds_numbers, into_slice
from rewards.tracing.assigning import add_number, store_number
from rewards.tracing.nodes import NODES
from rewards.tracing.provenance import NUMBERS, Origin, Record
from rewards.tracing.state import IN_PLACE, STATE, guard_of, operand


def let(record: Record, number: int, value: Any, /) -> Any:
    """A value is assigned."""
    node = NODES[number]
    origin = operand(record, node.kids[0], value, number)
    if isinstance(origin, Origin):
        record[number] = origin
    else:
        record.pop(number, None)
    if None in node.extra:
        record["value", number] = value
    for target in node.extra:
        STATE.bind(record, node, target, value, origin)
    return value


def into(record: Record, number: int, value: Any, /) -> Any:
    """Something is about to be stored into a container or an object."""
    node = NODES[number]
    attribute = node.extra[1] if node.kind == "augslot" else node.extra
    if attribute is None:
        record["into", number] = value
        into_slice(node, value)
    else:
        STATE.pending_slot = (value, attribute)
        if node.kind == "slot":
            STATE.store(value, attribute, record.get(node.kids[0]))
    return value


def key(record: Record, number: int, key: Any, /) -> Any:
    """The key it is stored under."""
    node = NODES[number]
    container = record.pop(("into", number), None)
    if node.kind == "slot":
        assigned = node.kids[0]
        store_number(
            record, number, container, key, record.get(assigned), record.pop(("value", assigned), None)
        )
        STATE.store_item(container, key, record.get(node.kids[0]))
    else:
        STATE.pending_slot = (container, _Item(key))
    return key


class _Item:
    """Marks a pending slot as an item of a container."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key


def inc(record: Record, number: int, value: Any, /) -> Any:
    """What is added to an item or attribute."""
    node = NODES[number]
    slot, STATE.pending_slot = STATE.pending_slot, None
    if slot is None:
        return value
    container, key = slot
    item = isinstance(key, _Item)
    if item and holds_numbers(container):
        add_number(record, number, container, key.key, value)
        return value
    before = STATE.peek_item(container, key.key) if item else STATE.peek_attribute(container, key)
    origin: Origin | None = None
    if type(before.value) in NUMBERS and type(value) in NUMBERS:
        try:
            new = IN_PLACE[node.extra[0]](before.value, value)
        except ArithmeticError:
            return value
        origin = Origin(
            "bin",
            new,
            number,
            (before, operand(record, node.kids[1], value, number)),
            guard_of(record, number),
        )
        STATE.note(node, node.text.split(" ")[0], new)
    if item:
        STATE.store_item(container, key.key, origin)
    else:
        STATE.store(container, key, origin)
    return value


def display(record: Record, number: int, value: Any, /) -> Any:
    """A list or tuple is written out."""
    kids = NODES[number].kids
    STATE.items[id(value)] = (
        value,
        [operand(record, kid, item, number) for kid, item in zip(kids, value, strict=True)],
    )
    return value


def dict_(record: Record, number: int, value: dict[Any, Any], /) -> Any:
    """A dictionary is written out."""
    kids = NODES[number].kids
    if len(kids) == len(value):
        for (key, item), kid in zip(value.items(), kids, strict=True):
            origin = operand(record, kid, item, number)
            if isinstance(origin, Origin):
                STATE.store_item(value, key, origin)
    return value
