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
TAIL = """

def paid(text):
    score = 0.0
    if '<a>' in text:
        score += 0.25
    return score + 0.5 if '</a>' in text else score
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
    file.write_text(HEAD + body + TAIL)
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


MASKS = """    opened = np.array(["<a>" in text for text in completions])
    closed = np.array(["</a>" in text for text in completions])
"""
MATRIX = """    X = np.array([["<a>" in text, "</a>" in text] for text in completions], dtype=float)
"""
TABLE = """    t = pd.DataFrame({"text": completions})
    t["s"] = 0.0
"""
PAID = [(0.25, "'<a>' in text", "<a>"), (0.5, "'</a>' in text", "</a>")]
OPENED, CLOSED = '"<a>" in text', '"</a>" in text'
BOTH = [(0.25, OPENED, "<a>"), (0.5, CLOSED, "</a>")]

FOLLOWED = {
    "masks": (MASKS + "    s[opened] += 0.25\n    s[closed] += 0.5\n    return s\n", BOTH),
    "masks of lists": ("    s[['<a>' in text for text in completions]] += 0.25\n    return s.tolist()\n",
                       [(0.25, "'<a>' in text", "<a>")]),
    "set under masks": (MASKS + "    s[opened] = 0.25\n    s[closed] += 0.5\n    return s\n", BOTH),
    "set again": (MASKS + "    s[opened] = 0.25\n    s[closed] = 0.5\n    return s\n", BOTH[1:]),
    "masks together": (MASKS + "    s[opened & closed] = 0.25\n    return s\n", [(0.25, "opened & closed", "<a>")]),
    "not a mask": (MASKS + "    s[~opened] -= 1\n    s[closed] += 0.5\n    return s\n", BOTH[1:]),
    "lengths": ("    n = np.array([len(text) for text in completions])\n    s[n > 3] = 0.5\n    return s\n",
                [(0.5, "n > 3", "")]),
    "where": (MASKS + "    return np.where(opened, 0.25, -1.0) + np.where(closed, 0.5, 0.0)\n", BOTH),
    "where of a test": ("    n = np.array([len(text) for text in completions])\n"
                        "    return np.where(n > 3, 0.5, -1.0)\n", [(0.5, "n > 3", "")]),
    "select": (MASKS + "    return np.select([~closed, opened], [0.1, 0.25], default=0.0)\n", BOTH[:1]),
    "matrix": (MATRIX + "    return X @ np.array([0.25, 0.5])\n", BOTH),
    "dot of a list": (MATRIX + "    return X.dot([0.25, 0.5]).tolist()\n", BOTH),
    "rows of a matrix": (MATRIX + "    w = np.array([0.25, 0.5])\n    return [float(row @ w) for row in X]\n", BOTH),
    "row by row": (MATRIX + "    return [float(np.dot(X[i], [0.25, 0.5])) for i in range(len(X))]\n", BOTH),
    "sums of rows": (MATRIX + "    return (X * np.array([0.25, 0.5])).sum(axis=1)\n", BOTH),
    "columns": (MASKS + "    return np.column_stack([opened, closed]) @ np.array([0.25, 0.5])\n", BOTH),
    "turned": (MASKS + "    return np.array([opened, closed]).T @ np.array([0.25, 0.5])\n", BOTH),
    "a column": (MATRIX + "    return 0.25 * X[:, 0] + 0.5 * X[:, 1]\n", BOTH),
    "a column that is set": (MASKS + "    Y = np.zeros((len(completions), 2))\n    Y[:, 0] = opened\n"
                             "    Y[closed, 1] = 2.0\n    return Y @ np.array([0.25, 0.25])\n", BOTH),
    "column of a table": (TABLE + "    t['s'] += np.array([0.25 * (\"<a>\" in text) for text in completions])\n"
                          "    t['s'] = t['s'] + [0.5 if \"</a>\" in text else 0.0 for text in completions]\n"
                          "    return t['s'].tolist()\n", BOTH),
    "rows of a table": (TABLE + MASKS + "    t.loc[opened, 's'] += 0.25\n    t.loc[closed, 's'] += 0.5\n"
                        "    return t['s'].values.tolist()\n", BOTH),
    "texts of a table": (TABLE + "    t.loc[t['text'].str.contains('<a>', regex=False), 's'] = 0.25\n"
                         "    t.loc[t['text'].str.endswith('</a>'), 's'] += 0.5\n    return list(t['s'])\n",
                         [(0.25, "t['text'].str.contains('<a>', regex=False)", "<a>"),
                          (0.5, "t['text'].str.endswith('</a>')", "</a>")]),
    "table of rows": ("    t = pd.DataFrame([{'a': 0.25 * (\"<a>\" in text), 'b': 0.5 if \"</a>\" in text else 0.0}"
                      " for text in completions])\n    return (t['a'] + t['b']).tolist()\n", BOTH),
    "series": (MASKS + "    s = pd.Series(s)\n    s[opened] += 0.25\n    s.loc[closed] += 0.5\n    return s.tolist()\n",
               BOTH),
    "mapped": ("    return pd.Series(completions).map(paid).tolist()\n", PAID),
    "applied": (TABLE + "    t['s'] = t['text'].apply(paid)\n    return t['s'] * 1.0\n", PAID),
    "applied row by row": (TABLE + "    return t.apply(lambda row: 0.25 * ('<a>' in row['text']), axis=1).tolist()\n",
                           [(0.25, "'<a>' in row['text']", "<a>")]),
    "sums of columns": (TABLE + MASKS + "    t['a'] = 0.25 * opened\n    t['b'] = 0.0\n"
                        "    t.loc[closed, 'b'] = 0.5\n    return t[['a', 'b']].sum(axis=1).tolist()\n", BOTH),
    "where of a series": (MASKS + "    return pd.Series(s + 0.25).where(opened, 0.0)\n", BOTH[:1]),
    "numbers of rows": ("    s = pd.Series(s)\n    s.loc[0] += 0.25 if \"<a>\" in completions[0] else 0.0\n"
                        "    return s.tolist()\n", [(0.25, '"<a>" in completions[0]', "<a>")]),
}  # fmt: skip


@pytest.mark.parametrize("how", FOLLOWED)
def test_a_number_is_followed_through_masks_matrices_and_tables(tmp_path: Path, how: str) -> None:
    body, expected = FOLLOWED[how]
    explanation = explain(tmp_path, body)
    shown = [
        (credit.points, credit.condition, "".join(TEXTS[0][start:end] for start, end in credit.spans[:1]))
        for credit in explanation.credits
    ]
    assert (shown, explanation.exact) == (expected, True)


def test_the_mean_of_a_group_is_one_credit(tmp_path: Path) -> None:
    scores = """    raw = [1.0 if "<a>" in text else 0.0 for text in completions]
"""
    for centred in ("[one - sum(raw) / len(raw) for one in raw]", "np.array(raw) - np.mean(raw)"):
        explanation = explain(tmp_path, f"{scores}    return {centred}\n")
        assert [(credit.points, credit.name) for credit in explanation.credits] == [
            (1.0, "<a>"),
            (-0.5, "sum(raw) / len(raw)" if "sum" in centred else "np.mean(raw)"),
        ]
        assert explanation.exact


def test_the_mean_of_a_batch_that_masks_paid_is_one_credit(tmp_path: Path) -> None:
    for texts in (TEXTS, TEXTS * 50):
        explanation = explain(
            tmp_path, MASKS + "    s[opened] += 1.0\n    return s - s.mean()\n", texts=texts
        )
        assert [(credit.points, credit.name) for credit in explanation.credits] == [
            (1.0, "<a>"),
            (-0.5, "s.mean()"),
        ]
        assert explanation.exact


def test_a_mask_is_that_of_the_moment_it_was_made(tmp_path: Path) -> None:
    body = "    s += 0.25\n    low = s < 0.5\n    s += 0.5\n    s[low] += 0.125\n    return s\n"
    explanation = explain(tmp_path, body)
    assert [(one.points, one.line, one.condition) for one in explanation.credits][-1] == (
        0.125,
        10,
        "s < 0.5",
    )
    assert explanation.credits[-1].compared == ("0.25", "0.5")
    assert explanation.exact


def test_a_table_whose_rows_changed_places_is_not_told_of_the_old_ones(tmp_path: Path) -> None:
    body = (
        TABLE
        + MASKS
        + """    t.loc[closed & ~opened, 's'] += 0.5
    t = t.sort_values("s", ascending=False)
    return t["s"].tolist()
"""
    )
    explanation = explain(tmp_path, body)
    assert "closed & ~opened" not in [credit.condition for credit in explanation.credits]


LOST = {
    "view": "    part = s[:]\n    part[0] += 0.25\n    return s\n",
    "viewed": "    part = s[:]\n    s[0] += 0.25\n    return part\n",
    "function": "    s.fill(0.5)\n    return s\n",
    "function of NumPy": "    np.add.at(s, [0], 0.5)\n    return s.tolist()\n",
    "positions twice": "    s[[0, 0]] += 0.5\n    return s\n",
    "view under a mask": "    part = s[:]\n    part[part == 0] = 0.5\n    return s\n",
    "rows of other labels": "    s = pd.Series(s, index=range(1, len(s) + 1))\n    s.loc[1] = 0.5\n"
                            "    return list(s)\n",
    "several columns": "    t = pd.DataFrame({'a': s, 'b': s})\n    t[['a', 'b']] = 0.5\n    return t['a'].tolist()\n",
    "columns at once": "    t = pd.DataFrame({'a': s})\n    t['a'], t['b'] = 0.5, 0.25\n"
    "    return t[['a', 'b']].sum(axis=1)\n",
    "column changed unseen": "    t = pd.DataFrame({'s': s})\n    t['s'] = 0.0\n    t.insert(0, 'u', 1)\n"
                             "    t.replace(0.0, 0.5, inplace=True)\n    return t['s'].tolist()\n",
    "deque": "    s = collections.deque(s.tolist())\n    s[0] += 0.5\n    return list(s)\n",
    "array": "    s = array.array('d', s)\n    s[0] += 0.5\n    return s.tolist()\n",
    "slice of a list": "    s = [0.5 for _ in completions]\n    s[0:1] = [0.5]\n    return s\n",
}  # fmt: skip


@pytest.mark.parametrize("how", LOST)
def test_a_number_that_was_changed_out_of_sight_is_never_exact(tmp_path: Path, how: str) -> None:
    explanation = explain(tmp_path, LOST[how])
    assert explanation.score
    assert (explanation.exact, explanation.credits) == (False, ())
    assert explanation.notes[0].startswith("the score came by a way that is not followed")
    assert 5 < explanation.lines[-1].line <= 11


def test_an_item_that_was_exchanged_for_an_equal_one_is_not_told_of_the_old_one(tmp_path: Path) -> None:
    body = """    s = [0.25 if "<a>" in text else 0.0 for text in completions]
    list.__setitem__(s, 0, float("0.25"))
    return s
"""
    assert [credit.condition for credit in explain(tmp_path, body).credits] != ['"<a>" in text']


@pytest.mark.parametrize("body", ["return s", "s *= 0\n    return s", "return np.where(s == 0, 1.0, 0.0)"])
def test_arrays_that_nothing_changed_are_still_exact(tmp_path: Path, body: str) -> None:
    assert explain(tmp_path, f"    {body}\n").exact
