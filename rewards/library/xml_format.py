"""XML format: one block after the other, each once, none empty.

Strict asks for every tag on a line of its own, soft only for the blocks. Both look at the form alone: a wrong
answer in the right form is paid, which is what a format reward is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.extraction import check_tags
from rewards.marks import reward

TAGS = ("reasoning", "answer")


@reward(kind="format", weight=0.5, range=(0.0, 1.0))
def strict_xml_format(completions: list[Any], *, tag_names: Any = TAGS, **columns: Any) -> list[float | None]:
    r"""Reward the exact layout: each tag on a line of its own, the blocks following each other.

    1.0 for

        <reasoning>
        ...
        </reasoning>
        <answer>
        ...
        </answer>

    with something other than white space in each block, each tag once, and nothing before, between or after;
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
        _paid("strict format", text, _is_strict(text, tags)) for text in map(completion_text, completions)
    ]


@reward(kind="format", weight=0.5, range=(0.0, 1.0))
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
        _paid("soft format", text, blocks(text, tags) is not None)
        for text in map(completion_text, completions)
    ]


def blocks(text: str, tags: Sequence[str]) -> list[str] | None:
    """The contents of the blocks a text consists of, each tag once and in order; None where it does not.

    >>> blocks("<a>1</a><b>2</b>", ["a", "b"])
    ['1', '2']
    >>> blocks("<b>2</b><a>1</a>", ["a", "b"]) is None, blocks("<a>1</a>!", ["a"]) is None
    (True, True)
    """
    contents = []
    place = 0
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        if text.count(opening) != 1 or text.count(closing) != 1:
            return None
        opened, closed = text.find(opening), text.find(closing)
        if opened < place or closed < opened or text[place:opened].strip():
            return None
        contents.append(text[opened + len(opening) : closed])
        place = closed + len(closing)
    if text[place:].strip() or not all(content.strip() for content in contents):
        return None
    return contents


def _is_strict(text: str, tags: Sequence[str]) -> bool:
    text = text.replace("\r\n", "\n")
    contents = blocks(text, tags)
    if contents is None or not all(content[0] == "\n" == content[-1] for content in contents):
        return False
    layout = "\n".join(f"<{tag}>{content}</{tag}>" for tag, content in zip(tags, contents, strict=True))
    return text.removesuffix("\n") == layout


def _paid(name: str, text: str, kept: bool) -> float:
    return credit(name, float(kept), of=1.0, span=(0, len(text)))
