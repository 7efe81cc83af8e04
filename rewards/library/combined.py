"""The usual combinations, ready made: answer and layout in one score, and brevity for right answers only.

One score for several things is easy to use and hard to see through; two rewards with weights show more, since TRL logs
each by itself. What is here keeps the named credits of its parts, so that an explanation still tells them apart.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from rewards.library.code import code_block_present, tests_passed, valid_python
from rewards.library.extraction import FORMS
from rewards.library.fuzzy import fuzzy_match
from rewards.library.length import max_length
from rewards.library.maths import maths_equal
from rewards.library.shaping import gate, scale, weighted_sum
from rewards.library.xml_format import TAGS, soft_xml_format
from rewards.marks import reward

MATHS_SHARES = (0.8, 0.2)
"""Of the answer and of the layout: a right answer in no layout is worth four times a wrong one in a perfect one."""

CODE_SHARES = (0.8, 0.1, 0.1)
"""Of the tests, of a program without syntax error, and of a block of Python."""

_MATHS = weighted_sum(maths_equal, soft_xml_format, shares=MATHS_SHARES)
_CODE = weighted_sum(tests_passed, valid_python, code_block_present, shares=CODE_SHARES)

brief_if_right = gate(scale(partial(max_length, longest=60)), by=fuzzy_match, name="brief_if_right")
"""A reward: 1.0 for a right reply (`fuzzy_match` in full) of up to 60 words, falling to 0.0 at 120; 0.0 for others."""


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), scope="row", abstains=True)
def combined_maths(
    completions: list[Any],
    answer: list[Any],
    *,
    answer_forms: Any = FORMS,
    tag_names: Any = TAGS,
    **columns: Any,
) -> list[float | None]:
    r"""Reward the right mathematical answer, and a fifth as much its layout.

    0.8 where the answer is right (`maths_equal`) and 0.2 where the layout is kept (`soft_xml_format`).

    Args:
        completions: chat or plain text.
        answer: column with the references.
        answer_forms: as in `maths_equal`.
        tag_names: the blocks in their order.

    Returns:
        One of 0.0, 0.2, 0.8, 1.0 per completion; None where the reference is missing or cannot be read.

    Raises:
        ValueError: if a parameter is not what it should be.

    >>> combined_maths(["<reasoning>a half</reasoning><answer>1/2</answer>", r"\boxed{0.5}"], answer=["0.5", "0.5"])
    [1.0, 0.8]
    """
    scores: list[float | None] = _MATHS(
        completions=completions, answer=answer, answer_forms=answer_forms, tag_names=tag_names, **columns
    )  # type: ignore[assignment]
    return scores


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), scope="row", abstains=True, timeout_s=60.0)
def combined_code(
    completions: list[Any],
    tests: Any = None,
    *,
    paid: str = "all",
    seconds: float = 3.0,
    **columns: Any,
) -> list[float | None]:
    """Reward a program that passes its tests, and a little that it is one.

    0.8 for the tests (`tests_passed`, which has the columns and further parameters), 0.1 for a program without syntax
    error (`valid_python`), 0.1 for a fenced block of Python (`code_block_present`).

    Args:
        completions: chat or plain text.
        tests: column of test cases.
        paid: "all": the 0.8 for all tests or none; "share": the share of tests passed.
        seconds: time for all calls of a function's tests.

    Returns:
        From 0.0 to 1.0 per completion; None where the row has no tests.

    Raises:
        ValueError: if there is no column of tests, or a parameter is not what it should be.
        SandboxError: if this machine cannot run model-written code as safely as asked.

    >>> twice = "```python\\ndef twice(n):\\n    return {}\\n```".format
    >>> combined_code([twice("2 * n"), twice("n")], tests=[[[[3], 6]]] * 2, entry_point="twice")
    [1.0, 0.2]
    """
    scores: list[float | None] = _CODE(
        completions=completions, tests=tests, paid=paid, seconds=seconds, **columns
    )  # type: ignore[assignment]
    return scores
