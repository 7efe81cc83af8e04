"""Inside the worker: the patterns a reward uses, and the processor time it takes on given texts."""

from __future__ import annotations

import ast
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rewards.contract import call, unwrap
from workbench.checks.observing import batch_of, reward_named
from workbench.checks.robustness.auditing import is_local
from workbench.checks.robustness.growth import (
    Growth,
    matcher,
    pattern_growth,
    processor_seconds,
    worst_growth,
)
from workbench.checks.robustness.pumps import Pump

METHODS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub")
MOST_PATTERNS = 40
Used = dict[tuple[str, int], tuple[str, int | None]]
"""(pattern, flags) with how it is used and the line it is written on."""


def pattern_growths(
    context: Any, *, reward: str, rows: list[int], lines: list[int], seconds: float
) -> list[dict[str, Any]]:
    """The patterns of a reward whose time grows: `pattern`, `line`, `method`, and the fields of `Growth`.

    Args:
        rows: called once, to see patterns that are put together when the reward runs.
        lines: lines of the reward's file that it can run.
        seconds: processor seconds for all patterns together, about.
    """
    end = time.process_time() + seconds
    found = []
    for (pattern, flags), (method, line) in list(used_patterns(context, reward, rows, lines).items())[
        :MOST_PATTERNS
    ]:
        if time.process_time() > end:
            break
        growth = pattern_growth(pattern, flags, method)
        if growth is not None:
            found.append({"pattern": pattern, "line": line, "method": method, "growth": growth.to_json()})
    return found


def used_patterns(context: Any, reward: str, rows: list[int], lines: list[int]) -> Used:
    """The patterns a reward uses: as they are written, as its names hold them, and as one call compiles them.

    Besides the reward's own file, of which `lines` count, all of the local modules that were loaded are read; a
    pattern of theirs has no line.
    """
    function, entry = reward_named(context, reward)
    inner = unwrap(function)
    code = getattr(inner, "__code__", None) or getattr(type(inner).__call__, "__code__", None)
    if code is None:
        return {}
    own = str(code.co_filename)
    root = str(context.rewardset.root)
    used: Used = {}
    modules = [(own, getattr(inner, "__globals__", {}), set(lines))]
    modules += [(file, names, set()) for file, names in _local_modules(root) if file != own]
    texts: Used = {}
    for file, names, some in modules:
        held, written = _patterns_of(file, names, some)
        used.update({key: value for key, value in held.items() if key not in used})
        texts.update({key: value for key, value in written.items() if key not in texts})
    heard: list[tuple[str, int, str, int | None]] = []
    with _Listening(own, root, heard):
        call(function, batch_of(context, rows), params=entry.params)
    for text, flags, method, line in heard:
        used.setdefault((text, flags), (method, line))
    known = {text for text, _ in used}
    used.update({key: value for key, value in texts.items() if key[0] not in known})
    return used


def _patterns_of(file: str, names: Mapping[str, Any], lines: set[int]) -> tuple[Used, Used]:
    """Compiled patterns that a file's names hold, and those written in it; of `lines` alone, where there are any."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}, {}
    places, methods = _named_patterns(tree), _methods(tree)
    held: Used = {}
    for name, pattern in _held(names, places):
        if not lines or places[name] in lines:
            held.setdefault(pattern, (methods.get(name, "search"), places[name] if lines else None))
    written: Used = {}
    for text, flags, method, line in _written(tree):
        if not lines or line in lines:
            written.setdefault((text, flags), (method, line if lines else None))
    return held, written


def _local_modules(root: str) -> list[tuple[str, dict[str, Any]]]:
    """Files below the target's folder that were loaded, with their names; installed packages and we are not local."""
    found = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] in ("rewards", "workbench"):
            continue
        if isinstance(file, str) and is_local(file, root):
            found.append((file, vars(module)))
    return found


def _held(names: Mapping[str, Any], places: Mapping[str, int]) -> Iterator[tuple[str, tuple[str, int]]]:
    """Compiled patterns that module-level names of the file hold, also in lists and dictionaries."""
    for name in places:
        value = names.get(name)
        inside: list[Any] = [value]
        if isinstance(value, (list, tuple, set, frozenset)):
            inside = list(value)
        elif isinstance(value, dict):
            inside = [*value.keys(), *value.values()]
        for item in inside:
            for part in item if isinstance(item, (list, tuple)) else (item,):
                if isinstance(part, re.Pattern) and isinstance(part.pattern, str):
                    yield name, (part.pattern, part.flags)


def _named_patterns(tree: ast.Module) -> dict[str, int]:
    """Module-level names that are given a value, with the line."""
    return {
        target.id: statement.lineno
        for statement in tree.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name)
    }


def _methods(tree: ast.Module) -> dict[str, str]:
    """How a name is used as a pattern: NAME.match(...)."""
    return {
        node.value.id: node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in METHODS
    }


def _written(tree: ast.Module) -> Iterator[tuple[str, int, str, int]]:
    """(pattern, flags, method, line) of each `re.METHOD("...")`."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        first, owner = node.args[0], node.func.value
        of_re = isinstance(owner, ast.Name) and owner.id == "re"
        if of_re and isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value, _flags(node), node.func.attr, node.lineno


def _flags(node: ast.Call) -> int:
    """The flags a call of `re` is given by name."""
    flags = 0
    for argument in [*node.args[1:], *(keyword.value for keyword in node.keywords)]:
        for part in ast.walk(argument):
            if isinstance(part, ast.Attribute) and isinstance(getattr(re, part.attr, None), re.RegexFlag):
                flags |= int(getattr(re, part.attr))
    return flags


class _Listening:
    """While it lasts, each pattern that local code hands to `re` as text is noted; with the line in `file`."""

    def __init__(self, file: str, root: str, heard: list[tuple[str, int, str, int | None]]) -> None:
        self.file = file
        self.root = root
        self.heard = heard

    def __enter__(self) -> None:
        self.before = re._compile  # type: ignore[attr-defined]  # where all functions of re meet

        def listen(pattern: Any, flags: Any) -> Any:
            frame = sys._getframe(1)
            method, caller = frame.f_code.co_name, frame.f_back
            compiled = self.before(pattern, flags)
            file = caller.f_code.co_filename if caller is not None else ""
            if isinstance(pattern, str) and (file == self.file or is_local(file, self.root)):
                line = caller.f_lineno if caller is not None and file == self.file else None
                self.heard.append((pattern, int(flags), method, line))
            return compiled

        re._compile = listen  # type: ignore[attr-defined]

    def __exit__(self, *_: object) -> None:
        re._compile = self.before  # type: ignore[attr-defined]


def times_of(
    context: Any, *, reward: str, row: int, texts: list[str], chat: bool, limit: float
) -> list[float]:
    """Processor seconds of the reward on each text as completion of `row`; `limit` where it was ended there."""
    run = _runner(context, reward, row, chat)
    return [processor_seconds(lambda t=text: run(t), limit) for text in texts]  # type: ignore[misc]


def patterns_share(context: Any, *, reward: str, row: int, text: str, lines: list[int], chat: bool) -> float:
    """The share of the reward's time on a text that its patterns take on that text by themselves (may exceed 1)."""
    whole = times_of(context, reward=reward, row=row, texts=[text], chat=chat, limit=2.0)[0]
    patterns = 0.0
    for (pattern, flags), (method, _) in used_patterns(context, reward, [row], lines).items():
        run = matcher(pattern, flags, method)
        patterns += processor_seconds(lambda r=run: r(text), 2.0)  # type: ignore[misc]
    return patterns / max(1e-6, whole)


def reward_growth(
    context: Any, *, reward: str, row: int, pumps: list[list[str]], chat: bool, seconds: float
) -> dict[str, Any] | None:
    """How the time of the whole reward grows on the worst of `pumps` ([before, again]); None where it does not."""
    run = _runner(context, reward, row, chat)
    growth: Growth | None = worst_growth(
        run, [Pump(before, again) for before, again in pumps], budget_s=seconds
    )
    return None if growth is None else growth.to_json()


def _runner(context: Any, reward: str, row: int, chat: bool) -> Callable[[str], Any]:
    function, entry = reward_named(context, reward)

    def run(text: str) -> Any:
        completion = [{"role": "assistant", "content": text}] if chat else text
        return call(function, batch_of(context, [row], [completion]), params=entry.params)

    return run


__all__ = ["pattern_growths", "patterns_share", "reward_growth", "times_of", "used_patterns"]
