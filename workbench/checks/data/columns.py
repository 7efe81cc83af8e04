"""The columns of the samples that hold ground truths, for the checks of data."""

from __future__ import annotations

from rewards.data_checks import GOLD_NAMES
from rewards.errors import RewardWorkbenchError
from workbench.checks.finding import Evidence
from workbench.checks.subject import SetSubject


def gold_columns(subject: SetSubject) -> list[str]:
    """Columns that a reward compares with, as the samples show, and those it reads that are named like one."""
    assert subject.batch is not None
    found: set[str] = set()
    for member in subject.members:
        found |= GOLD_NAMES & set(member.reads)
        try:
            if member.task.column is not None:
                found.add(member.task.column)
        except RewardWorkbenchError:
            continue
    return [name for name in subject.batch.columns if name in found]


def evidence_of(subject: SetSubject, row: int, *, got: object = None, expected: object = None) -> Evidence:
    """Prompt and columns of a row; data have no completion to show."""
    assert subject.batch is not None
    columns = {name: values[row] for name, values in subject.batch.columns.items()}
    return Evidence(prompt=subject.batch.prompts[row], columns=columns, got=got, expected=expected)


__all__ = ["evidence_of", "gold_columns"]
