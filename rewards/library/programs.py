"""Finding the program in a completion: the last fenced block of Python, or a text that is nothing but Python.

As with other answers the last one counts, what stands inside `<think>` is none, and a block that was begun and
never closed (a completion cut short) is no program. Where it is known what the program has to define, the last
block that defines it counts: models like to show an example of use after the solution.

Everything takes time linear in the text. Nothing here runs a program.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace

from rewards.library.extraction import Found, after_thinking

LANGUAGES = ("python", "py", "python3", "py3", "")
"""What may stand after the fence of a Python block; "" is a fence without a word."""

LONGEST = 200_000
"""Characters a program may have; longer ones are taken for none, so that compiling stays quick."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([\w+.#-]*)[^\n`]*$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*")


def find_program(text: str, *, entry_point: str = "") -> Found | None:
    """The program a completion gives, or None.

    Args:
        text: the completion.
        entry_point: a name it should define, if that is known.

    >>> find_program("Look:\\n```python\\nprint(1)\\n```\\nno, better:\\n```py\\nprint(2)\\n```").text
    'print(2)'
    >>> find_program("def f(x):\\n    return x").form
    'whole'
    >>> find_program("I would iterate over the list.") is None
    True
    """
    region = after_thinking(text)
    blocks, open_block = fenced_blocks(text, region.start, region.end)
    if open_block:
        return None
    python = [block for block in blocks if block.form in LANGUAGES and block.text.strip()]
    if blocks:
        name = _NAME.search(entry_point.rpartition(".")[2] if "." in entry_point else entry_point)
        defining = [block for block in python if name and _defines(block.text, name.group())]
        chosen = defining or python
        return chosen[-1] if chosen else None
    return replace(region, form="whole") if _is_program(region.text) else None


def fenced_blocks(text: str, start: int = 0, end: int | None = None) -> tuple[list[Found], bool]:
    """The fenced blocks of text[start:end] with their word as `form`, and whether the last is left open.

    >>> fenced_blocks("```json\\n{}\\n```\\n```py\\nx")
    ([Found(text='{}', start=8, end=10, form='json')], True)
    """
    end = len(text) if end is None else end
    blocks: list[Found] = []
    fence, word, begin = "", "", 0
    for match in _FENCE.finditer(text, start, end):
        mark, told = match.group(1), match.group(2)
        if not fence:
            fence, word, begin = mark, told.lower(), match.end() + 1
        elif mark[0] == fence[0] and len(mark) >= len(fence) and match.group().strip() == mark:
            content = text[begin : max(begin, match.start() - 1)]
            blocks.append(Found(content, begin, begin + len(content), word))
            fence = ""
    return blocks, bool(fence)


def syntax_error(program: str) -> str | None:
    """What is wrong with a program as it stands; None where it compiles. It is not run.

    >>> syntax_error("x = 1") is None
    True
    >>> syntax_error("x = = 1")
    'invalid syntax (line 1)'
    """
    if len(program) > LONGEST:
        return f"longer than {LONGEST} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(program, "program.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"{error.msg} (line {error.lineno})"
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return str(error) or type(error).__name__
    return None


def has_statement(program: str) -> bool:
    """Whether a program that compiles says anything: not only comments and strings."""
    return any(not _is_constant(node) for node in _parsed(program))


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _parsed(program: str) -> Sequence[ast.stmt]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(program).body


def _defines(program: str, name: str) -> bool:
    definition = rf"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+{name}\b|^{name}[ \t]*="
    return re.search(definition, program, re.MULTILINE) is not None


def _is_program(text: str) -> bool:
    """Whether a text without a fence is Python that does something, and not a word or a number."""
    if not text.strip() or syntax_error(text) is not None:
        return False
    return any(not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call) for node in _parsed(text))
