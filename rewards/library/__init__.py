"""The built-in rewards: plain functions in TRL's own call form, one family a file.

Each returns a value in [0, 1] (penalties in [-1, 0]), abstains (None) only where there is no reference, and is
marked with kind, range and the weight that suits its kind. In a manifest they are named
`rewards.library:exact_match`; their parameters go into `params`.

    exact_match         the answer is the reference
    numeric             the number is the reference, within a tolerance
    maths_equal         the mathematics is worth what the reference is worth
    multiple_choice     the option is the reference's
    fuzzy_match         the text is nearly the reference
    word_overlap        the words are those of the reference
    set_match           the items are those of the reference
    date_match          the date is the reference
    strict_xml_format   the blocks, each tag on its line
    soft_xml_format     the blocks, whatever the white space
    incremental_format  a share for each tag in its place
    think_format        thinking in its tags, then an answer, whoever opened the tag
    tests_passed        a program that passes its tests, in the sandbox
    code_block_present  a fenced block of Python
    valid_python        a program without syntax error
    json_format         a JSON object or array
    json_schema         JSON that fits a schema
    json_fields         the share of JSON fields that are right
    pattern_format      a regular expression
    markdown_format     headings, list items, tables, code blocks
    follows_instructions  IFEval's instructions about form
    ideal_length        near a length
    min_length          long enough
    max_length          not too long (a penalty)
    soft_overlong       not near the limit of tokens (a penalty)
    cosine_length       right, and worth more the shorter
    connectives         therefore, because, however
    reasoning_steps     reasoning in steps
    citations           sources are named
    language_consistency  in one language
    repetition_penalty  repeated runs of words (a penalty)
    forbidden_phrases   phrases nobody wants (a penalty)
    duplicate_penalty   what a completion shares with the others of its group (a penalty)
    combined_maths      the right mathematics, and a little its layout
    combined_code       a program that passes its tests, and a little that it is one

Rewards made of rewards (a bonus for right answers only, and the like) are in `rewards.library.shaping`, a language
model as a judge is `rewards.library.judge:judge`, whole sets for the usual tasks are in `rewards.library.presets`.
"""

from __future__ import annotations

from rewards.library.choice import multiple_choice
from rewards.library.code import code_block_present, tests_passed, valid_python
from rewards.library.combined import combined_code, combined_maths
from rewards.library.cosine_length import cosine_length
from rewards.library.dates import date_match
from rewards.library.diversity import duplicate_penalty
from rewards.library.exact import exact_match
from rewards.library.fuzzy import fuzzy_match, word_overlap
from rewards.library.incremental import incremental_format
from rewards.library.instructions.following import follows_instructions
from rewards.library.json_format import json_fields, json_format, json_schema
from rewards.library.language_consistency import language_consistency
from rewards.library.length import ideal_length, max_length, min_length, soft_overlong
from rewards.library.markdown_format import markdown_format
from rewards.library.maths import maths_equal
from rewards.library.numeric import numeric
from rewards.library.pattern import pattern_format
from rewards.library.repetition import repetition_penalty
from rewards.library.sets import set_match
from rewards.library.style import citations, connectives, forbidden_phrases, reasoning_steps
from rewards.library.think_format import think_format
from rewards.library.xml_format import soft_xml_format, strict_xml_format

__all__ = [
    "citations",
    "code_block_present",
    "combined_code",
    "combined_maths",
    "connectives",
    "cosine_length",
    "date_match",
    "duplicate_penalty",
    "exact_match",
    "follows_instructions",
    "forbidden_phrases",
    "fuzzy_match",
    "ideal_length",
    "incremental_format",
    "json_fields",
    "json_format",
    "json_schema",
    "language_consistency",
    "markdown_format",
    "maths_equal",
    "max_length",
    "min_length",
    "multiple_choice",
    "numeric",
    "pattern_format",
    "reasoning_steps",
    "repetition_penalty",
    "set_match",
    "soft_overlong",
    "soft_xml_format",
    "strict_xml_format",
    "tests_passed",
    "think_format",
    "valid_python",
    "word_overlap",
]
