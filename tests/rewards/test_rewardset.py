"""Loading sets from every kind of target, and fingerprints."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from rewards.errors import LoadError, ManifestError, MissingColumnError, TargetError
from rewards.rewardset import RewardSet, SetDescription

FILE = '''
"""Rewards."""
import re
from functools import partial
from helper import parse
from rewards.marks import reward
from json import loads

LIMIT = 3


def _private(completions, **_):
    return []


def not_a_reward(text):
    return text


def format_reward(completions, **_):
    """Pays tags."""
    return [parse(text) for text in completions]  # a comment


@reward(kind="correctness", weight=2.0, range=(0, 1))
def correctness(completions, answer, **_):
    return [float(text == gold) for text, gold in zip(completions, answer)]


class Length:
    def __call__(self, completions, **_):
        return [float(len(text)) for text in completions]


length = Length()
short = partial(format_reward, limit=1)
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "rewards.py").write_text(FILE)
    (tmp_path / "helper.py").write_text("def parse(text):\n    return 1.0\n")
    (tmp_path / "rewardset.toml").write_text(
        '[set]\nname = "demo"\nscale_rewards = "none"\n[[reward]]\nfunction = "rewards.py::correctness"\nweight = 1.5\n'
        '[[reward]]\nfunction = "rewards.py::format_reward"\nname = "layout"\n'
    )
    return tmp_path


def test_a_file_gives_every_public_reward_defined_there(project: Path) -> None:
    assert RewardSet.load(project / "rewards.py").names == ["format_reward", "correctness", "length", "short"]


def test_the_manifest_wins_over_a_mark_and_a_mark_over_the_default(project: Path) -> None:
    loaded = RewardSet.load(project)
    assert loaded.names == ["correctness", "layout"]
    assert (loaded.entry("correctness").weight, loaded.entry("correctness").kind) == (1.5, "correctness")
    assert (loaded.entry("layout").weight, loaded.entry("layout").range) == (1.0, None)
    assert loaded.describe().rewards[0].declared == ("kind", "range", "weight")
    assert loaded.scale_rewards == "none"


def test_a_users_rewards_py_does_not_shadow_ours(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import rewards

    monkeypatch.chdir(project)
    RewardSet.load("rewards.py")
    assert sys.modules["rewards"] is rewards
    assert sys.path[0] != str(project)


def test_an_importable_function_is_a_target(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = project / "pack_for_target_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "mod.py").write_text("def f(completions, **_):\n    return [1.0] * len(completions)\n")
    monkeypatch.chdir(project)
    assert RewardSet.load("pack_for_target_test.mod:f").names == ["f"]
    with pytest.raises(TargetError, match="has no function 'g'"):
        RewardSet.load("pack_for_target_test.mod:g")


def test_a_description_survives_the_way_through_json(project: Path) -> None:
    description = RewardSet.load(project).describe()
    assert SetDescription.from_json(json.loads(json.dumps(description.to_json()))) == description


def test_comments_layout_and_docstrings_leave_the_fingerprint(project: Path) -> None:
    before = RewardSet.load(project).fingerprint
    text = FILE.replace("  # a comment", "").replace('"""Pays tags."""', '"""Pays other tags."""')
    (project / "rewards.py").write_text("# new\n\n" + text.replace("LIMIT = 3", "LIMIT    =  3"))
    assert RewardSet.load(project).fingerprint == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("rewards.py", "text == gold", "text != gold"),
        ("helper.py", "return 1.0", "return 0.5"),
        ("rewardset.toml", "weight = 1.5", "weight = 1.25"),
        ("rewardset.toml", '"none"', '"batch"'),
        ("rewardset.toml", 'name = "layout"', 'name = "layout"\nparams = { limit = 2 }'),
    ],
)
def test_what_a_reward_uses_changes_the_fingerprint(project: Path, file: str, old: str, new: str) -> None:
    before = RewardSet.load(project).fingerprint
    text = (project / file).read_text()
    assert old in text
    (project / file).write_text(text.replace(old, new))
    assert RewardSet.load(project).fingerprint != before


def test_training_settings_leave_the_fingerprint(project: Path) -> None:
    before = RewardSet.load(project).fingerprint
    with (project / "rewardset.toml").open("a") as file:
        file.write("[train]\nlearning_rate = 1e-3\n")
    assert RewardSet.load(project).fingerprint == before


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("def f(:\n", "bad.py, line 1: SyntaxError: invalid syntax"),
        ("x = 1\n\n\0\n", "bad.py, line 3: SyntaxError: source code string cannot contain null bytes"),
        (
            "import no_such_package\n",
            "bad.py failed to load: ModuleNotFoundError: No module named 'no_such_package' (bad.py:1)",
        ),
        ("x = 1\ny = x / 0\n", "bad.py failed to load: ZeroDivisionError: division by zero (bad.py:2)"),
        ("import sys\nsys.exit(4)\n", "it ends the process at import (exit code 4)"),
        (
            "reward = helper_that_is_nowhere(1)\n",
            "NameError: name 'helper_that_is_nowhere' is not defined (bad.py:1)",
        ),
    ],
)
def test_a_file_that_cannot_be_loaded_is_one_sentence(tmp_path: Path, source: str, sentence: str) -> None:
    (tmp_path / "bad.py").write_text(source)
    with pytest.raises(LoadError, match=r"^[^\n]+$") as caught:
        RewardSet.load(tmp_path / "bad.py")
    assert sentence in str(caught.value)


def test_wrong_names_and_impossible_marks_are_told(project: Path) -> None:
    with pytest.raises(TargetError, match="did you mean 'format_reward'"):
        RewardSet.load(f"{project}/rewards.py::format_rewards")
    (project / "none.py").write_text("x = 1\n")
    with pytest.raises(TargetError, match="defines no reward"):
        RewardSet.load(project / "none.py")
    (project / "mark.py").write_text(
        "from rewards.marks import reward\n@reward(range=(1, 0))\ndef f(completions, **_):\n    return []\n"
    )
    with pytest.raises(ManifestError, match=r"@reward of mark.py::f: range=\(1, 0\)"):
        RewardSet.load(project / "mark.py")


def test_a_missing_column_names_argument_columns_and_the_likely_one(project: Path) -> None:
    description = RewardSet.load(project).describe()
    with pytest.raises(MissingColumnError) as caught:
        description.require_columns({"solution": [], "topic": []})
    assert str(caught.value) == (
        "reward 'correctness' requires the column 'answer', which the samples do not have (columns: solution, topic); "
        "'solution' looks like it: [data] columns = { solution = \"answer\" }, or --columns solution=answer"
    )


def test_a_changed_helper_is_read_again(project: Path) -> None:
    first = RewardSet.load(project).function("layout")
    (project / "helper.py").write_text("def parse(text):\n    return 0.5\n")
    second = RewardSet.load(project).function("layout")
    assert (first(completions=["a"]), second(completions=["a"])) == ([1.0], [0.5])


def test_nothing_is_written_beside_the_users_files(project: Path) -> None:
    before = sorted(project.rglob("*"))
    RewardSet.load(project)
    assert sorted(project.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Length", "rewards.py::Length is a class, not a function: name an instance of it, made in the file"),
        ("length.__class__", "is a class, not a function"),
        ("LIMIT", "rewards.py::LIMIT is int, not a function"),
        ("length.nothing", "has no function 'length.nothing'"),
    ],
)
def test_what_is_no_reward_is_told_as_what_it_is(project: Path, name: str, sentence: str) -> None:
    with pytest.raises(TargetError, match=re.escape(sentence)):
        RewardSet.load(f"{project}/rewards.py::{name}")


def test_a_property_that_raises_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        "class Odd:\n    @property\n    def reward(self):\n        raise RuntimeError('no')\n\nodd = Odd()\n"
    )
    with pytest.raises(
        LoadError, match=r"odd\.py: 'odd\.reward' cannot be read: RuntimeError: no \(odd\.py:4\)"
    ):
        RewardSet.load(f"{tmp_path}/odd.py::odd.reward")


MARKED = """
from functools import partial
from rewards.marks import reward

@reward(name="{}")
def one(completions, **_):
    return [1.0] * len(completions)

@reward(name="{}", weight=3.0)
def two(completions, **_):
    return [2.0] * len(completions)

other = partial(two)
"""


@pytest.mark.parametrize(
    ("marks", "names", "wished"),
    [
        (("a", "b"), ["a", "b", "other"], ("", "", "")),
        (("a", "a"), ["one", "two", "other"], ("a", "a", "")),
        (("two", "two"), ["one", "two", "other"], ("two", "two", "")),
        (("other", "b"), ["one", "b", "other"], ("other", "", "")),
    ],
)
def test_every_reward_has_a_name_of_its_own(
    tmp_path: Path, marks: tuple[str, str], names: list[str], wished: tuple[str, ...]
) -> None:
    (tmp_path / "marked.py").write_text(MARKED.format(*marks))
    loaded = RewardSet.load(tmp_path / "marked.py")
    assert (loaded.names, loaded.wished, loaded.weights) == (names, wished, [1.0, 3.0, 3.0])


TWO_FILES = """
from rewards.marks import reward

@reward({})
def fmt(completions, **_):
    return [1.0] * len(completions)
"""


@pytest.mark.parametrize(
    ("marks", "names", "wished"),
    [
        (("weight=2.0", "weight=3.0"), ["fmt", "fmt (b.py)"], ("", "")),
        (("name='one'", "name='two'"), ["one", "two"], ("", "")),
        (("weight=2.0", "name='fmt'"), ["fmt", "fmt (b.py)"], ("", "fmt")),
    ],
)
def test_functions_of_one_name_in_two_files_load_under_two_names(
    tmp_path: Path, marks: tuple[str, str], names: list[str], wished: tuple[str, ...]
) -> None:
    (tmp_path / "a.py").write_text(TWO_FILES.format(marks[0]))
    (tmp_path / "b.py").write_text(TWO_FILES.format(marks[1]))
    (tmp_path / "rewardset.toml").write_text(
        '[[reward]]\nfunction = "a.py::fmt"\n[[reward]]\nfunction = "b.py::fmt"\n'
    )
    loaded = RewardSet.load(tmp_path)
    assert (loaded.names, loaded.wished) == (names, wished)


def test_a_wrong_key_of_a_mark_names_the_likely_one(tmp_path: Path) -> None:
    (tmp_path / "marked.py").write_text(TWO_FILES.format("wieght=2.0"))
    with pytest.raises(ManifestError, match=r"'wieght' is no key here; did you mean 'weight'\?$"):
        RewardSet.load(tmp_path / "marked.py")


def test_a_name_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "marked.py").write_text(TWO_FILES.format(r"name='a\ud83d'"))
    with pytest.raises(
        ManifestError, match=r"name='a.ud83d' \(str\) must be text that can be written; it holds half"
    ):
        RewardSet.load(tmp_path / "marked.py")


def test_a_mark_with_a_value_that_contains_itself_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "marked.py").write_text(
        "ring = []\nring += [ring, ring]\n" + TWO_FILES.format("params={'a': ring}")
    )
    with pytest.raises(ManifestError, match="nests a more than 50 deep; write it flatter"):
        RewardSet.load(tmp_path / "marked.py")


@pytest.mark.parametrize("name", ["rewards", "string"])
def test_a_file_is_never_mistaken_for_a_package_of_its_name(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text(
        "def pays(completions, **_):\n    return [1.0 for _ in completions]\n"
    )
    (tmp_path / "rewardset.toml").write_text(f'[[reward]]\nfunction = "{name}:pays"\n')
    with pytest.raises(TargetError, match=rf"^{name}:pays means .* write {name}\.py::pays"):
        RewardSet.load(tmp_path)


def test_our_own_package_is_never_taken_for_a_file() -> None:
    with pytest.raises(
        TargetError, match=r"FILE\.py::nope, a reward of the library as rewards\.library:nope"
    ):
        RewardSet.load("rewards:nope")
