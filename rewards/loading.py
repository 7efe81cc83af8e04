"""User files, loaded by path and never in the way of anything else.

A file is loaded under a private module name and its folder is *appended* to `sys.path`, so a user's own
`rewards.py` cannot shadow an installed package. Files beside it that it imports ("local" files) go through
the same loader, so that tracing can instrument them too. Loading runs the user's code: it belongs into a
worker process (`rewards.running`), the trainer's process or a test.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rewards import outside
from rewards.adapters import system_of
from rewards.contract import Reward, describe_exception
from rewards.errors import LoadError, TargetError
from rewards.marks import MARK, mark_of
from rewards.packages import USER_FOLDERS
from rewards.writable import writable

_Result = TypeVar("_Result")
Transform = Callable[[ast.Module, Path], ast.Module]


class _SourceLoader(importlib.machinery.SourceFileLoader):
    """Compiles from the source each time, through a transform, and writes no byte code."""

    def __init__(self, name: str, path: str, transform: Transform | None) -> None:
        super().__init__(name, path)
        self.transform = transform

    def exec_module(self, module: types.ModuleType) -> None:
        with outside.watched(self.path):
            super().exec_module(module)

    def get_code(self, fullname: str) -> types.CodeType:
        path = Path(self.get_filename(fullname))
        tree = ast.parse(self.get_data(str(path)), filename=str(path))
        if self.transform is not None:
            tree = ast.fix_missing_locations(self.transform(tree, path))
        code = compile(tree, str(path), "exec", dont_inherit=True)
        assert isinstance(code, types.CodeType)
        return code


class _LocalFinder(importlib.abc.MetaPathFinder):
    """Finds modules below the folders of loaded files and gives them our loader."""

    def __init__(self) -> None:
        self.folders: dict[str, Transform | None] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or not spec.origin or not spec.origin.endswith(".py") or _is_ours(spec.origin):
            return None
        for folder, transform in self.folders.items():
            if spec.origin.startswith(folder) and "site-packages" not in spec.origin[len(folder) :]:
                spec.loader = _SourceLoader(name, spec.origin, transform)
                return spec
        return None


_OUR_FOLDER = str(Path(__file__).resolve().parent.parent) + "/"


def _is_ours(origin: str) -> bool:
    """True for files of this product's own packages, which are never reloaded or transformed."""
    return origin.startswith(_OUR_FOLDER) and origin[len(_OUR_FOLDER) :].split("/")[0] in (
        "rewards",
        "workbench",
        "trainer",
    )


_finder = _LocalFinder()


def _watch(folder: Path, transform: Transform | None) -> None:
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.folders[str(folder).rstrip("/") + "/"] = transform
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
        USER_FOLDERS.append(str(folder))


def module_name(path: Path) -> str:
    """The private name a file is loaded under; the same for the same path."""
    digest = hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()
    return f"_reward_file_{path.stem}_{digest}"


def load_file(path: Path, *, transform: Transform | None = None) -> types.ModuleType:
    """Run a Python file as a module of its own and return it; the file and its local imports are read anew.

    Args:
        path: the file.
        transform: changes the syntax tree of the file and of every local file before it is compiled.

    Raises:
        TargetError: there is no such file.
        LoadError: the file could not be parsed or raised while it ran (also `SystemExit`).
    """
    path = path.resolve()
    if not path.is_file():
        raise TargetError(f"there is no file {path}")
    name = module_name(path)
    _watch(path.parent, transform)
    loader = _SourceLoader(name, str(path), transform)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _run(lambda: loader.exec_module(module), path)
    return module


def load_module(
    dotted: str, *, transform: Transform | None = None, folder: Path | None = None
) -> types.ModuleType:
    """Import an importable module by its dotted name; `folder` (default: the current one) is searched last.

    Raises:
        TargetError: there is no such module.
        LoadError: importing it raised.
    """
    folder = (folder or Path.cwd()).resolve()
    _watch(folder, transform)
    try:
        found = importlib.util.find_spec(dotted)
    except (ModuleNotFoundError, ValueError):
        found = None
    except Exception as error:  # a parent package of the user's raised while it was imported
        raise LoadError(f"{dotted} failed to load: {describe_exception(error)}") from error
    if found is None:
        raise TargetError(f"there is no module '{dotted}' (searched sys.path and {folder})")
    return _run(lambda: importlib.import_module(dotted), Path(found.origin or dotted))


def forget_local() -> None:
    """Forget all local modules and folders, so that the next set reads its own helpers, and reads them anew."""
    for name, module in list(sys.modules.items()):
        loader = getattr(getattr(module, "__spec__", None), "loader", None)
        if isinstance(loader, _SourceLoader) and not name.startswith("_reward_file_"):
            del sys.modules[name]
    for folder in USER_FOLDERS:
        if folder in sys.path:
            sys.path.remove(folder)
    USER_FOLDERS.clear()
    _finder.folders.clear()


def _run(action: Callable[[], _Result], path: Path) -> _Result:
    try:
        return action()
    except KeyboardInterrupt:
        raise
    except SyntaxError as error:
        where = Path(error.filename) if error.filename else path
        line = error.lineno or _line_of_nul(where)
        place = f"{where.name}, line {line}" if line else where.name
        raise LoadError(f"{place}: {type(error).__name__}: {error.msg}") from error
    except ModuleNotFoundError as error:
        if error.name is None:
            raise LoadError(f"{path.name} failed to load: {describe_exception(error)}") from error
        advice = (
            f"; is the package installed beside reward-workbench? (pip install {error.name.split('.')[0]})"
        )
        raise LoadError(f"{path.name} failed to load: {describe_exception(error)}{advice}") from error
    except SystemExit as error:
        code = writable(str(error.code or 0))
        raise LoadError(
            f"{path.name} failed to load: it ends the process at import (exit code {code}); "
            "put such calls under `if __name__ == '__main__':`"
        ) from error
    except BaseException as error:  # the user's module code may raise anything
        raise LoadError(f"{path.name} failed to load: {describe_exception(error)}") from error


def _line_of_nul(path: Path) -> int | None:
    """The line of the first NUL, which Python refuses without naming it."""
    try:
        before, nul, _ = path.read_bytes().partition(b"\0")
    except OSError:
        return None
    return before.count(b"\n") + 1 if nul else None


def find_rewards(module: types.ModuleType) -> dict[str, Reward]:
    """Every reward of a loaded file, by name, in the order of the file.

    A reward is public, bound at module level by something else than an import, callable but no class, and
    takes `completions` (or is marked with `@reward`). In a file without one, functions that are written for another
    training system are (`rewards.adapters`).
    """
    path = getattr(module, "__file__", None)
    tree = ast.parse(Path(path).read_bytes()) if path else ast.Module([], [])
    public: dict[str, Reward] = {}
    for name in _bound_names(tree):
        value = module.__dict__.get(name)
        if name.startswith("_") or value is None or inspect.isclass(value) or not callable(value):
            continue
        if not inspect.ismodule(value):
            public[name] = value
    found = {name: value for name, value in public.items() if mark_of(value) or _takes_completions(value)}
    return found or {name: value for name, value in public.items() if system_of(value)}


def _bound_names(tree: ast.Module) -> list[str]:
    """Names bound at module level by a definition or an assignment, in order, without those bound by an import."""
    bound: dict[str, None] = {}
    imported: set[str] = set()

    def visit(statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                bound[statement.name] = None
            elif isinstance(statement, (ast.Import, ast.ImportFrom)):
                imported.update((alias.asname or alias.name).split(".")[0] for alias in statement.names)
            elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                for target in targets:
                    bound.update((node.id, None) for node in ast.walk(target) if isinstance(node, ast.Name))
            else:
                for part in ("body", "orelse", "finalbody"):
                    if not isinstance(statement, ast.ClassDef):
                        visit(getattr(statement, part, []))
                for handler in getattr(statement, "handlers", []):
                    visit(handler.body)

    visit(tree.body)
    return [name for name in bound if name not in imported or name in _redefined(tree)]


def _redefined(tree: ast.Module) -> set[str]:
    return {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def _takes_completions(value: Any) -> bool:
    try:
        parameters = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return False
    if "completions" in parameters:
        return True
    # a decorator without functools.wraps hides the signature; the wrapped function is usually in its closure
    cells = [cell for cell in getattr(value, "__closure__", None) or () if _filled(cell)]
    return any(
        inspect.isfunction(cell.cell_contents) and _takes_completions(cell.cell_contents) for cell in cells
    )


def _filled(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


__all__ = ["MARK", "Transform", "find_rewards", "forget_local", "load_file", "load_module", "module_name"]
