"""Kept scores: used where they hold, never where they might not."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rewards.running import Runner
from tests.workbench.tables import samples
from workbench import score_cache
from workbench.samples import Samples
from workbench.score_cache import Kept, ScoreCache
from workbench.scoring import ScoreTable, score

FILE = """
from rewards import reward

@reward(scope="row")
def slow(completions, answer, **_):
    return [work(text) * len(gold) for text, gold in zip(completions, answer)]

@reward(scope="group")
def together(prompts, completions, **_):
    return [prompts.count(prompt) + work(text) for prompt, text in zip(prompts, completions)]

def undeclared(completions, **_):
    return [work(text) for text in completions]

def work(text):
    return sum(number % 7 for number in range(6000)) * 0.0 + len(text)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "rewards.py").write_text(FILE)
    return tmp_path


ROWS = samples(["a", "bb", "ccc", "bb"], ["x", "x", "y", "y"], answer=["1", "1", "22", "22"])


def scored(project: Path, rows: Samples = ROWS, *only: str, name: str = "rewards.py") -> ScoreTable:
    with ScoreCache(project) as cache:
        return score(project / name, rows, only=only, cache=cache)


def test_a_second_scoring_knows_what_was_slow(project: Path) -> None:
    first, second = scored(project), scored(project)
    assert first.reused == {"slow": 0, "together": 0, "undeclared": 0}
    assert second.reused == {"slow": 4, "together": 4, "undeclared": 4}
    assert np.array_equal(first.scores, second.scores)
    assert second.seconds["slow"] == 0.0


def test_what_is_quicker_than_a_look_up_is_not_kept(project: Path) -> None:
    (project / "rewards.py").write_text("def quick(completions, **_):\n    return [1.0] * len(completions)\n")
    many = samples([str(n) for n in range(20_000)], ["g"] * 20_000)
    scored(project, many)
    assert scored(project, many).reused == {"quick": 0}


def test_only_new_rows_are_called_where_rows_stand_alone(project: Path) -> None:
    scored(project)
    more = samples(["a", "bb", "ccc", "dddd"], ["x", "x", "y", "y"], answer=["1", "1", "22", "22"])
    again = scored(project, more)
    assert again.reused == {"slow": 3, "together": 2, "undeclared": 0}
    assert again.scores[:, 0].tolist() == [1.0, 2.0, 6.0, 8.0]
    assert again.scores[:, 1].tolist() == [3.0, 4.0, 5.0, 6.0]


def counted_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of keys of each look-up from now on."""
    asked: list[int] = []
    read = ScoreCache.read

    def counted(self: ScoreCache, keys: Sequence[bytes]) -> dict[bytes, Kept]:
        asked.append(len(keys))
        return read(self, keys)

    monkeypatch.setattr(ScoreCache, "read", counted)
    return asked


def test_the_same_rows_again_are_one_look_up(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted_reads(monkeypatch)
    first, again = scored(project, ROWS, "slow"), scored(project, ROWS, "slow")
    assert (asked, again.reused["slow"]) == ([1], 4)
    assert np.array_equal(first.scores, again.scores)


def test_a_call_put_together_from_kept_rows_is_known_as_a_whole_then(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = samples(["a", "bb", "ccc", "dddd"], ["x", "x", "y", "y"], answer=["1", "1", "22", "22"])
    scored(project, ROWS, "slow")
    first = scored(project, more, "slow")
    asked = counted_reads(monkeypatch)
    again = scored(project, more, "slow")
    assert asked == [1]
    assert np.array_equal(first.scores, again.scores)


def test_rows_in_another_order_keep_their_scores(project: Path) -> None:
    scored(project, ROWS, "slow")
    turned = samples(["bb", "ccc", "bb", "a"], ["y", "y", "x", "x"], answer=["22", "22", "1", "1"])
    assert scored(project, turned, "slow").scores[:, 0].tolist() == [4.0, 6.0, 2.0, 1.0]


def test_what_was_scored_by_row_is_no_whole_call_once_nothing_is_declared(project: Path) -> None:
    text = (
        "from rewards import reward\n\n@reward({})\n"
        "def f(completions, **_):\n    return [work(c) for c in completions]\n\n"
    )
    rest = FILE[FILE.index("def work") :]
    (project / "rewards.py").write_text(text.format("scope='row'") + rest)
    scored(project, ROWS, "f")
    (project / "rewards.py").write_text(text.format("") + rest)
    assert scored(project, ROWS, "f").reused["f"] == 0


def test_another_column_value_is_another_row(project: Path) -> None:
    scored(project)
    other = replace(ROWS, columns={"answer": ["1", "333", "22", "22"]})
    again = scored(project, other, "slow")
    assert (again.reused["slow"], again.scores[1, 0]) == (3, 6.0)


def test_a_column_that_a_reward_cannot_see_changes_nothing(project: Path) -> None:
    text = FILE.replace(
        "def slow(completions, answer, **_)",
        "def slow(completions, answer, prompts, completion_ids, trainer_state, log_extra, log_metric)",
    )
    (project / "rewards.py").write_text(text)
    scored(project, ROWS, "slow")
    (project / "rewards.py").write_text(text)
    assert scored(project, ROWS, "slow").reused["slow"] == 4


def test_an_edit_scores_again_what_it_touches(project: Path) -> None:
    scored(project)
    (project / "rewards.py").write_text(FILE.replace("* len(gold)", "* len(gold) * 2"))
    again = scored(project)
    assert again.reused == {"slow": 0, "together": 4, "undeclared": 4}
    assert again.scores[:, 0].tolist() == [2.0, 4.0, 12.0, 8.0]


def test_several_processes_know_the_same(project: Path) -> None:
    many = samples([str(n) for n in range(80)], ["g"] * 80, answer=["1"] * 80)
    with ScoreCache(project) as cache:
        first = score(project / "rewards.py", many, jobs=3, cache=cache)
    again = scored(project, many)
    assert again.reused["slow"] == 80
    assert np.array_equal(first.scores, again.scores)


REFUSED = {
    "prints": ("def f(completions, **_):\n    print('x')\n    return [work(c) for c in completions]\n"),
    "draws": ("import random\ndef f(completions, **_):\n    return [work(c) + random.random() for c in completions]\n"),
    "fails": ("def f(completions, **_):\n    return [work(c) / 0 for c in completions]\n"),
    "reads a file": (
        "import xml.etree.ElementTree as ET\n"
        "def f(completions, **_):\n    n = len(ET.ElementTree(file='x.xml').getroot().text)\n"
        "    return [work(c) + n for c in completions]\n"
    ),
    "reads a file while it is loaded": (
        "import xml.etree.ElementTree as ET\nN = len(ET.ElementTree(file='x.xml').getroot().text)\n"
        "def f(completions, **_):\n    return [work(c) + N for c in completions]\n"
    ),
    "draws by another name": (
        "from statistics import NormalDist\n"
        "def f(completions, **_):\n    return [work(c) + NormalDist().samples(1)[0] for c in completions]\n"
    ),
    "draws while it is loaded": (
        "from statistics import NormalDist\nN = NormalDist().samples(1)[0]\n"
        "def f(completions, **_):\n    return [work(c) + N for c in completions]\n"
    ),
    "returns text": ("def f(completions, **_):\n    return [str(work(c)) for c in completions]\n"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_scores_that_are_more_than_numbers_of_a_row_are_not_kept(
    project: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = FILE[FILE.index("def work") :]
    (project / "rewards.py").write_text(REFUSED[what] + "\n" + work)
    (project / "x.xml").write_text("<a>bc</a>")
    monkeypatch.chdir(project)
    for _ in range(2):
        assert scored(project, ROWS, "f").reused["f"] == 0


def test_a_file_that_one_reward_reads_concerns_no_other_file(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "words.py").write_text(
        "W = open('x.xml').read()\ndef f(completions, **_):\n    return [len(W) for _ in completions]\n"
    )
    tables = '[[reward]]\nfunction = "words.py::f"\n[[reward]]\nfunction = "rewards.py::slow"\n'
    (project / "rewardset.toml").write_text(tables)
    (project / "x.xml").write_text("<a>bc</a>")
    monkeypatch.chdir(project)
    scored(project, name=".")
    assert scored(project, name=".").reused == {"f": 0, "slow": 4}


def test_what_was_logged_of_a_row_is_kept_with_it(project: Path) -> None:
    text = (
        "from rewards import reward\n\n@reward(scope='row')\ndef f(completions, log_extra, log_metric, **_):\n"
        "    log_extra('seen', [c.upper() for c in completions])\n    log_metric('calls', 1.0)\n"
        "    return [work(c) for c in completions]\n\n"
    )
    (project / "rewards.py").write_text(text + FILE[FILE.index("def work") :])
    scored(project, ROWS, "f")
    more = samples(["new", "bb", "ccc", "bb"], ["x", "x", "y", "y"], answer=["1", "1", "22", "22"])
    again = scored(project, more, "f")
    assert (again.reused["f"], again.extra["seen"]) == (3, ["NEW", "BB", "CCC", "BB"])


def test_rows_on_which_a_slow_reward_prints_are_not_kept(project: Path) -> None:
    text = (
        "from math_verify import parse\nfrom rewards import reward\n\n@reward(scope='row')\n"
        "def f(completions, **_):\n    [print(c) for c in completions if 'ccc' in c]\n"
        "    return [work(c) for c in completions if parse]\n\n"
    )
    (project / "rewards.py").write_text(text + FILE[FILE.index("def work") :])
    scored(project, ROWS, "f")
    again = scored(project, ROWS, "f")
    assert (again.reused["f"], again.printed["f"]) == (3, "ccc\n")


def test_abstentions_and_infinities_are_kept_as_they_were(project: Path) -> None:
    text = "import math\ndef f(completions, **_):\n    work('')\n    return [None, math.nan, math.inf, 1.0]\n"
    (project / "rewards.py").write_text(text + FILE[FILE.index("def work") :])
    first, second = scored(project, ROWS, "f"), scored(project, ROWS, "f")
    assert second.reused["f"] == 4
    assert first.status.tolist() == second.status.tolist() == [[1], [2], [3], [0]]
    assert [row["scores"] for row in first.rows()] == [row["scores"] for row in second.rows()]


def test_rows_that_took_long_beside_a_deadline_are_not_kept(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "from math_verify import parse\nfrom rewards import reward\n\n@reward(scope='row')\n"
        "def f(completions, **_):\n"
        "    return [work(c) + sum(range(20_000_000 * ('c' in c))) for c in completions if parse]\n"
    )
    (project / "rewards.py").write_text(text + FILE[FILE.index("def work") :])
    monkeypatch.setattr(score_cache, "CUT_S", 0.15)
    scored(project, ROWS, "f")
    assert scored(project, ROWS, "f").reused["f"] == 3


CHANGES = """
def lowers(completions, **_):
    for completion in completions:
        completion[-1]["content"] = completion[-1]["content"].lower()
    return [1.0 for _ in completions]

def capitals(completions, **_):
    sum(number % 7 for number in range(6000))
    return [float(sum(map(str.isupper, completion[-1]["content"]))) for completion in completions]
"""


def test_what_one_reward_changes_is_in_no_kept_score_of_the_next(project: Path) -> None:
    (project / "rewards.py").write_text(CHANGES)
    rows = samples([[{"role": "assistant", "content": text}] for text in ("ABC", "AB")], ["x", "x"])
    assert scored(project, rows).scores[:, 1].tolist() == [3.0, 2.0]
    again = scored(project, rows, "capitals")
    assert (again.reused, again.scores.tolist()) == ({"capitals": 2}, [[3.0], [2.0]])


def test_the_file_may_be_deleted_at_any_time(project: Path) -> None:
    first = scored(project)
    (project / ".workbench" / "scores.sqlite").unlink()
    again = scored(project)
    assert (again.reused["slow"], again.scores.tolist()) == (0, first.scores.tolist())


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:1000])


def overwrite(file: Path) -> None:
    file.write_bytes(b"nothing of the kind" * 400)


def falsify(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE unit SET scores = zeroblob(length(scores))")
    connection.close()


@pytest.mark.parametrize("damage", [cut, overwrite, falsify])
def test_a_damaged_file_never_gives_a_wrong_score(project: Path, damage: Callable[[Path], None]) -> None:
    first = scored(project)
    damage(project / ".workbench" / "scores.sqlite")
    again = scored(project)
    assert np.array_equal(first.scores, again.scores)
    assert again.reused["slow"] == 0
    if damage is not falsify:
        assert [note for note in again.notes if "is damaged, so no kept scores are used: delete it" in note]


def test_a_folder_that_cannot_be_written_is_no_trouble(project: Path) -> None:
    (project / ".workbench").write_text("a file in the way")
    assert scored(project).reused["slow"] == scored(project).reused["slow"] == 0


def test_values_that_have_no_fixed_form_are_not_kept(project: Path) -> None:
    odd = replace(ROWS, columns={"answer": ["1"] * 4, "extra": [np.float64(1)] * 4})
    with Runner() as runner, ScoreCache(project) as cache:
        for _ in range(2):
            table = score(project / "rewards.py", odd, only=["slow"], cache=cache, runner=runner)
    assert table.reused["slow"] == 0
