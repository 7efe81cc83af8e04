"""Scores of all members of a set on completions made up from its samples, as far as time allows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.checks.signal.table import Floats, Table
from workbench.checks.trials import score_texts
from workbench.mutants.trial_texts import affordable_texts, trial_texts

MOST = 90
ROWS = 4


def made_up_texts(table: Table, rows: Sequence[int], *, most: int = MOST) -> list[tuple[int, str]]:
    """(row, text): the completions of some rows, and others made from them, under the prompts of those rows."""
    first = table.members[0]
    texts = [first.text(row) for row in rows]
    most = min(affordable_texts(member, most, 0.15) for member in table.members)
    made = trial_texts(texts, "", seed=first.options.seed, most=most)
    return [
        *((row, text) for row, text in zip(rows, texts, strict=True)),
        *((rows[at], text) for at, text in made),
    ]


def score_all(table: Table, texts: Sequence[tuple[int, str]]) -> Floats:
    """(texts, members) scores; NaN where a member gives no number."""
    columns = [score_texts(member, texts) for member in table.members]
    return np.array(columns, dtype=float).T.reshape(len(texts), len(table.members))


__all__ = ["made_up_texts", "score_all"]
