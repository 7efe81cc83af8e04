"""Where the program of a completion stands."""

from __future__ import annotations

import pytest

from rewards.library.programs import fenced_blocks, find_program, has_statement, syntax_error

FOUND = {
    "the last block": ("```python\na = 1\n```\nthen\n```py\nb = 2\n```", "b = 2"),
    "not other languages": ("```python\na = 1\n```\n```json\n{}\n```\n```output\n1\n```", "a = 1"),
    "a fence without a word": ("```\na = 1\n```", "a = 1"),
    "an upper-case word": ("```Python\na = 1\n```", "a = 1"),
    "a long fence": ("````python\nx = '''\n```\n'''\n````", "x = '''\n```\n'''"),
    "an indented fence": ("1. so:\n   ```python\n   a = 1\n   ```", "   a = 1"),
    "Windows line ends": ("```python\r\na = 1\r\n```\r\n", "a = 1\r"),
    "after the thinking": ("<think>```python\na = 1\n```</think>```python\nb = 2\n```", None),
    "after the thinking, on a line of its own": (
        "<think>\n```python\na = 1\n```\n</think>\n```python\nb = 2\n```",
        "b = 2",
    ),
    "a text that is a program": ("def f(x):\n    return x", "def f(x):\n    return x"),
    "a call": ("print(1)", "print(1)"),
    "words": ("I think that it works.", None),
    "a word": ("yes", None),
    "a number": ("42", None),
    "an empty text": ("", None),
    "an open fence": ("```python\na = 1\n```\n```python\nb = 2", None),
    "a blank block": ("```python\n\n```", None),
    "inline code": ("use `a = 1` and ```b = 2``` here", None),
}


@pytest.mark.parametrize("case", FOUND)
def test_the_program_of_a_completion(case: str) -> None:
    text, wanted = FOUND[case]
    found = find_program(text)
    assert (None if found is None else found.text) == wanted
    if found is not None:
        assert text[found.start : found.end] == found.text


def test_the_last_block_that_defines_what_is_asked_for_counts() -> None:
    text = "```python\ndef add(a, b):\n    return a + b\n```\nUse it:\n```python\nprint(add(1, 2))\n```"
    assert find_program(text, entry_point="add").text.startswith("def add")  # type: ignore[union-attr]
    assert find_program(text).text == "print(add(1, 2))"  # type: ignore[union-attr]
    assert find_program(text, entry_point="other").text == "print(add(1, 2))"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("code", "entry"),
    [
        ("class Solution:\n    def f(self): pass", "Solution().f"),
        ("f = lambda x: x", "f"),
        ("async def f(): pass", "f"),
    ],
)
def test_a_name_may_be_defined_in_several_ways(code: str, entry: str) -> None:
    text = f"```python\n{code}\n```\n```python\nprint(1)\n```"
    assert find_program(text, entry_point=entry).text == code  # type: ignore[union-attr]


def test_blocks_and_whether_the_last_is_open() -> None:
    blocks, is_open = fenced_blocks("~~~a\n1\n~~~\n```b\n2\n~~~\n```\n```\n3")
    assert [(block.form, block.text) for block in blocks] == [("a", "1"), ("b", "2\n~~~")]
    assert is_open


def test_syntax_errors_are_told_with_their_line() -> None:
    assert syntax_error("x = 1\ny = = 2") == "invalid syntax (line 2)"
    assert syntax_error("return 1") == "'return' outside function (line 1)"
    assert syntax_error("x" * 300_000) == "longer than 200000 characters"


def test_comments_and_texts_are_no_statements() -> None:
    assert not has_statement("# a\n'b'\n3")
    assert has_statement("# a\nimport b")
