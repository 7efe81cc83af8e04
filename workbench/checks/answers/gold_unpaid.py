"""RW401: the ground truth, written as the data ask for it, is not paid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench.answer_form import Slot, find_slot, gold_text
from workbench.checks.check import RewardCheck, number, shown
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject
from workbench.checks.trials import score_texts

ROWS = 60

OTHER_FORMS = (
    ("the bare answer", "{}"),
    ("\\boxed{...}", "\\boxed{{{}}}"),
    ("#### ...", "#### {}"),
    ("<answer>...</answer>", "<answer>{}</answer>"),
    ("Answer: ...", "Answer: {}"),
    ("The answer is ....", "The answer is {}."),
)


@dataclass(frozen=True)
class _Row:
    """A row, its ground truth, and the completion that answers it in the data's form."""

    row: int
    gold: Any
    text: str
    score: float


class GoldUnpaid(RewardCheck):
    """The right answer, in the form of the right samples, earns no more than a wrong one.

    The ground truth of each row is written in the form that the right samples have, and has to earn what they
    earn. Where it does not, the reward cannot read this ground truth (an unusual form of it, a unit, a
    thousands separator), or reads another form than the data ask for; then the form that is paid is named.

    Example:
        return [float(text == answer) ...]       # the data say <answer>42</answer>, the column says 42

    Remedy:
        Extract the answer in the form the prompt asks for, and normalise the ground truth as the answer is normalised.
    """

    code = "RW401"
    name = "gold-unpaid"
    severity = "error"
    summary = "the ground truth, written as the data ask for it, is not paid"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the number of rows whose ground truth is not paid."""
        if not subject.steadiness.reliable:
            return
        if subject.task.cases:
            yield from self._some(subject)
        else:
            yield from self._none(subject)

    def _some(self, subject: RewardSubject) -> Iterator[Finding]:
        """Right answers are paid in some rows: in which are they not?"""
        task = subject.task
        if task.kind != "correctness" or task.column is None:
            return
        rows = list(_written(subject))
        least = min(case.full for case in task.cases)
        floor = max(case.floor for case in task.cases)
        unpaid = [
            row for row in rows if row.score < least - 1e-9 and row.score <= floor + 0.1 * (least - floor)
        ]
        if not unpaid or len(rows) < 2:
            return
        first = min(unpaid, key=lambda row: len(str(row.gold)))
        form = _paid_form(subject, first, least)
        other = None if form else _paid_column(subject, unpaid, least)
        paid = f"; as {form} it is paid." if form else f"; the value of '{other}' is paid." if other else "."
        yield self.finding(
            f"{subject.name} does not pay the right answer in {len(unpaid)} of {len(rows)} rows: the ground truth "
            f"{shown(first.gold)}, written as in the right samples, earns {number(first.score)}{paid}",
            advice=f"Compare with '{task.column}', not with '{other}'."
            if other
            else "Read the ground truth as the answer is read: the same extraction, the same normal form.",
            cause="some rows",
            reward=subject.name,
            evidence=subject.evidence(
                first.row,
                completion=subject.shaped(first.text),
                got=first.score,
                expected=f"at least {number(least)}, as other right samples",
            ),
            line=subject.description.line,
            count=len(unpaid),
        )

    def _none(self, subject: RewardSubject) -> Iterator[Finding]:
        """No right sample earns more than a wrong one: does another form of the answer, or another column?"""
        if not subject.judged or subject.description.entry.kind not in (None, "correctness"):
            return
        right = [row for row in subject.labelled("right") if row in subject.scores][:4]
        if not right or not subject.labelled("wrong", "hack"):
            return
        for column, slot, row in _candidates(subject, right):
            assert subject.batch is not None
            score = subject.scores[row]
            gold = gold_text(subject.batch.columns[column][row])
            texts = [(what, form.format(gold)) for what, form in OTHER_FORMS]
            scores = score_texts(subject, [(row, text) for _, text in texts])
            for (what, text), other in zip(texts, scores, strict=True):
                if other > score + 1e-9 and text != slot.text:
                    yield self.finding(
                        f"{subject.name} pays no right sample more than a wrong one: it reads the answer as {what}, "
                        f"and the data write it as {shown(slot.mark(slot.answer))} ({number(other)} against "
                        f"{number(score)}).",
                        advice="Extract the answer in the form the prompt asks for.",
                        cause="constant",
                        reward=subject.name,
                        evidence=subject.evidence(row, got=score, expected=other),
                        line=subject.description.line,
                        count=len(subject.labelled("right")),
                        shared=True,
                    )
                    return


def _candidates(subject: RewardSubject, rows: list[int]) -> Iterator[tuple[str, Slot, int]]:
    """(column, place of the answer, row) for the right rows in which a column's value is the answer."""
    assert subject.batch is not None
    for column in subject.reads:
        for row in rows:
            slot = find_slot(subject.text(row), subject.batch.columns[column][row])
            if slot is not None:
                yield column, slot, row
                break


def _written(subject: RewardSubject) -> Iterator[_Row]:
    """One row of each prompt, its ground truth written in the form of the right samples, and what it earns."""
    assert subject.batch is not None
    task = subject.task
    assert task.column is not None
    by_group: dict[str, int] = {}
    for row in subject.usable:
        gold = task.golds.get(row)
        if gold not in (None, "", [], {}) and row in subject.scores and not isinstance(gold, (dict, list)):
            by_group.setdefault(subject.batch.groups[row], row)
    own = {subject.batch.groups[case.row]: case for case in task.cases}
    right: dict[str, int] = {}
    for row in task.right:
        right.setdefault(subject.batch.groups[row], row)
    template = next((case.slot for case in task.cases if case.slot is not None), None)
    if template is None:
        return
    texts: dict[int, str] = {}
    for group, row in list(by_group.items())[: min(ROWS, subject.affordable(1.0))]:
        gold = task.golds[row]
        if group in own:
            texts[own[group].row] = own[group].text
        elif group in right and find_slot(subject.text(right[group]), gold) is not None:
            texts[right[group]] = subject.text(right[group])
        elif find_slot(template.write(gold_text(gold)), gold) is not None:
            texts[row] = template.write(gold_text(gold))
    scores = score_texts(subject, list(texts.items()))
    for (row, text), score in zip(texts.items(), scores, strict=True):
        if score == score:
            yield _Row(row, task.golds[row], text, score)


def _paid_column(subject: RewardSubject, unpaid: list[_Row], least: float) -> str | None:
    """The column whose value, in place of the ground truth, is paid in every row that was not."""
    assert subject.batch is not None
    slots = [(row, find_slot(row.text, row.gold)) for row in unpaid]
    if any(slot is None for _, slot in slots):
        return None
    for name in subject.reads:
        values = subject.batch.columns.get(name)
        if name == subject.task.column or values is None:
            continue
        if not all(isinstance(values[row.row], (str, int, float)) for row in unpaid):
            continue
        texts = [(row.row, slot.write(gold_text(values[row.row]))) for row, slot in slots if slot is not None]
        if all(score >= least - 1e-9 for score in score_texts(subject, texts)):
            return name
    return None


def _paid_form(subject: RewardSubject, row: _Row, least: float) -> str | None:
    """The other form in which the row's ground truth is paid, if there is one."""
    gold = gold_text(row.gold)
    scores = score_texts(subject, [(row.row, form.format(gold)) for _, form in OTHER_FORMS])
    for (what, _), score in zip(OTHER_FORMS, scores, strict=True):
        if score >= least - 1e-9:
            return what
    return None
