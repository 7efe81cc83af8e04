"""What kind of reward a name speaks of, and the weight people usually give to that kind."""

from __future__ import annotations

import re

KIND_WEIGHTS = {
    "correctness": 2.0,
    "format": 0.5,
    "length": 0.2,
    "style": 0.2,
    "content": 0.5,
    "relevance": 0.5,
    "diversity": 0.2,
    "other": 1.0,
}
"""Usual weights: correctness 2.0, format 0.5 to 1.0, length 0.1 to 0.5, style up to 0.5."""

_WORDS = (
    (
        "format",
        "format formatted xml json yaml tag tags layout structure structured schema boxed fence markdown",
    ),
    ("length", "length short long brief brevity concise overlong verbose verbosity words tokens chars"),
    ("diversity", "diversity diverse distinct novelty unique"),
    (
        "style",
        "style tone connectives citation citations repetition repetitive polite fluency readability grammar",
    ),
    ("relevance", "relevance relevant topic topical"),
    ("content", "content keyword keywords coverage rouge bleu overlap"),
    (
        "correctness",
        "correct correctness accuracy accurate exact match answer numeric number solution solved solve verify "
        "equal equals math maths execution tests pass passes",
    ),
)


def suggested_kind(name: str) -> str | None:
    """The kind that a reward's name speaks of, None where it speaks of none.

    A word for how a reply looks goes before one for what it says: `answer_format` is about format.

    Example:
        >>> suggested_kind("correctness_reward_func"), suggested_kind("xmlcount"), suggested_kind("r1")
        ('correctness', 'format', None)
    """
    words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower())
    for kind, known in _WORDS:
        if any(word in known.split() for word in words):
            return kind
    for kind, known in _WORDS:
        if any(word.startswith(stem) for word in words for stem in known.split() if len(stem) > 2):
            return kind
    return None
