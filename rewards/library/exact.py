"""Exact match: the extracted answer is the reference."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.extraction import FORMS, check_forms, find_answer
from rewards.marks import reward

_WRAPPED = re.compile(r"\\(?:text|mathrm|textbf|mbox)\{([^{}]*)\}")
_OPTION = re.compile(r"\(?([A-Za-z])[).]?")
_AROUND = " \t\r\n*_`'\"$"


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), abstains=True)
def exact_match(
    completions: list[Any],
    answer: list[Any],
    *,
    answer_forms: Any = FORMS,
    ignore_case: bool = True,
    **columns: Any,
) -> list[float | None]:
    r"""Reward the right answer.

    1.0 where the answer a completion ends with equals the reference, else 0.0. Both are looked for alike
    (`rewards.library.extraction.find_answer`: the last tag, box, `#### N`, `A: N`, or the whole text) and
    compared without white space, emphasis, quotes, `$`, `\text{}` and full stop around them; a choice may be
    written `B`, `(B)` or `B.`. An empty answer is never right.

    Args:
        completions: chat or plain text.
        answer: column with the references: text or numbers.
        answer_forms: the forms an answer may have, of "tag", "boxed", "hash", "line", "whole", "number".
        ignore_case: whether upper and lower case are the same.

    Returns:
        One of 0.0, 1.0 per completion; None where the reference is missing or empty.

    Raises:
        ValueError: if `answer_forms` names an unknown form.

    >>> exact_match(["<answer>Paris</answer>", "It is Paris or Rome", "<answer></answer>"], answer=["paris"] * 3)
    [1.0, 0.0, 0.0]
    >>> exact_match(["", "7"], answer=["", None])
    [None, None]
    """
    forms = check_forms("exact_match", answer_forms)
    return [
        _exact(completion_text(completion), reference, forms, ignore_case)
        for completion, reference in zip(completions, answer, strict=True)
    ]


def _exact(text: str, reference: Any, forms: tuple[str, ...], ignore_case: bool) -> float | None:
    wanted = _reference(reference, ignore_case)
    if not wanted:
        return None
    found = find_answer(text, forms=forms)
    right = found is not None and plain_answer(found.text, ignore_case=ignore_case) == wanted
    return credit("answer equals the reference", float(right), of=1.0, span=found.span if found else None)


def _reference(value: Any, ignore_case: bool) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    found = find_answer(str(value))
    return plain_answer(found.text, ignore_case=ignore_case) if found else ""


def plain_answer(text: str, *, ignore_case: bool = True) -> str:
    r"""An answer without what does not change it: white space, emphasis, quotes, `\text{}`, a final full stop.

    >>> plain_answer(r" **\text{New   York}**. ")
    'new york'
    >>> plain_answer("(B)")
    'b'
    """
    text = unicodedata.normalize("NFC", _WRAPPED.sub(r"\1", text))
    text = " ".join(text.split()).strip(_AROUND).removesuffix(".").strip(_AROUND)
    option = _OPTION.fullmatch(text)
    text = option.group(1) if option else text
    return unicodedata.normalize("NFC", text.casefold()) if ignore_case else text
