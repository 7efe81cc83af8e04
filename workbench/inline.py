"""Reward functions that exist only in this process (a notebook, a script, a test), as a target that workers load.

They are hung into a module that is in no file, and a manifest in a temporary folder names them; a worker forked
from this process finds both. Functions need not be picklable, and their globals are those they have here. For
explanations, functions without a module to read again (those of a notebook or a script) are built once more from
their own lines, instrumented, over a copy of their globals.
"""

from __future__ import annotations

import ast
import functools
import importlib.machinery
import inspect
import itertools
import json
import linecache
import shutil
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rewards.contract import Reward, trl_name
from rewards.errors import ArgumentError
from rewards.marks import mark_of
from rewards.rewardset import RewardSet
from rewards.running import Runner
from rewards.running.child import encode_result
from rewards.targets import MANIFEST
from rewards.tracing.explaining import NOT_FOLLOWED, Explainer
from rewards.tracing.explanation import Credit, RewardExplanation
from rewards.tracing.importable import closed_over, traceable
from rewards.tracing.rewrite import instrument
from workbench.arguments import check_names

Functions = Reward | Sequence[Reward] | Mapping[str, Reward]
"""One reward function, several, or several under names of their own."""

_numbers = itertools.count(1)
EXPLAINER = "workbench.inline:explain_in_worker"


class ForkingRunner(Runner):
    """A runner whose template is a fork of this process whatever runs in it, so that it has this process' functions.

    Threads of this process (a notebook has some) are not in the fork; locks they hold at that moment would be held
    for ever there, which the template avoids by doing next to nothing.
    """

    def _start(self) -> None:
        self._spawn = False
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork.*")
            super()._start()


class InlineSet:
    """Functions of this process as a target. A context manager.

    Args:
        functions: what is to be loaded.
        weights: for all of them in order, or by name; a function without one has that of its `@reward` mark.

    Attributes:
        target: what `Runner.worker` of a `ForkingRunner` made meanwhile can load.

    Raises:
        ArgumentError: something that is no function, no function at all, or weights that do not fit.
    """

    def __init__(
        self, functions: Functions, weights: Mapping[str, float] | Sequence[float] | None = None
    ) -> None:
        self.functions = named(functions)
        self.weights = _weights(self.functions, weights)
        self._module = f"_inline_rewards_{next(_numbers)}"
        self._folder = ""

    @property
    def target(self) -> str:
        """The folder with the manifest."""
        return self._folder

    def __enter__(self) -> InlineSet:
        module = types.ModuleType(self._module, "Reward functions of this process.")
        module.__spec__ = importlib.machinery.ModuleSpec(self._module, None)
        lines = ['[set]\nname = "rewards"\n']
        for number, (name, function) in enumerate(self.functions.items()):
            setattr(module, f"f{number}", function)
            lines.append(f'[[reward]]\nfunction = "{self._module}:f{number}"\nname = {json.dumps(name)}\n')
            if name in self.weights:
                lines.append(f"weight = {float(self.weights[name])!r}\n")
        sys.modules[self._module] = module
        self._folder = tempfile.mkdtemp(prefix="reward-workbench-inline-")
        (Path(self._folder) / MANIFEST).write_text("".join(lines), encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        sys.modules.pop(self._module, None)
        shutil.rmtree(self._folder, ignore_errors=True)


def named(functions: Functions) -> dict[str, Reward]:
    """The functions by name: as given, else of the mark, else their own; names that occur twice get a number.

    >>> list(named([len, len]))
    ['len', 'len_2']
    """
    if isinstance(functions, Mapping):
        found = dict(functions)
    else:
        given: list[Any] = [functions] if callable(functions) else list(functions)
        found = {}
        for number, function in enumerate(given, 1):
            own = mark_of(function).get("name") or (trl_name(function) if callable(function) else "")
            wish = own if own and own != "<lambda>" else f"reward_{number}"
            name, again = wish, 2
            while name in found:
                name, again = f"{wish}_{again}", again + 1
            found[name] = function
    for name, function in found.items():
        if not callable(function):
            raise ArgumentError(f"{name or 'a reward'} is {type(function).__name__}, not a function")
    if not found:
        raise ArgumentError("there is no reward function to call")
    return found


def _weights(
    functions: Mapping[str, Reward], weights: Mapping[str, float] | Sequence[float] | None
) -> dict[str, float]:
    if weights is None:
        return {}
    if isinstance(weights, Mapping):
        check_names(weights, list(functions))
        return dict(weights)
    if len(weights) != len(functions):
        raise ArgumentError(f"{len(weights)} weights for {len(functions)} functions")
    return dict(zip(functions, weights, strict=True))


def source_of(function: Reward) -> str:
    """A function's source as it was written; "" where Python cannot find it."""
    try:
        inner = inspect.unwrap(function)
        while isinstance(inner, functools.partial):
            inner = inner.func
        return inspect.getsource(inner if inspect.isroutine(inner) else type(inner))
    except (OSError, TypeError):
        return ""


# ------------------------------------------------------------------------------- explaining, in the worker


def explain_in_worker(context: Any, reward: str, row: int, rows: list[int] | None = None) -> dict[str, Any]:
    """As `rewards.tracing.explaining.explain_in_worker`, for functions of the process this one was forked from."""
    explainer = _explainer(context)
    explained = explainer.explain(reward, context.batch, row, rows)
    why = _why_whole(explainer.plain.function(reward), explainer.traced.function(reward))
    return (explained if why is None else _as_one(explained, why)).to_json()


def load_in_worker(context: Any) -> None:
    """As `rewards.tracing.explaining.load_in_worker`."""
    _explainer(context)


def scores_in_worker(context: Any, reward: str, rows: list[int] | None = None) -> dict[str, Any]:
    """As `rewards.tracing.explaining.scores_in_worker`."""
    return encode_result(_explainer(context).scores(reward, context.batch, rows))


def _why_whole(function: Reward, recorded: Reward) -> str | None:
    """Why a function was called as it is and not from its source; None where it was followed."""
    while isinstance(function, functools.partial) and isinstance(recorded, functools.partial):
        function, recorded = function.func, recorded.func
    if recorded is not function or traceable(function) is not function:
        return None
    remedy = "to see its parts, define it with `def`, in a file or a notebook cell"
    if not isinstance(function, types.FunctionType):
        owner = getattr(function, "__self__", function)
        kind = owner.__name__ if isinstance(owner, type) else type(owner).__name__
        return f"explained as one credit: the source of the class {kind} is not followed; {remedy}"
    if function.__name__ == "<lambda>":
        return f"explained as one credit: the source of a lambda cannot be read apart; {remedy}"
    return f"explained as one credit: its source cannot be read again; {remedy}"


def _as_one(explained: RewardExplanation, why: str) -> RewardExplanation:
    """The whole score as one credit, where nothing is known of its parts for this reason."""
    notes = tuple(note for note in explained.notes if note != NOT_FOLLOWED)
    if explained.credits or len(notes) == len(explained.notes) or not isinstance(explained.score, float):
        return explained
    whole = Credit(explained.name, explained.score, None, None)
    return replace(explained, credits=(whole,), exact=True, notes=(*notes, why))


_last: tuple[Any, Explainer] | None = None


def _explainer(context: Any) -> Explainer:
    global _last
    if _last is None or _last[0] is not context:
        # a script must not be run a second time to be traced
        sys.modules["__main__"] = types.ModuleType("__main__")
        _last = (context, Explainer(functools.partial(_load, Path(context.target))))
    return _last[1]


def _load(target: Path, *, transform: Callable[..., Any] | None = None) -> RewardSet:
    loaded = RewardSet.load(target)
    if transform is None:
        return loaded
    twins = [traced(function, target) for function in loaded.functions]
    return replace(
        loaded,
        functions=tuple(function for function, _ in twins),
        files=tuple(file for _, file in twins),
    )


def traced(function: Reward, folder: Path) -> tuple[Reward, Path | None]:
    """A function built again from its lines and instrumented, with the copy of its file; itself where that cannot be.

    Functions of ordinary modules come back as they are: the explainer instruments those by itself.
    """
    if isinstance(function, functools.partial):
        inner, file = traced(function.func, folder)
        return functools.partial(inner, *function.args, **function.keywords), file
    if not isinstance(function, types.FunctionType) or _has_module(function):
        return function, None
    spaces = _spaces(function, folder)
    if function.__code__.co_filename not in spaces:
        return function, None
    space, file, code = spaces[function.__code__.co_filename]
    if "<locals>" in function.__qualname__:
        twin: Any = closed_over(function, code, space)
    else:
        twin = space.get(function.__name__)
    if not callable(twin) or twin is function:
        return function, None
    return twin, file


def _has_module(function: types.FunctionType) -> bool:
    module = sys.modules.get(function.__module__)
    own = (
        module is not None and vars(module) is function.__globals__
    )  # a user's rewards.py is not our rewards
    return function.__module__ != "__main__" and own and getattr(module, "__file__", None) is not None


_Space = tuple[dict[str, Any], Path, types.CodeType]


def _spaces(function: types.FunctionType, folder: Path) -> dict[str, _Space]:
    """For each file (or cell) with functions that share the function's globals: its twins' globals, copy and code."""
    shared = function.__globals__
    by_file: dict[str, dict[int, str]] = {}
    for name, value in list(shared.items()):
        inner = inspect.unwrap(value) if isinstance(value, types.FunctionType) else None
        if isinstance(inner, types.FunctionType) and inner.__globals__ is shared:
            by_file.setdefault(inner.__code__.co_filename, {})[inner.__code__.co_firstlineno] = name
    made: dict[str, _Space] = {}
    for number, (file, wanted) in enumerate(by_file.items()):
        space = dict(shared)
        twin = _twins(file, wanted, space, folder / f"source{number}")
        if twin is not None:
            made[file] = (space, *twin)
    twins = {name: space[name] for file, (space, *_) in made.items() for name in by_file[file].values()}
    for space, *_ in made.values():
        space.update(twins)
    return made


def _twins(
    file: str, wanted: Mapping[int, str], space: dict[str, Any], folder: Path
) -> tuple[Path, types.CodeType] | None:
    """Define the instrumented functions of one file in `space`; None where its lines are not to be had."""
    source = "".join(linecache.getlines(file, space))
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    body = [node for node in tree.body if _first_line(node) in wanted]
    if not body:
        return None
    folder.mkdir(exist_ok=True)
    name = Path(file).name if Path(file).is_file() else "cell.py"
    copy = folder / name
    copy.write_text(source, encoding="utf-8")
    module = ast.fix_missing_locations(instrument(ast.Module(list(body), []), copy))
    code = compile(module, str(copy), "exec", dont_inherit=True)
    exec(code, space)  # noqa: S102  # the functions' own lines
    return copy, code


def _first_line(node: ast.stmt) -> int:
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return -1
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
