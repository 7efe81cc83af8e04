"""RW702: wrong completions earn more than right ones throughout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.checks.check import SetCheck, number, shown
from workbench.checks.evidence.ranking import Ranking, rankings, reads_truth, smallest_pair
from workbench.checks.finding import Cost, Finding, Severity
from workbench.checks.signal.label_matter import labels_concern
from workbench.checks.signal.table import read_table
from workbench.checks.subject import RewardSubject, SetSubject

ALL = 0.05
"""The share of pairs in order up to which all are turned around."""


class SignFlipped(SetCheck):
    """Labelled wrong completions earn more than right ones, in most pairs: the reward points the wrong way.

    A distance returned where its opposite was meant, a penalty with a positive sign, a comparison turned around. Told
    where the interval of the share of pairs in the right order lies below one half, so that a handful of unlucky
    samples is not taken for it. Where the reward reads no ground truth and no prompt the labels may be about something
    else: there it is a warning if all pairs are turned around or the text alone explains the labels, else information.

    Example:
        return [abs(words - target) / target for ...]      # far away is best

    Remedy:
        Turn it around: `1 - distance`, a minus before the penalty.
    """

    code = "RW702"
    name = "sign-flipped"
    severity = "error"
    summary = "wrong completions earn more than right ones throughout"
    cost = Cost.TEACHES_WRONG

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding for the total and one for each reward that labels judge, where the order is turned around."""
        table = read_table(subject)
        if table is None:
            return
        for ranking in rankings(subject, table):
            if ranking.flipped:
                yield self._tell([m for m in subject.members if ranking.reward in (None, m.name)], ranking)

    def _tell(self, members: list[RewardSubject], ranking: Ranking) -> Finding:
        first, (low, high) = members[0], ranking.interval
        pair = smallest_pair(first, ranking.inverted)
        name = ranking.reward or "The total"
        return self.finding(
            f"{name} pays wrong completions more than right ones: only {ranking.auc:.0%} of {len(ranking.pairs)} pairs "
            f"are in order (interval {low:.0%} to {high:.0%}). A wrong one earns {number(pair.other_paid)}: "
            f"{shown(first.text(pair.other), 70)}. The right one earns {number(pair.paid)}: "
            f"{shown(first.text(pair.right), 70)}.",
            advice="Turn the score around (1 - distance, a minus before a penalty)"
            + (", or the weight." if len(members) > 1 else ", or correct the labels."),
            cause="order",
            reward=ranking.reward,
            severity=_level(members, ranking),
            evidence=first.evidence(
                pair.other,
                got=pair.other_paid,
                expected=f"less than what the right one gets ({number(pair.paid)})",
            ),
            line=first.description.line if ranking.reward else None,
            count=len({pair.other for pair in ranking.inverted}),
        )


def _level(members: Sequence[RewardSubject], ranking: Ranking) -> Severity:
    if any(reads_truth(member) for member in members):
        return "error"
    return "warning" if ranking.auc <= ALL or any(labels_concern(member) for member in members) else "info"
