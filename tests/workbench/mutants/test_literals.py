"""Code made anew shows its texts as the file writes them."""

from workbench.mutants.code_changes import code_changes
from workbench.mutants.literals import Literals

SOURCE = r"""
import re

def f(completions, **rest):
    return [1.0 if re.search(r'<a>\s*(\d+)', c) and c.split("\n")[0] != "\\" else 0.0 for c in completions]
"""


def test_backslashes_of_a_pattern_stand_as_in_the_file() -> None:
    shown = [str(change) for change in code_changes(SOURCE)]
    assert r"""re.match(r'<a>\s*(\d+)', c) for re.search(r'<a>\s*(\d+)', c)""" in shown
    assert r"""r"<a>\s*(\d*)" for r'<a>\s*(\d+)'""" in shown
    assert r"""c.split("\n")[0] == "\\" for c.split("\n")[0] != "\\" """.strip() in shown
    assert not any(r"\\s" in text or r"\\d" in text for text in shown)


def test_a_changed_text_is_written_raw_and_a_line_break_as_an_escape() -> None:
    texts = Literals('x = "a"')
    assert texts.written(repr(r"\w+")) == r'r"\w+"'
    assert texts.written(repr("\n!")) == r'"\n!"'
    assert texts.written(repr('say "so"')) == repr('say "so"')
    assert texts.written(repr("ends in \\")) == r'"ends in \\"'


def test_code_that_is_no_whole_line_is_left_as_it_is() -> None:
    assert Literals("").written("no re.DOTALL") == "no re.DOTALL"
    assert Literals("").written("f(('a'") == 'f(("a"'
