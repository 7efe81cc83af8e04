"""What labels are about: something a reward compares with, or something that shows in the text alone."""

from __future__ import annotations

import re
from collections.abc import Callable

from workbench.answer_form import read_json
from workbench.checks.evidence.ranking import rank, reads_truth
from workbench.checks.subject import RewardSubject

APART = 0.95
FEWEST = 4
"""Independent pairs needed before a feature is said to tell labels apart."""


def labels_concern(subject: RewardSubject) -> bool:
    """Whether the labels of the samples judge what this reward looks at.

    They do where it compares with a ground truth or the prompt. A reward that looks at the text alone (a layout, a
    length, a style) is only judged by labels that the text alone explains: where some plain feature (length, tags,
    marks, capitals, repeated words) puts right and wrong completions of a prompt in one order throughout.
    """
    if not subject.judged or not subject.labelled("right") or not subject.labelled("wrong", "hack"):
        return False
    if reads_truth(subject):
        return True
    rows = [*subject.labelled("right"), *subject.labelled("wrong", "hack")]
    for feature in FEATURES:
        ranking = rank(subject, {row: feature(subject.text(row)) for row in rows}, None)
        if ranking is None or ranking.independent < FEWEST:
            continue
        if ranking.auc >= APART or ranking.auc <= 1 - APART:
            return True
    return False


def _share(pattern: str) -> Callable[[str], float]:
    compiled = re.compile(pattern)
    return lambda text: len(compiled.findall(text)) / max(1, len(text))


def _count(pattern: str) -> Callable[[str], float]:
    compiled = re.compile(pattern)
    return lambda text: float(len(compiled.findall(text)))


FEATURES: tuple[Callable[[str], float], ...] = (
    lambda text: float(len(text)),
    lambda text: float(len(text.split())),
    lambda text: len(set(text.split())) / max(1, len(text.split())),
    lambda text: float(read_json(text) is not None),
    _share(r"[A-Z]"),
    _share(r"\d"),
    _count(r"</?[A-Za-z]\w*>"),
    _count(r"^\s*(?:[-*#>]|\d+[.)])"),
    _count(r"\n"),
    _count(r"```"),
    _count(r"[!?]"),
    _count(r"[.;:]"),
    _count(r"[*_`|\\{}\[\]]"),
)
"""Plain features of a text."""


__all__ = ["FEATURES", "labels_concern"]
