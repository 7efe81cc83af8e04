"""Python as people write it, in its stranger corners. Every `case_` runs plain and traced and must agree.

A case gets a list to log into and returns something with a repr; what it logs, returns and raises, with the
line, is compared.
"""
# ruff: noqa  # code as people write it

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
import traceback
import warnings
from collections import Counter, defaultdict


class Loud:
    """Tells of every operation."""

    def __init__(self, log, value):
        self.log, self.value = log, value

    def __bool__(self):
        self.log.append(("bool", self.value))
        return bool(self.value)

    def __add__(self, other):
        self.log.append(("add", self.value))
        return Loud(self.log, self.value + getattr(other, "value", other))

    def __iadd__(self, other):
        self.log.append(("iadd", self.value))
        self.value += other
        return self

    def __eq__(self, other):
        self.log.append(("eq", self.value))
        return NotImplemented

    def __lt__(self, other):
        self.log.append(("lt", self.value))
        return self.value < getattr(other, "value", other)

    def __contains__(self, item):
        self.log.append(("contains", item))
        return item == self.value

    def __getitem__(self, key):
        self.log.append(("getitem", key))
        return key

    def __setitem__(self, key, value):
        self.log.append(("setitem", key, value))

    def __neg__(self):
        self.log.append(("neg", self.value))
        return -self.value

    __hash__ = None


def say(log, value):
    log.append(value)
    return value


def case_operators_are_called_once(log):
    a = Loud(log, 2)
    b = a + 1 + a
    a += 5
    c = -a
    return b.value, c, a == b, a < b, 7 in a, 8 not in a, bool(a)


def case_truth_is_asked_once(log):
    a, b = Loud(log, 0), Loud(log, 1)
    if a or b:
        log.append("or")
    x = a and b
    y = "yes" if b else "no"
    while a:
        pass
    z = [i for i in range(3) if b]
    return x is a, y, z, not a


def case_order_of_evaluation(log):
    d = {}
    d[say(log, "k")] = say(log, "v")
    e = {say(log, 1): say(log, 2), **{say(log, 3): say(log, 4)}}
    x = say(log, 5) + say(log, 6) * say(log, 7)
    f = max(say(log, 8), say(log, 9), key=say(log, None))
    return d, e, x, f, [say(log, i) for i in (1, 2)]


def case_item_assignment_evaluates_once(log):
    rows = [[1, 2], [3, 4]]
    rows[say(log, 0)][say(log, 1)] += say(log, 10)
    loud = Loud(log, 0)
    loud["a"] = 1
    loud["b"] += "x"
    return rows


def case_short_circuits(log):
    a = say(log, 0) and say(log, 1)
    b = say(log, 0) or say(log, 2) or say(log, 3)
    c = say(log, 1) < say(log, 0) < say(log, 9)
    d = 1 < say(log, 2) <= 2 < 3
    return a, b, c, d


def case_comprehensions_have_their_own_scope(log):
    i = "outer"
    a = [i for i in range(3)]
    b = {k: v for k, v in zip("ab", a)}
    c = {x % 2 for x in a}
    d = [(x, y) for x in a if x for y in range(x) if y or say(log, x)]
    e = [y := x * 2 for x in a]
    return i, a, b, c, d, e, y


def case_generators_are_lazy(log):
    source = (say(log, i) for i in range(10))
    first = next(source)
    found = any(x > 2 for x in source)
    rest = list(source)
    return first, found, rest, next(iter(()), "none")


def case_generator_protocol(log):
    def counter():
        total = 0
        try:
            while True:
                got = yield total
                total += got or 0
        except ValueError:
            yield "caught"
        finally:
            log.append("closed")

    gen = counter()
    out = [next(gen), gen.send(2), gen.send(3), gen.throw(ValueError())]
    gen.close()

    def outer():
        result = yield from inner()
        log.append(result)

    def inner():
        yield 1
        return "done"

    return out, list(outer())


def case_exceptions_keep_type_text_and_line(log):
    def fails():
        return {}["missing"]

    try:
        fails()
    except KeyError as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if "language" in frame.filename
        ]
        log.append((str(error), [line - lines[0] for line in lines]))
    try:
        unbound += 1  # noqa: F821
    except UnboundLocalError as error:
        log.append(str(error))
        unbound = 0
    try:
        [].pop()
    except IndexError as error:
        log.append(str(error))
    try:
        max()
    except TypeError as error:
        log.append(str(error))
    try:
        sum(5)
    except TypeError as error:
        log.append(str(error))
    try:
        len(3)
    except TypeError as error:
        log.append(str(error))
    return 1 / 0


def case_finally_and_else(log):
    def run(flag):
        try:
            if flag == 1:
                raise ValueError("one")
            if flag == 2:
                return "returned"
        except ValueError:
            log.append("except")
        else:
            log.append("else")
        finally:
            log.append("finally")
        return "end"

    return [run(i) for i in range(3)]


def case_loops(log):
    for i in range(5):
        if i == 1:
            continue
        if i == 3:
            break
        log.append(i)
    else:
        log.append("no break")
    for a, (b, *c) in [(1, (2, 3, 4)), (5, (6,))]:
        log.append((a, b, c))
    n = 3
    while n:
        n -= 1
    else:
        log.append("while else")
    return i, n


def case_classes(log):
    class Base:
        kind = "base"

        def __init__(self, value):
            self.__secret = value
            self.total = 0

        def get(self):
            return self.__secret

        @property
        def twice(self):
            log.append("twice")
            return self.total * 2

        @twice.setter
        def twice(self, value):
            log.append(("set", value))
            self.total = value / 2

    class Child(Base):
        def __init__(self, value):
            super().__init__(value)
            self.extra = [__class__.__name__]

        def get(self):
            return super().get() + 1

        @classmethod
        def make(cls, value):
            return cls(value)

        @staticmethod
        def plain(value=1):
            return value

    child = Child.make(4)
    child.total += 3
    child.twice += 2
    return child.get(), child.total, child.twice, child.extra, Child.plain(), child.kind


def case_closures(log):
    total = 0
    adders = []
    for i in range(3):

        def add(n, i=i):
            nonlocal total
            total += n * i
            return total

        adders.append(add)
    late = [lambda: i for i in range(3)]
    return [add(2) for add in adders], [f() for f in late], total


counter_at_module_level = 0


def case_global_names(log):
    global counter_at_module_level
    counter_at_module_level = 0
    counter_at_module_level += 2
    return counter_at_module_level


def case_decorators(log):
    def logged(prefix):
        def decorate(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                log.append((prefix, args, sorted(kwargs)))
                return function(*args, **kwargs)

            return wrapper

        return decorate

    @logged("a")
    @logged("b")
    def f(x, *, y=1, **rest):
        """Doc."""
        return x + y

    @functools.lru_cache
    def square(x):
        log.append(x)
        return x * x

    return f(1, y=2, z=3), f.__name__, f.__doc__, square(3) + square(3), square.cache_info().hits


def case_async(log):
    async def work(n):
        log.append(("start", n))
        await asyncio.sleep(0)
        log.append(("end", n))
        return n * 0.5

    async def source():
        for i in range(3):
            yield i
            await asyncio.sleep(0)

    async def main():
        async with asyncio.timeout(5):
            numbers = [i async for i in source()]
        return numbers, await asyncio.gather(*(work(i) for i in range(3))), [await work(9)]

    return asyncio.run(main())


def case_signatures(log):
    def f(a, b=2, /, c=3, *args, d, e=5, **kwargs):
        return a, b, c, args, d, e, kwargs

    return f(1, d=4), f(1, 2, 3, 4, 5, d=6, x=7), f(*[1, 2], **{"d": 3}), str(inspect.signature(f))


def case_introspection(log):
    def f(x: int) -> float:
        """Has a docstring."""
        return x * 0.5

    return (
        f.__doc__,
        f.__annotations__,
        f.__name__,
        f.__code__.co_firstlineno > 0,
        "return x * 0.5" in inspect.getsource(f),
    )


def case_locals_are_what_they_were(log):
    def f(a, b):
        c = a + b
        return sorted(locals())

    return f(1, 2)


def case_recursion_is_as_deep(log):
    def depth(n):
        try:
            return depth(n + 1)
        except RecursionError:
            return n

    old = sys.getrecursionlimit()
    frame_depth = len(inspect.stack(0))
    sys.setrecursionlimit(frame_depth + 120)
    try:
        reached = depth(0)
    finally:
        sys.setrecursionlimit(old)
    return reached > 60


def case_warnings_point_at_the_caller(log):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("careful", UserWarning, stacklevel=1)
    return [str(one.message) for one in caught], ["language" in one.filename for one in caught]


def case_matching(log):
    out = []
    for thing in (1, "a", [1, 2, 3], {"k": 5, "z": 6}, (0.5,), None):
        match thing:
            case int(x) if x > 0:
                out.append(("int", x))
            case [first, *rest]:
                out.append((first, rest))
            case {"k": value, **others}:
                out.append((value, others))
            case str() as text:
                out.append(text)
            case _:
                out.append("other")
    return out


def case_numbers_keep_their_types(log):
    x = True
    x += 1
    y = 0.1 + 0.2
    z = -0.0
    n = float("nan")
    values = [
        max(1, 1.0),
        max(1.0, 1),
        min(True, 0),
        sum([]),
        sum([True, 2]),
        round(2.5),
        round(2.567, 2),
        abs(-3),
        7 // 2,
        7 % -3,
        2**-1,
    ]
    return (
        x,
        y,
        str(z),
        n == n,
        [n] == [n],
        [(type(v).__name__, v) for v in values],
        10**20 + 1,
        1 if 0.0 else z,
    )


def case_containers(log):
    words = "the cat the dog".split()
    counts = Counter(words)
    table = defaultdict(list)
    for word in words:
        table[len(word)].append(word)
    totals = defaultdict(float)
    totals["a"] += 0.5
    totals["a"] *= 3
    first, *rest = words
    nested = {"a": {"b": [1, 2]}}
    nested["a"]["b"][0] += 5
    a = b = []
    a += [1]
    b.extend(x for x in (2, 3))
    del words[0]
    s = {1, 2} | {3}
    s -= {1}
    return (
        counts.most_common(1),
        dict(table),
        dict(totals),
        first,
        rest,
        nested,
        b,
        words,
        sorted(s),
        [*a, *b],
        {**nested},
    )


def case_strings(log):
    name, value = "x", 3.14159
    return (
        f"{name!r:>6}|{value:.2f}|{value=}",
        "%s-%d" % (name, 3),
        "ab",
        name * 3,
        "abc"[::-1],
        "abc"[-1],
        b"ab" + b"c",
        "Ä".lower(),
        "ß".upper(),
    )


def case_lambdas(log):
    key = lambda pair, sign=-1: sign * pair[1]
    pairs = sorted([("a", 1), ("b", 3), ("c", 2)], key=key)
    return (
        pairs,
        (lambda *a, **k: (a, k))(1, b=2),
        list(map(lambda x: x + 1, [1, 2])),
        list(filter(lambda x: x, [0, 1])),
    )


def case_walrus_and_conditions(log):
    data = [3, 0, 5]
    if (n := len(data)) > 2 and (total := sum(data)):
        log.append((n, total))
    while (item := data.pop()) != 3:
        log.append(item)
    return item, data


def case_context_managers(log):
    class Manager:
        def __enter__(self):
            log.append("enter")
            return self

        def __exit__(self, kind, error, trace):
            log.append(kind.__name__ if kind else None)
            return True

    with Manager() as a, Manager():
        raise ValueError("swallowed")
    return type(a).__name__


def case_assertions(log):
    assert say(log, 1), "not shown"
    assert say(log, 0) == 1, f"shown {say(log, 'message')}"


def case_deleted_names(log):
    x = 1
    del x
    try:
        return x
    except UnboundLocalError as error:
        return str(error)


def case_chained_assignment(log):
    a = b, c = [1, 2]
    d = e = 0.5
    d += 1
    (f, g), h = (1, 2), 3
    return a, b, c, d, e, f, g, h


def case_same_constant_many_times(log):
    return (
        [0.1 for _ in range(3)] == [0.1] * 3,
        {0.1: 1, 0.5: 2}[0.1],
        (0.1, 0.2) == (0.1, 0.2),
        0.1 in (0.1, 0.2),
    )


def case_attributes_that_answer_for_everything(log):
    class Counted:
        def __getattr__(self, name):
            log.append(name)
            return 0.5 if name == "half" else {}[name]

        @property
        def shape(self):
            log.append("shape")

        def __setitem__(self, key, value):
            log.append((key, value))

    counted = (lambda: Counted())()
    counted["x"] = counted.half
    try:
        return counted.missing
    except KeyError as error:
        return str(error)


def case_recursion_that_python_allows(log):
    def depth(thing):
        return 1 + max((depth(inner) for inner in thing), default=0)

    nested = []
    for _ in range(200):
        nested = [nested]
    return depth(nested)
