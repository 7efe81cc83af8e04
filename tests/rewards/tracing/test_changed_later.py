"""Masks, positions and amounts are those of the moment they were used, whatever becomes of them afterwards."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from rewards.contract import Batch
from rewards.rewardset import RewardSet
from rewards.tracing import RewardExplanation, explain_row

HEAD = """import math, statistics, numpy as np
import pandas as pd
from collections import Counter, OrderedDict, defaultdict


def reward(completions, **kwargs):
    n = np.array([len(c) for c in completions]); o = np.array(["o" in c for c in completions])
    s = np.zeros(len(completions)); m = n > 2
"""
TEXTS = ["two", "longer one", "x", "of"]


def explain(folder: Path, body: str, row: int = 0, texts: list[str] | None = None) -> RewardExplanation:
    file = folder / "r.py"
    file.write_text(HEAD + body)
    texts = TEXTS if texts is None else texts
    batch = Batch(["p"] * len(texts), texts, groups=["g"] * len(texts))
    return explain_row(functools.partial(RewardSet.load, file), "reward", batch, row)


def told(explanation: RewardExplanation) -> list[tuple[float, int | None, str | None]]:
    return [(credit.points, credit.line, credit.condition) for credit in explanation.credits]


USED = "    s[m] += 0.25\n"
FIRST = (0.25, 9, "n > 2")

CHANGES = {
    "and": ("    m &= n > 5\n", None),
    "or": ("    m |= o\n", '(n > 2) | ("o" in c)'),
    "exclusive or": ("    m ^= ~o\n", '(n > 2) ^ (~o)'),
    "all of it": ("    m[:] = o\n", '"o" in c'),
    "under a mask": ("    m[n > 5] = False\n", "n > 2"),
    "to true under a mask": ("    m[:] = False\n    m[o] = True\n", '"o" in c'),
    "combined under a mask": ("    m[o] |= (n > 5)[o]\n", "(n > 2) | (n > 5)"),
    "one number": ("    m[0] = 'w' in completions[0]\n", "'w' in completions[0]"),
    "one number combined": ("    m[0] |= 'w' in completions[0]\n", "(n > 2) | ('w' in completions[0])"),
    "out": ("    np.logical_and(m, o, out=m)\n", "np.logical_and(m, o, out=m)"),
    "out by position": ("    np.logical_or(m, o, m)\n", "np.logical_or(m, o, m)"),
    "a mask that another was made of": ("    k = m & o\n    m[:] = False\n    m = k\n", "m & o"),
    "a number that it was made of": ("    n[0] = 9\n    n += 100\n", "n > 2"),
    "began with nothing": ("    m = np.zeros(len(completions), dtype=bool)\n    m |= o\n", '"o" in c'),
}  # fmt: skip


@pytest.mark.parametrize("how", CHANGES)
def test_a_mask_that_is_changed_after_its_use_does_not_rewrite_what_it_did(tmp_path: Path, how: str) -> None:
    change, condition = CHANGES[how]
    explanation = explain(tmp_path, f"{USED}{change}    s[m] += 0.5\n    return s.tolist()\n")
    line = 10 + change.count("\n")
    assert told(explanation) == [FIRST, *([(0.5, line, condition)] if condition else [])]
    assert explanation.credits[0].compared == ("3", "2")
    assert explanation.exact


def test_a_mask_put_together_in_place_is_about_the_places_of_both_tests(tmp_path: Path) -> None:
    body = """    m = np.array(["tw" in c for c in completions])
    m &= o
    s[m] += 0.25
    return s
"""
    explanation = explain(tmp_path, body)
    assert told(explanation) == [(0.25, 11, '("tw" in c) & ("o" in c)')]
    assert explanation.credits[0].spans == ((0, 2), (2, 3))


@pytest.mark.parametrize(
    "change",
    ["np.copyto(m, o)", "np.putmask(m, o, False)", "m.fill(True)", "np.logical_and(m, o, out=m, where=o)",
     "np.place(m, o, [True])", "o[:1].fill(False); np.bitwise_or.at(m, [0], True)"],
)  # fmt: skip
def test_a_mask_that_a_function_writes_into_keeps_its_earlier_uses_and_has_no_condition_later(
    tmp_path: Path, change: str
) -> None:
    explanation = explain(tmp_path, f"{USED}    {change}\n    s[m] += 0.5\n    return s\n")
    assert told(explanation)[0] == FIRST
    assert [credit.condition for credit in explanation.credits[1:]] in ([], [None])
    assert explanation.exact


OTHERS = {
    "positions of a list": ("    k = [0, 1]\n    s[k] += 0.25\n    k[0] = 2\n    k.append(3)\n", [(0.25, 10, None)]),
    "positions of an array": ("    k = np.array([0, 1])\n    s[k] += 0.25\n    k += 1\n", [(0.25, 10, None)]),
    "masks of a list": ("    k = ['o' in c for c in completions]\n    s[k] += 0.25\n    k[0] = 'w' in completions[0]\n",
                        [(0.25, 10, "'o' in c")]),
    "numbers of an array": ("    v = np.where(o, 0.5, 0.0)\n    s[:] = v\n    v[0] = 0.5\n    v *= 2\n"
                            "    v.fill(0.5)\n",
                            [(0.5, 9, '"o" in c')]),
    "numbers of a list": ("    v = [0.5 if 'o' in c else 0.0 for c in completions]\n    s[:] += v\n    v[0] = 0.5\n",
                          [(0.5, 9, "'o' in c")]),
    "what an array was made of": ("    v = ['o' in c for c in completions]\n    k = np.array(v)\n"
                                  "    v[0] = 'w' in completions[0]\n    s[k] += 0.25\n", [(0.25, 12, "'o' in c")]),
    "a copy": ("    s[m] += 0.25\n    t = s.copy()\n    s[:] = 0.25\n    s = t\n", [(0.25, 9, "n > 2")]),
    "rows chosen of an array": ("    s[m] += 0.25\n    t = s[[0, 1, 2, 3]]\n    s[:] = 0.25\n    s = t\n",
                                [(0.25, 9, "n > 2")]),
    "rows of a table": ("    t = pd.DataFrame({'s': s})\n    t.loc[m, 's'] += 0.25\n    m &= n > 5\n    s = t['s']\n",
                        [(0.25, 10, "n > 2")]),
    "a column of a table": ("    s[m] += 0.25\n    t = pd.DataFrame({'s': s})\n    s[:] = 0.25\n    s = t['s']\n",
                            [(0.25, 9, "n > 2")]),
    "a copy of a table": ("    t = pd.DataFrame({'s': s})\n    t.loc[m, 's'] += 0.25\n    u = t.copy()\n"
                          "    t['s'] = 0.25\n    s = u['s']\n", [(0.25, 10, "n > 2")]),
}  # fmt: skip


@pytest.mark.parametrize("how", OTHERS)
def test_positions_and_amounts_are_those_of_the_moment_they_were_used(tmp_path: Path, how: str) -> None:
    body, expected = OTHERS[how]
    explanation = explain(tmp_path, f"{body}    return s.tolist()\n")
    assert (told(explanation), explanation.exact) == (expected, True)


def test_what_changed_an_array_unseen_gives_up_the_whole_of_it(tmp_path: Path) -> None:
    """The first number is the same as before, and is another one nevertheless."""
    body = "    s[m] += 0.25\n    v = memoryview(s)\n    v[0] = 0.25\n    v[2] = 0.5\n    return s\n"
    explanation = explain(tmp_path, body)
    assert (told(explanation), explanation.exact) == ([], False)


def test_unseen_changes_are_not_forgotten_by_a_change_that_is_seen(tmp_path: Path) -> None:
    body = "    s[m] += 0.25\n    v = memoryview(s)\n    v[0] = 0.5\n    s += 0.25\n    np.asarray(s)\n    return s\n"
    explanation = explain(tmp_path, body)
    assert (told(explanation), explanation.exact) == ([], False)


@pytest.mark.parametrize(
    "call", ["np.sort(s)", "np.partition(s, 0)", "np.resize(s, 2)", "np.full(2, s[0]).fill(1)"]
)
def test_functions_that_only_read_an_array_give_nothing_up(tmp_path: Path, call: str) -> None:
    explanation = explain(tmp_path, f"    s[m] += 0.25\n    {call}\n    return s\n")
    assert (told(explanation), explanation.exact) == ([(0.25, 9, "n > 2")], True)


def test_single_numbers_and_other_things_in_arrays_do_not_stop_a_recording(tmp_path: Path) -> None:
    body = """    one = np.array(0.0)
    one += 1
    np.add(one, 1, out=one)
    things = np.array([None, "a", pd.NA, {}], dtype=object)
    kept = things.copy()
    things[0] = kept
    s[m] += float(one) / 8
    return s + (things[1] == "b")
"""
    explanation = explain(tmp_path, body)
    assert explanation.score == 0.25
    assert explanation.error is None


# ------------------------------------------------------------------------------------------- dictionaries

ITEMS = """    scores = []
    for c in completions:
        p = {}
        if "o" in c:
            p["a"] += 0.5
        if len(c) > 2:
            p["b"] += 0.25
        scores.append({})
    return scores
"""
SUMS = {
    "values": "sum(p.values())",
    "fsum": "math.fsum(p.values())",
    "items by key": "sum(p[k] for k in p)",
    "fsum by key": "math.fsum(p[k] for k in p)",
    "values of a generator": "sum(v for v in p.values())",
    "items of a generator": "sum(v for k, v in p.items())",
    "a list of the values": "sum(list(p.values()))",
    "by hand": "sum([v * 1.0 for v in p.values()])",
    "kept first": "sum((lambda values: values)(p.values()))",
}  # fmt: skip
DICTIONARIES = ('{"a": 0.0, "b": 0.0}', "defaultdict(float)", "Counter()", "OrderedDict(a=0.0, b=0.0)",
                'dict.fromkeys(["b", "a"], 0.0)')  # fmt: skip
BOTH = [(0.25, 15, "len(c) > 2"), (0.5, 13, '"o" in c')]


@pytest.mark.parametrize("made", DICTIONARIES)
@pytest.mark.parametrize("how", SUMS)
def test_what_is_added_to_items_is_a_credit_of_its_line(tmp_path: Path, how: str, made: str) -> None:
    explanation = explain(tmp_path, ITEMS.format(made, SUMS[how]))
    assert (sorted(told(explanation)), explanation.exact) == (BOTH, True)
    assert told(explain(tmp_path, ITEMS.format(made, SUMS[how]), 3)) == [(0.5, 13, '"o" in c')]


def test_a_sum_with_weights_scales_the_credits_of_items(tmp_path: Path) -> None:
    for made in DICTIONARIES:
        weighted = ITEMS.format(made, 'sum({"a": 2.0, "b": 4.0}[k] * p[k] for k in p)')
        explanation = explain(tmp_path, weighted)
        assert sorted(told(explanation)) == [(1.0, 13, '"o" in c'), (1.0, 15, "len(c) > 2")]
        assert explanation.exact
    mean = explain(tmp_path, ITEMS.format('{"a": 0.0, "b": 0.0}', "statistics.mean(p.values())"))
    assert (sorted(told(mean)), mean.exact) == ([(0.125, 15, "len(c) > 2"), (0.25, 13, '"o" in c')], True)


def test_items_that_are_set_and_added_up_in_a_loop(tmp_path: Path) -> None:
    body = """    scores = []
    for c in completions:
        p = {"a": 0.0, "b": 0.125}
        if "o" in c:
            p["a"] = 0.5
        if len(c) > 2:
            p["b"] += 0.25
        total = 0.0
        for points in p.values():
            total += points
        p["a"] = 0.5 if "t" in c else 0.0
        scores.append(total)
    return scores
"""
    explanation = explain(tmp_path, body)
    assert told(explanation) == [(0.5, 13, '"o" in c'), (0.125, 11, None), (0.25, 15, "len(c) > 2")]
    assert explanation.exact


def test_values_that_a_class_gives_in_its_own_order_are_not_taken_for_the_items(tmp_path: Path) -> None:
    body = """    class Turned(dict):
        def values(self):
            return dict(reversed(list(self.items()))).values()

    scores = []
    for c in completions:
        p = Turned(a=0.0, b=0.0)
        if "o" in c:
            p["a"] += 0.5
        if "w" in c:
            p["b"] += 0.5
        first, second = p.values()
        total = 0.0
        for at, points in enumerate(p.values()):
            total += points * (at == 0)
        scores.append(total)
    return scores
"""
    assert '"o" in c' not in [credit.condition for credit in explain(tmp_path, body).credits]
