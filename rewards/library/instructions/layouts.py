"""Kinds about layout: lists, sections, titles, placeholders, postscripts, JSON, given beginnings and ends."""

from __future__ import annotations

import re

from rewards.library.instructions.verdict import Arguments, Span, Verdict
from rewards.library.json_reading import NotJson, parse_json
from rewards.library.lines import lines

CHOICES = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_MOST_SPANS = 50
_FENCE = re.compile(r"```(?:json|JSON|Json)?")
_HIGHLIGHT = re.compile(r"\*([^\n*]*)\*")
_DOUBLE = re.compile(r"\*\*([^\n*]*)\*\*")


def number_placeholders(text: str, arguments: Arguments) -> Verdict:
    """At least `num_placeholders` things in square brackets such as `[name]`.

    >>> number_placeholders("Dear [name], [text]", Arguments({"num_placeholders": 2})).followed
    True
    """
    spans = _bracketed(text)
    return _at_least(spans, arguments.count("num_placeholders"), "placeholders")


def postscript(text: str, arguments: Arguments) -> Verdict:
    """A line or sentence that begins with `postscript_marker`, with blanks between the letters or without.

    >>> postscript("Bye.\\n\\nP. S. Call me", Arguments({"postscript_marker": "P.S."})).followed
    True
    """
    marker = arguments.text("postscript_marker").strip()
    spelled = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}.get(marker, re.escape(marker.lower()))
    match = re.search(spelled, text, re.IGNORECASE)
    return Verdict(
        match is not None,
        f"{marker}" if match else f"no {marker}",
        ((match.start(), _line_end(text, match.end())),) if match else (),
    )


def number_bullet_lists(text: str, arguments: Arguments) -> Verdict:
    """Exactly `num_bullets` lines that begin with `*` or `-`.

    >>> number_bullet_lists("* a\\n- b\\n**c**", Arguments({"num_bullets": 2})).followed
    True
    """
    spans = []
    for start, line in lines(text):
        bare = line.strip()
        if bare.startswith("-") or (bare.startswith("*") and len(bare) > 1 and bare[1] != "*"):
            spans.append((start, start + len(line)))
    wanted = arguments.count("num_bullets")
    return Verdict(
        len(spans) == wanted, f"{len(spans)} bullets, {wanted} asked for", tuple(spans[:_MOST_SPANS])
    )


def constrained_response(text: str, arguments: Arguments) -> Verdict:
    """One of "My answer is yes.", "My answer is no.", "My answer is maybe." stands there.

    >>> constrained_response("Well. My answer is no.", Arguments({})).followed
    True
    """
    for choice in CHOICES:
        at = text.find(choice)
        if at >= 0:
            return Verdict(True, choice, ((at, at + len(choice)),))
    return Verdict(False, "none of the three answers")


def number_highlighted_sections(text: str, arguments: Arguments) -> Verdict:
    """At least `num_highlights` passages between stars, such as `*this*` or `**this**`.

    >>> number_highlighted_sections("*a* and **b**", Arguments({"num_highlights": 2})).followed
    True
    """
    spans = [match.span() for match in _HIGHLIGHT.finditer(text) if match.group(1).strip()]
    spans += [match.span() for match in _DOUBLE.finditer(text) if match.group(1).strip()]
    return _at_least(sorted(spans), arguments.count("num_highlights"), "highlighted passages")


def multiple_sections(text: str, arguments: Arguments) -> Verdict:
    """At least `num_sections` sections, each begun with `section_spliter` and a number.

    >>> asked = Arguments({"section_spliter": "SECTION", "num_sections": 2})
    >>> multiple_sections("SECTION 1\\na\\nSECTION 2\\nb", asked).followed
    True
    """
    word = re.escape(arguments.text("section_spliter").strip())
    spans = [match.span() for match in re.finditer(rf"{word}\s?\d+", text)]
    return _at_least(spans, arguments.count("num_sections"), "sections")


def json_format(text: str, arguments: Arguments) -> Verdict:
    """All of it is JSON, bare or in a fence.

    >>> json_format('```json\\n{"a": 1}\\n```', Arguments({})).followed, json_format("a: 1", Arguments({})).followed
    (True, False)
    """
    bare = text.strip()
    fence = _FENCE.match(bare)
    bare = bare[fence.end() :] if fence else bare
    try:
        parse_json(bare.removesuffix("```").strip())
    except NotJson as error:
        return Verdict(False, str(error))
    return Verdict(True, "JSON", ((0, len(text)),))


def title(text: str, arguments: Arguments) -> Verdict:
    """A title in double angular brackets, such as `<<Song of Joy>>`.

    >>> title("<<Joy>>\\nLa", Arguments({})).followed, title("<<>>", Arguments({})).followed
    (True, False)
    """
    for start, line in lines(text):
        opened = line.find("<<")
        closed = line.rfind(">>")
        if 0 <= opened < closed and line[opened:closed].strip("<> \t"):
            return Verdict(True, "a title", ((start + opened, start + closed + 2),))
    return Verdict(False, "no title")


def two_responses(text: str, arguments: Arguments) -> Verdict:
    """Two responses that differ, with `******` between them.

    >>> two_responses("one\\n******\\ntwo", Arguments({})).followed
    True
    """
    parts = text.split("******")
    inner = [part.strip() for at, part in enumerate(parts) if part.strip() or 0 < at < len(parts) - 1]
    if not all(inner):
        return Verdict(False, "a blank response between two ******")
    if len(inner) != 2:
        return Verdict(False, f"{len(inner)} responses")
    return Verdict(inner[0] != inner[1], "two responses" if inner[0] != inner[1] else "twice the same")


def repeat_prompt(text: str, arguments: Arguments) -> Verdict:
    """It begins with `prompt_to_repeat`, in any case.

    >>> repeat_prompt("Say hi. Hi!", Arguments({"prompt_to_repeat": "Say hi."})).followed
    True
    """
    followed = text.strip().lower().startswith(arguments.text("prompt_to_repeat").strip().lower())
    return Verdict(followed, "begins with the prompt" if followed else "does not begin with the prompt")


def end_checker(text: str, arguments: Arguments) -> Verdict:
    """It ends with `end_phrase`, in any case, a closing quote apart.

    >>> end_checker("Seven. Any more questions?", Arguments({"end_phrase": "any more questions?"})).followed
    True
    """
    phrase = arguments.text("end_phrase").strip()
    followed = text.strip().strip('"').lower().endswith(phrase.lower())
    end = len(text.rstrip().rstrip('"'))
    span = (max(0, end - len(phrase)), end)
    return Verdict(followed, "ends as asked" if followed else "ends otherwise", (span,) if followed else ())


def quotation(text: str, arguments: Arguments) -> Verdict:
    """All of it stands in double quotes.

    >>> quotation('"All of it."', Arguments({})).followed, quotation('"', Arguments({})).followed
    (True, False)
    """
    bare = text.strip()
    followed = len(bare) > 1 and bare[0] == '"' == bare[-1]
    return Verdict(followed, "in double quotes" if followed else "not in double quotes")


def _at_least(spans: list[Span], wanted: int, what: str) -> Verdict:
    return Verdict(
        len(spans) >= wanted, f"{len(spans)} {what}, at least {wanted} asked for", tuple(spans[:_MOST_SPANS])
    )


def _bracketed(text: str) -> list[Span]:
    """The places of `[...]` on one line, each from its first bracket."""
    spans: list[Span] = []
    for start, line in lines(text):
        place = 0
        while (opened := line.find("[", place)) >= 0 and (closed := line.find("]", opened)) >= 0:
            spans.append((start + opened, start + closed + 1))
            place = closed + 1
    return spans


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end
