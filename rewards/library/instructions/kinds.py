"""The index: 25 kinds of instructions that can be checked by looking, under the names IFEval gave them.

Written from the public description of the kinds. A response that is blank follows none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rewards.library.instructions import layouts, lengths, wording
from rewards.library.instructions.verdict import Arguments, UnreadableInstruction, Verdict

KINDS: dict[str, Callable[[str, Arguments], Verdict]] = {
    "change_case:capital_word_frequency": wording.capital_word_frequency,
    "change_case:english_capital": wording.english_capital,
    "change_case:english_lowercase": wording.english_lowercase,
    "combination:repeat_prompt": layouts.repeat_prompt,
    "combination:two_responses": layouts.two_responses,
    "detectable_content:number_placeholders": layouts.number_placeholders,
    "detectable_content:postscript": layouts.postscript,
    "detectable_format:constrained_response": layouts.constrained_response,
    "detectable_format:json_format": layouts.json_format,
    "detectable_format:multiple_sections": layouts.multiple_sections,
    "detectable_format:number_bullet_lists": layouts.number_bullet_lists,
    "detectable_format:number_highlighted_sections": layouts.number_highlighted_sections,
    "detectable_format:title": layouts.title,
    "keywords:existence": wording.keywords_exist,
    "keywords:forbidden_words": wording.forbidden_words,
    "keywords:frequency": wording.keyword_frequency,
    "keywords:letter_frequency": wording.letter_frequency,
    "language:response_language": wording.response_language,
    "length_constraints:nth_paragraph_first_word": lengths.nth_paragraph_first_word,
    "length_constraints:number_paragraphs": lengths.number_paragraphs,
    "length_constraints:number_sentences": lengths.number_sentences,
    "length_constraints:number_words": lengths.number_words,
    "punctuation:no_comma": wording.no_comma,
    "startend:end_checker": layouts.end_checker,
    "startend:quotation": layouts.quotation,
}


def check(kind: str, text: str, arguments: Mapping[str, Any]) -> Verdict:
    """What the instruction of this kind says about a response.

    Args:
        kind: a key of `KINDS`.
        text: the response.
        arguments: as IFEval's `kwargs`; None counts as not given.

    Raises:
        UnreadableInstruction: the kind is unknown or an argument missing or wrong.

    >>> check("punctuation:no_comma", "one, two", {}).note
    'a comma'
    """
    if kind not in KINDS:
        raise UnreadableInstruction(f"there is no kind {kind!r}")
    verdict = KINDS[kind](text, Arguments(arguments))
    return verdict if text.strip() else Verdict(False, "a blank response")
