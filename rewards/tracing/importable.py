"""Rewards that live in installed packages: recorded in a copy of their module.

A file of the user's is instrumented while it is loaded. A module that was imported the ordinary way (our own
library, `trl.rewards`) is not; its source is instrumented and run once more under another name, and the
function of the same name is recorded there. A function that another one made (`make(0.5)`) is put together
from the code of the copy and the variables it closes over, an object with `__call__` of the copied class and
its attributes. Where that is not possible the function itself is called, and nothing is known of its score.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import sys
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from rewards.contract import Reward
from rewards.tracing.expressions import HOOKS
from rewards.tracing.provenance import Record
from rewards.tracing.rewrite import instrument


def traceable(function: Reward) -> Reward:
    """The function in an instrumented copy of its module; the function itself where there is none to make."""
    if isinstance(function, functools.partial):
        return functools.partial(traceable(function.func), *function.args, **function.keywords)
    if not isinstance(function, FunctionType):
        return _instance(function)
    if HOOKS in function.__globals__:
        return function
    module = sys.modules.get(function.__module__)
    if module is None or vars(module) is not function.__globals__:
        return function
    known = getattr(module, function.__qualname__, None) is function
    copied = _copy(module.__name__) if known or function.__closure__ else None
    if copied is None:
        return function
    found: Reward | None = getattr(copied[0], function.__qualname__, None) if known else None
    if found is None:
        found = closed_over(function, copied[1], vars(copied[0]))
    return found if found is not None else function


def _instance(thing: Reward) -> Reward:
    """A callable object of a package's class as one of the copied class; our own may hold others of their kind."""
    kind = type(thing)
    module = sys.modules.get(kind.__module__)
    plain = isinstance(vars(kind).get("__call__"), FunctionType) and kind.__mro__[1:] == (object,)
    if module is None or not plain or HOOKS in vars(module) or kind.__module__.startswith("rewards."):
        return thing
    if getattr(module, kind.__qualname__, None) is not kind:
        return thing
    copied = _copy(module.__name__)
    twin_kind = getattr(copied[0], kind.__qualname__, None) if copied is not None else None
    if not isinstance(twin_kind, type) or not hasattr(thing, "__dict__"):
        return thing
    twin: Reward = object.__new__(twin_kind)
    vars(twin).update(vars(thing))
    return twin


def closed_over(function: FunctionType, code: CodeType, space: dict[str, Any]) -> FunctionType | None:
    """A function that another one made, instrumented: the same variables, but the code of an instrumented file.

    Functions of the same file among the variables are exchanged alike.

    Args:
        function: as it was made.
        code: the instrumented code of its file.
        space: the globals of the copy.

    Returns:
        None where the code is not to be found there.
    """
    return _Closures(code, space).twin(function)


class _Closures:
    def __init__(self, code: CodeType, space: dict[str, Any]) -> None:
        self.space = space
        self.places: dict[tuple[str, int], list[CodeType]] = {}
        pending = [code]
        while pending:
            inner = pending.pop()
            self.places.setdefault((inner.co_qualname, inner.co_firstlineno), []).append(inner)
            pending += [one for one in inner.co_consts if isinstance(one, CodeType)]
        self.made: dict[int, FunctionType | None] = {}

    def twin(self, function: FunctionType) -> FunctionType | None:
        if id(function) not in self.made:
            self.made[id(function)] = None  # a function may close over itself
            self.made[id(function)] = self._twin(function)
        return self.made[id(function)]

    def _twin(self, function: FunctionType) -> FunctionType | None:
        old = function.__code__
        found = self.places.get((old.co_qualname, old.co_firstlineno), [])
        if len(found) != 1 or found[0].co_varnames[: old.co_argcount] != old.co_varnames[: old.co_argcount]:
            return None  # two lambdas of one line cannot be told apart
        cells = dict(zip(old.co_freevars, function.__closure__ or (), strict=True))
        closure = []
        for name in found[0].co_freevars:
            if name in cells:
                closure.append(self._cell(cells[name]))
            elif name.startswith(HOOKS):
                closure.append(
                    CellType(Record())
                )  # of the call that made the function, which nobody recorded
            else:
                return None
        made = FunctionType(found[0], self.space, function.__name__, function.__defaults__, tuple(closure))
        made.__kwdefaults__ = function.__kwdefaults__
        made.__dict__.update(function.__dict__)
        made.__qualname__, made.__module__ = function.__qualname__, function.__module__
        return made

    def _cell(self, cell: CellType) -> CellType:
        try:
            content = cell.cell_contents
        except ValueError:  # not assigned yet
            return cell
        if not isinstance(content, FunctionType) or HOOKS in content.__globals__:
            return cell
        named = self.space.get(content.__name__)
        twin = named if _is_copy(named, content) else self.twin(content)
        return cell if twin is None else CellType(twin)


def _is_copy(one: Any, other: FunctionType) -> bool:
    return isinstance(one, FunctionType) and one.__code__.co_qualname == other.__code__.co_qualname


@functools.cache
def _copy(name: str) -> tuple[ModuleType, CodeType] | None:
    """A module run once more, instrumented, and its code; None where its source cannot be run again."""
    original = sys.modules[name]
    try:
        path = Path(inspect.getsourcefile(original) or "")
        tree = ast.fix_missing_locations(instrument(ast.parse(path.read_bytes()), path))
        code = compile(tree, str(path), "exec", dont_inherit=True)
    except (OSError, TypeError, SyntaxError, UnicodeDecodeError):
        return None
    made = ModuleType(name)
    made.__file__, made.__package__ = str(path), original.__package__
    made.__spec__ = importlib.util.spec_from_file_location(name, path)
    try:
        exec(code, made.__dict__)  # noqa: S102  # the very source that was imported before
    except Exception:  # noqa: BLE001  # a module may refuse to run twice in any way it likes
        return None
    return made, code
