"""Random reward functions: every mixture of the things people do to a score."""

from __future__ import annotations

import random
from collections.abc import Callable

HEAD = """import re
W = ("so", "<a>", "42", "x")
BONUS = 0.3
P = {"a": 0.7}


def has(t, w):
    return w in t


def helper(t, v):
    if "so" in t:
        return v
    if t.endswith("x"):
        v += 0.5
    return v * 2


"""

TEXTS = ["<a>42</a> so x", "", "so so X", "  <a> 7 </a>\n42 zz", "x"]

_TAGS = ["<a>", "</a>", "42", "so", "zz", " ", "x"]
_AMOUNTS = ["0.25", "0.5", "1", "2.0", "0", "-0.5", "1.0", "0.1", "True", "BONUS", 'P["a"]']


class Writer:
    """Writes programs from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, depth: int, *forms: Callable[[], str]) -> str:
        """One of the forms; only the first ones when there is no depth left."""
        return self.random.choice(forms if depth > 0 else forms[:3])()

    def tag(self) -> str:
        return repr(self.random.choice(_TAGS))

    def amount(self) -> str:
        return self.random.choice(_AMOUNTS)

    def text(self, depth: int = 2) -> str:
        inner = depth - 1
        return self.pick(
            depth,
            lambda: "t",
            lambda: "t",
            lambda: "t",
            lambda: f"{self.text(inner)}.strip()",
            lambda: f"{self.text(inner)}.lower()",
            lambda: f"{self.text(inner)}.split({self.tag()})[-1]",
            lambda: f"{self.text(inner)}[2:]",
            lambda: f"{self.text(inner)}.replace({self.tag()}, {self.tag()})",
            lambda: f"({self.text(inner)} + {self.tag()})",
            lambda: rf're.sub(r"\s+", " ", {self.text(inner)})',
            lambda: f"({self.text(inner)} if {self.condition(inner)} else {self.text(inner)})",
        )

    def condition(self, depth: int = 2) -> str:
        inner = depth - 1
        return self.pick(
            depth,
            lambda: f"{self.tag()} in {self.text(inner)}",
            lambda: f"{self.text(inner)}.startswith({self.tag()})",
            lambda: f"{self.text(inner)}.count({self.tag()}) == {self.random.randrange(3)}",
            lambda: f"len({self.text(inner)}) > {self.random.randrange(20)}",
            lambda: f"not {self.condition(inner)}",
            lambda: f"({self.condition(inner)} and {self.condition(inner)})",
            lambda: f"({self.condition(inner)} or {self.condition(inner)})",
            lambda: rf're.search(r"\d+", {self.text(inner)})',
            lambda: f"any(w in {self.text(inner)} for w in W)",
            lambda: f"all([w in {self.text(inner)} for w in W])",
            lambda: f"0 < {self.number(inner)} <= 3",
            lambda: f"has({self.text(inner)}, {self.tag()})",
            lambda: rf'(m := re.match(r"\W", {self.text(inner)})) is not None',
        )

    def number(self, depth: int = 2) -> str:
        inner = depth - 1
        return self.pick(
            depth,
            self.amount,
            self.amount,
            lambda: self.random.choice("snu"),
            lambda: f"({self.number(inner)} + {self.number(inner)})",
            lambda: f"({self.number(inner)} - {self.number(inner)})",
            lambda: f"({self.amount()} * {self.number(inner)})",
            lambda: f"({self.number(inner)} / {self.random.randrange(1, 5)})",
            lambda: f"({self.amount()} if {self.condition(inner)} else {self.amount()})",
            lambda: f"sum({self.amount()} for w in W if {self.condition(inner)})",
            lambda: f"sum(w in {self.text(inner)} for w in W)",
            lambda: f"max({self.number(inner)}, {self.amount()})",
            lambda: f"min(1.0, {self.number(inner)})",
            lambda: f"float(bool({self.condition(inner)}))",
            lambda: f"len({self.text(inner)})",
            lambda: f"helper({self.text(inner)}, {self.number(inner)})",
            lambda: f"sum([{self.number(inner)}, {self.number(inner)}])",
            lambda: f"abs({self.number(inner)})",
            lambda: f"round({self.number(inner)}, 2)",
            lambda: f"(lambda q, r=1: q * r)({self.number(inner)})",
        )

    def statement(self, depth: int = 2) -> list[str]:
        """One statement, as lines."""
        simple = [
            f"s += {self.number()}", f"s -= {self.number()}", "n += 1", f"s = {self.number()}",
            f"u = {self.number()}", f"s *= {self.number(1)}", "s = max(0.0, s)", "s, u = u, s",
            f"s = s + {self.number()}", f's += sum({{"x": {self.number()}, "y": {self.number()}}}.values())',
        ]  # fmt: skip
        if depth == 0 or self.random.random() < 0.5:
            return [self.random.choice(simple)]
        shape = self.random.choice(
            [
                [f"if {self.condition()}:", None],
                [f"if {self.condition()}:", None, "else:", None],
                ["for w in W:", None],
                ["for i, w in enumerate(W):", f"    if {self.condition()}:", "        continue", None],
                ["try:", None, "    s += 1 / n", "except ZeroDivisionError:", None],
                ["while n < 3:", "    n += 1", None],
                [f"if {self.condition()}:", f"    return {self.number()}"],
            ]
        )
        lines: list[str] = []
        for line in shape:
            lines += [line] if line is not None else [f"    {inside}" for inside in self.block(depth - 1)]
        return lines

    def block(self, depth: int) -> list[str]:
        return [line for _ in range(self.random.randrange(1, 3)) for line in self.statement(depth)]

    def reward(self, name: str) -> str:
        """A reward called `name`."""
        body = [line for _ in range(self.random.randrange(2, 7)) for line in self.statement()]
        last = self.random.choice(
            ["s", "s / 2", "min(1.0, max(-1.0, s))", "s if s > 0 else u", "0.5 * s + 0.25 * u"]
        )
        rows = self.random.choice(
            [
                f'    return [_{name}(c[0]["content"]) for c in completions]',
                "    out = []\n    for c in completions:\n"
                f'        out.append(_{name}(c[0]["content"]))\n    return out',
                f'    return list(map(lambda c: _{name}(c[0]["content"]), completions))',
            ]
        )
        lines = "\n".join(f"    {line}" for line in ["s, n, u = 0.0, 0, 0", *body, f"return {last}"])
        return f"def _{name}(t):\n{lines}\n\n\ndef {name}(completions, **kwargs):\n{rows}\n\n\n"


def programs(seed: int, count: int) -> str:
    """A file with `count` random rewards."""
    writer = Writer(seed)
    return HEAD + "".join(writer.reward(f"reward_{number}") for number in range(count))
