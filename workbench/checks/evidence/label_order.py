"""RW701: a completion labelled wrong earns as much as, or more than, one labelled right."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import SetCheck, number, shown
from workbench.checks.evidence.blind import is_blind, labelled_pairs
from workbench.checks.evidence.ranking import (
    LOOKS,
    Pair,
    Ranking,
    full_partial,
    rankings,
    reads_truth,
    smallest_pair,
    telling_pair,
)
from workbench.checks.finding import Cost, Finding, Severity
from workbench.checks.golds import is_less
from workbench.checks.signal.table import read_table
from workbench.checks.subject import RewardSubject, SetSubject


class LabelOrder(SetCheck):
    """In a prompt with labelled samples, a wrong (or hack, or partial) one earns more than a right one.

    Labels judge the total of a set, a reward that is the only one of its target, and one whose kind is correctness.
    For each pair of a right and a wrong completion of one prompt the right one has to earn more, and a partial one not
    less than a wrong one of the same shape (a list, a number, a record of the same form); where it earns more than that
    one, not less than any wrong one. Told are the share of
    pairs in which it does (the area under the ROC curve, with its interval), and the pair with the largest difference.
    Equal scores are told where the reward compares with a ground truth or the prompt: a warning, and an error where a
    reward about correctness (declared, or of no kind and taking the column with the answers) is blind to it. Such a
    one pays no right completion above any wrong one, in at least three independent comparisons, nor above itself with a
    wrong answer put in the place of the right one; what it may tell apart (an empty layout, a shorter text) is not what
    it is to judge. A partial one that earns what the best right one of its prompt does is told too: an error where a
    reward about correctness reads the column with the right answers and the partial answer is proved not to be the one
    there (a part of a list, another number), else information, since it may be right in another form. A reward that
    reads neither may rightly pay a wrong answer in the right layout: there only information is given, unless the labels
    are plainly about what it looks at.

    Example:
        right: "<answer>7</answer>" scores 0.5        wrong: "7? No. 8, 8, 8." scores 0.9

    Remedy:
        Look at both completions with `reward-workbench explain`; correct the reward, or the label.
    """

    code = "RW701"
    name = "label-order"
    severity = "error"
    summary = "a completion labelled wrong earns as much as one labelled right"
    cost = Cost.TEACHES_WRONG
    version = 2

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding for the total and one for each reward that labels judge, where they are out of order."""
        table = read_table(subject)
        if table is None:
            return
        for ranking in rankings(subject, table):
            judged = [m for m in subject.members if ranking.reward in (None, m.name)]
            sure = any(reads_truth(member) for member in judged)
            if ranking.flipped:
                continue
            if ranking.inverted:
                yield self._tell(judged, ranking, ranking.inverted, self._level(ranking, sure))
            elif ranking.reward and is_blind(judged[0], ranking):
                yield self._tell_blind(judged[0], ranking)
            else:
                yield from self._tell_ties(judged, ranking, sure)

    def _tell_ties(self, judged: list[RewardSubject], ranking: Ranking, sure: bool) -> Iterable[Finding]:
        """Wrong ones, and partial ones, that earn what a right one does."""
        kinds = {member.description.entry.kind for member in judged}
        if sure and ranking.tied and kinds != {"style"}:
            yield self._tell(judged, ranking, ranking.tied, "warning")
        full = full_partial(judged[0], ranking) if sure and not kinds <= set(LOOKS) else []
        less = [pair for pair in full if any(_lacks(member, pair.other) for member in judged)]
        if full:
            yield self._tell(judged, ranking, less or full, "error" if less else "info", cause="partial")

    def _level(self, ranking: Ranking, sure: bool) -> Severity:
        if sure:
            return "error"
        return "warning" if ranking.interval[0] > 0.5 else "info"

    def _tell(
        self,
        members: list[RewardSubject],
        ranking: Ranking,
        pairs: list[Pair],
        severity: Severity,
        cause: str = "",
    ) -> Finding:
        first = members[0]
        pair = telling_pair(first, ranking, pairs, ties=any(reads_truth(member) for member in members))
        cause = cause or _cause(ranking, pairs[0])
        refused = pair.tied and pair.paid <= ranking.lowest
        row, beside = (pair.right, pair.other) if refused else (pair.other, pair.right)
        assert first.samples is not None
        label, better = first.samples.labels[row], first.samples.labels[beside]
        paid, less = (pair.paid, pair.other_paid) if refused else (pair.other_paid, pair.paid)
        low, high = ranking.interval
        than = "as much" if refused else "less" if pair.inverted else "no more"
        where = "of the same prompt" if ranking.inside else "of another prompt"
        return self.finding(
            f"{ranking.reward or 'The total'} pays a completion labelled {label} {number(paid)}: "
            f"{shown(first.text(row), 70)}. One labelled {better} {where} gets {than}, {number(less)}: "
            f"{shown(first.text(beside), 70)}. In order are {ranking.auc:.0%} of {len(ranking.pairs)} pairs of right "
            f"and wrong (interval {low:.0%} to {high:.0%}).",
            advice=_advice(members),
            cause=cause,
            reward=ranking.reward,
            severity=severity,
            evidence=first.evidence(row, got=paid, expected=_expected(ranking, pair, better)),
            line=first.description.line if ranking.reward else None,
            count=len({pair.right if refused else pair.other for pair in pairs}),
            shared=cause == "outweighed",
        )

    def _tell_blind(self, member: RewardSubject, ranking: Ranking) -> Finding:
        pairs = labelled_pairs(member, ranking)
        pair = smallest_pair(member, pairs)
        advice = "Look at both with `reward-workbench explain`: what is compared comes out alike for right and wrong."
        if not member.reads and not member.reads_prompts:
            column = f", in the column '{member.task.column}'" if member.task.column else ""
            advice = f"It reads no ground truth: compare the answer with the right one{column}."
        return self.finding(
            f"{member.name} does not tell right from wrong: in none of {len(pairs)} pairs does the right completion "
            f"earn more, {number(pair.paid)} for {shown(member.text(pair.right), 70)} as for "
            f"{shown(member.text(pair.other), 70)}, which is wrong.",
            advice=advice,
            cause="blind",
            reward=member.name,
            evidence=member.evidence(
                pair.other,
                got=pair.other_paid,
                expected=f"less than what the right one gets ({number(pair.paid)})",
            ),
            line=member.description.line,
            count=len({pair.other for pair in pairs}),
        )


def _lacks(member: RewardSubject, row: int) -> bool:
    """Whether a reward about correctness reads the right answers, and the row's is proved to be less than its own."""
    task = member.task
    if task.kind != "correctness" or task.column not in member.reads or not task.cases:
        return False
    return is_less(member.text(row), task.golds.get(row), task.cases[0].form)


def _expected(ranking: Ranking, pair: Pair, other: str | None) -> str:
    """What would be right; `other` is the label of the one beside it. Less than the least is not asked for."""
    if pair.paid > ranking.lowest:
        return f"less than what one labelled {other} gets ({number(pair.paid)})"
    if pair.tied:
        return f"more than what one labelled {other} gets ({number(pair.paid)})"
    return f"less than one labelled {other} is to get"


def _cause(ranking: Ranking, pair: Pair) -> str:
    """A total out of order is the matter of RW609 too, which names the member that does it."""
    if not pair.inverted:
        return "ties"
    return "order" if ranking.reward else "outweighed"


def _advice(members: list[RewardSubject]) -> str:
    if any(reads_truth(member) for member in members):
        return "Look at both with `reward-workbench explain`; correct the reward, or the label."
    return (
        "If the labels are about something else than this reward looks at, check it in the set it is trained in; "
        "else look at both with `reward-workbench explain`."
    )
