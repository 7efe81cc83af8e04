"""Module-level objects that can be changed, and the ways by which a function's code reaches into them.

A name has a *depth*: the steps (an index, an element of a loop) from it to what nobody can change. A number, a text, a
function or a compiled pattern has 0, a list of numbers 1, a dictionary of lists 2, and what cannot be told has no
end. A list that is changed two steps in is changed all the same, whichever names and calls lead there, so names that
a function gives to what it reaches are followed, and so are its own functions that get such an object.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from rewards.code_slices import last_name, words

DEEP = math.inf
"""The depth of what cannot be told."""

CHANGES = words(
    "append add update setdefault pop popitem extend insert clear remove discard sort reverse appendleft popleft "
    "extendleft rotate subtract push send write writelines put"
)
"""Methods that change what they are called on."""

_LEAVE_ALONE = words(
    "all any bool bytes dict divmod enumerate float format frozenset hasattr int isinstance issubclass iter len list "
    "max min next print range repr reversed round set sorted str sum tuple type zip abs pow ord chr cast "
    "join split rsplit splitlines startswith endswith strip lstrip rstrip replace count index find rfind get union "
    "intersection difference symmetric_difference issubset issuperset isdisjoint keys values items copy fromkeys "
    "format_map translate maketrans most_common elements partition rpartition lower upper title encode decode "
    "compile match fullmatch search sub subn findall finditer escape chain product combinations permutations "
    "zip_longest islice accumulate pairwise mean median mode stdev pstdev variance pvariance fmean fsum prod dist "
    "hypot sqrt exp log bisect bisect_left bisect_right nlargest nsmallest Counter OrderedDict defaultdict deque "
    "deepcopy dumps loads array asarray dot matmul isin argmax argmin where clip tolist astype item total "
    "ratio partial_ratio token_set_ratio token_sort_ratio WRatio extract extractOne distance similarity "
    "normalized_similarity normalized_distance jaro_winkler quick_ratio validate is_valid iter_errors evaluate "
    "isoformat strftime quantize parse parse_string raw_decode map filter starmap takewhile dropwhile groupby"
)
"""Functions and methods that change neither what they are called on nor what they are given."""

_CALL_WITH_ELEMENTS = words("map filter starmap takewhile dropwhile groupby accumulate")
_ELEMENTS_OF = words("enumerate zip list tuple set sorted reversed iter filter map chain islice")
_ONE_OF = words("next max min")
_INSIDE = words("get items values keys")
_FRESH = words(
    "join split rsplit splitlines strip lstrip rstrip replace count index find rfind format lower upper title encode "
    "decode startswith endswith match fullmatch search sub subn findall finditer isdisjoint issubset issuperset "
    "most_common partition translate isoformat strftime tolist"
)
"""Methods whose result shares nothing with what they are called on, or nothing that can be changed."""

_FIXED_CALLS = words(
    "str int float bool len round abs ord chr compile join strip lower upper format escape replace Fraction Decimal "
    "namedtuple TypeVar range field itemgetter attrgetter type"
)
_FLAT_CALLS = words("split splitlines")
_CONTAINERS = words("set frozenset list tuple sorted dict Counter OrderedDict deque")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOWEST = -3

Reached = tuple[str, int, bool]
"""A name, the steps into it, and whether further steps no longer count (what a call gave may be one step or two)."""


def depths_of(body: Sequence[ast.stmt]) -> dict[str, float]:
    """The depth of every name that module-level code binds; those of depth 0 included."""
    found: dict[str, float] = {}
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []

    def bind(name: str, depth: float) -> None:
        found[name] = max(depth, found.get(name, 0))

    def visit(statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, _FUNCTIONS):
                functions.append(statement)
                bind(statement.name, 0)
            elif isinstance(statement, ast.ClassDef):
                bind(statement.name, 0)
            elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                for target in targets:
                    plain = isinstance(target, ast.Name)
                    for node in ast.walk(target):
                        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                            bind(node.id, _depth(statement.value, found) if plain else DEEP)
            else:
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        bind(node.id, DEEP)
                for part in ("body", "orelse", "finalbody"):
                    visit(getattr(statement, part, []))
                for handler in getattr(statement, "handlers", []):
                    visit(handler.body)

    visit(body)
    for _ in range(3):  # a function that gives what another gives
        for function in functions:
            bind(function.name, _given_by(function, found))
    return found


def _depth(tree: ast.expr, known: Mapping[str, float]) -> float:
    """The depth of a value, as far as its form says."""
    if isinstance(tree, (ast.Constant, ast.JoinedStr, ast.Lambda, ast.Compare)):
        return 0
    if isinstance(tree, ast.Name):
        return known.get(tree.id, DEEP)
    if isinstance(tree, ast.UnaryOp):
        return _depth(tree.operand, known)
    if isinstance(tree, (ast.List, ast.Tuple, ast.Set)):
        return 1 + max([_depth(one, known) for one in tree.elts], default=0)
    if isinstance(tree, ast.Dict):
        return 1 + max([_depth(one, known) for one in tree.values], default=0)
    if isinstance(tree, ast.Starred):
        return max(0, _depth(tree.value, known) - 1)
    if isinstance(tree, (ast.BinOp, ast.IfExp, ast.BoolOp)):
        parts = [node for node in ast.iter_child_nodes(tree) if isinstance(node, ast.expr)]
        return max(_depth(part, known) for part in parts)
    if isinstance(tree, (ast.ListComp, ast.SetComp, ast.DictComp)):
        env = dict(known)
        for one in tree.generators:
            inner = max(0, _depth(one.iter, env) - 1)
            env |= {node.id: inner for node in ast.walk(one.target) if isinstance(node, ast.Name)}
        return 1 + _depth(tree.value if isinstance(tree, ast.DictComp) else tree.elt, env)
    if isinstance(tree, ast.Call):
        name, given = last_name(tree.func), [*tree.args, *(keyword.value for keyword in tree.keywords)]
        if name in _FIXED_CALLS or (name == "sum" and len(given) == 1):
            return 0
        if name in _FLAT_CALLS:
            return 1
        if name in _CONTAINERS and isinstance(tree.func, ast.Name):
            return max([1, *(_depth(one, known) for one in given)])
    return DEEP


def _given_by(function: ast.FunctionDef | ast.AsyncFunctionDef, known: Mapping[str, float]) -> float:
    """The depth of what a function gives that outlives its call: something module-level, or what is cached."""
    returned = [
        node.value
        for node in ast.walk(function)
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) and node.value is not None
    ]
    decorators = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    if any(last_name(one) in ("cache", "lru_cache", "cached_property") for one in decorators):
        return max([_depth(value, known) for value in returned], default=0)
    own = names_of(function)
    ways = Ways({name: depth for name, depth in known.items() if name not in own and depth}, {})
    ways.follow(function.body)
    reached = [one for value in returned for one in ways.of(value)]
    return max([ways.depths[name] - max(0, steps) for name, steps, _ in reached], default=0)


def names_of(tree: ast.AST) -> set[str]:
    """Names a function binds itself, inner functions included."""
    return {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def _dotted(tree: ast.expr) -> str:
    if isinstance(tree, ast.Attribute):
        inner = _dotted(tree.value)
        return f"{inner}.{tree.attr}" if inner else ""
    return tree.id if isinstance(tree, ast.Name) else ""


class Ways:
    """What the expressions of one function reach of objects that outlive it.

    Args:
        depths: the objects, by the names the function has for them; `module.NAME` for those of a module.
        functions: functions of the same file, which are looked into where they get such an object.
        imports: names of modules and other imported names, whose `append` or `put` is no method.
        methods: methods of classes of the same file, which are looked at by themselves.
    """

    def __init__(
        self,
        depths: Mapping[str, float],
        functions: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef],
        imports: Collection[str] = (),
        asked: frozenset[tuple[str, str]] = frozenset(),
        methods: Collection[str] = (),
    ) -> None:
        self.depths = depths
        self.functions = functions
        self.imports = imports
        self.aliases: dict[str, set[Reached]] = {}
        self._asked = asked
        self.methods = methods

    def of(self, tree: ast.AST | None) -> set[Reached]:
        """What an expression may give of them."""
        return {
            (name, max(steps, _LOWEST), fixed)
            for name, steps, fixed in self._of(tree)
            if steps < self.depths[name]
        }

    def _of(self, tree: ast.AST | None) -> set[Reached]:
        if isinstance(tree, ast.Name):
            return self.aliases.get(tree.id, set()) | (
                {(tree.id, 0, False)} if self.depths.get(tree.id) else set()
            )
        if isinstance(tree, ast.Attribute):
            dotted = _dotted(tree)
            if dotted in self.depths:
                return {(dotted, 0, False)}
            return {(name, max(0, steps), True) for name, steps, _ in self.of(tree.value)}
        if isinstance(tree, ast.Subscript):
            inner = self.of(tree.value)
            return inner if isinstance(tree.slice, ast.Slice) else {_step(one) for one in inner}
        if isinstance(tree, (ast.Starred, ast.Await, ast.NamedExpr)):
            return self.of(tree.value)
        if isinstance(tree, ast.IfExp):
            return self.of(tree.body) | self.of(tree.orelse)
        if isinstance(tree, ast.BoolOp):
            return self._all(tree.values)
        if isinstance(tree, ast.BinOp):
            return {(name, steps, True) for name, steps, _ in self._all([tree.left, tree.right])}
        if isinstance(tree, (ast.List, ast.Tuple, ast.Set)):
            return _held(self._all(tree.elts))
        if isinstance(tree, ast.Dict):
            return _held(self._all(tree.values))
        if isinstance(tree, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return _held(self.of(tree.elt))
        if isinstance(tree, ast.DictComp):
            return _held(self.of(tree.value))
        return self._of_call(tree) if isinstance(tree, ast.Call) else set()

    def _all(self, trees: Iterable[ast.AST]) -> set[Reached]:
        return set().union(*(self.of(tree) for tree in trees))

    def _of_call(self, call: ast.Call) -> set[Reached]:
        called = call.func
        if isinstance(called, ast.Name):
            if called.id in _ELEMENTS_OF:
                return {(name, steps, True) for arg in call.args for name, steps, _ in self.elements(arg)}
            if called.id in _ONE_OF:
                return {(name, max(0, steps), True) for name, steps, _ in self._all(call.args)}
            return {(called.id, 0, True)} if self.depths.get(called.id) else set()
        if not isinstance(called, ast.Attribute) or called.attr in _FRESH:
            return set()
        if _dotted(called) in self.depths:
            return {(_dotted(called), 0, True)}
        inner = self.of(called.value)
        if called.attr in _INSIDE:
            inner = {_step(one) for one in inner} | (
                self._all(call.args[1:]) if called.attr == "get" else set()
            )
        return {(name, max(0, steps), True) for name, steps, _ in inner}

    def elements(self, tree: ast.expr) -> set[Reached]:
        """What a loop over an expression gives."""
        plain = isinstance(tree, (ast.Name, ast.Subscript, ast.Attribute, ast.Tuple, ast.List))
        return {_step(one) if plain or one[1] < 0 else one for one in self.of(tree)}

    def follow(self, body: Iterable[ast.AST]) -> None:
        """Learn the names that these statements give to what they reach."""
        nodes = [node for statement in body for node in ast.walk(statement)]
        for _ in range(6):
            before = sum(map(len, self.aliases.values()))
            for node in nodes:
                self._learn(node)
            if sum(map(len, self.aliases.values())) == before:
                return

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            self._bind(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            self._name(node.target, {(name, steps, True) for name, steps, _ in self.of(node.value)})
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._name(node.target, self.elements(node.iter))
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._name(node.optional_vars, self.of(node.context_expr))
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES
        ):
            self._name(root(node.func.value), _held(self._all(node.args)))

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                for one, each in zip(target.elts, value.elts, strict=True):
                    self._bind(one, each)
            else:
                self._name(target, self.elements(value))
        elif isinstance(target, (ast.Attribute, ast.Subscript)):
            self._name(root(target), _held(self.of(value)))
        else:
            self._name(target, self.of(value))

    def _name(self, target: ast.AST | str, reached: set[Reached]) -> None:
        if not reached:
            return
        names = (
            [target]
            if isinstance(target, str)
            else [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]
        )
        for name in names:
            if name and name not in self.depths:
                self.aliases.setdefault(name, set()).update(reached)

    # ------------------------------------------------------------------------------------------ what is done to them

    def change(self, node: ast.AST) -> str | None:
        """Why a node may change one of them."""
        targets: list[ast.expr] = []
        if isinstance(node, (ast.Assign, ast.Delete)):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        for target in targets:
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                found = self._inside(target.value)
            else:
                found = self._inside(target) if isinstance(node, ast.AugAssign) else None
            if found:
                return f"it changes {found}, which outlives the call"
        if isinstance(node, ast.Attribute) and node.attr in CHANGES and isinstance(node.ctx, ast.Load):
            found = self._inside(node.value)
            if found:
                return f"it changes {found}, which outlives the call"
        return self._handed_over(node) if isinstance(node, ast.Call) else None

    def _inside(self, tree: ast.AST) -> str | None:
        return next((name for name, steps, _ in sorted(self.of(tree)) if steps >= 0), None)

    def _handed_over(self, call: ast.Call) -> str | None:
        name = last_name(call.func)
        method = isinstance(call.func, ast.Attribute)
        if isinstance(call.func, ast.Attribute) and name not in {*_LEAVE_ALONE, *CHANGES, *self.methods}:
            on = [
                one for one in sorted(self.of(call.func.value)) if self.depths[one[0]] == DEEP and one[1] >= 0
            ]
            if on and _dotted(call.func) not in self.depths:
                return f"it calls {name} on {on[0][0]}, which may change it"
        if method and name in CHANGES and root(call.func) not in self.imports:
            return None  # what is put into something else was given another name, which is followed
        own = self.functions.get(name) if isinstance(call.func, ast.Name) else None
        if name in _LEAVE_ALONE and own is None:
            keyed = name in _CALL_WITH_ELEMENTS or any(one.arg == "key" for one in call.keywords)
            given = [
                one
                for arg in call.args
                for one in (self.elements(arg) if keyed else ())
                if one[1] < self.depths[one[0]]
            ]
            given += [one for word in call.keywords if word.arg == "out" for one in self.of(word.value)]
            return f"it hands {given[0][0]} to {name}, which may change it" if given else None
        for place, arg in [*enumerate(call.args), *((word.arg, word.value) for word in call.keywords)]:
            for reached in sorted(self.of(arg)):
                if own is None or self._is_changed(own, place, arg, reached):
                    return f"it hands {reached[0]} to {name or 'a call'}, which may change it"
        return None

    def _is_changed(
        self,
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        place: int | str | None,
        given: ast.expr,
        reached: Reached,
    ) -> bool:
        """Whether a function may change what it gets as one of its arguments, or hand it on."""
        names = [one.arg for one in [*function.args.posonlyargs, *function.args.args]]
        if isinstance(place, int):
            parameter = names[place] if place < len(names) else None
        else:
            parameter = place if place in [*names, *(one.arg for one in function.args.kwonlyargs)] else None
        if parameter is None or isinstance(given, ast.Starred) or function.decorator_list:
            return True
        if (function.name, parameter) in self._asked:
            return False
        depth = self.depths[reached[0]] - (0 if reached[2] else reached[1])
        inner = Ways(
            {parameter: depth}, self.functions, self.imports, self._asked | {(function.name, parameter)}
        )
        inner.follow(function.body)
        for node in (node for statement in function.body for node in ast.walk(statement)):
            if inner.change(node) is not None:
                return True
            if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) and inner.of(node.value):
                return True
        return False


def _step(one: Reached) -> Reached:
    name, steps, fixed = one
    return (name, steps + 1, fixed) if steps < 0 or not fixed else one


def _held(reached: set[Reached]) -> set[Reached]:
    """What a container of these is: they are a step away."""
    return {(name, max(steps - 1, _LOWEST), fixed) for name, steps, fixed in reached}


def root(tree: ast.expr) -> str:
    """The name that `name.attribute[index]` begins with; "" for anything else."""
    while isinstance(tree, (ast.Attribute, ast.Subscript, ast.Starred)):
        tree = tree.value
    return tree.id if isinstance(tree, ast.Name) else ""
