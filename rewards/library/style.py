"""Style: connectives, steps, citations, phrases nobody wants.

None of them can be earned by saying the same again or by the words alone: a connective needs a text to connect, a
step and a citation count once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.lines import lines
from rewards.library.parameters import phrases, whole_number
from rewards.library.sentences import sentence_spans
from rewards.marks import reward

Span = tuple[int, int]

CONNECTIVES = (
    "therefore", "thus", "hence", "because", "since", "consequently", "first", "second", "third", "next", "then",
    "finally", "however", "although", "moreover", "furthermore", "as a result", "for example", "in contrast",
    "it follows",
)  # fmt: skip
WORDS_EACH = 4
"""How many other words a connective needs."""

PHRASES = (
    "as an ai language model", "as an ai", "i'm just an ai", "i cannot fulfill", "i can't assist with",
    "my training data", "knowledge cutoff", "it is important to note that",
    "it's worth noting that", "in today's fast-paced world",
    "i hope this helps", "great question",
)  # fmt: skip

_REASONING = re.compile(r"<(reasoning|think|thinking)>")
_STEP = re.compile(
    r"[ \t>]*+(?:[*_#]{1,6}[ \t]*)?(?:(?:step[ \t]+)?\d{1,3}[.):][*_]*+|[-*\u2022])[ \t]++(?P<content>\S.*)",
    re.IGNORECASE,
)
_ORDINAL = (
    "first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth|fifth|next|then|after that|finally|lastly|to begin with"
)
_OPENING = re.compile(rf"[\s*_>]*+(?:{_ORDINAL})\b[ ,:]*+", re.IGNORECASE)
_ORDINAL_WORD = re.compile(rf"\b(?:{_ORDINAL})\b", re.IGNORECASE)
_CITATION = re.compile(
    r"\[\d{1,3}(?:[,\u2013-] ?\d{1,3}){0,9}\]"
    r"|\([A-Z][\w.&' -]{0,80}?,? (?:1[5-9]|20)\d\d[a-z]?\)"
    r"|\b[Aa]ccording to (?:the )?\w+"
    r"|\b[Aa]s (?:stated|described|reported|noted|shown|mentioned) (?:in|by) (?:the )?\w+"
    r"|\[source: ?[^\]\n]{1,80}\]"
)
_FENCE = re.compile(r"^[ \t]*+```", re.MULTILINE)
_WORD = re.compile(r"\w+")


@reward(kind="style", weight=0.3, range=(0.0, 1.0), scope="row")
def connectives(
    completions: list[Any],
    *,
    enough_connectives: int = 6,
    connective_words: Any = CONNECTIVES,
    **columns: Any,
) -> list[float | None]:
    """Reward logical connectives in the reasoning.

    Each different connective that stands there as a whole word pays an equal share, up to `enough_connectives` of
    them. The reasoning is the first `<reasoning>` or `<think>` block, or what comes before a closing tag whose
    opening one the prompt has, else the whole text. No more connectives count than there are four other words
    for each: a heap of connectives connects nothing.

    Args:
        completions: chat or plain text.
        enough_connectives: how many pay in full.
        connective_words: the words and phrases, in any case.

    Returns:
        A value in [0, 1] per completion.

    Raises:
        ValueError: if `enough_connectives` is below 1 or `connective_words` no list of texts.

    >>> connectives(["It is late, therefore the shop is closed by now.", "A firsthand account."], enough_connectives=2)
    [0.5, 0.0]
    >>> connectives(["therefore thus because since first next"])
    [0.0]
    """
    enough = whole_number("connectives", "enough_connectives", enough_connectives)
    pattern = _any_of(phrases("connectives", "connective_words", connective_words))
    return [_connectives(completion_text(completion), enough, pattern) for completion in completions]


@reward(kind="style", weight=0.3, range=(0.0, 1.0), scope="row")
def reasoning_steps(completions: list[Any], *, enough_steps: int = 3, **columns: Any) -> list[float | None]:
    """Reward reasoning in steps.

    A step is a numbered line (`1. ...`, `Step 1: ...`), a list item, or a sentence that opens with First, Next,
    Then, Finally and the like; each with something to say, and each thing said once.

    Args:
        completions: chat or plain text.
        enough_steps: how many pay in full.

    Returns:
        A value in [0, 1] per completion.

    Raises:
        ValueError: if `enough_steps` is below 1.

    >>> reasoning_steps(["1. a\\n2. b\\n3. c", "First, First, First,", "First add. Then halve."])
    [1.0, 0.0, 0.6666666666666666]
    """
    enough = whole_number("reasoning_steps", "enough_steps", enough_steps)
    return [_steps(completion_text(completion), enough) for completion in completions]


@reward(kind="style", weight=0.2, range=(0.0, 1.0), scope="row")
def citations(completions: list[Any], *, enough_citations: int = 1, **columns: Any) -> list[float | None]:
    """Reward citations.

    Counted are `[12]`, `(Smith, 2020)`, "according to ..." and "as stated in ..." in any case, `[source: ...]`; each
    once, outside code blocks, and only in a text that has at least three words beside its marks.

    Args:
        completions: chat or plain text.
        enough_citations: how many different ones pay in full.

    Returns:
        A value in [0, 1] per completion.

    Raises:
        ValueError: if `enough_citations` is below 1.

    >>> citations(["According to the survey, most agree.", "Most agree here [1].", "Most agree.", "[1]"])
    [1.0, 1.0, 0.0, 0.0]
    """
    enough = whole_number("citations", "enough_citations", enough_citations)
    return [_citations(completion_text(completion), enough) for completion in completions]


@reward(kind="style", weight=0.5, range=(-1.0, 0.0), scope="row")
def forbidden_phrases(
    completions: list[Any], *, unwanted_phrases: Any = PHRASES, tolerated: int = 0, **columns: Any
) -> list[float | None]:
    """Penalise phrases nobody wants.

    0.0 up to `tolerated` occurrences, -1.0 above. A phrase counts as whole words, in any case, with any white space
    between them.

    Args:
        completions: chat or plain text.
        unwanted_phrases: the phrases.
        tolerated: how many occurrences cost nothing.

    Returns:
        One of -1.0, 0.0 per completion.

    Raises:
        ValueError: if `unwanted_phrases` is no list of texts or `tolerated` below 0.

    >>> forbidden_phrases(["As an AI, I cannot.", "Said an aide.", ""])
    [-1.0, 0.0, 0.0]
    """
    pattern = _any_of(phrases("forbidden_phrases", "unwanted_phrases", unwanted_phrases))
    free = whole_number("forbidden_phrases", "tolerated", tolerated, least=0)
    return [_forbidden(completion_text(completion), pattern, free) for completion in completions]


# ------------------------------------------------------------------------------------------- one row


def _connectives(text: str, enough: int, pattern: re.Pattern[str]) -> float:
    start, end = reasoning_place(text)
    places: dict[str, Span] = {}
    used = 0
    for match in pattern.finditer(text, start, end):
        used += len(match.group().split())
        places.setdefault(" ".join(match.group().lower().split()), match.span())
    others = sum(1 for _ in _WORD.finditer(text, start, end)) - used
    counted = list(places.items())[: min(enough, max(0, others) // WORDS_EACH)]
    for word, span in counted:
        credit(word, 1 / enough, of=1 / enough, span=span)
    if not counted:
        credit("connectives", 0.0, of=1.0, note="too few other words" if places else "none")
    return len(counted) / enough


def _steps(text: str, enough: int) -> float:
    places: dict[str, Span] = {}
    for start, end, content in _step_places(text):
        if len(places) == enough:
            break
        said = " ".join(_WORD.findall(_ORDINAL_WORD.sub(" ", content).lower()))
        if said:
            places.setdefault(said, (start, end))
    for number, span in enumerate(places.values(), 1):
        credit(f"step {number}", 1 / enough, of=1 / enough, span=span)
    if not places:
        credit("steps", 0.0, of=1.0, note="none")
    return len(places) / enough


def _step_places(text: str) -> Iterable[tuple[int, int, str]]:
    """The lines and sentences that are steps, and what they say."""
    for start, line in lines(text):
        match = _STEP.match(line)
        if match is not None:
            yield start, start + len(line), match["content"]
            continue
        for opened, closed in sentence_spans(line):
            opening = _OPENING.match(line, opened, closed)
            if opening is not None:
                yield start + opened, start + closed, line[opening.end() : closed]


def _citations(text: str, enough: int) -> float:
    places: dict[str, Span] = {}
    marks = 0
    for begin, end in _outside_fences(text):
        for match in _CITATION.finditer(text, begin, end):
            if match.group()[0] in "[(":
                marks += sum(1 for _ in _WORD.finditer(match.group()))
            places.setdefault(match.group().lower(), match.span())
    if sum(1 for _ in _WORD.finditer(text)) - marks < 3:
        places = {}
    counted = list(places.items())[:enough]
    for mark, span in counted:
        credit(mark[:40], 1 / enough, of=1 / enough, span=span)
    if not counted:
        credit("citations", 0.0, of=1.0, note="none")
    return len(counted) / enough


def _forbidden(text: str, pattern: re.Pattern[str], free: int) -> float:
    spans = [match.span() for match in pattern.finditer(text)]
    points = -1.0 if len(spans) > free else 0.0
    return credit("unwanted phrases", points, of=0.0, span=spans[:50], note=f"{len(spans)} of them")


def reasoning_place(text: str) -> Span:
    """Where the reasoning stands: in its first block, before a closing tag alone, or everywhere.

    >>> reasoning_place("<think>so</think>7"), reasoning_place("so</think>7"), reasoning_place("so")
    ((7, 9), (0, 2), (0, 2))
    """
    opened = _REASONING.search(text)
    if opened is not None:
        closed = text.find(f"</{opened[1]}>", opened.end())
        return opened.end(), closed if closed >= 0 else len(text)
    closed = text.find("</think>")
    return 0, closed if closed >= 0 else len(text)


def _outside_fences(text: str) -> Iterable[Span]:
    """The stretches of a text outside its code blocks."""
    edges = [match.start() for match in _FENCE.finditer(text)]
    begins = [0, *edges[1::2]]
    ends = [*edges[::2], len(text)]
    return zip(begins, ends, strict=False)


def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the phrases as whole words, the longest first, any white space between them."""
    spelled = [
        r"\s{1,8}".join(map(re.escape, phrase.split())) for phrase in sorted(words, key=len, reverse=True)
    ]
    return re.compile(rf"(?<!\w)(?:{'|'.join(spelled)})(?!\w)", re.IGNORECASE)
