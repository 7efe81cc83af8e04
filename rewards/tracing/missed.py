"""What did not run and would have paid.

For every `if` that ran, the branches it did not take are read as text: which variables, lists and items they would
have given constants or settings. What that would have done to the score is worked out by `changing`. Of branches
that exclude each other only the best counts, against what the branch that ran gave. Whatever is not certain is
left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewards.tracing.amounts import appended, choices_of, leaves, ways_of
from rewards.tracing.attribution import Part
from rewards.tracing.bounds import finite, is_setting
from rewards.tracing.changing import Change, Edge, Graph, read_as
from rewards.tracing.nodes import NODES, Branches, SourceFile
from rewards.tracing.provenance import Origin
from rewards.tracing.scopes import own_nodes
from rewards.tracing.state import STATE
from rewards.tracing.untaken import APPENDED, Way, list_of, ways_through

_SMALL = 1e-9
_SLIGHTLY = 2.0**-20
_ROUNDING = 1e-6
_MOST_TESTS = 400
_MOST_OF_A_LINE = 8
"""Missed parts of one statement that are told one by one."""


@dataclass(frozen=True)
class Missed:
    """An amount that would have been added to the score.

    `condition`, `value`: the test that would have had to go the other way, and what it gave; None where it was not
    made; `name`: the last of several tests; `test`: the test itself; `under`: the one that decided otherwise;
    `count`: how many of one statement it stands for; `instead`: what the branch that ran gave, where all its
    alternatives are constants; `part`: the part of the score that this is, where it is one that was worth 0.
    """

    amount: float
    changes: tuple[Change, ...]
    line: int = 0
    condition: str = ""
    value: bool | None = None
    name: str = ""
    test: Origin | None = None
    after: Callable[[Change, Edge], bool | None] = lambda change, edge: True
    count: int = 1
    instead: tuple[Origin, ...] = ()
    part: Part | None = None
    under: Origin | None = None


def missed_of(score: Origin, unpaid: Sequence[Part], *, alone: bool) -> list[Missed]:
    """What would have added to a score: first its own parts that gave nothing, then what did not run.

    Args:
        score: where it came from.
        unpaid: its parts that are worth 0.
        alone: the reward was called with this row only, so that every test that ran belongs to it.
    """
    if not finite(score.value):
        return []
    graph = Graph(score, STATE.tests)
    if graph.large:
        return [Missed(part.of, (), part=part) for part in unpaid if part.of is not None and part.of > 0]
    decided = [one for each in _decisions() if (one := _Reading(graph, each, alone).best()) is not None]
    found = [
        *(one for part in unpaid if (one := _worth_nothing(graph, part)) is not None),
        *(one for one in decided if not any(_excludes(other, one) for other in decided)),
        *_returns(graph),
    ]
    return _together(graph, found)


def _excludes(other: Missed, one: Missed) -> bool:
    """Whether another missed part, of a test around or inside the one of this, leaves no room for it."""
    if other.under is None or one.under is None or other.under is one.under:
        return False
    nested = _is_under(one.under, other.under) or _is_under(other.under, one.under)
    shared = {id(change.at) for change in other.changes} & {id(change.at) for change in one.changes}
    return nested and bool(shared) and (other.amount, id(other)) > (one.amount, id(one))


def _is_under(origin: Origin, test: Origin) -> bool:
    """Whether a test decided that something ran."""
    guard = origin.guard
    while guard is not None and guard is not test:
        guard = guard.guard
    return guard is not None


def _worth_nothing(graph: Graph, part: Part) -> Missed | None:
    """A part worth 0, if more of it would have added to the score."""
    if part.of is None or part.of <= 0:
        return None
    if part.site not in graph or not finite(part.site.value):
        return Missed(part.of, (), part=part)
    slope = graph.gain([Change(part.site, _SLIGHTLY)])
    if slope is None or slope <= 0:
        return None
    change = Change(part.site, round(part.of * _SLIGHTLY / slope, 8))
    amount = graph.gain([change])
    if amount is None or amount <= _SMALL:
        return None
    return Missed(part.of if amount > part.of - _ROUNDING else amount, (change,), part=part)


# --------------------------------------------------------------------------------------- what was decided


@dataclass(frozen=True)
class _Decision:
    """An `if`, its `elif`s and its `else`, as it went once.

    `ran`: each test that was made; `taken`: the block that ran, None where none did and nothing is behind.
    """

    ran: tuple[Origin, ...]
    blocks: tuple[tuple[ast.stmt, ...], ...]
    tests: tuple[ast.expr | None, ...]  # None: the `else`
    taken: int | None
    before: Mapping[str, Origin | None]
    branches: Branches

    @property
    def last(self) -> Origin:
        """The test that decided."""
        return self.ran[-1]


def _branches(test: Origin) -> Branches | None:
    extra = NODES[test.node].extra
    return extra if isinstance(extra, Branches) else None


def _decisions() -> Iterator[_Decision]:
    """What the `if`s of the running code decided; `elif`s belong to their `if`."""
    continued: set[int] = set()
    follows: dict[int, list[tuple[Origin, Any]]] = {}
    for test, before in STATE.before:
        branches = _branches(test)
        assert branches is not None
        orelse = branches.tree.orelse
        if len(orelse) == 1 and isinstance(orelse[0], ast.If):
            continued.add(id(orelse[0]))
        if test.guard is not None:
            follows.setdefault(id(test.guard), []).append((test, before))
    begun = [(test, before) for test, before in STATE.before if id(_branches(test).tree) not in continued]  # type: ignore[union-attr]
    for test, before in begun[:_MOST_TESTS]:
        yield _decision(test, before, follows)


def _decision(
    first: Origin, before: Mapping[str, Origin | None], follows: dict[int, list[tuple[Origin, Any]]]
) -> _Decision:
    branches = _branches(first)
    assert branches is not None
    ran, blocks, tests = [first], [], []
    taken: int | None = None
    tree: Any = branches.tree
    at: Origin | None = first
    while True:
        blocks.append(tuple(tree.body))
        tests.append(tree.test)
        if at is not None and at.value:
            taken = len(blocks) - 1
        if len(tree.orelse) != 1 or not isinstance(tree.orelse[0], ast.If):
            break
        tree = tree.orelse[0]
        if at is not None:
            here = [
                one
                for one, _ in follows.get(id(at), ())
                if (found := _branches(one)) is not None and found.tree is tree
            ]
            at = here[0] if here and not at.value else None
            ran += [at] if at is not None else []
    rest = tree.orelse
    if not rest and all(leaves(block) for block in blocks):
        rest = branches.behind
    blocks.append(tuple(rest))
    tests.append(None)
    return _Decision(
        tuple(ran), tuple(blocks), tuple(tests), len(blocks) - 1 if taken is None else taken, before, branches
    )


# ---------------------------------------------------------------------------------------- what it would have done


class _Reading:
    """Looks for the best of the branches that one `if` did not take."""

    def __init__(self, graph: Graph, decision: _Decision, alone: bool) -> None:
        self.graph = graph
        self.decision = decision
        self.alone = alone
        self.file: SourceFile = decision.last.place.file
        self.function = NODES[decision.last.place.function].tree
        self.under = decision.last

    def best(self) -> Missed | None:
        """The branch that would have added most to the score, if any would."""
        decision = self.decision
        ways = [ways_through(block, [Way(self._known())]) for block in decision.blocks]
        best: Missed | None = None
        for at, test in enumerate(decision.tests):
            for way in ways[at] if at != decision.taken else ():
                one = self._worth(way, test, at)
                if one is not None and (best is None or one.amount > best.amount + _SMALL):
                    best = one
        if best is not None and all(None not in way.values.values() for each in ways for way in each):
            instead = tuple(
                change.at for change in best.changes if change.at not in self.decision.before.values()
            )
            best = replace(best, instead=instead)
        return best

    def _known(self) -> dict[str, Any]:
        """Numbers and tables that amounts may be written with."""
        known = {name: self.file.settings.get(name) for name in self.decision.branches.settings}
        for name, origin in self.decision.before.items():
            if origin is not None and is_setting(origin):
                known[name] = origin.value
        return known

    def _worth(self, way: Way, test: ast.expr | None, at: int) -> Missed | None:
        """What a way would have added to the score; None where nothing, or where that is not known."""
        changes, without = [], []
        for key, value in way.values.items():
            place = self._place(key) if not way.left or key.startswith(APPENDED) else None
            if place is None or place[0] not in self.graph:
                continue
            origin, base = place
            if value is None or (way.added[key] and base is None) or self._decided_by(origin):
                return None
            if way.added[key] and base is not None:
                changes.append(Change(origin, base + value - float(origin.value)))
                without.append(Change(origin, base - float(origin.value)))
            else:
                changes.append(Change(origin, value, added=False))
                without.append(Change(origin, 0.0, added=False))
        changes = [one for one in changes if one.of(float(one.at.value)) != one.at.value]
        amount = self.graph.gain(changes, self._after) if changes and not self._elsewhere(way) else None
        nothing = self.graph.gain(without, self._after)
        if amount is None or nothing is None or amount <= _SMALL or nothing > amount - _SMALL:
            return None  # what only costs less than that which ran pays nothing
        condition, made, ran = self._condition(way, test, at)
        name = _words(self.file, *way.tests[-1]) if way.tests else condition
        line = min(way.lines.values())
        return Missed(amount, tuple(changes), line, condition, made, name, ran, self._after, under=self.under)

    def _decided_by(self, origin: Origin) -> bool:
        """True for a number that the tests themselves were made of, as in `if score > 1: score = 1`."""
        return any(self.graph.decides(origin, test) for test in self.decision.ran)

    def _elsewhere(self, way: Way) -> bool:
        """True where a way ends with a return that is not the one that gave the score."""
        if way.returned is None:
            return False
        others = {
            ast.unparse(node.value)
            for node in own_nodes(self.function.body)  # type: ignore[attr-defined]
            if isinstance(node, ast.Return) and node.value is not None and not ways_of(node.value, {})
        }
        return others != {ast.unparse(way.returned)}

    # ------------------------------------------------------------------------------- where it would have done it

    def _place(self, key: str) -> tuple[Origin, float | None] | None:
        """The number that would have been another, and what it was before the `if`."""
        if key.startswith(APPENDED):
            origin = self._appended(key)
            return (origin, None) if origin is not None else None
        if not key.isidentifier():
            return self._slot(key)
        before = self.decision.before.get(key)
        base = float(before.value) if before is not None and finite(before.value) else None
        stored = _storing(self._taken(), key)
        if not stored:
            return (before, base) if before is not None else None
        found = self._made_by(stored)
        return (found, base) if found is not None else None

    def _taken(self) -> Sequence[ast.stmt]:
        taken = self.decision.taken
        return self.decision.blocks[taken] if taken is not None else ()

    def _made_by(self, trees: Sequence[ast.AST]) -> Origin | None:
        """The last number in the score that the branch that ran made by one of these expressions or statements."""
        wanted = {id(tree) for tree in trees}
        found = [
            node
            for node in self.graph.nodes[: self.graph.of_score]
            if id(node.place.tree) in wanted and node.place.kind != "call" and _is_under(node, self.under)
        ]
        outer = [one for one in found if not any(one in other.parts for other in found if other is not one)]
        return outer[0] if len(outer) == 1 else None

    def _appended(self, key: str) -> Origin | None:
        """What the branch that ran, or what stands behind, appended to the same list instead."""
        statements = [*self._taken()] or [*self.decision.branches.behind]
        trees = [
            value
            for statement in statements
            if (value := appended(statement)) is not None and list_of(statement) == key
        ]
        return self._made_by(trees) if len(trees) == 1 else None

    def _slot(self, key: str) -> tuple[Origin, float | None] | None:
        """An item or attribute: as it was when the test was made, told from the order of the statements."""
        if not self.alone or _stored_in(self._taken(), key):
            return None
        made = [
            node
            for node in self.graph.nodes[: self.graph.of_score]
            if node.place.kind == "augslot"
            and node.op == "bin"
            and ast.unparse(node.place.tree.target) == key  # type: ignore[attr-defined]
            and node.place.function == self.under.place.function
        ]
        if len({node.node for node in made}) != len(made):
            return None
        line = self.decision.branches.tree.lineno
        earlier = [node for node in made if node.place.line < line]
        later = [node for node in made if node.place.line > line]
        if earlier:
            found: Any = max(earlier, key=lambda node: node.place.line)
        elif later:
            found = min(later, key=lambda node: node.place.line).parts[0]
        else:
            found = self.graph.score if self._is_returned(key) else None
        return (found, float(found.value)) if isinstance(found, Origin) and finite(found.value) else None

    def _is_returned(self, key: str) -> bool:
        """True for an item of the list that the function gives back, where nothing was made of the items."""
        score = self.graph.score
        returned = [
            ast.unparse(node.value)
            for node in own_nodes(self.function.body)  # type: ignore[attr-defined]
            if isinstance(node, ast.Return) and node.value is not None
        ]
        return score.op in ("const", "load") and [key.partition("[")[0]] == returned

    def _after(self, change: Change, edge: Edge) -> bool | None:
        """Whether a number was read after the test, under the name that the branch would have changed."""
        before = [name for name, origin in self.decision.before.items() if origin is change.at]
        read = read_as(edge)
        if not before or read is None or (edge[0].place.kind == "aug" and edge[1] == 0 and read[0] in before):
            return True
        name, line = read
        if name not in before:
            return True if self._later_name(before, name) else None
        return True if line >= self.decision.branches.tree.lineno else None

    def _later_name(self, before: Sequence[str], name: str) -> bool:
        """True for a variable that got the value from the changed one behind the test."""
        lets = [
            node
            for node in own_nodes(self.function.body)  # type: ignore[attr-defined]
            if isinstance(node, ast.Assign)
            and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
        ]
        copies = [node for node in lets if isinstance(node.value, ast.Name) and node.value.id in before]
        return bool(copies) and all(node.lineno > self.decision.branches.tree.lineno for node in copies)

    # ------------------------------------------------------------------------------------------ how it is told

    def _condition(self, way: Way, test: ast.expr | None, at: int) -> tuple[str, bool | None, Origin | None]:
        """The words of what would have had to be, the value of the test that is shown, and that test."""
        ran = self.decision.ran
        shown = ran[-1] if test is None else ran[at] if at < len(ran) else None
        own = shown.place.text if shown is not None else self.file.segment(test) if test is not None else ""
        further = [_words(self.file, one, holds) for one, holds in way.tests]
        if not further:
            return own, bool(shown.value) if shown is not None else None, shown
        first = _words(self.file, shown.place.tree, False) if test is None and shown is not None else own
        return _joined([first, *further]), False if shown is not None else None, shown


def _words(file: SourceFile, tree: Any, holds: bool) -> str:
    """A test as it is written, or its opposite."""
    if holds:
        return file.segment(tree)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return file.segment(tree.operand)
    if isinstance(tree, ast.Compare) and type(tree.ops[0]) in _OPPOSITE and len(tree.ops) == 1:
        left, right = file.segment(tree.left), file.segment(tree.comparators[0])
        return f"{left} {_OPPOSITE[type(tree.ops[0])]} {right}"
    return f"not ({file.segment(tree)})"


def _joined(texts: Sequence[str]) -> str:
    """Several tests as one."""
    return " and ".join(f"({text})" if " or " in text else text for text in texts)


_OPPOSITE: dict[type, str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">", ast.In: "not in",
    ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip


def _storing(statements: Sequence[ast.stmt], name: str) -> list[ast.AST]:
    """The statements that add to a variable, and the values that are assigned to it, in the order of the lines."""
    found: list[tuple[int, ast.AST]] = []
    for node in own_nodes(statements):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            found.append((node.lineno, node))
        elif isinstance(node, ast.Assign) and any(
            isinstance(one, ast.Name) and one.id == name for one in node.targets
        ):
            found.append((node.lineno, node.value))
        elif isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            found.append((node.lineno - 1, node))
    return [tree for _, tree in sorted(found, key=lambda one: one[0])]


def _stored_in(statements: Sequence[ast.stmt], key: str) -> bool:
    return any(
        isinstance(node, (ast.Attribute, ast.Subscript))
        and not isinstance(node.ctx, ast.Load)
        and ast.unparse(node) == key
        for node in own_nodes(statements)
    )


# ------------------------------------------------------------------------------------------------------- returns


def _returns(graph: Graph) -> Iterator[Missed]:
    """Functions on the way to the score that might have returned a larger constant."""
    seen: set[int] = set()
    for origin in graph.nodes[: graph.of_score]:
        inner = origin.parts[0] if origin.op == "ret" else None
        if not isinstance(inner, Origin) or id(inner) in seen:
            continue
        seen.add(id(inner))
        one = _other_return(graph, inner)
        if one is not None:
            yield one


def _other_return(graph: Graph, inner: Origin) -> Missed | None:
    place = inner.place
    function = NODES[place.function].tree
    if not place.function or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    returns = [
        node for node in own_nodes(function.body) if isinstance(node, ast.Return) and node.value is not None
    ]
    taken = [node for node in returns if node.value is place.tree]
    if len(taken) != 1:
        return None
    known = {name: value for name, value in place.file.settings.items() if name not in _own_names(function)}
    amounts = {id(node): choices_of(node.value, known) for node in returns if node.value is not None}
    nothing = graph.gain([Change(inner, 0.0, added=False)])
    best: Missed | None = None
    for other in returns:
        for value, tests in amounts[id(other)] if other is not taken[0] else ():
            change = Change(inner, value, added=False)
            gained = graph.gain([change])
            if gained is not None and gained > max(_SMALL, best.amount if best is not None else 0.0):
                condition, made, name, test = _condition_of(other, tests, function, inner, place.file)
                instead = (inner,) if all(amounts.values()) else ()
                best = Missed(gained, (change,), other.lineno, condition, made, name, test, instead=instead)
    return best if best is not None and nothing is not None and nothing <= best.amount - _SMALL else None


def _own_names(function: Any) -> set[str]:
    stored = {
        node.id
        for node in own_nodes(function.body)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    arguments = function.args
    return stored | {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


def _condition_of(
    wanted: ast.Return, tests: Sequence[tuple[ast.expr, bool]], function: Any, inner: Origin, file: SourceFile
) -> tuple[str, bool | None, str, Origin | None]:
    """The test that a return stands under, as it went in this call, with those of its own amount; its value, a name.

    For a return behind all tests it is the test that left before it.
    """
    made = []
    guard = inner.guard
    while guard is not None:
        made.append(guard)
        guard = guard.guard
    further = [_words(file, tree, holds) for tree, holds in tests]
    around = next((node for node in own_nodes(function.body) if _holds(node, wanted)), None)
    if isinstance(around, ast.match_case):
        guarded = f" if {file.segment(around.guard)}" if around.guard is not None else ""
        own = f"case {file.segment(around.pattern)}{guarded}"
        return _joined([own, *further]), None, own, None
    within = isinstance(around, ast.If) and any(one is wanted for one in around.body)
    if isinstance(around, ast.If):
        test = next((one for one in made if one.place.tree is around.test), None)
        tree: Any = around.test
    else:
        test = next((one for one in made if one.op == "test"), None)
        tree = test.place.tree if test is not None else wanted
    if not further:
        text = file.segment(tree)
        return text, bool(test.value) if test is not None else None, text, test
    first = [_words(file, tree, within)] if tree is not wanted else []
    return _joined([*first, *further]), False if test is not None else None, further[-1], test


def _holds(node: ast.AST, wanted: ast.Return) -> bool:
    """True for the `if` or `case` directly around a return."""
    if isinstance(node, ast.If):
        return any(one is wanted for one in (*node.body, *node.orelse))
    return isinstance(node, ast.match_case) and any(one is wanted for one in node.body)


# ------------------------------------------------------------------------------------------------- all of them


def _together(graph: Graph, found: list[Missed]) -> list[Missed]:
    """The missed parts as they may be added to the score: no more than all of them would have given together."""
    lines: dict[tuple[int, int], list[Missed]] = {}
    for one in found:
        key = (one.test.node if one.test is not None else 0, one.line if one.part is None else -id(one))
        lines.setdefault(key, []).append(one)
    merged: list[Missed] = []
    for group in lines.values():
        whole = _as_one(graph, group) if len(group) > _MOST_OF_A_LINE else None
        merged += [whole] if whole is not None else group if len(group) <= _MOST_OF_A_LINE else []
    kept: list[Missed] = []
    shown = 0.0
    for one in merged:
        joint = _gain(graph, [*kept, one]) if one.changes else None
        if joint is None and one.changes and kept:
            continue
        amount = one.amount if joint is None or joint - shown > one.amount - _ROUNDING else joint - shown
        if amount > _SMALL:
            shown += amount if one.changes else 0.0
            kept.append(replace(one, amount=amount))
    return kept


def _gain(graph: Graph, parts: Sequence[Missed]) -> float | None:
    """What missed parts would have added together."""
    after = {id(change): one.after for one in parts for change in one.changes}
    changes = [change for one in parts for change in one.changes]
    return graph.gain(changes, lambda change, edge: after[id(change)](change, edge))


def _as_one(graph: Graph, group: list[Missed]) -> Missed | None:
    """Many missed parts of one statement in a loop as one."""
    amount = _gain(graph, group)
    if amount is None or amount <= _SMALL:
        return None
    after = {id(change): one.after for one in group for change in one.changes}
    return replace(
        group[0],
        amount=amount,
        changes=tuple(change for one in group for change in one.changes),
        after=lambda change, edge: after[id(change)](change, edge),
        count=len(group),
    )
