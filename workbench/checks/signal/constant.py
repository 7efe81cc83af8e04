"""RW601: the same score for every sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rewards.contract import Status
from workbench.checks.check import RewardCheck, number, shown
from workbench.checks.finding import Cost, Finding, Severity
from workbench.checks.signal.label_matter import labels_concern
from workbench.checks.signal.why_constant import Reason, reason_for
from workbench.checks.subject import RewardSubject
from workbench.checks.trials import score_texts
from workbench.mutants.trial_texts import affordable_texts, trial_texts

ENOUGH = 3
"""Different completions needed before equal scores mean anything."""
TRIED = 80
LONG = 20_000


@dataclass(frozen=True)
class _Other:
    """A made-up completion that scores something else than the samples."""

    row: int
    text: str
    score: float


class Constant(RewardCheck):
    """The reward gives every sample the same score, or no score at all.

    GRPO learns from differences within a group; a reward without differences teaches nothing. Told apart are
    zero for all, the top of the range for all (saturated), None for all, and another constant; and why, where
    it can be seen: a condition that is always true, a pattern that matches none of the samples (with the nearest one,
    and what would make it match), a column that is never read, an exception that is caught each time, text that only
    stands in the prompt. It is an error where the samples are labelled right and wrong in what the reward looks at. It
    is a warning where the reason is a plain mistake, or where no made-up completion scores otherwise either (odd ones,
    and ones made of the words and patterns of the reward's own code). A sound reward whose samples never show what it
    pays is information, with a completion that would be paid. None for all is an error, and a warning where the reward
    declares that it abstains.

    Example:
        if "<think>" and "<answer>" in text:      # a text is always true

    Remedy:
        Follow the reason given; with none given, look at one sample with `reward-workbench explain`.
    """

    code = "RW601"
    name = "constant"
    severity = "error"
    summary = "every sample gets the same score"
    cost = Cost.TEACHES_NOTHING
    version = 2

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """At most one finding."""
        states = {int(state) for state in subject.base.status}
        if states == {int(Status.ABSTAINED)}:
            yield self._nothing(subject)
            return
        if Status.TIMEOUT in states:
            return  # what it would pay is not known: RW111 tells that it hangs
        values = set(subject.scores.values())
        if len(values) != 1 or len({subject.text(row) for row in subject.scores}) < ENOUGH:
            return
        value = values.pop()
        reason, other, concern = reason_for(subject), _other_score(subject, value), labels_concern(subject)
        yield self._tell(subject, value, reason, other, concern)

    def _tell(
        self, subject: RewardSubject, value: float, reason: Reason | None, other: _Other | None, concern: bool
    ) -> Finding:
        right = [row for row in subject.labelled("right") if row in subject.scores]
        wrong = [row for row in subject.labelled("wrong", "hack") if row in subject.scores]
        judged = subject.judged and bool(right) and bool(wrong)
        row = subject.smallest(wrong if judged else list(subject.scores))
        if reason is not None and reason.row is not None:
            row = reason.row
        mixed = f", right and wrong alike ({len(right)} and {len(wrong)})" if judged else ""
        beyond = "; made-up completions get it too" if other is None else ""
        paid = f"; {shown(other.text, 70)} would score {number(other.score)}" if other is not None else ""
        return self.finding(
            f"{subject.name} {_kind(value, subject)} {len(subject.scores)} samples{mixed}{beyond}"
            f"{': ' + reason.text if reason else ''}{paid}.",
            advice="Nothing is learnt from a constant. "
            + (reason.advice if reason else "Run explain on one sample and see which lines give its score."),
            cause="constant",
            reward=subject.name,
            severity=_severity(subject, reason, other, concern),
            evidence=subject.evidence(row, got=value, expected="different scores for different completions"),
            line=(reason.line if reason else None) or subject.description.line,
            count=len(subject.scores),
            shared=True,
        )

    def _nothing(self, subject: RewardSubject) -> Finding:
        row = subject.smallest(subject.rows)
        return self.finding(
            f"{subject.name} returns None for all {len(subject.rows)} samples: it has no opinion on any of them.",
            advice="Look at the condition under which it abstains, and at the columns it reads there.",
            cause="constant",
            reward=subject.name,
            severity="warning" if subject.description.entry.abstains else "error",
            evidence=subject.evidence(row, got=None, expected="a number for some sample"),
            line=subject.description.line,
            count=len(subject.rows),
            shared=True,
        )


def _severity(subject: RewardSubject, reason: Reason | None, other: _Other | None, concern: bool) -> Severity:
    """An error where labels say that scores should differ, a warning where nothing could make them; see the manual."""
    if concern:
        return "error"
    sure = reason is not None and reason.sure
    if sure or other is None:
        labelled = subject.judged and subject.labelled("right") and subject.labelled("wrong", "hack")
        return "error" if sure and labelled else "warning"
    return "info"


def _other_score(subject: RewardSubject, value: float) -> _Other | None:
    """The shortest made-up completion that scores something else: odd, grown, or made of the reward's own words."""
    found = [
        _Other(subject.odd.row, item.text, score)
        for item, score, state in subject.odd.shortest_first()
        if state == Status.NUMBER and score != value and subject.odd.row is not None
    ]
    rows = subject.few(4)
    grown = [(row, " ".join([subject.text(row)] * 20)) for row in rows]
    grown += [(row, _long(subject.text(row))) for row in rows[:2]]  # a limit on the length may lie far away
    lines = subject.source.lines_used(subject.description.line)
    words = _texts_in(subject.description.entry.params)
    made = trial_texts(
        [subject.text(row) for row in rows],
        subject.source.text,
        lines,
        words=words,
        most=affordable_texts(subject, TRIED, 0.3),
    )
    texts = [*grown, *((rows[place], text) for place, text in made), *_golds(subject, rows)]
    for (row, text), score in zip(texts, score_texts(subject, texts), strict=True):
        if score == score and score != value:
            found.append(_Other(row, text, score))
    return min(found, key=lambda other: (len(other.text), other.text), default=None)


def _long(text: str) -> str:
    """The text again and again, `LONG` characters of it."""
    return ((text or "so it is") + " ") * (LONG // (len(text or "so it is") + 1) + 1)


def _golds(subject: RewardSubject, rows: list[int]) -> list[tuple[int, str]]:
    """The values of the columns that are read, as answers in the usual forms."""
    assert subject.batch is not None
    forms = (
        "{}",
        "<answer>{}</answer>",
        "\\boxed{{{}}}",
        "#### {}",
        "Answer: {}",
        "<think>so</think><answer>{}</answer>",
    )
    return [
        (row, form.format(subject.batch.columns[column][row]))
        for column in subject.reads
        for row in rows[:2]
        for form in forms
        if isinstance(subject.batch.columns[column][row], (str, int, float))
    ]


def _texts_in(value: object) -> list[str]:
    """The texts among a reward's parameters."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts_in(item)]
    return [text for item in value for text in _texts_in(item)] if isinstance(value, (list, tuple)) else []


def _kind(value: float, subject: RewardSubject) -> str:
    bounds = subject.declared_range
    if bounds and value >= bounds[1]:
        return f"is saturated: it scores {number(value)}, the top of its range, on all"
    return f"scores {number(value)} on all"
