r"""Multiple choice: the option a completion commits to is the right one.

An option is named by its label (`B`, `(B)`, `**Answer: B**`, `B. Paris`, `B because ...`) or by its text. Who
names two ("B or C", "A, B") or takes one back ("not B", "it might be B") has not chosen. A letter that happens
to stand in a sentence is no choice: "A dog" does not say A, "I think" does not say I.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.exact import plain_answer
from rewards.library.extraction import FORMS, Found, check_forms, find_answer
from rewards.library.parameters import wrong
from rewards.library.references import not_scored, tell_unread
from rewards.marks import reward

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LABELS = tuple(LETTERS[:10])
"""The labels where no options are given."""

LONGEST = 2_000
"""Characters of an answer that are looked at; a choice is said at its beginning."""

_WRAPPED = re.compile(r"\\(?:text|mathrm|textbf|mathbf|mbox)\s*\{([^{}]*)\}")
_AROUND = " \t\r\n*_`'\"$"
_SAID = re.compile(r"(?i:(?<![A-Za-z])(?:option|choice)[ \t*_]*(?:selected|chosen)?[ \t*_]*(?:is\b|[:=]))")
_LEAD = re.compile(r"(?i:(?:the )?(?:correct |right |best |final )?(?:option|choice|answer)(?: is)?\s*:?\s+)")
_REASON = re.compile(
    r"[\s.,:;)\]}*–—-]*(?:because|since|as\b|is (?:the )?(?:correct|right|best))", re.IGNORECASE
)
_DELIMITER = re.compile(r"\s*[.):\]},;–—-]|\s*[*_]+|\s+\(")
_HEDGE = re.compile(
    r"\b(?:not|no|never|neither|nor|or|either|maybe|perhaps|possibly|might|could|may|unsure|wrong|incorrect|except)\b|n't\b",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"[(\[]([A-Za-z0-9]{1,2})[)\]]|\*\*\(?([A-Za-z0-9]{1,2})[).]?\*\*")


@dataclass(frozen=True)
class Options:
    """The labels that may be chosen and the text of each, "" where it is not known."""

    texts: Mapping[str, str]

    @functools.cached_property
    def plain(self) -> dict[str, str]:
        """Label by text, as texts are compared; a text that two options share names none."""
        found: dict[str, str] = {}
        shared = set()
        for label, text in self.texts.items():
            bare = _plain_text(text, label)
            if bare:
                shared |= {bare} & found.keys()
                found[bare] = label
        return {text: label for text, label in found.items() if text not in shared}

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """A label at the beginning of an answer and what stands behind it."""
        either = "|".join(map(re.escape, sorted(self.texts, key=len, reverse=True)))
        return re.compile(rf"[(\[{{]?\s*({either})(?![A-Za-z0-9])\s*[)\]}}]?(.*)", re.DOTALL | re.IGNORECASE)

    def label(self, text: str) -> str | None:
        """The label a text is, whatever its case."""
        return next((label for label in self.texts if label.casefold() == text.strip().casefold()), None)


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), scope="row", abstains=True)
def multiple_choice(
    completions: list[Any],
    answer: list[Any],
    *,
    options: Any = None,
    answer_forms: Any = FORMS,
    answer_pattern: str | None = None,
    log_metric: Any = None,
    **columns: Any,
) -> list[float | None]:
    r"""Reward the right option.

    1.0 where a completion chooses the reference's option, by label or, where the options are known, by text;
    else 0.0. The choice is looked for in the answer that `find_answer` of `rewards.library.extraction` finds,
    or behind "option:", "the choice is"; in a text with neither it has to be all there is, the only option in
    brackets or bold, or the only option named. Two options, a negation or a hedge are no choice, and neither is
    a label with another option's text.

    Args:
        completions: chat or plain text.
        answer: column with the references: a label (`"B"`, `"(B)"`, `"The answer is B"`), the option's text, or
            its place counted from 0.
        options: column with the options of each row: a list of texts (labelled A, B, C ...), a mapping of label to
            text, a list of such mappings, or `{"label": [...], "text": [...]}`; one list of texts serves all
            rows. Without them the labels are A to J.
        answer_forms: the forms an answer may have, of "tag", "boxed", "hash", "line", "whole".
        answer_pattern: a regular expression for other forms; the group 1 of its last match is the answer.
        log_metric: TRL's; told the share of references that name no option, where there are any.

    Returns:
        One of 0.0, 1.0 per completion; None where the reference is missing or names no option.

    Raises:
        ValueError: if `answer_forms`, `options` or `answer_pattern` cannot be used.

    >>> multiple_choice(["**Answer: B**", "(B)", "It is B or C.", "The answer is not B."], answer=["B"] * 4)
    [1.0, 1.0, 0.0, 0.0]
    >>> multiple_choice(["Answer: Paris", "A. Rome", "A. Paris"], answer=[1] * 3, options=["Rome", "Paris"])
    [1.0, 0.0, 0.0]
    >>> multiple_choice(["B"], answer=["see above"])
    [None]
    """
    forms = check_forms("multiple_choice", answer_forms)
    pattern = _pattern(answer_pattern)
    scores = [
        _choice(completion_text(completion), reference, row_options, forms, pattern)
        for completion, reference, row_options in zip(
            completions, answer, _each_rows_options(options, len(completions)), strict=True
        )
    ]
    tell_unread(log_metric, "multiple_choice", scores)
    return scores


def _choice(
    text: str, reference: Any, options: Options, forms: tuple[str, ...], pattern: re.Pattern[str] | None
) -> float | None:
    wanted = _reference(reference, options)
    if wanted is None:
        return not_scored(reference, "an option")
    found = _found(text, forms, pattern)
    chosen = _chosen(found, options) if found else None
    right = found is not None and (
        chosen == wanted[0] if wanted[0] else plain_answer(found.text[:LONGEST]) == wanted[1]
    )
    return credit(
        "option equals the reference",
        float(right),
        of=1.0,
        span=found.span if found else None,
        note=f"chosen: {chosen}" if chosen else "no option is chosen",
    )


def _found(text: str, forms: tuple[str, ...], pattern: re.Pattern[str] | None) -> Found | None:
    """The place where the choice is said."""
    if pattern is not None:
        last = None
        for match in pattern.finditer(text):
            last = match
        if last is not None:
            group = 1 if pattern.groups else 0
            return Found(last[group] or "", *last.span(group), "line")
    found = find_answer(text, forms=forms)
    if found is None or found.form != "whole":
        return found
    last = None
    for match in _SAID.finditer(text, found.start, found.end):
        last = match
    if last is None:
        return found
    stop = text.find("\n", last.end(), found.end)
    stop = found.end if stop < 0 else stop
    return Found(text[last.end() : stop].strip(), last.end(), stop, "line")


def _chosen(found: Found, options: Options) -> str | None:
    """The label chosen in the text found; None where none is, or more than one."""
    text = _WRAPPED.sub(r"\1", found.text[:LONGEST]).strip(_AROUND)
    by_text = options.plain.get(plain_answer(text))
    if by_text is not None:
        return by_text
    lead = _LEAD.match(text)
    label = _leading_label(text[lead.end() :] if lead else text, options)
    if label is not None or len(found.text) > LONGEST:
        return label or None
    return _only_marked(text, options) or _only_named(text, options)


def _leading_label(text: str, options: Options) -> str | None:
    """The label a text begins with; "" where what follows adds another or contradicts it, None where there is none."""
    match = options.pattern.match(text.strip(_AROUND))
    if match is None:
        return None
    label, rest = options.label(match[1]), match[2]
    closed = text.strip(_AROUND)[match.end(1) : match.start(2)].strip() != ""
    if label is None or not rest.strip(" .,;:!*_`$)]}"):
        return label
    if match[1] != label and not closed:  # `a dog` is no choice, `a) dog` is one
        return None
    other = rest.lstrip("/ ").strip(" .,;*_`$)]}")
    if options.label(other) == label:
        return label
    if _REASON.match(rest):
        return label
    if not (closed or _DELIMITER.match(rest)):
        return None
    named = options.plain.get(_plain_text(rest.lstrip(" .):]},;–—-*_"), ""))
    return label if named in (None, label) and not _names_another(rest, label, options) else ""


def _names_another(rest: str, label: str, options: Options) -> bool:
    """Whether another label stands behind the chosen one; `I` and `A` in a sentence are words."""
    for match in re.finditer(r"(?<![A-Za-z0-9'])([A-Z]|[0-9]{1,2})(?![A-Za-z0-9'])(?!\s+[a-z])", rest):
        other = options.label(match[1])
        if other is not None and other != label:
            return True
    return False


def _only_marked(text: str, options: Options) -> str | None:
    """The one label in brackets or bold type, in a text that does not hedge."""
    found = {options.label(match[1] or match[2]) for match in _IN_BRACKETS.finditer(text)} - {None}
    return found.pop() if len(found) == 1 and not _HEDGE.search(text) else None


def _only_named(text: str, options: Options) -> str | None:
    """The one option whose text stands in the answer, in an answer that does not hedge."""
    plain = plain_answer(text)
    named = [option for option in options.plain if re.search(rf"(?<!\w){re.escape(option)}(?!\w)", plain)]
    named = [option for option in named if not any(option != other and option in other for other in named)]
    if len(named) != 1 or _HEDGE.search(plain.replace(named[0], "")):
        return None
    return options.plain[named[0]]


def _plain_text(text: str, label: str) -> str:
    """An option's text as texts are compared, without its own label before it."""
    text = text.strip()
    if label and re.match(rf"[(\[]?{re.escape(label)}[).:\]]\s", text):
        text = text[text.index(label) + len(label) + 1 :]
    return plain_answer(text)


def _reference(value: Any, options: Options) -> tuple[str, str] | None:
    """The reference's label ("" where it is a text that is no option) and its text as compared."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        by_name = options.label(str(value))
        labels = list(options.texts)
        label = by_name or (labels[value] if 0 <= value < len(labels) else None)
        return (label, "") if label else None
    if not isinstance(value, str):
        return None
    found = find_answer(value)
    if found is None or not found.text:
        return None
    label = options.label(plain_answer(found.text)) or _chosen(found, options)
    if label:
        return label, ""
    text = plain_answer(found.text)
    return ("", text) if options.plain and text else None


def _each_rows_options(options: Any, rows: int) -> list[Options]:
    if options is None or (
        isinstance(options, (list, tuple)) and options and all(_is_text(one) for one in options)
    ):
        return [_options(options)] * rows
    if isinstance(options, Mapping):
        return [_options(options)] * rows
    if not isinstance(options, (list, tuple)) or len(options) != rows:
        raise wrong("multiple_choice", "options", options, "a column of options, or one list of texts")
    return [_options(one) for one in options]


def _is_text(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _options(value: Any) -> Options:
    """The options of one row, from any of the forms they come in; A to J where there are none."""
    if isinstance(value, Mapping) and isinstance(value.get("text"), Iterable) and "label" in value:
        pairs = dict(zip(map(str, value["label"]), map(str, value["text"]), strict=False))
    elif isinstance(value, Mapping):
        pairs = {str(label): str(text) for label, text in value.items() if text is not None}
    elif isinstance(value, (list, tuple)) and all(isinstance(one, Mapping) for one in value):
        pairs = {str(label): str(text) for one in value for label, text in one.items() if text is not None}
    elif isinstance(value, (list, tuple)):
        pairs = dict(zip(LETTERS, map(str, value), strict=False))
    else:
        pairs = {}
    return Options(
        {label.strip(): text for label, text in pairs.items() if label.strip()} or dict.fromkeys(LABELS, "")
    )


@functools.lru_cache(maxsize=16)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _pattern(value: Any) -> re.Pattern[str] | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise wrong("multiple_choice", "answer_pattern", value, "a regular expression")
    try:
        return _compiled(value)
    except re.error as error:
        raise wrong("multiple_choice", "answer_pattern", value, f"a regular expression ({error})") from error
