"""RW115: a column holds another type than the reward compares with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rewards.contract import Status
from workbench.checks.check import RewardCheck, number, shown
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject


class ColumnTypes(RewardCheck):
    """The reward compares text with a column of numbers, so nothing is ever equal.

    `"42" == 42` is False and raises nothing. Shown by handing over the column as text (or a column of numeric
    text as numbers): the samples, all scored alike before, are told apart.

    Example:
        return [1.0 if extract(text) == gold else 0.0 ...]      # the column `answer` holds integers

    Remedy:
        Compare like with like: `str(gold)`, or better `float(extracted) == float(gold)`.
    """

    code = "RW115"
    name = "column-types"
    severity = "error"
    summary = "text is compared with a column of numbers, or numbers with text"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each column whose type makes the scores constant."""
        assert subject.batch is not None
        rows = [row for row in subject.few() if row in subject.scores]
        values = np.array([subject.scores[row] for row in rows])
        if len(rows) < 2 or not np.isfinite(values).all() or np.ptp(values) > 0:
            return
        for name, column in subject.batch.columns.items():
            if name not in (*subject.description.signature.required, *subject.description.signature.optional):
                continue
            cast = _other_type([column[row] for row in rows])
            if cast is None:
                continue
            result = subject.call(rows, None, {name: cast})
            if not (result.status == Status.NUMBER).all() or np.ptp(result.scores) == 0:
                continue
            place = int(np.argmax(np.abs(result.scores - values)))
            old, new = column[rows[place]], cast[place]
            yield self.finding(
                f"{subject.name} scores every sample {number(values[0])}: the column '{name}' holds "
                f"{type(old).__name__} ({shown(old)}) and is compared with something else; as "
                f"{type(new).__name__} ({shown(new)}) the same samples score {number(result.scores.min())} to "
                f"{number(result.scores.max())}.",
                advice=f"Convert before comparing, for instance str({name}[i]), or compare numbers with numbers.",
                cause="constant",
                shared=True,
                reward=subject.name,
                evidence=subject.evidence(
                    rows[place], got=values[place], expected=float(result.scores[place])
                ),
                line=subject.description.line,
                count=len(subject.usable),
            )


def _other_type(values: list[Any]) -> list[Any] | None:
    """Numbers as text, numeric text as numbers; None where the column is neither."""
    if values and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    if values and all(isinstance(value, str) for value in values):
        try:
            return [int(value) if value.strip().lstrip("-").isdigit() else float(value) for value in values]
        except ValueError:
            return None
    return None
