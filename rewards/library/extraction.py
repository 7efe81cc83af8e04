"""Finding the answer in a completion: tags, boxes, `#### N`, `A: N`, or the whole text.

The last answer counts: a model that corrects itself is judged by what it ends with. What stands inside
`<think>` is not an answer. Where an answer was begun and not closed (a completion cut short), nothing before it
counts, because it was taken back, and a half answer is none.

Everything here takes time linear in the text: no pattern can be made slow by what a model writes. Positions are
those of the text given, so that they can be shown as spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

FORMS = ("tag", "boxed", "hash", "line", "whole")
"""The forms an answer may have unless others are asked for; see `find_answer`."""

ALL_FORMS = (*FORMS, "math", "number")

_LINE = re.compile(r"(?i:(?<![A-Za-z])answer[ \t*_]*(?:is\b|[:=]))|^[ \t*_>-]*A:", re.MULTILINE)
_FIRST_LINE = re.compile(r"[ \t*_>-]*A:")
_BRACE = re.compile(r"(?<!\\)[{}]")
_BOX = r"\boxed"
_BOX_CONTENT = re.compile(
    r"\\boxed\s{0,9}+(?:\{|(?<=\s)(?P<bare>-?[0-9]++(?:\.[0-9]++)?+|[A-Za-z])(?![,.]{0,2}[\w^!/]))"
)
"""A box in braces, or round the one number or letter behind it."""
_DECORATION = " \t\r\n*_`:="
_LAST_NUMBER = re.compile(
    r"(?:(?<![\w)\]])[-\u2212\u2013])?(?:[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?|(?<![\w)\].])\.[0-9]+)"
)
_FILL = r"(?:[\s$~.]|\\[()\[\],;]|\\q?quad)*"
_JOINED = re.compile(
    rf"{_FILL}(?:[A-Za-z]+\s+)?(?:(?:,|;|and\b|or\b|\\text\s*\{{\s*,?\s*(?:and|or),?\s*\}}){_FILL})+"
    r"(?:[A-Za-z](?:_\{?\w\}?)?\s*=\s*)?"
)
_EXCLAIMED_NUMBER = re.compile(r"[0-9]![ .*_`]{0,9}\Z")
_MOST_BOXES = 12
_FAR_APART = 60
_TAG_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Found:
    """A piece of a text: what stands there, from where to where, and the form it was found in."""

    text: str
    start: int
    end: int
    form: str = "tag"

    @property
    def span(self) -> tuple[int, int]:
        """(start, end) in code points of the text searched."""
        return (self.start, self.end)


def after_thinking(text: str, *, tag: str = "think") -> Found:
    """What follows the last `</think>`, up to a `<think>` that was opened after it and never closed.

    The whole text where there is no such tag. A completion whose thinking never ends has nothing to say yet.

    >>> after_thinking("<think>5? no</think>7").text
    '7'
    >>> after_thinking("<think>perhaps 7").text
    ''
    """
    closing, opening = f"</{tag}>", f"<{tag}>"
    closed = text.rfind(closing)
    start = closed + len(closing) if closed >= 0 else 0
    opened = text.find(opening, start)
    return _found(text, start, opened if opened >= 0 else len(text), "after thinking")


def last_block(text: str, tag: str = "answer", *, start: int = 0, end: int | None = None) -> Found | None:
    """The content of the last `<tag>...</tag>` in text[start:end]; None where the last one is not closed.

    >>> last_block("<answer>5</answer> no: <answer> 7 </answer>")
    Found(text='7', start=32, end=33, form='tag')
    >>> last_block("<answer>5</answer> no: <answer>7") is None
    True
    """
    end = len(text) if end is None else end
    opened = text.rfind(f"<{tag}>", start, end)
    if opened < 0:
        return None
    begin = opened + len(tag) + 2
    closed = text.find(f"</{tag}>", begin, end)
    return None if closed < 0 else _found(text, begin, closed, "tag")


def last_boxed(text: str, *, start: int = 0, end: int | None = None) -> Found | None:
    r"""The content of the last `\boxed{...}` in text[start:end]; None where the last one is not closed.

    >>> last_boxed(r"first \boxed{5}, then \boxed{\frac{1}{2}}").text
    '\\frac{1}{2}'
    """
    box = _last_box(text, start, len(text) if end is None else end)
    return None if box is None or box[2] is None else _found(text, box[1], box[2], "boxed")


def _last_box(text: str, start: int, end: int) -> tuple[int, int, int | None] | None:
    """Where the last box in text[start:end] stands, and where its content begins and ends (None: it does not)."""
    place = text.rfind(_BOX, start, end)
    while place >= 0:
        match = _BOX_CONTENT.match(text, place, end)
        if match is not None and match["bare"] is not None:
            return place, *match.span("bare")
        if match is not None:
            return place, match.end(), _closing_brace(text, match.end(), end)
        place = text.rfind(_BOX, start, place)
    return None


def find_answer(text: str, *, forms: Iterable[str] = FORMS, tag: str = "answer") -> Found | None:
    r"""The answer a completion ends with, or None.

    Looked for after the thinking, in these forms; of several the one that ends last counts, and an answer
    found inside another (a box in a tag) is taken out of it:

    - "tag": `<answer>7</answer>`;
    - "boxed": `\boxed{7}`;
    - "hash": `#### 7` on the last line;
    - "line": `A: 7` at the start of a line, `Answer: 7`, `the answer is 7`, up to the end of the line;
    - "whole": everything, where no other form is there;
    - "math" (only where it is asked for): the last formula between dollar signs or LaTeX's brackets, where none
      of the first four forms is there;
    - "number" (only where it is asked for): the last number of the text, where no other form is there.

    Args:
        text: the completion.
        forms: those allowed.
        tag: the name of the answer tag.

    >>> find_answer("<think>5</think>So the answer is 7.").text
    '7.'
    >>> find_answer(r"<answer>\boxed{7}</answer>").text
    '7'
    >>> find_answer("3 + 4 = 7\n#### 7").form
    'hash'
    """
    region = after_thinking(text)
    return _find(text, region.start, region.end, tuple(forms), tag)


def check_forms(name: str, forms: Any) -> tuple[str, ...]:
    """`forms` as a tuple.

    Raises:
        ValueError: it is no list of known forms; names the reward and the value.
    """
    if isinstance(forms, (list, tuple)) and forms and all(form in ALL_FORMS for form in forms):
        return tuple(forms)
    raise ValueError(
        f"reward '{name}': answer_forms={forms!r} must be a list of some of {', '.join(ALL_FORMS)}; "
        "if the data have a column of that name, rename it"
    )


def check_tags(name: str, tag_names: Any) -> tuple[str, ...]:
    """`tag_names` as a tuple.

    Raises:
        ValueError: it is no list of different tag names; names the reward and the value.
    """
    names = tuple(tag_names) if isinstance(tag_names, (list, tuple)) else ()
    proper = all(isinstance(tag, str) and _TAG_NAME.fullmatch(tag) for tag in names)
    if names and proper and len(set(names)) == len(names):
        return names
    raise ValueError(
        f"reward '{name}': tag_names={_short(tag_names)} must be a list of different tag names such as "
        '["reasoning", "answer"]; if the data have a column of that name, rename it'
    )


def _find(text: str, start: int, end: int, forms: tuple[str, ...], tag: str) -> Found | None:
    """The answer in text[start:end]."""
    start = _past_unclosed(text, start, end, forms, tag)
    found = (
        last_block(text, tag, start=start, end=end) if "tag" in forms else None,
        last_boxed(text, start=start, end=end) if "boxed" in forms else None,
        _last_hash(text, start, end) if "hash" in forms else None,
        _last_line(text, start, end) if "line" in forms else None,
    )
    there = [one for one in found if one is not None]
    if not there:
        formula = _last_formula(text, start, end) if "math" in forms else None
        number = _last_number(text, start, end) if "number" in forms and formula is None else None
        return formula or number or (_found(text, start, end, "whole") if "whole" in forms else None)
    last = max(there, key=lambda one: one.end)
    others = tuple(form for form in forms if form not in (last.form, "whole", "math", "number"))
    return _find(text, last.start, last.end, others, tag) or last


def _past_unclosed(text: str, start: int, end: int, forms: Sequence[str], tag: str) -> int:
    """Where the last tag or box that was opened and never closed begins its content; else `start`."""
    begins = start
    if "tag" in forms:
        opened = text.rfind(f"<{tag}>", start, end)
        if opened >= 0 and text.find(f"</{tag}>", opened, end) < 0:
            begins = opened + len(tag) + 2
    if "boxed" in forms:
        box = _last_box(text, start, end)
        if box is not None and box[2] is None:
            begins = max(begins, box[1])
    return begins


def _last_hash(text: str, start: int, end: int) -> Found | None:
    """`#### N` on the last line that is not blank; elsewhere four hashes are a heading."""
    stop = start + len(text[start:end].rstrip())
    line = max(text.rfind("\n", start, stop) + 1, start)
    at = text.find("####", line, stop)
    return None if at < 0 else _found(text, at + 4, stop, "hash")


def _last_line(text: str, start: int, end: int) -> Found | None:
    """What follows the last `answer is`, `Answer:` or `A:` on its line; on the next where nothing does."""
    last = _FIRST_LINE.match(text, start, end)  # `^` does not match where a search begins
    for match in _LINE.finditer(text, start, end):
        last = match
    if last is None:
        return None
    begin = last.end()
    quoted = (
        False  # `>` quotes a line where it begins one; `=>` is an arrow; elsewhere it is part of the answer
    )
    while begin < end and (
        text[begin] in _DECORATION or (text[begin] == ">" and (quoted or text[begin - 1] == "="))
    ):
        quoted = text[begin] == "\n" or (quoted and text[begin] in " \t>")
        begin += 1
    stop = text.find("\n", begin, end)
    found = _found(text, begin, stop if stop >= 0 else end, "line")
    return found if found.text else None


def _last_number(text: str, start: int, end: int) -> Found | None:
    last = None
    for match in _LAST_NUMBER.finditer(text, start, end):
        last = match
    return None if last is None else _found(text, *last.span(), "number")


def _last_formula(text: str, start: int, end: int) -> Found | None:
    """The content of the last `$...$`, `\\(...\\)` or `\\[...\\]`."""
    found = []
    for opening, closing in (("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        stop = _last_unescaped(text, closing, start, end)
        stop -= closing == "$" and stop > start and text[stop - 1] == "$"
        begin = _last_unescaped(text, opening, start, stop) if stop > start else -1
        if begin >= 0:
            found.append(_found(text, begin + len(opening), stop, "math"))
    found = [one for one in found if one.text]
    return max(found, key=lambda one: one.end) if found else None


def _last_unescaped(text: str, mark: str, start: int, end: int) -> int:
    """The last place of a mark without a backslash before it, -1 where there is none."""
    place = text.rfind(mark, start, end)
    while place > start and text[place - 1] == "\\":
        place = text.rfind(mark, start, place)
    return place


def joined_boxes(text: str, last: Found) -> Found:
    r"""The last box together with those before it that are joined to it by "and", "or" or a comma.

    >>> text = r"\boxed{2} and \boxed{3}"
    >>> joined_boxes(text, find_answer(text)).text
    '2, 3'
    >>> text = r"First I had \boxed{5}, but it is \boxed{7}"
    >>> joined_boxes(text, find_answer(text)).text
    '7'
    """
    contents = [last.text]
    begin = first = text.rfind(_BOX, 0, last.start)
    while first >= 0 and len(contents) < _MOST_BOXES:
        before = _last_box(text, 0, first)
        if before is None or before[2] is None or first - before[2] > _FAR_APART:
            break
        after = before[2] + (text[before[2]] == "}")
        if not _JOINED.fullmatch(text, after, first):
            break
        contents.insert(0, text[before[1] : before[2]].strip())
        begin = first = before[0]
    if len(contents) == 1:
        return last
    return Found(", ".join(contents), begin, last.end, "boxed")


def _closing_brace(text: str, start: int, end: int) -> int | None:
    """The index of the brace that closes the one before `start`."""
    depth = 1
    for brace in _BRACE.finditer(text, start, end):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return brace.start()
    return None


def unexclaimed(found: Found) -> str | None:
    """What a sentence says that ends in `7!`, where the sign may be the sentence's; None where it is none or set off.

    >>> unexclaimed(Found("7!", 0, 2, "line")), unexclaimed(Found("7!", 0, 2, "boxed"))
    ('7', None)
    """
    if found.form not in ("line", "whole") or not _EXCLAIMED_NUMBER.search(found.text):
        return None
    return found.text.rstrip(" .*_`").removesuffix("!")


def _found(text: str, start: int, end: int, form: str) -> Found:
    """text[start:end] without the white space around it."""
    piece = text[start:end]
    bare = piece.strip()
    start += len(piece) - len(piece.lstrip()) if bare else 0
    return Found(bare, start, start + len(bare), form)


def _short(value: Any) -> str:
    shown = repr(value)
    return f"{shown if len(shown) <= 60 else shown[:57] + '...'} ({type(value).__name__})"
