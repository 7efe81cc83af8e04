"""Small changes of Python code, one at a time: what a slip of the hand or a careless edit would make of it.

`code_changes` reads a file's text and lists changes as replacements of a stretch of it: constants, comparisons,
conditions, `and`/`or`, `not`, arithmetic, returns, flags and anchors of patterns, and a few calls that are easily
mixed up (`min`/`max`, `search`/`match`, a forgotten `strip`). Nothing is run. Left alone are docstrings,
annotations, decorators, imports, `raise` and `assert`, f-strings, prints, and the texts of keys that only name a
column or a message's field.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from workbench.mutants.literals import Literals

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
REVERSED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
MIXED_UP = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "startswith": "endswith",
    "endswith": "startswith",
    "find": "rfind",
    "rfind": "find",
    "index": "rindex",
    "rindex": "index",
    "partition": "rpartition",
    "rpartition": "partition",
    "search": "match",
    "match": "search",
    "fullmatch": "match",
}
FORGOTTEN = ("strip", "lstrip", "rstrip", "lower", "upper", "casefold", "abs", "round", "sorted")
PATTERN_CALLS = ("search", "match", "fullmatch", "findall", "finditer", "compile", "split", "sub")
NAMES_OF_FIELDS = ("role", "content", "assistant", "user", "system", "tool")


@dataclass(frozen=True)
class CodeChange:
    """One change: the bytes `start` to `end` of the file's UTF-8 text are replaced by `text`.

    `line` and `column` (from 1 and 0, as in `ast`) say where it begins; `what` is the sort of change ("constant",
    "comparison", "condition", "logic", "negation", "arithmetic", "return", "pattern", "call", "loop"); `before`
    and `after` are for a reader.
    """

    line: int
    column: int
    end_line: int
    start: int
    end: int
    text: str
    what: str
    before: str
    after: str

    def apply(self, source: bytes) -> bytes:
        """The changed file.

        >>> [change] = code_changes("def f(a):\\n    return a < b\\n", what=["comparison"])[:1]
        >>> change.apply(b"def f(a):\\n    return a < b\\n")
        b'def f(a):\\n    return (a <= b)\\n'
        """
        return source[: self.start] + self.text.encode("utf-8", "surrogatepass") + source[self.end :]

    def __str__(self) -> str:
        return f"{self.after} for {self.before}"


def code_changes(
    source: str, lines: Collection[int] | None = None, *, what: Collection[str] = ()
) -> list[CodeChange]:
    """Every change of the code on some lines, in the order of the text; [] where it is no Python.

    Args:
        source: the text of a file.
        lines: the lines to change; None: all.
        what: only these sorts of change; none: all.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    text = source.encode("utf-8", "surrogatepass")
    places = _Places(text)
    written = Literals(source).written
    found: dict[tuple[int, int, str], CodeChange] = {}
    for node in _changeable(tree):
        if lines is not None and node.lineno not in lines:
            continue
        for sort, old, new, before, after in _changes(node):
            start, end = places.span(old)
            before, after = telling(written(before), written(after))
            change = CodeChange(
                old.lineno, old.col_offset, old.end_lineno or old.lineno, start, end, new, sort, before, after
            )
            if not what or sort in what:
                found.setdefault((start, end, new), change)
    return sorted(found.values(), key=lambda change: (change.start, change.end))


def spread(changes: list[CodeChange], most: int) -> list[CodeChange]:
    """At most `most` of the changes, in the order to try them: one of each sort on each line first, then the others."""
    turns: dict[tuple[int, str], list[CodeChange]] = {}
    for change in changes:
        turns.setdefault((change.line, change.what), []).append(change)
    taken: list[CodeChange] = []
    for place in range(max(map(len, turns.values()), default=0)):
        row = [own[place] for own in turns.values() if place < len(own)]
        room = most - len(taken)
        if room < len(row):
            row = [row[index * len(row) // room] for index in range(room)]
        taken += row
        if len(taken) >= most:
            break
    return taken


class _Places:
    """Byte offsets of nodes in a file."""

    def __init__(self, text: bytes) -> None:
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[end_line - 1] + end_column


_Node = ast.expr | ast.stmt
_Change = tuple[str, _Node, str, str, str]
"""Sort of change, the node replaced, the new text, and both as a reader sees them."""


def _changeable(tree: ast.Module) -> Iterator[_Node]:
    """Nodes that may be changed, outermost first."""
    pending: list[ast.AST] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Raise, ast.Assert, ast.JoinedStr)):
            continue
        if isinstance(node, ast.If) and _guards(node.test):
            continue
        if isinstance(node, ast.Expr) and (_is_text(node.value) or _prints(node.value)):
            continue
        if isinstance(node, (ast.expr, ast.stmt)):
            yield node
        pending += reversed(list(_children(node)))


def _children(node: ast.AST) -> Iterator[ast.AST]:
    own_pattern = _pattern_of(node)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "bases", "ctx"):
            continue
        if name == "slice" and _names_a_field(value):
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST) and item is not own_pattern:
                yield item


def _guards(test: ast.expr) -> bool:
    """`__name__ == "__main__"` and `TYPE_CHECKING`."""
    return any(
        isinstance(part, ast.Name) and part.id in ("__name__", "TYPE_CHECKING") for part in ast.walk(test)
    )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _names_a_field(node: object) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _prints(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = _called(node)
    return name in ("print", "debug", "info", "warning", "error", "log_extra", "log_metric", "credit")


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _changes(node: _Node) -> Iterator[_Change]:
    for kind, make in _MAKERS:
        if isinstance(node, kind):
            yield from make(node)


def _swap(sort: str, old: _Node, new: ast.AST) -> _Change:
    """A change of one expression into another; the new one in brackets, whatever stands around it."""
    after = ast.unparse(ast.fix_missing_locations(new))
    text = f"({after})" if isinstance(new, ast.expr) else after
    return sort, old, text, ast.unparse(old), after


def telling(before: str, after: str, most: int = 44) -> tuple[str, str]:
    """Two pieces of code for a reader: whole where they are short, else what differs with a little around it.

    >>> telling("text.strip().partition('x')[2].strip()", "text.strip().rpartition('x')[2].strip()", most=20)
    ("... .partition('x') ...", "... .rpartition('x') ...")
    """
    if max(len(before), len(after)) <= most:
        return before, after
    start = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    start = max(0, start - 1)
    tail = 0
    while tail < min(len(before), len(after)) - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    tail = max(0, tail - 14)

    def part(code: str) -> str:
        end = len(code) - tail
        inner = code[start:end]
        inner = inner if len(inner) <= most else inner[: most - 4] + " ..."
        return ("... " if start else "") + inner + (" ..." if tail else "")

    shown = part(before), part(after)
    return shown if shown[0] != shown[1] else (before, after)  # never the same text for two pieces of code


def _constant(node: ast.Constant) -> Iterator[_Change]:
    value = node.value
    if isinstance(value, bool):
        yield _swap("constant", node, ast.Constant(not value))
    elif isinstance(value, int):
        for other in dict.fromkeys((value + 1, value - 1 if value > 0 else value + 1)):
            yield _swap("constant", node, ast.Constant(other))
    elif isinstance(value, float):
        yield _swap("constant", node, ast.Constant({0.0: 1.0, 1.0: 0.5}.get(value, value * 2)))
    elif isinstance(value, str) and value not in NAMES_OF_FIELDS and len(value) <= 200:
        yield _swap("constant", node, ast.Constant(value + "!"))


def _minus(node: ast.UnaryOp) -> Iterator[_Change]:
    number = node.operand.value if isinstance(node.operand, ast.Constant) else None
    if isinstance(node.op, ast.USub):
        if isinstance(number, int):
            yield _swap("constant", node, ast.Constant(number - 1))
        yield _swap("arithmetic", node, node.operand)
    elif isinstance(node.op, ast.Not):
        yield _swap("negation", node, node.operand)


def _compare(node: ast.Compare) -> Iterator[_Change]:
    for place, operator in enumerate(node.ops):
        others = [COMPARED[type(operator)]]
        if isinstance(operator, REVERSED):
            others.append(
                {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}[type(operator)]
            )
        for other in others:
            operators = [*node.ops[:place], other(), *node.ops[place + 1 :]]
            yield _swap("comparison", node, ast.Compare(node.left, operators, node.comparators))


def _logic(node: ast.BoolOp) -> Iterator[_Change]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    yield (*_swap("logic", node, ast.BoolOp(other, node.values))[:3], *words)
    for place in range(len(node.values) if len(node.values) <= 4 else 0):
        left = [*node.values[:place], *node.values[place + 1 :]]
        yield _swap("logic", node, left[0] if len(left) == 1 else ast.BoolOp(node.op, left))


def _arithmetic(node: ast.BinOp) -> Iterator[_Change]:
    other = ARITHMETIC.get(type(node.op))
    if other is None or _flags(node):
        return
    text_joined = isinstance(node.op, (ast.Add, ast.Mod)) and (_is_text(node.left) or _is_text(node.right))
    if not text_joined:
        yield _swap("arithmetic", node, ast.BinOp(node.left, other(), node.right))


def _condition(node: ast.If | ast.IfExp | ast.While) -> Iterator[_Change]:
    if isinstance(node.test, ast.Constant):
        return
    values = (False,) if isinstance(node, ast.While) else (True, False)
    for value in values:
        yield _swap("condition", node.test, ast.Constant(value))


def _filter(node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Iterator[_Change]:
    for part in node.generators:
        for test in part.ifs:
            yield _swap("condition", test, ast.Constant(True))


def _return(node: ast.Return) -> Iterator[_Change]:
    if node.value is None or isinstance(node.value, (ast.List, ast.ListComp)):
        return
    if not isinstance(node.value, ast.Constant):
        yield _swap("return", node, ast.Return(ast.Constant(None)))


def _augmented(node: ast.AugAssign) -> Iterator[_Change]:
    other = ARITHMETIC.get(type(node.op))
    if other is not None:
        yield _swap("arithmetic", node, ast.AugAssign(node.target, other(), node.value))
    yield _swap("arithmetic", node, ast.Pass())


def _jump(node: ast.Continue | ast.Break) -> Iterator[_Change]:
    yield _swap("loop", node, ast.Break() if isinstance(node, ast.Continue) else ast.Continue())


def _call(node: ast.Call) -> Iterator[_Change]:
    name = _called(node)
    if name in MIXED_UP:
        function: ast.expr = (
            ast.Attribute(node.func.value, MIXED_UP[name], ast.Load())
            if isinstance(node.func, ast.Attribute)
            else ast.Name(MIXED_UP[name], ast.Load())
        )
        yield _swap("call", node, ast.Call(function, node.args, node.keywords))
    if name in FORGOTTEN:
        inner = [node.func.value] if isinstance(node.func, ast.Attribute) else node.args[:1]
        for whole in inner:
            yield _swap("call", node, whole)
    if name in PATTERN_CALLS:
        yield from _pattern(node)


def _pattern(node: ast.Call) -> Iterator[_Change]:
    """Flags left out, anchors left out, greedy for lazy."""
    for argument in [*node.args[1:], *(keyword.value for keyword in node.keywords)]:
        names = _flags(argument)
        for name in names:
            left = [ast.parse(f"re.{other}", mode="eval").body for other in names if other != name]
            rest = left[0] if left else ast.Constant(0)
            for other in left[1:]:
                rest = ast.BinOp(rest, ast.BitOr(), other)
            yield "pattern", argument, f"({ast.unparse(rest)})", f"re.{name}", f"no re.{name}"
    first = _pattern_of(node)
    if first is None:
        return
    for changed in loosened(str(first.value)):
        text = f"({changed!r})"
        yield "pattern", first, text, repr(first.value), repr(changed)


def _pattern_of(node: ast.AST) -> ast.Constant | None:
    """The text given to a function of `re` as its pattern; None where there is none."""
    if not (isinstance(node, ast.Call) and _called(node) in PATTERN_CALLS and node.args):
        return None
    of_re = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    if not (of_re and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "re"):
        return None
    first = node.args[0]
    return first if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def loosened(pattern: str) -> list[str]:
    """A pattern without its anchors, with `.*` for `.*?` and the other way round, and `*` for `+`, one at a time.

    >>> loosened("^a.*?b$")
    ['a.*?b$', '^a.*?b', '^a.*b$']
    """
    ways: tuple[Callable[[str], str], ...] = (
        lambda p: re.sub(r"\A(\^|\\A)", "", p),
        lambda p: p[:-1] if p.endswith("$") and not p.endswith("\\$") else p.removesuffix("\\Z"),
        lambda p: p.replace(".*?", ".*", 1) if ".*?" in p else p.replace(".*", ".*?", 1),
        lambda p: re.sub(r"(?<!\\)\+", "*", p, count=1),
        lambda p: p.replace("\\b", "", 1),
        lambda p: p.replace("\\s*", "", 1),
    )
    made = []
    for way in ways:
        changed = way(pattern)
        try:
            re.compile(changed)
        except re.error:
            continue
        if changed != pattern and changed not in made:
            made.append(changed)
    return made


def _flags(node: ast.AST) -> list[str]:
    """The names of `re.X | re.Y`, [] for anything else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left, right = _flags(node.left), _flags(node.right)
        return left + right if left and right else []
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re":
        return [node.attr] if isinstance(getattr(re, node.attr, None), re.RegexFlag) else []
    return []


_MAKERS: tuple[tuple[type[ast.AST] | tuple[type[ast.AST], ...], Callable[..., Iterator[_Change]]], ...] = (
    (ast.Constant, _constant),
    (ast.UnaryOp, _minus),
    (ast.Compare, _compare),
    (ast.BoolOp, _logic),
    (ast.BinOp, _arithmetic),
    ((ast.If, ast.IfExp, ast.While), _condition),
    ((ast.ListComp, ast.GeneratorExp, ast.SetComp), _filter),
    (ast.Return, _return),
    (ast.AugAssign, _augmented),
    ((ast.Continue, ast.Break), _jump),
    (ast.Call, _call),
)


__all__ = ["CodeChange", "code_changes", "loosened", "spread"]
