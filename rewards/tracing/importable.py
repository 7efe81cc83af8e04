"""Rewards that live in installed packages: recorded in a copy of their module.

A file of the user's is instrumented while it is loaded. A module that was imported the ordinary way (our own
library, `trl.rewards`) is not; its source is instrumented and run once more under another name, and the
function of the same name is recorded there. Where that is not possible the function itself is called, and
its score is one credit.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import sys
from pathlib import Path
from types import FunctionType, ModuleType

from rewards.contract import Reward
from rewards.tracing.expressions import HOOKS
from rewards.tracing.rewrite import instrument


def traceable(function: Reward) -> Reward:
    """The function in an instrumented copy of its module; the function itself where there is none to make."""
    if isinstance(function, functools.partial):
        return functools.partial(traceable(function.func), *function.args, **function.keywords)
    if not isinstance(function, FunctionType) or HOOKS in function.__globals__:
        return function
    module = sys.modules.get(function.__module__)
    if module is None or getattr(module, function.__qualname__, None) is not function:
        return function
    copied = _copy(module.__name__)
    found: Reward | None = getattr(copied, function.__qualname__, None) if copied is not None else None
    return found if found is not None else function


@functools.cache
def _copy(name: str) -> ModuleType | None:
    """A module run once more, instrumented; None where its source cannot be run again."""
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
    return made
