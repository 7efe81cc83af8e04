"""Looking at objects of user code without making them do anything.

A class may answer for any attribute (`__getattr__`) or compute it (a property), with effects that only a recording
would have. Such objects are not asked.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

_LOOKED_AT = frozenset(
    [
        "__name__",
        "__self__",
        "__module__",
        "base",
        "obj",
        "shape",
        "nin",
        "default_factory",
        "tolist",
        "to_numpy",
    ]
)
_TRUSTED = frozenset(
    ["rewards", "builtins", "numpy", "pandas", "torch", "collections", "functools", "re", "_regex"]
)


_KNOWN: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def _answers_quietly(kind: type) -> bool:
    """True for a class whose attributes are read without running code of a user."""
    known = _KNOWN.get(kind)
    if known is None:
        known = _KNOWN[kind] = _has_no_answers_of_its_own(kind)
    return known


def _has_no_answers_of_its_own(kind: type) -> bool:
    for base in kind.__mro__:
        if str(base.__module__).partition(".")[0] in _TRUSTED:
            continue
        own = base.__dict__
        if any(isinstance(own.get(name), FunctionType) for name in ("__getattr__", "__getattribute__")):
            return False
        if any(isinstance(own.get(name), (property, functools.cached_property)) for name in _LOOKED_AT):
            return False
    return True


def look(thing: Any, name: str, default: Any = None) -> Any:
    """An attribute of an object; `default` where it has none, or where reading it would run code of a user."""
    return getattr(thing, name, default) if _answers_quietly(type(thing)) else default


def has(thing: Any, name: str) -> bool:
    """Whether an object has an attribute that can be read without running code of a user."""
    return _answers_quietly(type(thing)) and hasattr(thing, name)
