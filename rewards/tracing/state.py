"""What one recording knows: origins by identity, by variable, by slot of a container, and the tests that ran."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections import Counter, OrderedDict
from collections.abc import Callable
from types import BuiltinMethodType
from typing import Any

from rewards.tracing.looking import look
from rewards.tracing.nodes import NODES, Node
from rewards.tracing.provenance import NUMBERS, Entry, Origin, Record, shared


def _contains(item: Any, container: Any) -> bool:
    return item in container


def _lacks(item: Any, container: Any) -> bool:
    return item not in container


OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.In: _contains, ast.NotIn: _lacks,
}  # fmt: skip

IN_PLACE: dict[type, Callable[..., Any]] = {
    ast.Add: operator.iadd, ast.Sub: operator.isub, ast.Mult: operator.imul, ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv, ast.Mod: operator.imod, ast.Pow: operator.ipow,
    ast.MatMult: operator.imatmul, ast.LShift: operator.ilshift, ast.RShift: operator.irshift,
    ast.BitOr: operator.ior, ast.BitXor: operator.ixor, ast.BitAnd: operator.iand,
}  # fmt: skip

_OBJECTS = frozenset([str, list, tuple, dict, set, frozenset, bytes, type(None), re.Match, re.Pattern])

_VIEWS: tuple[Any, ...] = (
    type({}.values()),
    type({}.items()),
    type(OrderedDict().values()),
    type(OrderedDict().items()),
)

_REUSED = frozenset(["name", "attribute", "sub"])

Seen = list[tuple[Any, Any]]
"""Items that something iterated over, each with its origin where one is known."""


class State:
    """The recording in progress, or the last one."""

    def __init__(self) -> None:
        self.module_records: dict[int, Record] = {}
        self.reset()

    def reset(self) -> None:
        """Forget everything recorded."""
        self.by_identity: dict[int, Origin] = {}
        self.given: dict[int, Any] = {}  # numbers that were there before: an identity says nothing of them
        self.items: dict[int, tuple[Any, list[Any]]] = {}  # list -> the origins of its items
        self.slots: dict[tuple[int, Any], tuple[Any, Origin]] = {}  # (container, key or attribute)
        self.changed: dict[int, tuple[Any, dict[int, Origin | None] | None]] = {}  # arrays; None: given up
        self.as_made: dict[int, tuple[Any, Any]] = {}  # an array and its numbers when its origin was noted
        self.handed: set[int] = set()  # arrays that something was made of since they were last changed
        self.tables: dict[int, tuple[Any, dict[Any, Any]]] = {}  # table -> the arrays of its columns
        self.lost = False  # a number that nobody followed was met while a score was split
        self.lists_of_text: list[Any] = []
        self.lists_of_tuples: list[Any] = []  # what `findall` gives of several groups
        self.let_in: dict[
            int, tuple[Any, list[Origin | None]]
        ] = {}  # what tests let into a list, set, dictionary
        self.tests: list[Origin] = []
        self.before: list[tuple[Origin, dict[str, Origin | None]]] = []  # variables as an `if` found them
        self.noted: dict[tuple[int, str], tuple[Node, Any]] = {}
        self.later: dict[int, Entry] = {}
        self.pending: Entry | None = None
        self.applying: list[Any] = []  # calls that apply a function to every row of a table
        self.returned: Origin | None = None
        self.element: Origin | None = None
        self.pending_slot: tuple[Any, Any] | None = None
        self.steps = 0
        self.gave_up = False
        self.left_at = 0  # the last return statement
        self.began = 0.0
        for record in self.module_records.values():
            record.clear()

    def left_behind(self) -> Origin | None:
        """The origin of what user code has just yielded or returned; it is taken away."""
        origin = self.element if self.element is not None else self.returned
        self.element = self.returned = None
        return origin

    # --------------------------------------------------------------------------------- variables

    def bind(self, record: Record, node: Node, target: Any, value: Any, origin: Any) -> None:
        """A value is assigned to variables of the given shape."""
        if isinstance(target, tuple):
            name, key = target
            if key is not None:
                home = owner(record, key)
                if type(value) not in NUMBERS and not (isinstance(origin, Origin) and shared(value)):
                    home.pop(key[0], None)
                elif isinstance(origin, Origin) and origin.value is value:
                    home[key[0]] = origin
                else:
                    home[key[0]] = self.identified(value) or self.loaded(
                        value, _number(node), record.called_under
                    )
            self.note(node, name, value)
        elif isinstance(target, list):
            same_shape = type(value) in (list, tuple) and len(value) == len(target)
            for position, part in enumerate(target):
                if same_shape:
                    self.bind(
                        record, node, part, value[position], self.item(value, position, value[position])
                    )
                else:
                    self._unbind(record, part)

    def _unbind(self, record: Record, target: Any) -> None:
        if isinstance(target, tuple) and target[1] is not None:
            owner(record, target[1]).pop(target[1][0], None)
        elif isinstance(target, list):
            for part in target:
                self._unbind(record, part)

    def bind_loop(
        self,
        record: Record,
        node: Node,
        target: Any,
        value: Any,
        source: Any,
        index: int,
        element: Origin | None,
    ) -> None:
        """The variables of a loop get their next values."""
        origin = element if element is not None and element.value is value else None
        if type(value) is str and len(value) != 1 and isinstance(target, tuple):
            self.bind(record, node, target, value, None)
            return
        if isinstance(target, list) and type(value) is tuple and len(value) == len(target):
            origins = self._drawn(source, index, value)
            for part, item, found in zip(target, value, origins, strict=True):
                self.bind(record, node, part, item, found)
            return
        if origin is None and type(source) in (list, tuple) and index < len(source):
            if shared(value):
                origin = Origin("sub", value, 0, (source, index))
            else:
                origin = self.item(source, index, value)
        self.bind(record, node, target, value, origin)

    def _drawn(self, source: Any, index: int, value: tuple[Any, ...]) -> list[Any]:
        """The origins of a tuple that `zip`, `enumerate`, `items()` or a list gave."""
        made = self.by_identity.get(id(source))
        function = made.parts[0] if made is not None and made.op == "call" else None
        arguments = made.parts[1] if made is not None and made.op == "call" else ()
        if function is zip and len(arguments) == len(value):
            return [self.item(part, index, item) for part, item in zip(arguments, value, strict=True)]
        if function is enumerate and len(value) == 2 and arguments:
            return [None, self.item(arguments[0], index, value[1])]
        container = look(function, "__self__", None)
        if look(function, "__name__", "") == "items" and type(source) in _VIEWS and len(value) == 2:
            return [None, self.item(container, value[0], value[1])]
        return [self.item(value, position, item) for position, item in enumerate(value)]

    def note(self, node: Node, name: str, value: Any) -> None:
        """Remember the last value a line gave a variable."""
        self.noted[id(node), name] = (node, value)

    # -------------------------------------------------------------------------------- containers

    def identified(self, value: Any) -> Origin | None:
        """The origin of this very object."""
        found = self.by_identity.get(id(value))
        return found if found is not None and found.value is value else None

    def loaded(self, value: Any, node: int, guard: Origin | None = None) -> Origin:
        """The origin of something that was there before; where else it is met tells nothing of this place."""
        if type(value) in NUMBERS:
            self.given[id(value)] = value
        return Origin("load", value, node, (), guard)

    def item(self, container: Any, key: Any, value: Any) -> Origin | None:
        """The origin of the number that a container holds under a key or index."""
        if type(value) not in NUMBERS:
            return None
        if type(container) in (list, tuple):
            origins = self.origins_of(container)
            if origins is not None and type(key) is int and -len(origins) <= key < len(origins):
                found = origins[key]
                if isinstance(found, Origin) and _holds(found, value):
                    return _as_held(found, value)
        else:
            slot = self.slots.get((id(container), key)) if _hashable(key) else None
            if slot is not None and _same(slot[1].value, value):
                return _as_held(slot[1], value)
        return self.identified(value)

    def origins_of(self, container: Any) -> list[Any] | None:
        """The origins of the items of a list; None once it was changed by code nobody watched."""
        known = self.items.get(id(container))
        if known is None or known[0] is not container or len(known[1]) != len(container):
            return None
        return known[1]

    def seen(self, container: Any) -> Seen:
        """The items of a list or tuple with their origins."""
        return [(value, self.item(container, index, value) or value) for index, value in enumerate(container)]

    def keys_of(self, values: Any) -> tuple[Any, list[Any]] | None:
        """The dictionary that `values()` shows, and its keys in the same order."""
        made = self.identified(values) if type(values) in _VIEWS else None
        if made is None or made.op != "call" or type(made.parts[0]) is not BuiltinMethodType:
            return None
        container: Any = made.parts[0].__self__
        of_values = made.parts[0].__name__ == "values" and isinstance(container, dict)
        return (container, list(container)) if of_values else None

    def store_item(self, container: Any, key: Any, origin: Any) -> None:
        """A container is about to get a value under a key."""
        if type(container) is list:
            origins = self.origins_of(container)
            if origins is None:
                origins = [None] * len(container)
                self.items[id(container)] = (container, origins)
            if type(key) is int and -len(origins) <= key < len(origins):
                origins[key] = origin
        elif _hashable(key):
            self.store(container, key, origin)

    def store(self, container: Any, key: Any, origin: Any) -> None:
        """An object is about to get a value as an attribute or item."""
        if isinstance(origin, Origin):
            self.slots[id(container), key] = (container, origin)
        else:
            self.slots.pop((id(container), key), None)

    def peek_item(self, container: Any, key: Any) -> Origin:
        """The origin of what a container holds now, without any effect of its own."""
        nothing = Origin("load", None, 0)
        try:
            if type(container) is list:
                value = container[key]
            elif isinstance(container, dict):
                counts = look(container, "default_factory", None) in (int, float)
                default = 0 if counts or type(container) is Counter else None
                value = dict.get(container, key, default)
            else:
                return nothing
        except (IndexError, TypeError):
            return nothing
        return self.item(container, key, value) or Origin("load", value, 0)

    def peek_attribute(self, thing: Any, name: str) -> Origin:
        """The origin of an instance attribute, read past properties."""
        try:
            value = object.__getattribute__(thing, "__dict__").get(name)
        except AttributeError:
            return Origin("load", None, 0)
        return self.item(thing, name, value) or Origin("load", value, 0)

    def joined(self, value: list[Any], left: Any, right: Any) -> None:
        """`left + right` or `left * right` gave a list."""
        if type(left) is list and type(right) is list:
            both = [self.origins_of(part) or [None] * len(part) for part in (left, right)]
            self.items[id(value)] = (value, [*both[0], *both[1]])
        else:
            source, times = (left, right) if type(left) is list else (right, left)
            origins = self.origins_of(source)
            if origins is not None and type(times) is int:
                self.items[id(value)] = (value, list(origins) * max(0, times))

    def extended(self, value: list[Any], length: int, more: Any) -> None:
        """`value += more` made a list longer than `length`."""
        known = self.items.get(id(value))
        origins = known[1] if known is not None and len(known[1]) == length else [None] * length
        added = len(value) - length
        new = self.origins_of(more) if type(more) in (list, tuple) else None
        self.items[id(value)] = (value, [*origins, *(new if new is not None else [None] * added)])


STATE = State()


def tests_of(container: Any) -> list[Origin | None] | None:
    """The tests that let the things into a container, one each; None where nothing is known of them.

    An `enumerate` is seen through.
    """
    known = STATE.let_in.get(id(container))
    if known is None:
        made = STATE.by_identity.get(id(container))
        if made is None or made.op != "call" or made.parts[0] is not enumerate or not made.parts[1]:
            return None
        container = made.parts[1][0]
        known = STATE.let_in.get(id(container))
    return (
        known[1] if known is not None and known[0] is container and len(known[1]) == len(container) else None
    )


def owner(record: Record, key: tuple[str, int]) -> Record:
    """The record a variable lives in."""
    for _ in range(key[1]):
        if record.up is None:
            return Record()
        record = record.up
    return record


def guard_of(record: Record, number: int) -> Origin | None:
    """The test that let a node run this time."""
    guard = NODES[number].guard
    return record.get(guard, record.called_under) if guard else record.called_under


def operand(record: Record, kid: int, value: Any, at: int, use: bool = True) -> Any:
    """The origin of a number that stands at a place in the code; any other object as it is.

    `use`: where the number came into being under another test than the one it is used under, say so.
    """
    kind = type(value)
    if kind is str:
        if len(value) != 1:
            return value
    elif kind not in NUMBERS:
        if kind.__name__ in ("ndarray", "Series"):
            return held(value, kid or at)
        return value if kind in _OBJECTS else STATE.identified(value) or value
    node = NODES[kid]
    what = node.kind
    found: Origin | None = None
    if what == "name":
        key = node.extra
        if key is not None:
            found = (owner(record, key) if key[1] else record).get(key[0])
    else:
        found = record.get(kid)
    if found is None or found.value is not value:
        if what == "const":
            made = Origin("const", value, kid, (), guard_of(record, kid))
            if not use:  # a number that is only compared or computed with: once is enough
                record[kid] = made
            return made
        found = STATE.identified(value)
        if found is None and kind is str:
            return value
        if found is None:
            return STATE.loaded(value, kid or at, guard_of(record, kid or at))
    if use and what in _REUSED:
        guard = guard_of(record, kid)
        if found.guard is not guard:
            return Origin("use", value, kid, (found,), guard)
    return found


def register(value: Any, origin: Origin) -> None:
    """Let an object be found by its identity; left out are values the interpreter or the user's own tables share."""
    kind = type(value)
    if kind is float:
        if id(value) not in STATE.given:
            STATE.by_identity[id(value)] = origin
    elif kind is bool or value is None:
        return
    elif kind is int:
        if not -6 < value < 257 and id(value) not in STATE.given:
            STATE.by_identity[id(value)] = origin
    elif kind is str:
        if len(value) > 1:
            STATE.by_identity.setdefault(id(value), origin)
    elif value != () if kind is tuple else True:
        new = STATE.by_identity.setdefault(id(value), origin) is origin
        if kind in (list, tuple) and value and type(value[0]) in (str, type(None)):
            STATE.lists_of_text.append(value)
        elif (
            new
            and kind is list
            and value
            and type(value[0]) is tuple
            and value[0]
            and type(value[0][0]) is str
        ):
            STATE.lists_of_tuples.append(value)
        elif new and kind.__name__ == "ndarray":
            note_numbers(value)


def held(array: Any, number: int) -> Origin:
    """An array as a part of an origin, which goes on to tell of its numbers as they are now."""
    made = STATE.identified(array)
    if made is None:
        made = STATE.by_identity[id(array)] = Origin("load", array, number)
    STATE.handed.add(id(array))
    return made


def note_numbers(array: Any) -> None:
    """Keep the numbers of an array as they are now; what changes them unseen is noticed by them."""
    if array.size <= MOST_COPIED:
        STATE.as_made[id(array)] = (array, array.copy())


MOST_COPIED = 100_000
"""Items of an array above which it is not copied."""


def fresh(value: Any) -> Any:
    """The same number as an object of its own, so that it can be told from its equals."""
    if type(value) is float and math.isfinite(value):
        return value * 1.0
    return value


def _number(node: Node) -> int:
    for number in node.kids:
        return number
    return 0


def _holds(origin: Origin, value: Any) -> bool:
    """Whether an item of a list is still the number an origin tells of: the very object, but where it was added up."""
    return origin.value is value or (origin.place.kind == "augslot" and _same(origin.value, value))


def _as_held(origin: Origin, value: Any) -> Origin:
    """The origin of the very object a container holds; what was added up there was reckoned once more here."""
    return origin if origin.value is value else Origin("use", value, origin.node, (origin,), origin.guard)


def _same(left: Any, right: Any) -> bool:
    return left is right or (type(left) is type(right) and left == right)


def _hashable(key: Any) -> bool:
    return type(key) in (str, int, float, bool, tuple) and (
        type(key) is not tuple or all(map(_hashable, key))
    )
