"""Rewards that keep something between calls, alone or together."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewards.contract import Batch
from rewards.running import Crew, Runner
from rewards.running.sharing import chains, state_of


def chained(folder: Path, source: str, **files: str) -> list[list[str]]:
    (folder / "rewards.py").write_text(source)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    with Runner() as runner, runner.worker(folder / "rewards.py") as worker:
        return chains(worker.description.names, state_of(worker))


def states(folder: Path, source: str) -> dict[str, bool]:
    (folder / "rewards.py").write_text(source)
    with Runner() as runner, runner.worker(folder / "rewards.py") as worker:
        return {name: bool(state) for name, state in state_of(worker).items()}


TWO = """
def one(completions, **_):
    {0}
    return [1.0] * len(completions)

def two(completions, **_):
    {1}
    return [1.0] * len(completions)
"""


@pytest.mark.parametrize(
    ("head", "first", "second"),
    [
        ("seen = []", "seen.append(1)", "print(seen)"),
        ("seen = {}", "seen['x'] = 1", "return [seen['x']]"),
        ("count = 0", "global count; count += 1", "return [count]"),
        ("class Box:\n    count = 0\n", "Box.count += 1", "return [Box.count]"),
        ("class Box:\n    def add(self): self.n = 1\nbox = Box()", "box.add()", "return [box.n]"),
        ("def keep(): pass", "keep.last = 1", "return [keep.last]"),
        ("seen = []\ndef add(x): seen.append(x)\ndef look(): return seen", "add(1)", "look()"),
        ("import random\nrandom.seed(1)", "random.random()", "random.choice([1])"),
        ("from random import choice, random", "choice([1])", "random()"),
        ("import collections\nseen = collections.Counter()", "seen.update('a')", "return [seen['a']]"),
        ("import itertools\nnumbers = itertools.count()", "next(numbers)", "next(numbers)"),
    ],
)
def test_what_both_reach_and_can_change_keeps_them_together(
    tmp_path: Path, head: str, first: str, second: str
) -> None:
    assert chained(tmp_path, head + TWO.format(first, second)) == [["one", "two"]]


@pytest.mark.parametrize(
    ("head", "first", "second"),
    [
        ("import re\nPATTERN = re.compile('a')", "PATTERN.search('a')", "PATTERN.search('b')"),
        ("WORDS = ['a', 'b']", "any(w in 'a' for w in WORDS)", "return [float('a' in WORDS)]"),
        ("POINTS = {'a': 1.0}", "POINTS.get('a')", "return [POINTS['a']]"),
        ("import math, json, os", "math.sqrt(2)", "math.floor(json.loads('1'))"),
        ("import functools\n@functools.lru_cache\ndef square(x): return x * x", "square(2)", "square(3)"),
        ("def text(c): return str(c)", "text(1)", "text(2)"),
        ("first, second = [], []", "first.append(1)", "second.append(1)"),
    ],
)
def test_constants_and_things_of_ones_own_do_not(tmp_path: Path, head: str, first: str, second: str) -> None:
    assert chained(tmp_path, head + TWO.format(first, second)) == [["one"], ["two"]]


def test_state_in_another_file_of_the_user_counts(tmp_path: Path) -> None:
    source = "import store\nfrom store import look" + TWO.format("store.kept.append(1)", "look()")
    assert chained(tmp_path, source, store="kept = []\ndef look(): return len(kept)\n") == [["one", "two"]]


def test_a_reward_with_state_of_its_own_is_known(tmp_path: Path) -> None:
    source = """
def plain(completions, limit=3, **_):
    return [1.0] * len(completions)

def counts(completions, seen=[], **_):
    seen.append(1)
    return [float(len(seen))] * len(completions)

class Judge:
    def __init__(self, words): self.words = words
    def __call__(self, completions, **_): return [1.0] * len(completions)

judge = Judge(("a", "b"))
"""
    assert states(tmp_path, source) == {"plain": False, "counts": True, "judge": False}


def test_a_crew_calls_them_in_one_process_and_in_order(tmp_path: Path) -> None:
    (tmp_path / "rewards.py").write_text(
        "seen = []\n" + TWO.format("seen.append(1)", "return [float(len(seen))] * len(completions)")
    )
    with Crew(tmp_path / "rewards.py") as crew:
        batch = Batch(["p"], ["a"], [[1]])
        assert [crew.call_all(batch)[1].scores[0] for _ in range(2)] == [1.0, 2.0]
