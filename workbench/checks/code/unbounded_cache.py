"""RW914: a cache without a limit."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code, is_name, method_on
from workbench.checks.subject import RewardSubject

EMPTYING = frozenset(["pop", "popitem", "clear"])


class UnboundedCache(Lead):
    """Something is remembered for every completion, without a limit.

    `functools.cache`, `lru_cache(maxsize=None)` and a dictionary at module level keep everything: after a million
    completions the trainer's memory is full of texts that never come again. Functions without arguments, and
    dictionaries that are emptied or asked for their size, are not reported.

    Example:
        @functools.cache
        def words(text): ...

    Remedy:
        `functools.lru_cache(maxsize=10_000)`.
    """

    code = "RW914"
    name = "unbounded-cache"
    summary = "a cache without a limit keeps every completion"
    advice = "Give it a limit: functools.lru_cache(maxsize=10_000)."
    proved_by = ("RW505", "RW203")

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """Decorators, and module-level dictionaries that only grow."""
        for function in code.functions:
            arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            for decorator in function.decorator_list if arguments else []:
                if _is_endless(code, decorator):
                    yield Spot(
                        decorator.lineno,
                        f"remembers every result of {function.name}",
                        f"cache {function.name}",
                    )
        for name in _dictionaries(code):
            line = _grows(code, name)
            if line is not None and not _is_bounded(code, name):
                yield Spot(line, f"puts ever more into {name}", f"cache {name}")


def _is_endless(code: Code, decorator: ast.expr) -> bool:
    call = decorator if isinstance(decorator, ast.Call) else None
    name = code.named(call.func if call is not None else decorator)
    if name == "functools.cache":
        return True
    if name != "functools.lru_cache" or call is None:
        return False
    sizes = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "maxsize")]
    return any(isinstance(size, ast.Constant) and size.value is None for size in sizes)


def _dictionaries(code: Code) -> list[str]:
    """Names at module level that are given a dictionary."""
    found = []
    for statement in code.tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.lineno in code.lines:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            value = statement.value
            makes = isinstance(value, ast.Dict) and not value.keys
            makes = makes or (
                isinstance(value, ast.Call) and code.called(value) in ("dict", "collections.OrderedDict")
            )
            found += [target.id for target in targets if makes and isinstance(target, ast.Name)]
    return found


def _grows(code: Code, name: str) -> int | None:
    """The line on which a function puts something new into it."""
    for node in code.nodes(ast.Subscript):
        stored = isinstance(node.ctx, ast.Store) and is_name(node.value, name)
        if stored and code.in_function(node) and not isinstance(node.slice, ast.Constant):
            return node.lineno
    for call in code.nodes(ast.Call):
        if method_on(call, name) == "setdefault" and code.in_function(call):
            return call.lineno
    return None


def _is_bounded(code: Code, name: str) -> bool:
    """Whether something is taken out of it, or its size asked for."""
    for deletion in code.nodes(ast.Delete):
        if any(is_name(part, name) for part in ast.walk(deletion)):
            return True
    return any(
        method_on(call, name) in EMPTYING
        or (is_name(call.func, "len") and bool(call.args) and is_name(call.args[0], name))
        for call in code.nodes(ast.Call)
    )
