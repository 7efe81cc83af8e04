"""Thinking, then the answer: `<think> ... </think> answer`, whoever wrote the opening tag.

Some chat templates write `<think>` themselves, at the end of the prompt. A completion then starts inside, and a
reward that asks for the opening tag pays nothing, ever. A template's text does not reach a reward of a chat data
set, so it has to be told (`tag_opened = "always"`); where the prompt is plain text, it is seen.

Two more traps: a tag that is a special token of the tokenizer is gone from the text that rewards get, and a
tokenizer that parses replies puts the thinking beside `content`; the second is understood here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.blanks import is_blank
from rewards.library.extraction import check_tags
from rewards.library.parameters import flag, one_of
from rewards.marks import reward

OPENED = ("auto", "always", "never")
_PARSED = ("reasoning_content", "reasoning", "thinking")


@reward(kind="format", weight=0.5, range=(0.0, 1.0), scope="row")
def think_format(
    completions: list[Any],
    prompts: Any = None,
    *,
    think_tag: str = "think",
    tag_opened: str = "auto",
    thinking_required: bool = True,
    **columns: Any,
) -> list[float | None]:
    """Reward thinking in its tags followed by an answer.

    1.0 where a completion opens the tag first, closes it once, and says something inside and after it; 0.0 for
    anything else. Where the prompt or the template has opened the tag, the completion has to close it and must
    not open it again. White space before the opening tag does not matter. Thinking that a tokenizer has parsed
    out of the text (`reasoning_content` of the message) counts as thinking in its tags.

    Args:
        completions: chat or plain text.
        prompts: looked at for an opening tag at their end, with `tag_opened="auto"`.
        think_tag: the name of the tag.
        tag_opened: "always": the template opens the tag; "never": the completion has to; "auto": a prompt that
            ends with the tag has opened it.
        thinking_required: false: the tags may be empty, as models do that are told not to think.

    Returns:
        One of 0.0, 1.0 per completion.

    Raises:
        ValueError: if a parameter is not what it should be.

    >>> think_format(["<think>3 + 4</think>7", "3 + 4</think>7", "<think>3 + 4", "<think></think>7"])
    [1.0, 0.0, 0.0, 0.0]
    >>> think_format(["3 + 4</think>7"], prompts=["3 + 4? <think>"])
    [1.0]
    """
    (tag,) = check_tags("think_format", [think_tag])
    opened = one_of("think_format", "tag_opened", tag_opened, OPENED)
    needed = flag("think_format", "thinking_required", thinking_required)
    asked = list(prompts) if prompts else [None] * len(completions)
    return [
        _score(completion, _is_open(prompt, tag, opened), tag, needed)
        for completion, prompt in zip(completions, asked, strict=True)
    ]


def _score(completion: Any, is_open: bool, tag: str, needed: bool) -> float:
    text = completion_text(completion)
    problem = _problem_of_parsed(completion, text, tag)
    if problem is None:
        problem = _problem(text, is_open, tag, needed)
    return credit(
        "thinking, then the answer",
        float(not problem),
        of=1.0,
        span=(0, len(text)),
        note=problem or ("the prompt opens the tag" if is_open else None),
    )


def _problem(text: str, is_open: bool, tag: str, needed: bool) -> str:
    """What is wrong with a text; "" where nothing is."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    start = 0
    if not is_open:
        start = text.find(opening)
        if start < 0:
            return f"{opening} is missing"
        if text[:start].strip():
            return f"text before {opening}"
        start += len(opening)
    if text.find(opening, start) >= 0:
        return f"{opening} stands again"
    closed = text.find(closing)
    if closed < start:
        return f"{closing} is missing" if closed < 0 else f"{closing} stands before {opening}"
    if text.find(closing, closed + 1) >= 0:
        return f"{closing} stands again"
    if needed and is_blank(text[start:closed]):
        return "no thinking between the tags"
    return f"no answer after {closing}" if is_blank(text[closed + len(closing) :]) else ""


def _problem_of_parsed(completion: Any, text: str, tag: str) -> str | None:
    """The same for a message whose thinking was parsed out; None where it was not."""
    if isinstance(completion, str) or not isinstance(completion, (list, tuple)):
        return None
    for message in reversed(completion):
        if isinstance(message, Mapping) and message.get("role", "assistant") == "assistant":
            if not any(isinstance(message.get(key), str) and not is_blank(message[key]) for key in _PARSED):
                return None
            if f"<{tag}>" in text or f"</{tag}>" in text:
                return "a tag stands in the answer too"
            return "no answer after the thinking" if is_blank(text) else ""
    return None


def _is_open(prompt: Any, tag: str, opened: str) -> bool:
    if opened != "auto":
        return opened == "always"
    # A chat prompt that ends with an assistant's turn does not count: the template opens a new one.
    return isinstance(prompt, str) and prompt.rstrip().endswith(f"<{tag}>")
