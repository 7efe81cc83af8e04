"""Exact match: the extracted answer is the reference."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.extraction import FORMS, check_forms, find_answer
from rewards.library.parameters import flag
from rewards.library.references import is_missing, not_scored, tell_unread
from rewards.marks import reward

_WRAPPED = re.compile(r"\\(?:text|mathrm|textbf|mbox)\{([^{}]*)\}")
_OPTION = re.compile(r"\(?([A-Za-z])[).]?")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)
_AROUND = " \t\r\n*_`'\"$"


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), scope="row", abstains=True)
def exact_match(
    completions: list[Any],
    answer: list[Any],
    *,
    answer_forms: Any = FORMS,
    ignore_case: bool = True,
    ignore_articles: bool = False,
    ignore_punctuation: bool = False,
    log_metric: Any = None,
    **columns: Any,
) -> list[float | None]:
    r"""Reward the right answer.

    1.0 where the answer a completion ends with equals the reference, or one of several references, else 0.0.
    Both are looked for alike (`rewards.library.extraction.find_answer`: the last tag, box, `#### N`, `A: N`, or
    the whole text) and compared without white space, emphasis, quotes, `$`, `\text{}` and full stop around
    them; a choice may be written `B`, `(B)` or `B.`. An empty answer is never right.

    Args:
        completions: chat or plain text.
        answer: column with the references: text or numbers, or lists of those where any one of them is right.
        answer_forms: the forms an answer may have, of "tag", "boxed", "hash", "line", "whole", "math", "number".
        ignore_case: whether upper and lower case are the same.
        ignore_articles: whether "the elephant" is "elephant" (English articles).
        ignore_punctuation: whether only letters and digits count, so that "Hello-123!" is "Hello123".
        log_metric: TRL's; told the share of references that are missing, where there are any.

    Returns:
        One of 0.0, 1.0 per completion; None where the reference is missing or empty.

    Raises:
        ValueError: if `answer_forms` names an unknown form, or a flag is no flag.

    >>> exact_match(["<answer>Paris</answer>", "It is Paris or Rome", "<answer></answer>"], answer=["paris"] * 3)
    [1.0, 0.0, 0.0]
    >>> exact_match(["NYC"], answer=[["New York", "NYC"]]), exact_match(["", "7"], answer=["", None])
    ([1.0], [None, None])
    """
    forms = check_forms("exact_match", answer_forms)
    ways = {
        "ignore_case": flag("exact_match", "ignore_case", ignore_case),
        "ignore_articles": flag("exact_match", "ignore_articles", ignore_articles),
        "ignore_punctuation": flag("exact_match", "ignore_punctuation", ignore_punctuation),
    }
    scores = [
        _exact(completion_text(completion), reference, forms, ways)
        for completion, reference in zip(completions, answer, strict=True)
    ]
    tell_unread(log_metric, "exact_match", scores)
    return scores


def _exact(text: str, reference: Any, forms: tuple[str, ...], ways: dict[str, bool]) -> float | None:
    wanted = {plain_answer(one, **ways) for one in reference_texts(reference)} - {""}
    if not wanted:
        return not_scored(reference, "text or a number")
    found = find_answer(text, forms=forms)
    right = found is not None and plain_answer(found.text, **ways) in wanted
    return credit("answer equals the reference", float(right), of=1.0, span=found.span if found else None)


def reference_texts(value: Any) -> Iterable[str]:
    """The answers a reference allows, as text; none where it is missing.

    >>> list(reference_texts(["4", "#### 5"])), list(reference_texts(None))
    (['4', '5'], [])
    """
    if isinstance(value, (list, tuple)):
        return [text for one in value if not isinstance(one, (list, tuple)) for text in reference_texts(one)]
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or is_missing(value):
        return []
    found = find_answer(str(value))
    return [found.text] if found and found.text else []


def plain_answer(
    text: str, *, ignore_case: bool = True, ignore_articles: bool = False, ignore_punctuation: bool = False
) -> str:
    r"""An answer without what does not change it: white space, emphasis, quotes, `\text{}`, a final full stop.

    >>> plain_answer(r" **\text{New   York}**. ")
    'new york'
    >>> plain_answer("(B)"), plain_answer("The E.U.", ignore_articles=True, ignore_punctuation=True)
    ('b', 'eu')
    """
    text = unicodedata.normalize("NFC", _WRAPPED.sub(r"\1", text))
    text = " ".join(text.split()).strip(_AROUND).removesuffix(".").strip(_AROUND)
    option = _OPTION.fullmatch(text)
    text = option.group(1) if option else text
    if ignore_articles:
        text = " ".join(_ARTICLE.sub(" ", text).split()) or text
    if ignore_punctuation:
        text = "".join(character for character in text if character.isalnum())
    return unicodedata.normalize("NFC", text.casefold()) if ignore_case else text
