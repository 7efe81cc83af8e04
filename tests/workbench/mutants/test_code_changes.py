import ast
from pathlib import Path

import pytest

from workbench.mutants.code_changes import code_changes, loosened, spread, telling

SOURCE = '''
"""About the file."""
import re
def reward(completions, **kwargs):
    """What it does."""
    return [1.0 if len(c.split()) > 5 and not re.search(r"^no.*?$", c, re.DOTALL) else 0.0 for c in completions]
'''
ZOO = sorted((Path(__file__).resolve().parents[3] / "fixtures" / "zoo" / "rewards").glob("*.py"))[::9]


def made(source: str, **options: object) -> list[str]:
    return [str(change) for change in code_changes(source, **options)]  # type: ignore[arg-type]


def test_each_sort_of_slip_is_made():
    found = {(change.what, str(change)) for change in code_changes(SOURCE)}
    assert ("constant", "6 for 5") in found
    assert ("comparison", "len(c.split()) >= 5 for len(c.split()) > 5") in found
    assert ("logic", "or for and") in found
    assert ("pattern", "no re.DOTALL for re.DOTALL") in found
    assert ("pattern", '"no.*?$" for r"^no.*?$"') in found
    assert ("constant", "0.5 for 1.0") in found
    assert {what for what, _ in found} >= {"negation", "condition", "call"}


def test_docstrings_imports_and_messages_are_left_alone():
    source = 'def f(a):\n    """Five."""\n    print("got", 5)\n    if a < 0:\n        raise ValueError(f"{a} < 0")\n'
    assert {change.line for change in code_changes(source)} == {4}


def test_column_and_message_keys_are_left_alone():
    assert made('def f(c):\n    return c["content"]\n', what=["constant"]) == []


def test_only_the_lines_asked_for_are_changed():
    source = "def f(a):\n    return a < 1\ndef g(a):\n    return a < 2\n"
    assert {change.line for change in code_changes(source, {4})} == {4}


def test_change_replaces_its_own_bytes_beside_other_letters():
    source = "def f(t):\n    return 'ä' in t, len(t) > 3\n"
    [change] = [c for c in code_changes(source) if str(c) == "len(t) >= 3 for len(t) > 3"]
    assert change.apply(source.encode()).decode() == "def f(t):\n    return 'ä' in t, (len(t) >= 3)\n"


def test_text_that_is_no_python_has_no_changes():
    assert code_changes("def f(:\n") == []


@pytest.mark.parametrize("file", ZOO, ids=lambda file: file.stem)
def test_every_changed_file_is_python_still_and_other_than_before(file):
    source = file.read_text()
    for change in code_changes(source):
        assert ast.dump(ast.parse(change.apply(source.encode()))) != ast.dump(ast.parse(source))


def test_few_changes_are_spread_over_lines_and_sorts():
    chosen = spread(code_changes(SOURCE * 3), 12)
    assert len(chosen) == 12
    assert len({(change.line, change.what) for change in chosen}) == 12


def test_pattern_is_only_loosened_into_patterns():
    assert loosened("a\\") == []
    assert loosened("x+") == ["x*"]


def test_two_pieces_of_code_are_never_shown_as_the_same_text() -> None:
    start = "x" * 60
    before, after = telling(f"{start}({start}, 1, {start})", f"{start}({start}, 1, {start}, 1, {start})")
    assert before != after
