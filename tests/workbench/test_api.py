"""The workbench from Python: functions of this process, rows in memory, results that show themselves."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import workbench
from rewards import reward
from rewards.errors import MissingColumnError, SamplesError, UsageError

ROWS = [
    {"prompt": "1+1", "completion": "<answer>2</answer>", "answer": "2", "label": "right"},
    {"prompt": "1+1", "completion": "3", "answer": "2", "label": "wrong"},
    {"prompt": "2+2", "completion": "<answer>5</answer>", "answer": "4", "label": "wrong"},
    {"prompt": "2+2", "completion": "4", "answer": "4", "label": "wrong"},
]


def tagged(completions: list[str], **_: Any) -> list[float]:
    scores = []
    for text in completions:
        score = 0.0
        if "<answer>" in text:
            score += 0.25
        if "</answer>" in text:
            score += 0.25
        scores.append(score)
    return scores


@reward(name="right answer", weight=2.0, range=(0.0, 1.0), kind="correctness")
def correct(completions: list[str], answer: list[str], **_: Any) -> list[float]:
    return [float(gold in text) for text, gold in zip(completions, answer, strict=True)]


def test_kinds_are_assumed_where_asked_and_held_back_checks_say_how() -> None:
    def correctness_reward(completions: list[str], **_: Any) -> list[float]:
        return [float("2" in text) for text in completions]

    rows = [{key: value for key, value in row.items() if key != "label"} for row in ROWS]
    held = workbench.check(correctness_reward, rows, select=["RW403"])
    assert "assume_kinds=True" in repr(held)
    assert "--assume-kinds" not in repr(held) + "".join(one.why for one in held.report.skipped)
    assert workbench.check(correctness_reward, rows, select=["RW403"], assume_kinds=True).report.ran


@pytest.mark.parametrize("paths", [True, False])
def test_a_column_to_change_that_no_row_has_is_one_sentence(tmp_path: Path, paths: bool) -> None:
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    with pytest.raises(UsageError, match="columns foo=prompt: no row has a column 'foo'"):
        workbench.score(tagged, tmp_path / "s.jsonl" if paths else ROWS, columns={"foo": "prompt"})


@pytest.mark.guide("G24")
def test_functions_are_scored_without_any_file() -> None:
    scores = workbench.score([tagged, correct], ROWS)
    assert scores.table.names == ["tagged", "right answer"]
    assert scores.table.weights == (1.0, 2.0)
    assert scores.table.totals.tolist() == [2.5, 0.0, 0.5, 2.0]


def test_lambdas_closures_partials_objects_and_coroutines_are_functions_too() -> None:
    class Length:
        def __call__(self, completions: list[str], **_: Any) -> list[float]:
            return [float(len(text)) for text in completions]

    async def awaited(completions: list[str], **_: Any) -> list[float]:
        return [0.5] * len(completions)

    def at_least(completions: list[str], least: int, **_: Any) -> list[float]:
        return [float(len(text) >= least) for text in completions]

    secret = object()
    functions = [
        lambda completions, **_: [float(secret is not None)] * len(completions),
        functools.partial(at_least, least=2),
        Length(),
        awaited,
        awaited,
    ]
    table = workbench.score(functions, ["a", "bb"]).table
    assert table.names == ["reward_1", "at_least", "Length", "awaited", "awaited_2"]
    assert table.scores.tolist() == [[1.0, 0.0, 1.0, 0.5, 0.5], [1.0, 1.0, 2.0, 0.5, 0.5]]


def test_names_and_weights_may_be_given() -> None:
    table = workbench.score({"a": tagged, "b": correct}, ROWS, weights={"b": 0.5}).table
    assert (table.names, table.weights) == (["a", "b"], (1.0, 0.5))
    assert workbench.score([tagged, correct], ROWS, weights=[0.0, 1.0]).table.weights == (0.0, 1.0)


def test_a_function_that_raises_hangs_or_exits_costs_its_rows_alone() -> None:
    def odd(completions: list[str], **_: Any) -> list[float]:
        if any(text == "3" for text in completions):
            os._exit(3)
        return [1.0 / len(text.strip("<>")) for text in completions]

    scores = workbench.score(odd, ROWS)
    assert "ended its process" in scores.table.errors[1, "odd"]
    assert len(scores.table.errors) == 1


def test_a_target_is_taken_like_a_function(tmp_path: Path) -> None:
    (tmp_path / "rewards.py").write_text(
        "def long(completions, **_):\n    return [len(c) / 10 for c in completions]\n"
    )
    (tmp_path / "s.jsonl").write_text(json.dumps(ROWS[1]) + "\n")
    scores = workbench.score(tmp_path / "rewards.py", tmp_path / "s.jsonl")
    assert scores.table.totals.tolist() == [0.1]
    assert workbench.score(str(tmp_path / "rewards.py"), pd.DataFrame(ROWS)).table.totals.shape == (4,)


def test_frames_have_a_row_a_completion_a_credit_a_finding_a_change() -> None:
    scores = workbench.score([tagged, correct], ROWS)
    assert scores.to_pandas()["completion"].tolist() == [row["completion"] for row in ROWS]
    credits = workbench.explain(tagged, ROWS, row=[0, 1]).to_pandas()
    assert credits[["row", "points", "text"]].values.tolist()[:2] == [
        [0, 0.25, "<answer>"],
        [0, 0.25, "</answer>"],
    ]
    assert "RW1" not in workbench.check(tagged, ROWS, select=["RW101"]).to_pandas()["check"].tolist()
    checked = workbench.check(tagged, ROWS, select=["RW1"], quick=True)
    also = checked.to_pandas()["also"].tolist()
    assert also == [list(finding.checks[1:]) for finding in checked.findings]
    changes = workbench.diff(tagged, correct, ROWS).to_pandas()
    assert {"total before", "total after", "flips", "completion"} <= set(changes.columns)


def test_explanations_name_the_line_and_the_words() -> None:
    (explained,) = workbench.explain([tagged, correct], ROWS, row=0)
    first, second = explained.rewards[0].credits
    assert (first.condition, first.spans, second.points) == ('"<answer>" in text', ((0, 8),), 0.25)
    assert explained.rewards[0].exact
    with pytest.raises(UsageError, match="there is no row 9"):
        workbench.explain(tagged, ROWS, row=9)


def test_what_is_not_followed_is_one_credit_with_the_true_reason() -> None:
    class Length:
        def __call__(self, completions: list[str], **_: Any) -> list[float]:
            return [len(text) / 4 for text in completions]

    space: dict[str, Any] = {}
    exec("def unread(completions, **_):\n    return [0.5 for _text in completions]", space)
    tag = lambda completions, **_: [float("<answer>" in text) for text in completions]  # noqa: E731
    functions = [tag, Length(), Length().__call__, space["unread"], functools.partial(tag)]
    (explained,) = workbench.explain(functions, ["text"], row=0)
    said = [
        (
            [(credit.name, credit.points) for credit in one.credits],
            one.exact,
            [note.partition("; to see its parts, define it with `def`")[0] for note in one.notes],
        )
        for one in explained.rewards
    ]
    lambdas = ["explained as one credit: the source of a lambda cannot be read apart"]
    classes = ["explained as one credit: the source of the class Length is not followed"]
    unread = ["explained as one credit: its source cannot be read again"]
    assert said == [
        ([("reward_1", 0.0)], True, lambdas),
        ([("Length", 1.0)], True, classes),
        ([("__call__", 1.0)], True, classes),
        ([("unread", 0.5)], True, unread),
        ([("reward_5", 0.0)], True, lambdas),
    ]


def test_findings_come_as_objects() -> None:
    def counts(completions: list[str], **_: Any) -> list[float]:
        return [1.0]

    checked = workbench.check(counts, ROWS, quick=True)
    assert not checked.passed
    assert "wrong-length" in [finding.name for finding in checked.findings]
    assert workbench.check(tagged, ROWS, select=["RW101"]).passed


@pytest.mark.guide("G3")
def test_other_weights_are_compared_without_scoring_again() -> None:
    scores = workbench.score([tagged, correct], ROWS)
    muted = scores.reweighted({"right answer": 0.0})
    assert muted.table.totals.tolist() == [0.5, 0.0, 0.5, 0.0]
    assert scores.compare(muted).difference.flips == 2
    assert scores.reweighted([0.0, 1.0]).table.totals.tolist() == [1.0, 0.0, 0.0, 1.0]
    with pytest.raises(
        UsageError, match="'tag', which is none of tagged, right answer; did you mean 'tagged'"
    ):
        scores.reweighted({"tag": 1.0})


def test_versions_of_a_function_are_compared_with_their_source() -> None:
    def better(completions: list[str], **_: Any) -> list[float]:
        return [float("<answer>" in text) for text in completions]

    compared = workbench.diff(tagged, better, ROWS)
    assert [(change.name, change.better) for change in compared.difference.rewards] == [("better", 2)]
    assert "+    def better(" in compared.difference.code[0].diff
    assert "nothing changes on these completions" in repr(workbench.diff(tagged, tagged, ROWS))


def test_two_functions_of_different_names_keep_them_in_a_comparison() -> None:
    def brief(completions: list[str], **_: Any) -> list[float]:
        return [1.0 for _text in completions]

    def right(completions: list[str], **_: Any) -> list[float]:
        return [float("4" in text) for text in completions]

    compared = workbench.diff(brief, right, ROWS)
    assert compared.difference.code[0].diff.startswith("--- brief\n+++ right\n")
    assert "\nbrief -> right " in repr(compared)
    assert "brief -> right: 1 -> 0" in repr(compared)
    assert "brief -&gt; right" in compared._repr_html_()


def test_columns_are_sliced_by_name() -> None:
    parts = workbench.score(tagged, ROWS).by("answer")
    assert [(part.name, part.rows, part.means["tagged"]) for part in parts] == [
        ("2", 2, 0.25),
        ("4", 2, 0.25),
    ]


def test_rows_are_sliced_by_their_label_and_length() -> None:
    labelled = [{**row, "label": label} for row, label in zip(ROWS, ("right", "wrong") * 2, strict=True)]
    scores = workbench.score(tagged, labelled)
    assert [(part.name, part.rows) for part in scores.by("label")] == [("right", 2), ("wrong", 2)]
    assert sum(part.rows for part in scores.by("length")) == 4
    with pytest.raises(UsageError, match="no column 'label'; the columns are answer, group, length"):
        workbench.score(correct, [{**row, "label": None} for row in ROWS]).by("label")


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (lambda: workbench.score(tagged), UsageError, "samples are missing"),
        (lambda: workbench.score([], ROWS), UsageError, "there is no reward function to call"),
        (lambda: workbench.score([tagged, 3], ROWS), UsageError, "int, not a function"),
        (lambda: workbench.score([tagged], ROWS, weights=[1, 2]), UsageError, "2 weights for 1 functions"),
        (
            lambda: workbench.score([tagged], ROWS, weights={"x": 1}),
            UsageError,
            "weights has 'x', which is none of tagged",
        ),
        (lambda: workbench.score(correct, ["a"]), MissingColumnError, "requires the column 'answer'"),
        (lambda: workbench.score(tagged, []), SamplesError, "there is no row in the samples"),
    ],
)
def test_wrong_use_is_one_sentence(make: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        make()


def test_nothing_is_left_behind() -> None:
    before = set(sys.modules)
    workbench.score(tagged, ROWS)
    assert not [name for name in set(sys.modules) - before if name.startswith("_inline_rewards")]


SCRIPT = """
import threading, time
import workbench
print("body")
BONUS = 0.5

def worth(text):
    return BONUS if "b" in text else 0.0

def pays(completions, **kwargs):
    scores = []
    for text in completions:
        score = 0.25 if "a" in text else 0.0
        score += worth(text)
        scores.append(score)
    return scores

threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print(workbench.score(pays, ["ab", "a"]).table.totals.tolist())
explained = workbench.explain(pays, ["ab"])[0].rewards[0]
print([(credit.points, credit.line) for credit in explained.credits], explained.exact)
"""


def test_functions_of_a_script_with_threads_are_traced_and_the_script_runs_once(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-W", "error", "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["body", "[0.75, 0.25]", "[(0.25, 13), (0.5, 8)] True"], done.stderr


NOTEBOOK = """
import linecache, sys, types
CELLS = [
    "def worth(text):\\n    return 0.5 if 'b' in text else 0.0\\n",
    "import workbench\\n\\ndef pays(completions, **kwargs):\\n    return [worth(text) for text in completions]\\n",
    "explained = workbench.explain(pays, ['ab'])[0].rewards[0]\\n"
    "print([(credit.points, credit.place) for credit in explained.credits], explained.exact)\\n",
]
main = types.ModuleType("__main__")
sys.modules["__main__"] = main
for number, text in enumerate(CELLS):
    name = f"<cell {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), main.__dict__)
"""


def test_functions_of_several_cells_are_traced_through_each_other(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[(0.5, 'cell.py:2')] True", done.stderr


def test_a_rewards_file_in_the_current_folder_does_not_stand_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "rewards.py").write_text(
        "def long(completions, **_):\n    return [float(len(c)) for c in completions]\n"
    )
    call = "print(workbench.score('rewards.py', ['abc']).table.totals.tolist())"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    for code, said in (
        (f"import workbench; {call}", "[3.0]"),
        (
            f"import rewards, workbench\ntry:\n    {call}\nexcept ImportError as error:\n    print(error)",
            "rename the file",
        ),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert said in done.stdout, done.stderr


def test_import_workbench_is_quick() -> None:
    code = "import sys, workbench; print([name for name in ('numpy', 'pandas', 'pydantic') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def made(tag: str, weight: float) -> Any:
    """A function as people make several of one kind."""

    def reward(completions: list[str], **kwargs: Any) -> list[float]:
        scores = []
        for text in completions:
            score = 0.0
            if tag in text:
                score += weight
            if text.endswith("!"):
                score += 0.5
            scores.append(score)
        return scores

    return reward


def test_a_function_that_another_made_is_explained_line_by_line() -> None:
    [row] = workbench.explain(made("<a>", 0.25), [{"prompt": "p", "completion": "<a>!"}])
    [explained] = row.rewards
    assert [(credit.points, credit.condition) for credit in explained.credits] == [
        (0.25, "tag in text"),
        (0.5, 'text.endswith("!")'),
    ]
    assert explained.exact
