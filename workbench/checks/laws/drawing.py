"""Drawing rows with changed completions, for the checks that look for what breaks a property."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import SearchStrategy

    from workbench.checks.subject import RewardSubject


def rows_and_texts(
    subject: RewardSubject, rows: Sequence[int] | None = None
) -> SearchStrategy[tuple[int, str]]:
    """(row, text) with completions changed by their structure, under the prompts and columns of some rows."""
    from hypothesis import strategies as st

    from workbench.strategies import texts

    chosen: list[Any] = list(rows if rows is not None else subject.few(12))
    return st.tuples(st.sampled_from(chosen), texts(subject.samples))


__all__ = ["rows_and_texts"]
