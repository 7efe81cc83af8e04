"""The most a function can give, read from its text."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import Any

import pytest

from rewards.tracing.amounts import settings_of
from rewards.tracing.ceiling import most_of
from rewards.tracing.nodes import SourceFile


def most(body: str, before: str = "", **params: Any) -> float | None:
    """The most that a reward gives whose score `s` is computed by `body` from the text `t`."""
    return of_source(f"""
{textwrap.dedent(before)}
def reward(completions, cap=0.9, **kwargs):
    out = []
    for c in completions:
        t = c[0]["content"]
{textwrap.indent(textwrap.dedent(body).strip(), " " * 8)}
        out.append(s)
    return out
""", **params)  # fmt: skip


def of_source(source: str, **params: Any) -> float | None:
    module = ast.parse(source)
    file = SourceFile(Path("r.py"), source.split("\n"))
    file.settings = settings_of(module)
    line = next(one.lineno for one in module.body if getattr(one, "name", "") == "reward")
    return most_of(file, "reward", line, params)


def test_parts_add_up_and_branches_do_not() -> None:
    assert most('s = 0.0\nif "a" in t: s += 0.5\nelif "b" in t: s += 0.75\nif "c" in t: s += 0.25') == 1.0


def test_a_limit_holds_however_it_is_written() -> None:
    body = 's = 0.0\nif "a" in t: s += 0.8\nif "b" in t: s += 0.7\n'
    assert most(body + "s = min(s, 1.0)") == 1.0
    assert most(body + "if s > 1.0: s = 1.0") == 1.0
    assert most(body + "s = s if s < 1.0 else 1.0") == 1.0


def test_penalties_and_counters_do_not_raise_it() -> None:
    assert most("bad = 0\nfor w in t.split():\n    if w: bad += 1\ns = 0.5 - 0.25 * bad") == 0.5


@pytest.mark.parametrize(
    "body",
    ["s = len(t) * 0.1", "s = score(t)", "s = 0.0\nfor w in t: s += 0.1", "s = 0.5 ** len(t)", "s = t.x"],
)
def test_what_the_completion_decides_alone_has_no_most(body: str) -> None:
    assert most(body) is None


def test_a_loop_over_what_stands_in_the_code_is_gone_through() -> None:
    assert most('s = 0.0\nfor tag in ("a", "b", "c"):\n    if tag in t: s += 0.25') == 0.75
    assert most("s = sum(W[k] * (k in t) for k in W)", before='W = {"a": 0.5, "b": 0.25}') == 0.75


def test_numbers_of_one_branch_belong_together() -> None:
    body = """
    if "42" in t:
        low, high = 0.5, 1.0
    else:
        low, high = -0.5, -1.0
    s = low + (high - low) * 1.0
    """
    assert most(body) == 1.0


def test_a_default_counts_where_no_param_takes_its_place() -> None:
    assert most("s = min(len(t), cap)") == 0.9
    assert most("s = min(len(t), cap)", cap=2.0) == 2.0


def test_a_helper_of_the_file_is_read_and_one_that_is_wrapped_is_not() -> None:
    helper = 'def grade(t):\n    if "a" in t:\n        return 2.0\n    return 0.5\n'
    assert most("s = 0.5 * grade(t)", before=helper) == 1.0
    assert most("s = 0.5 * grade(t)", before="@doubled\n" + helper) is None


def test_a_failure_in_the_middle_keeps_what_was_given_before_it() -> None:
    body = """
    s = 0.0
    try:
        s = 1.0
        s = min(float(t), 0.5)
    except ValueError:
        s += 0.5
    """
    assert most(body) == 1.5


def test_items_of_a_list_may_be_added_to_once_a_loop() -> None:
    source = """
def reward(completions, **kwargs):
    scores = [0.0] * len(completions)
    for i, c in enumerate(completions):
        if "a" in c:
            scores[i] += 0.5
    for i, c in enumerate(completions):
        if "b" in c:
            scores[i] += 1.0
    return scores
"""
    assert of_source(source) == 1.5


def test_a_list_that_another_function_may_change_is_not_known() -> None:
    source = """
def more(out):
    out.append(5.0)
def reward(completions, **kwargs):
    out = [1.0]
    more(out)
    return out
"""
    assert of_source(source) is None
