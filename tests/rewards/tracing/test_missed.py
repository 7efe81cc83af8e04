"""What would have paid: its amount on the way to the score, its condition, and what is left out."""

from __future__ import annotations

import functools
import textwrap
from pathlib import Path
from typing import Any

import pytest

from rewards.contract import Batch
from rewards.rewardset import RewardSet
from rewards.tracing import RewardExplanation, explain_row


def explain(folder: Path, body: str, text: str, before: str = "") -> RewardExplanation:
    """One row of a reward; `body` computes its score `s` from the text `t`."""
    source = f"""
{textwrap.dedent(before)}
def reward(completions, **kwargs):
    out = []
    for completion in completions:
        t = completion[0]["content"]
{textwrap.indent(textwrap.dedent(body).strip(), " " * 8)}
        out.append(s)
    return out
"""
    return explain_source(folder, source, text)


def explain_source(folder: Path, source: str, text: str) -> RewardExplanation:
    file = folder / "r.py"
    file.write_text(source)
    batch = Batch([[]], [[{"role": "assistant", "content": text}]], columns={}, groups=["g"])
    return explain_row(functools.partial(RewardSet.load, file), "reward", batch, 0)


def missed(explanation: RewardExplanation) -> list[tuple[str, Any]]:
    """What is said to have been missed, by its condition."""
    assert explanation.exact, explanation.notes
    return [(credit.condition or "", credit.of) for credit in explanation.missed]


COUNTER = """
errors, hits = 0, 0
if "guess" in t: errors += 2
if "42" in t: hits += 1
s = 1.0 * hits - 0.25 * errors
"""


def test_a_counter_that_costs_is_not_missed(tmp_path: Path) -> None:
    assert missed(explain(tmp_path, COUNTER, "nothing")) == [('"42" in t', 1.0)]


@pytest.mark.parametrize(
    ("way", "amount"),
    [
        ("s = n / 4", 0.25),
        ("s = -(-n) * 0.5", 0.5),
        ("s = n\ns *= 0.5", 0.5),
        ("s = 0.1 + 0.2 * n + 0.1 * n", 0.3),
    ],
)
def test_the_amount_is_what_it_comes_to_in_the_score(tmp_path: Path, way: str, amount: float) -> None:
    body = f'n = 0.0\nif "42" in t: n += 1.0\n{way}'
    assert missed(explain(tmp_path, body, "nothing")) == [('"42" in t', pytest.approx(amount))]


@pytest.mark.parametrize(
    "way",
    [
        "s = 0.5 if n >= 1 else 0.1",
        "s = 0.5 ** (2 - n)",
        "s = abs(n - 2)",
        "s = (n + 1.0) * len(t)",
        "s = min(n + 1.0, 1.0)",
    ],
)
def test_nothing_is_missed_where_nobody_knows_or_a_limit_is_reached(tmp_path: Path, way: str) -> None:
    assert missed(explain(tmp_path, f'n = 0\nif "42" in t: n += 1\n{way}', "nothing")) == []


def test_a_limit_cuts_what_would_have_been_added(tmp_path: Path) -> None:
    body = """
    s = 0.8
    if "42" in t: s += 0.7
    s = min(s, 1.0)
    """
    assert missed(explain(tmp_path, body, "nothing")) == [('"42" in t', pytest.approx(0.2))]


def test_missed_parts_under_one_limit_do_not_add_up_to_more_than_it(tmp_path: Path) -> None:
    body = """
    s = 0.0
    if "a" in t: s += 0.8
    if "b" in t: s += 0.7
    s = min(s, 1.0)
    """
    assert [of for _, of in missed(explain(tmp_path, body, "?"))] == [0.8, pytest.approx(0.2)]


LADDER = """
s, n = 0.0, len(t)
if n < 3: s += 0.1
elif n < 6: s += 0.5
elif n < 9: s += 1.0
else: s += 0.2
"""


def test_of_branches_that_exclude_each_other_the_best_is_missed(tmp_path: Path) -> None:
    explanation = explain(tmp_path, LADDER, "xxxx")
    assert missed(explanation) == [("n < 9", 0.5)]
    assert explanation.missed[0].value is None  # this test was not made
    assert [(credit.points, credit.of) for credit in explanation.credits] == [(0.5, 1.0)]


def test_the_best_branch_misses_nothing(tmp_path: Path) -> None:
    assert missed(explain(tmp_path, LADDER, "x" * 7)) == []


def test_an_else_that_would_have_paid_more_is_told_by_the_test_that_went_the_other_way(
    tmp_path: Path,
) -> None:
    body = 's = 0.0\nif "bad" in t: s += 0.1\nelse: s += 1.0'
    only = explain(tmp_path, body, "bad").missed[0]
    assert (only.condition, only.value, only.of, only.line) == ('"bad" in t', True, 0.9, 9)


def test_a_penalty_that_cost_less_is_not_missed_reward(tmp_path: Path) -> None:
    body = 's = 1.0\nif "worst" in t: s -= 0.5\nelif "bad" in t: s -= 0.2'
    assert missed(explain(tmp_path, body, "worst")) == []


def test_a_penalty_that_was_not_incurred_is_not_missed(tmp_path: Path) -> None:
    body = 's = (1.0 if "a" in t else 0.0) + (-0.4 if "guess" in t else 0.0)'
    assert missed(explain(tmp_path, body, "a")) == []


def test_a_branch_that_would_have_assigned_is_missed(tmp_path: Path) -> None:
    body = """
    acc = -1.0
    if "42" in t: acc = 1.0
    s = 0.5 * acc
    """
    assert missed(explain(tmp_path, body, "nothing")) == [('"42" in t', 1.0)]


def test_what_is_paid_in_a_branch_stands_against_what_the_other_would_have_paid(tmp_path: Path) -> None:
    body = """
    if "42" in t:
        s = 1.0
    elif "4" in t:
        s = 0.2
    else:
        s = 0.0
    """
    assert missed(explain(tmp_path, body, "4")) == [('"42" in t', 0.8)]


def test_an_addition_in_other_words_and_a_setting_of_the_file_are_amounts(tmp_path: Path) -> None:
    body = 's = 0.0\nif "a" in t: s = s + BONUS\nif "b" in t: s += float(W["b"])'
    found = explain(tmp_path, body, "?", before='BONUS = 0.7\nW = {"b": 0.25}\n')
    assert missed(found) == [('"a" in t', 0.7), ('"b" in t', 0.25)]


def test_tests_inside_a_branch_that_did_not_run_are_named_together(tmp_path: Path) -> None:
    body = """
    s = 0.0
    if "a" in t:
        if "b" in t or "c" in t: s += 0.5
    """
    only = explain(tmp_path, body, "b").missed[0]
    assert (only.condition, only.value, only.of) == ('"a" in t and ("b" in t or "c" in t)', False, 0.5)


def test_a_number_appended_to_the_scores_is_missed(tmp_path: Path) -> None:
    source = """
def reward(completions, **kwargs):
    out = []
    for c in completions:
        if "42" in c[0]["content"]:
            out.append(2.0)
            continue
        out.append(0.0)
    return out
"""
    found = explain_source(tmp_path, source, "nothing")
    assert missed(found) == [('"42" in c[0]["content"]', 2.0)]
    assert (found.missed[0].line, found.missed[0].of, found.credits) == (6, 2.0, ())  # one test, told once


def test_another_return_of_the_same_call_is_missed(tmp_path: Path) -> None:
    helper = """
    def grade(t):
        if "tag" not in t: return 0.0
        if "42" in t: return 1.0
        return 0.1
    """
    assert missed(explain(tmp_path, "s = 0.5 * grade(t)", "tag", helper)) == [('"42" in t', 0.45)]
    assert missed(explain(tmp_path, "s = 0.5 * grade(t)", "none", helper)) == [('"42" in t', 0.5)]


def test_what_stands_behind_an_early_return_is_missed(tmp_path: Path) -> None:
    helper = """
    def grade(t):
        s = 0.0
        if "tag" not in t: return s
        s += 0.3
        if "42" in t: s += 0.7
        return s
    """
    assert missed(explain(tmp_path, "s = grade(t)", "none", helper)) == [('"tag" in t and "42" in t', 1.0)]


def test_an_item_of_the_scores_is_missed(tmp_path: Path) -> None:
    source = """
def reward(completions, **kwargs):
    scores = [0.0] * len(completions)
    for i, c in enumerate(completions):
        if "42" in c[0]["content"]:
            scores[i] += 0.5
    return scores
"""
    assert missed(explain_source(tmp_path, source, "nothing")) == [('"42" in c[0]["content"]', 0.5)]


def test_a_limit_by_a_test_is_no_gain_and_hides_what_it_would_cut(tmp_path: Path) -> None:
    body = 's = 0.8\nif "42" in t: s += 0.7\nif s > 0.9: s = 0.9'
    assert missed(explain(tmp_path, body, "nothing")) == []


def test_a_variable_read_before_the_test_is_not_taken_for_one_read_after_it(tmp_path: Path) -> None:
    body = 'n = 0.5\nm = 2 * n\nif "42" in t: n += 1.0\ns = m + n'
    assert missed(explain(tmp_path, body, "nothing")) == []


def test_a_missed_part_shows_what_was_compared_and_where_it_stands(tmp_path: Path) -> None:
    body = 's, guess = 0.0, re.search("[0-9]+", t).group()\nif guess == "42": s += 1.0'
    only = explain(tmp_path, body, "it is 41", before="import re").missed[0]
    assert (only.compared, only.spans) == (("'41'", "'42'"), ((6, 8),))


def test_a_part_that_a_gate_would_have_taken_is_not_missed(tmp_path: Path) -> None:
    body = 'gate = 1.0 if "tag" in t else 0.0\ns = gate * (0.7 * ("42" in t) + 0.3)'
    assert missed(explain(tmp_path, body, "nothing")) == []


def test_many_missed_rounds_of_a_loop_are_told_as_one(tmp_path: Path) -> None:
    body = """
    n = 0
    for word in t.split():
        if word.endswith("."): n += 1
    s = min(0.1 * n, 0.3)
    """
    (only,) = explain(tmp_path, body, "word " * 12).missed
    assert (only.of, only.note) == (0.3, "12 times")


def test_a_score_of_nothing_has_a_credit_of_the_most_there_is(tmp_path: Path) -> None:
    body = """
    s = 0.0
    for line in t.split():
        if "42" in line:
            s = min(len(line), 1.0)
            break
    """
    explanation = explain(tmp_path, body, "nothing")
    assert [(credit.points, credit.of) for credit in explanation.credits] == [(0.0, 1.0)]


def test_the_tests_of_a_missed_amount_are_named_with_those_it_stands_under(tmp_path: Path) -> None:
    helper = (
        'def grade(t):\n    if "tag" not in t:\n        return 0.0\n    return 1.0 if "42" in t else 0.1\n'
    )
    only = explain(tmp_path, "s = grade(t)", "none", helper).missed[0]
    assert (only.condition, only.value, only.of) == ('"tag" in t and "42" in t', False, 1.0)
    body = 's = 0.0\nif "tag" in t: s += 1.0 if "42" in t else 0.1'
    assert missed(explain(tmp_path, body, "none")) == [('"tag" in t and "42" in t', 1.0)]


def test_a_branch_with_tests_of_its_own_stands_against_what_it_gave(tmp_path: Path) -> None:
    body = """
    s = 0.0
    if "42" in t:
        s += 5.0
    elif "4" in t:
        s += 0.5
        if "41" in t: s += 2.0
        elif "40" in t: s += 1.5
    """
    assert missed(explain(tmp_path, body, "41")) == [('"42" in t', 2.5)]


def test_of_a_better_branch_around_and_one_inside_only_one_is_missed(tmp_path: Path) -> None:
    body = """
    s = 0.0
    if "42" in t: s += 5.0
    elif "4" in t:
        if "41" in t: s += 2.0
        elif "40" in t: s += 1.5
    """
    assert missed(explain(tmp_path, body, "40")) == [('"42" in t', 3.5)]
