"""Texts that break careless code: what a model can write on a bad day, and what it never writes but a log may hold.

`likely` says which is which. A sampled completion is any sequence of tokens, so control characters, text of any
script, unclosed brackets by the thousand and very long lines are all possible; two million characters or a message
without content are not. (Lone surrogates are among the odd completions of RW110.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DEEP = 3_000
"""How often a bracket or tag is opened; a completion of so many tokens."""
LARGE, HUGE = 200_000, 2_000_000


@dataclass(frozen=True)
class Hostile:
    """One text, what it is in words, and whether a model can produce it within a usual completion length."""

    text: str
    what: str
    likely: bool = True


NUMBERS = (
    ("9" * 5_000, "a number of 5,000 digits"),
    ("1e999999999", "a number with a billion digits, written short"),
    ("9^{9^{9^{9}}}", "a tower of powers"),
    ("9**9**9**9", "a tower of powers in Python's notation"),
    ("٣", "a digit of another script"),
)
"""Answers that are short to write and long to compute, or that `int` and `float` read in their own way."""

Write = Callable[[str], str]
"""Puts an answer into the place of a sample's answer."""


def answers(write: Write | None) -> list[Hostile]:
    """The numbers as answers: in the place of a right sample's, else in a tag and a box."""
    writes: list[Write] = (
        [write] if write is not None else [lambda a: f"<answer>{a}</answer>", lambda a: f"\\boxed{{{a}}}"]
    )
    return [Hostile(put(number), f"{what} as the answer") for number, what in NUMBERS for put in writes]


def hostile_texts(sample: str, tags: tuple[str, ...], write: Write | None = None) -> list[Hostile]:
    """Everything: `answers`, then `strange_texts`."""
    return [*answers(write), *strange_texts(sample, tags)]


def strange_texts(sample: str, tags: tuple[str, ...]) -> list[Hostile]:
    """Small and middling texts that are quickly looked at, some of them made of a sample.

    Args:
        sample: a completion of the samples.
        tags: names of the tags it uses.
    """
    opened = "".join(f"<{tag}>" for tag in tags) or "<answer>"
    middle = len(sample) // 2
    return [
        Hostile(sample[:middle] + "\x00" + sample[middle:], "a sample with a NUL character inside"),
        Hostile("\x00", "a single NUL character"),
        Hostile("".join(map(chr, range(1, 32))), "nothing but control characters"),
        Hostile("\x1b[31m" + sample, "a sample in terminal colours"),
        Hostile("\u202e" + sample + "\u202c", "a sample written from right to left"),
        Hostile("\u200b".join(sample[:400]), "a sample with zero-width spaces"),
        Hostile("👩‍👩‍👧‍👦🏳️‍🌈" * 40, "emoji made of several characters"),
        Hostile("\ufffd" * 60, "nothing but replacement characters"),
        Hostile("e\u0301" * 200 + "Z\u0335\u0321\u0322" * 200, "letters under piles of accents"),
        Hostile("\r", "a single carriage return"),
        Hostile("\u2028\u2029\x85\x0b\x0c", "line ends of other kinds"),
        Hostile("٣٤٥ ੪੨ ²³ Ⅷ ½", "digits of other scripts"),
        Hostile("9" * 5_000, "a number of 5,000 digits"),
        Hostile("1e400", "a number beyond every float"),
        Hostile(opened * DEEP, f"tags opened {DEEP:,} times"),
        Hostile("{" * DEEP, f"{DEEP:,} opened braces"),
        Hostile("[" * DEEP, f"{DEEP:,} opened brackets"),
        Hostile("(" * DEEP, f"{DEEP:,} opened parentheses"),
        Hostile('{"a":' * DEEP, f"JSON opened {DEEP:,} times"),
        Hostile("\\boxed{" * DEEP, f"boxes opened {DEEP:,} times"),
        Hostile("-" * DEEP + "1", f"a number behind {DEEP:,} minus signs"),
        Hostile("```" * 1_001, "a thousand code fences"),
        Hostile("%s%d{0}{name}$(x)`y`\\", "marks of string formatting"),
        Hostile("' OR 1=1; --\"\"\"", "unbalanced quotes"),
        Hostile("(?P<a>[" + sample[:40], "the beginning of a regular expression"),
    ]  # fmt: skip


def large_texts(sample: str) -> list[Hostile]:
    """Long texts: 200 kB, which models with a long context write, and 2 MB, which none does."""
    line = (sample[:200] or "word") + "\n"
    return [
        Hostile("a" * LARGE, "200,000 letters without a space"),
        Hostile(line * (LARGE // len(line)), "a sample written again and again to 200,000 characters"),
        Hostile("word " * (HUGE // 5), "two million characters", likely=False),
    ]


def odd_messages() -> list[tuple[Any, str]]:
    """Chat completions no generation gives, but imported logs do: (completion, what it is)."""
    return [
        ([{"role": "assistant", "content": None}], "a message whose content is None"),
        ([], "a completion without any message"),
        ([{"role": "tool", "content": "4"}], "a completion without an assistant's turn"),
    ]


__all__ = ["Hostile", "hostile_texts", "large_texts", "odd_messages", "strange_texts"]
