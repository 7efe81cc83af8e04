"""Text from outside as text for a terminal."""

from __future__ import annotations


def visible(text: str) -> str:
    """The text with control characters replaced one for one, so that a completion cannot steer the terminal."""
    if text.isprintable():
        return text
    return "".join(letter if letter in "\n\t " or letter.isprintable() else "\ufffd" for letter in text)
