"""What counts as a reward's code, and what does not."""

from __future__ import annotations

import ast
import importlib.metadata
import os
from pathlib import Path

import pytest

from rewards import fingerprint
from rewards.fingerprint import code_digest, code_fingerprint, local_files
from rewards.packages import version_of
from rewards.rewardset import RewardSet
from rewards.sources import source_digest
from rewards.targets import parse_target

RICH = '''
import re
async def f(completions, /, a: int = 1, *rest, key=None, **columns) -> list[float]:
    """A docstring."""
    with open(re.escape(u"x")) as one, open("y"):
        values = {**columns, "k": [x async for x in rest if x is not None], "é🫨": b"\\x00"}
    match completions:
        case [None, {"a": 1, **others}] if (n := 2.5e-3) != 1j:
            return f"{n!r:>{key}} and {others=}"
        case _:
            return lambda *, q=...: (yield_ for yield_ in (1, -2))
class C(dict, metaclass=type):
    x: int
    def g(self): return None
'''


def used(folder: Path, code: str, **files: str) -> dict[str, str]:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "mine.py").write_text(code)
    return code_fingerprint(folder / "mine.py", folder)


def test_the_digest_of_code_is_the_same_in_every_version_of_python(tmp_path: Path) -> None:
    (tmp_path / "rich.py").write_text(RICH, encoding="utf-8")
    assert code_digest(tmp_path / "rich.py") == "884f6d61f416bafdb7643f781ee0a411"


def test_fields_that_a_newer_python_adds_change_nothing() -> None:
    tree = ast.parse(RICH)
    before = fingerprint._plain(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.AsyncFunctionDef, ast.ClassDef)):
            node._fields = (*node._fields, "type_params")
            node.type_params = []  # type: ignore[union-attr]
    assert fingerprint._plain(tree) == before


def test_where_the_texts_of_an_f_string_are_cut_changes_nothing() -> None:
    whole, cut = ast.parse("f'a = {x}b'"), ast.parse("f'a = {x}b'")
    text = next(node for node in ast.walk(cut) if isinstance(node, ast.JoinedStr))
    text.values[0:1] = [ast.Constant("a"), ast.Constant(""), ast.Constant(" = ")]
    assert fingerprint._plain(cut) == fingerprint._plain(whole)


@pytest.mark.parametrize(
    ("one", "other"),
    [("x = 1", "x = 1.0"), ("x = None", "x = 'None'"), ("x = {**a}", "x = {None: a}"), ("return_ = a", "a = return_"),
     ("f(a, b)", "f(a)(b)"), ("x = 'a'", "x = b'a'"), ("x = -1", "x = 1"), ("a.b = 1", "b.a = 1")],
)  # fmt: skip
def test_code_that_differs_has_another_digest(tmp_path: Path, one: str, other: str) -> None:
    assert used(tmp_path, one)["mine.py"] != used(tmp_path, f"{other}\n\n")["mine.py"]


def test_a_long_sum_is_read_as_code(tmp_path: Path) -> None:
    long = " + ".join(["x"] * 900)
    assert used(tmp_path, f"y = {long}")["mine.py"] == used(tmp_path, f"y = ({long})  # why")["mine.py"]


def test_installed_packages_count_by_their_version(tmp_path: Path) -> None:
    found = used(tmp_path, "import json, numpy.linalg\ndef f():\n    from math_verify import parse\n")
    assert found.keys() == {"mine.py", "math-verify", "numpy"}
    assert found["numpy"] == importlib.metadata.version("numpy")
    assert version_of("yaml") == ("pyyaml", importlib.metadata.version("pyyaml"))


def test_a_local_import_brings_its_own_imports(tmp_path: Path) -> None:
    found = used(tmp_path, "import helper", helper="def f():\n    import rapidfuzz\n    return rapidfuzz")
    assert found.keys() == {"mine.py", "helper.py", "rapidfuzz"}


def test_code_on_the_search_path_counts_and_is_not_local(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "src" / "of_another_project"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("from .part import x")
    (other / "part.py").write_text("x = 1")
    monkeypatch.syspath_prepend(str(other.parent))
    project = tmp_path / "project"
    project.mkdir()
    found = used(project, "import of_another_project")
    assert found.keys() == {"mine.py", "../of_another_project/__init__.py", "../of_another_project/part.py"}
    assert local_files(project / "mine.py", project) == [project / "mine.py"]


def test_a_file_that_is_not_there_imports_nothing(tmp_path: Path) -> None:
    assert local_files(tmp_path / "none.py", tmp_path) == [tmp_path / "none.py"]


def test_a_module_named_in_a_call_counts(tmp_path: Path) -> None:
    code = "import importlib\nhelper = importlib.import_module('helper')"
    assert used(tmp_path, code, helper="x = 1").keys() == {"mine.py", "helper.py"}


@pytest.mark.parametrize("name", ["json", "numpy", "rewards", "workbench"])
def test_a_file_beside_it_does_not_stand_in_for_what_python_imports(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("x = 1")
    (tmp_path / "mine.py").write_text(f"import {name}")
    assert local_files(tmp_path / "mine.py", tmp_path) == [tmp_path / "mine.py"]


@pytest.mark.parametrize(
    "code",
    ["from rewards.library import numeric", "import rewards.library.exact", "from rewards import library"],
)
def test_the_built_in_rewards_count_as_code_where_they_are_used(tmp_path: Path, code: str) -> None:
    found = used(tmp_path, code, rewards="x = 1")
    assert {"mine.py", "rewards/library/numeric.py", "rewards/contract.py", "math-verify"} <= found.keys()
    assert "rewards.py" not in found


def test_marks_and_credits_are_no_part_of_a_score(tmp_path: Path) -> None:
    assert used(tmp_path, "from rewards import credit, reward").keys() == {"mine.py"}
    assert used(tmp_path, "from rewards import completion_text").keys() == {"mine.py", "rewards/contract.py"}


def test_another_version_of_a_package_breaks_a_seal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("import rapidfuzz\ndef f(completions, **_):\n    return []\n")
    target = parse_target(tmp_path / "mine.py")
    before = source_digest(target), RewardSet.load(target).fingerprint
    monkeypatch.setattr(fingerprint, "version_of", lambda name: (name, "99.0"))
    assert source_digest(target) != before[0]
    assert RewardSet.load(target).fingerprint != before[1]


def test_the_package_on_the_way_to_a_module_counts(tmp_path: Path) -> None:
    package = tmp_path / "graded"
    package.mkdir()
    (package / "__init__.py").write_text("x = 1")
    (package / "mine.py").write_text("y = 1")
    assert code_fingerprint(package / "mine.py", tmp_path).keys() == {"graded/mine.py"}
    found = code_fingerprint(package / "mine.py", tmp_path, dotted=True)
    assert found.keys() == {"graded/__init__.py", "graded/mine.py"}


def test_a_docstring_counts_where_another_file_reads_it(tmp_path: Path) -> None:
    code = "import helper\nx = len(helper.__doc__)\n"
    before = used(tmp_path, code, helper='"""One."""\ny = 1\n')
    assert used(tmp_path, code, helper='"""Another."""\ny = 1\n')["helper.py"] != before["helper.py"]
    plain = used(tmp_path, "import helper", helper='"""One."""\ny = 1\n')
    assert used(tmp_path, "import helper", helper='"""Another."""\ny = 1\n') == plain


def test_a_file_of_the_same_time_and_size_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("x = 1")
    before, stat = code_digest(file), file.stat()
    file.write_text("x = 2")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert code_digest(file) != before
