"""How scores order the labelled completions of each prompt: pairs of a right and a wrong one, and what became of them.

The share of pairs in which the right one earns more (ties count half) is the area under the ROC curve, taken inside
prompts, as GRPO compares. Its interval is Wilson's over as many comparisons as are independent: one fewer than the
labelled rows of each prompt.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.checks.intervals import wilson
from workbench.checks.signal.table import Table
from workbench.checks.subject import RewardSubject, SetSubject

LOOKS = ("format", "length", "style")
FEWEST = 3
"""Independent comparisons below which an order is no law."""


@dataclass(frozen=True)
class Pair:
    """A right row and one that should earn less (wrong, hack or partial), with their scores."""

    right: int
    other: int
    paid: float
    other_paid: float

    @property
    def inverted(self) -> bool:
        """Whether the other one earns more."""
        return self.other_paid > self.paid + _little(self.paid)

    @property
    def tied(self) -> bool:
        """Whether both earn the same."""
        return abs(self.other_paid - self.paid) <= _little(self.paid)


def _little(score: float) -> float:
    return 1e-6 * max(1.0, abs(score))


@dataclass(frozen=True)
class Ranking:
    """The labelled pairs of one reward, or of the total (`reward` is None).

    `pairs` are right against wrong or hack, `partial` right against partial, and partial against wrong where it should
    earn no less; `independent` is how many comparisons
    the interval counts; `inside` says whether the pairs share a prompt.
    """

    reward: str | None
    pairs: tuple[Pair, ...]
    partial: tuple[Pair, ...]
    independent: int
    inside: bool

    @functools.cached_property
    def auc(self) -> float:
        """The share of pairs in the right order, ties counted half."""
        good = sum(not pair.inverted and not pair.tied for pair in self.pairs)
        return (good + 0.5 * len(self.tied)) / len(self.pairs)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of `auc`."""
        return wilson_share(self.auc, self.independent)

    @functools.cached_property
    def tied(self) -> list[Pair]:
        """Pairs that earn the same."""
        return [pair for pair in self.pairs if pair.tied]

    @functools.cached_property
    def inverted(self) -> list[Pair]:
        """Pairs in which the wrong or the partial one earns more, the largest difference first."""
        found = [pair for pair in (*self.pairs, *self.partial) if pair.inverted]
        return sorted(found, key=lambda pair: pair.paid - pair.other_paid)

    @property
    def lowest(self) -> float:
        """The least that any completion of a pair earns."""
        return min(min(pair.paid, pair.other_paid) for pair in (*self.pairs, *self.partial))

    def without(self, rows: Collection[int]) -> tuple[Pair, ...]:
        """The pairs whose wrong one is none of `rows`; all where that leaves none."""
        return tuple(pair for pair in self.pairs if pair.other not in rows) or self.pairs

    @property
    def flipped(self) -> bool:
        """Whether wrong ones earn more throughout: the interval lies below one half."""
        return self.independent >= FEWEST and self.interval[1] < 0.5


def wilson_share(share: float, tries: int) -> tuple[float, float]:
    """Wilson's interval of a share of `tries` that need not be whole."""
    return wilson(share * tries, tries)


def rankings(subject: SetSubject, table: Table) -> Iterator[Ranking]:
    """The rankings that labels judge: the total of several rewards, the only reward, or one about correctness."""
    members = subject.members
    if len(members) > 1:
        totals = dict(zip(table.rows, table.totals.tolist(), strict=True))
        found = rank(members[0], totals, None)
        if found is not None and all(member.steadiness.reliable for member in members):
            yield found
    for member in members:
        if member.judged and member.steadiness.reliable:
            found = rank(member, member.scores, member.name)
            if found is not None:
                yield found


def rank(subject: RewardSubject, scores: Mapping[int, float], reward: str | None) -> Ranking | None:
    """The labelled pairs among scored rows; None where there is none, or where all earn the same."""
    samples, batch = subject.samples, subject.batch
    if samples is None or batch is None:
        return None
    known = {row: score for row, score in scores.items() if score == score}

    def rows(*labels: str) -> list[int]:
        return [row for row in known if samples.labels[row] in labels]

    right, wrong, partial = rows("right"), rows("wrong", "hack"), rows("partial")
    if not right or not wrong or len({known[row] for row in (*right, *wrong)}) < 2:
        return None
    same: Callable[[int, int], bool] = lambda one, other: batch.groups[one] == batch.groups[other]  # noqa: E731
    inside = [(r, w) for r in right for w in wrong if same(r, w)]
    mates = [(p, w) for p in partial for w in rows("wrong") if same(p, w)]
    alike = [(p, w) for p, w in mates if _shape(subject.text(p)) == _shape(subject.text(w))]
    graded = {p for p, w in alike if known[p] > known[w]}
    below = [(p, w) for p, w in mates if p in graded or (p, w) in alike]
    chosen = inside or [(r, w) for r in right for w in wrong]
    used = {row for pair in chosen for row in pair}
    prompts = len({batch.groups[row] for row in used}) if inside else 1
    return Ranking(
        reward,
        tuple(_pairs(chosen, known)),
        tuple(_pairs([*((r, p) for r in right for p in partial if same(r, p)), *below], known)),
        len(used) - prompts,
        bool(inside),
    )


def _shape(text: str) -> str:
    """A text with its words and numbers made alike: two answers of one shape differ in what they say alone.

    >>> _shape("B > A: 12.5"), _shape("Answer > none: 3")
    ('a > a: 1', 'a > a: 1')
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+(?:[.,]\d+)*", "1", text.strip()))


def _pairs(pairs: Sequence[tuple[int, int]], scores: Mapping[int, float]) -> Iterator[Pair]:
    for right, other in pairs:
        yield Pair(right, other, scores[right], scores[other])


def reads_truth(subject: RewardSubject) -> bool:
    """Whether the reward compares with something given: a column of the samples, or the prompt.

    A reward declared to be about how a text looks may read the prompt for other reasons (a template that opens a tag).
    """
    kind = subject.description.entry.kind
    return bool(subject.reads) or kind == "correctness" or (subject.reads_prompts and kind not in LOOKS)


def full_partial(subject: RewardSubject, ranking: Ranking) -> list[Pair]:
    """Pairs in which a partial row earns what the best-paid right row of its prompt does, and that is not nothing."""
    assert subject.samples is not None
    labels = subject.samples.labels
    pairs = [pair for pair in ranking.partial if labels[pair.right] == "right"]
    best: dict[int, float] = {}
    for pair in pairs:
        best[pair.other] = max(pair.paid, best.get(pair.other, pair.paid))
    return [
        p for p in pairs if p.tied and p.paid >= best[p.other] and p.paid > ranking.lowest + _little(p.paid)
    ]


def telling_pair(subject: RewardSubject, ranking: Ranking, pairs: Sequence[Pair], *, ties: bool) -> Pair:
    """The pair to show: the one with the best-paid right row, since less than nothing cannot be asked for.

    Of pairs whose right rows all earn the least there is, the same wrong rows are shown beside a right one that earns
    as much as they do, where `ties` allows it and there is one.
    """
    others = {pair.other for pair in pairs}
    if ties and max(pair.paid for pair in pairs) <= ranking.lowest:
        pairs = [*pairs, *(pair for pair in ranking.tied if pair.other in others)]
    best = max(pair.paid for pair in pairs)
    return smallest_pair(subject, [pair for pair in pairs if pair.paid >= best - _little(best)])


def smallest_pair(subject: RewardSubject, pairs: Sequence[Pair]) -> Pair:
    """The pair with the least text, among those with the worst difference where some differ much more."""
    worst = max(pair.other_paid - pair.paid for pair in pairs)
    bad = [pair for pair in pairs if pair.other_paid - pair.paid >= worst / 2]
    return min(bad, key=lambda pair: len(subject.text(pair.other)) + len(subject.text(pair.right)))


__all__ = [
    "LOOKS",
    "Pair",
    "Ranking",
    "full_partial",
    "rank",
    "rankings",
    "reads_truth",
    "smallest_pair",
    "telling_pair",
]
