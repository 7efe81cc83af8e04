"""XML format: one block after the other, each once, none empty.

Strict asks for every tag on a line of its own, soft only for the blocks. Both look at the form alone: a wrong
answer in the right form is paid, which is what a format reward is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.blanks import is_blank
from rewards.library.extraction import check_tags
from rewards.marks import reward

TAGS = ("reasoning", "answer")


@reward(kind="format", weight=0.5, range=(0.0, 1.0), scope="row")
def strict_xml_format(completions: list[Any], *, tag_names: Any = TAGS, **columns: Any) -> list[float | None]:
    r"""Reward the exact layout: each tag on a line of its own, the blocks following each other.

    1.0 for

        <reasoning>
        ...
        </reasoning>
        <answer>
        ...
        </answer>

    with something that can be seen in each block, each tag once, and nothing before, between or after;
    0.0 for anything else. Windows line ends and a missing or present final newline do not matter.

    Args:
        completions: chat or plain text.
        tag_names: the blocks in their order.

    Returns:
        One of 0.0, 1.0 per completion.

    Raises:
        ValueError: if `tag_names` is no list of different tag names.

    >>> strict_xml_format(["<reasoning>\n3+4\n</reasoning>\n<answer>\n7\n</answer>", "<answer>\n7\n</answer>"])
    [1.0, 0.0]
    """
    tags = check_tags("strict_xml_format", tag_names)
    return [
        _paid("strict format", text, strict_problem(text, tags)) for text in map(completion_text, completions)
    ]


@reward(kind="format", weight=0.5, range=(0.0, 1.0), scope="row")
def soft_xml_format(completions: list[Any], *, tag_names: Any = TAGS, **columns: Any) -> list[float | None]:
    r"""Reward the blocks in their order, whatever the white space.

    1.0 where a completion consists of the blocks, each once, none empty, with white space alone around them; 0.0
    for anything else.

    Args:
        completions: chat or plain text.
        tag_names: the blocks in their order.

    Returns:
        One of 0.0, 1.0 per completion.

    Raises:
        ValueError: if `tag_names` is no list of different tag names.

    >>> soft_xml_format(["<reasoning>3+4</reasoning> <answer>7</answer>", "<reasoning></reasoning><answer>7</answer>"])
    [1.0, 0.0]
    """
    tags = check_tags("soft_xml_format", tag_names)
    return [
        _paid("soft format", text, soft_problem(text, tags)) for text in map(completion_text, completions)
    ]


def blocks(text: str, tags: Sequence[str]) -> list[str] | None:
    """The contents of the blocks a text consists of, each tag once and in order; None where it does not.

    >>> blocks("<a>1</a><b>2</b>", ["a", "b"])
    ['1', '2']
    >>> blocks("<b>2</b><a>1</a>", ["a", "b"]) is None, blocks("<a>1</a>!", ["a"]) is None
    (True, True)
    """
    contents, problem = _read(text, tags)
    return None if problem else contents


def soft_problem(text: str, tags: Sequence[str]) -> str:
    """Why a text does not consist of the blocks; "" where it does.

    >>> soft_problem("<a>1</a>", ["a"]), soft_problem("<a></a>", ["a"]), soft_problem("<a>1", ["a"])
    ('', '<a> is empty', '</a> is missing')
    """
    return _read(text, tags)[1]


def strict_problem(text: str, tags: Sequence[str]) -> str:
    """Why a text is not in the exact layout; "" where it is.

    >>> strict_problem("<a>1</a>", ["a"])
    'a tag is not on a line of its own'
    """
    text = text.replace("\r\n", "\n")
    contents, problem = _read(text, tags)
    if problem:
        return problem
    if not all(content[0] == "\n" == content[-1] for content in contents):
        return "a tag is not on a line of its own"
    layout = "\n".join(f"<{tag}>{content}</{tag}>" for tag, content in zip(tags, contents, strict=True))
    return "" if text.removesuffix("\n") == layout else "white space before, between or after the blocks"


def _read(text: str, tags: Sequence[str]) -> tuple[list[str], str]:
    """The contents of the blocks, and why the text does not consist of them ("" where it does)."""
    contents: list[str] = []
    place = 0
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        for sign in (opening, closing):
            if text.count(sign) != 1:
                return [], f"{sign} is missing" if sign not in text else f"{sign} stands again"
        opened, closed = text.find(opening), text.find(closing)
        if opened < place or closed < opened:
            return [], f"{opening} is not in its place"
        if text[place:opened].strip():
            return [], f"text before {opening}"
        contents.append(text[opened + len(opening) : closed])
        if is_blank(contents[-1]):
            return [], f"{opening} is empty"
        place = closed + len(closing)
    return contents, f"text after </{tags[-1]}>" if text[place:].strip() else ""


def _paid(name: str, text: str, problem: str) -> float:
    return credit(name, float(not problem), of=1.0, span=(0, len(text)), note=problem or None)
