"""Numbers inside arrays are followed item by item, or said to be lost; never shown at a wrong line as exact."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from rewards.contract import Batch
from rewards.rewardset import RewardSet
from rewards.tracing import RewardExplanation, explain_row

HEAD = """import array, collections, numpy as np
import pandas as pd


def reward(completions, **kwargs):
    s = np.zeros(len(completions))
"""
ADDED = """    for i, text in enumerate(completions):
        if "<a>" in text:
            s[i] += 0.25
        if "</a>" in text:
            s[i] += 0.5
"""
TEXTS = ["<a>one</a>", "two", "<a>three", "</a>"]


def explain(folder: Path, body: str, row: int = 0, texts: list[str] | None = None) -> RewardExplanation:
    file = folder / "r.py"
    file.write_text(HEAD + body)
    texts = TEXTS if texts is None else texts
    batch = Batch(["p"] * len(texts), texts, groups=["g"] * len(texts))
    return explain_row(functools.partial(RewardSet.load, file), "reward", batch, row)


def found(explanation: RewardExplanation) -> list[tuple[float, int | None, str]]:
    return [(credit.points, credit.line, credit.name) for credit in explanation.credits]


@pytest.mark.parametrize(
    "end",
    ["return s", "return s.tolist()", "return list(s)", "return [float(x) for x in s]",
     "return [s[i] for i in range(len(s))]", "return s.copy()", "return np.asarray(s, dtype=np.float32).tolist()"],
)  # fmt: skip
def test_what_is_added_to_an_item_is_a_credit_of_its_line(tmp_path: Path, end: str) -> None:
    explanation = explain(tmp_path, f"{ADDED}    {end}\n")
    assert found(explanation) == [(0.25, 9, "<a>"), (0.5, 11, "</a>")]
    assert explanation.exact
    assert explain(tmp_path, f"{ADDED}    {end}\n", 2).credits[0].points == 0.25


def test_whole_arrays_are_followed_through_changes_in_place(tmp_path: Path) -> None:
    body = """    s += 0.25 * np.array(["<a>" in text for text in completions])
    s += 0.5 * np.array(["</a>" in text for text in completions])
    s *= 2
    return s
"""
    explanation = explain(tmp_path, body)
    assert found(explanation) == [(0.5, 7, "<a>"), (1.0, 8, "</a>")]
    assert explanation.exact


def test_series_are_followed_as_arrays_are(tmp_path: Path) -> None:
    body = """    s = pd.Series([0.25 if "<a>" in text else 0.0 for text in completions])
    s += pd.Series([0.5 if "</a>" in text else 0.0 for text in completions])
    return s.tolist()
"""
    explanation = explain(tmp_path, body)
    assert (found(explanation), explanation.exact) == ([(0.25, 7, "<a>"), (0.5, 8, "</a>")], True)


def test_the_sum_of_an_array_is_the_sum_of_its_items(tmp_path: Path) -> None:
    body = """    scores = []
    for text in completions:
        parts = np.zeros(2)
        parts[0] = 0.25 if "<a>" in text else 0.0
        parts[1] = 0.5 if "</a>" in text else 0.0
        scores.append({})
    return scores
"""
    for total, scale in (("parts.sum()", 1.0), ("sum(parts)", 1.0), ("float(np.mean(parts))", 0.5)):
        explanation = explain(tmp_path, body.format(total))
        assert found(explanation) == [(0.25 * scale, 10, "<a>"), (0.5 * scale, 11, "</a>")]
        assert explanation.exact


def test_a_limit_is_a_credit_of_its_own(tmp_path: Path) -> None:
    explanation = explain(tmp_path, ADDED + "    return np.clip(s, 0, 0.6)\n")
    assert [credit.points for credit in explanation.credits] == pytest.approx([0.25, 0.5, -0.15])
    assert explanation.exact


LOST = {
    "mask": "    s[np.array(['<a>' in text for text in completions])] += 0.25\n    return s\n",
    "slice": "    s[:] = 0.5\n    return s\n",
    "slice added to": "    s[:2] += 0.5\n    return s\n",
    "view": "    part = s[:]\n    part[0] += 0.25\n    return s\n",
    "viewed": "    part = s[:]\n    s[0] += 0.25\n    return part\n",
    "function": "    s.fill(0.5)\n    return s\n",
    "function of NumPy": "    np.add.at(s, [0], 0.5)\n    return s.tolist()\n",
    "table": "    s = np.zeros((len(completions), 2))\n    s[0, 0] = 0.5\n    return s.sum(axis=1)\n",
    "labels": "    s = pd.Series(s)\n    s.loc[0] += 0.5\n    return s.tolist()\n",
    "positions": "    s = pd.Series(s)\n    s.iloc[0] = 0.5\n    return list(s)\n",
    "column": "    t = pd.DataFrame({'s': s})\n    t['s'] += 0.5\n    return t['s'].tolist()\n",
    "deque": "    s = collections.deque(s.tolist())\n    s[0] += 0.5\n    return list(s)\n",
    "array": "    s = array.array('d', s)\n    s[0] += 0.5\n    return s.tolist()\n",
    "slice of a list": "    s = [0.5 for _ in completions]\n    s[0:1] = [0.5]\n    return s\n",
    "read back": "    s[[0]] = 0.5\n    return [float(x) + 0.0 for x in s]\n",
    "mean of a mask": "    s[s == 0] = 0.5\n    return [s.mean()] * len(s)\n",
}


@pytest.mark.parametrize("how", LOST)
def test_a_number_that_was_changed_out_of_sight_is_never_exact(tmp_path: Path, how: str) -> None:
    explanation = explain(tmp_path, LOST[how])
    assert explanation.score
    assert (explanation.exact, explanation.credits) == (False, ())
    assert explanation.notes[0].startswith("the score came by a way that is not followed")
    assert 5 < explanation.lines[-1].line <= 9


def test_an_item_that_was_exchanged_for_an_equal_one_is_not_told_of_the_old_one(tmp_path: Path) -> None:
    body = """    s = [0.25 if "<a>" in text else 0.0 for text in completions]
    list.__setitem__(s, 0, float("0.25"))
    return s
"""
    assert [credit.condition for credit in explain(tmp_path, body).credits] != ['"<a>" in text']


@pytest.mark.parametrize("body", ["return s", "s *= 0\n    return s", "return np.where(s == 0, 1.0, 0.0)"])
def test_arrays_that_nothing_changed_are_still_exact(tmp_path: Path, body: str) -> None:
    assert explain(tmp_path, f"    {body}\n").exact
