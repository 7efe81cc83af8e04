"""Text literals as a file writes them, for code that is made anew by `ast.unparse`.

`ast.unparse` knows one way to write a text: with single quotes, and every backslash doubled. A reader looks for the
literal as it stands in the file, `r"\\d+"`; a text that the file does not have is written raw where it has a backslash.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator


class Literals:
    """The text literals of a file, by value.

    Args:
        source: the text of the file.
    """

    def __init__(self, source: str) -> None:
        self._written: dict[str, str] = {}
        for _, _, token in _strings(source):
            value = _value(token)
            if value is not None and "\n" not in token:
                self._written.setdefault(value, token)
        double = sum(token.endswith('"') for token in self._written.values())
        self._quote = '"' if 2 * double >= len(self._written) else "'"

    def written(self, code: str) -> str:
        r"""A line of code with its text literals as the file writes them, or would.

        >>> print(Literals('find(r"\\d+")').written(repr("\\d+")), Literals("").written(repr("\\s")))
        r"\d+" r"\s"
        """
        lines = code.split("\n")
        for row, (start, end), token in reversed(list(_strings(code))):
            value = _value(token)
            if value is not None and row <= len(lines):
                line = lines[row - 1]
                lines[row - 1] = line[:start] + self._literal(value, token) + line[end:]
        return "\n".join(lines)

    def _literal(self, value: str, token: str) -> str:
        if value in self._written:
            return self._written[value]
        quotes = (self._quote, '"', "'")
        raw = [f"r{quote}{value}{quote}" for quote in quotes] if "\\" in value else []
        plain = [f"{quote}{repr(value)[1:-1]}{quote}" for quote in quotes]
        return next((text for text in (*raw, *plain) if _value(text) == value), token)


def _strings(code: str) -> Iterator[tuple[int, tuple[int, int], str]]:
    """(line, (first column, behind the last), token) of each literal that stands on one line; none from broken code."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.STRING and token.start[0] == token.end[0]:
                yield token.start[0], (token.start[1], token.end[1]), token.string
    except (tokenize.TokenError, SyntaxError):
        return


def _value(token: str) -> str | None:
    """The text that a literal stands for; None for bytes and formatted texts, and for what is no literal."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\\d" without r: the file's own matter
            value = ast.literal_eval(token)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None


__all__ = ["Literals"]
