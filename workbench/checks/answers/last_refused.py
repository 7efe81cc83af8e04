"""RW406: a right final answer is refused because another one stands before it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from workbench.answer_form import Slot
from workbench.answer_variants import far_wrong
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject
from workbench.checks.task import Case, Task
from workbench.checks.trials import Trial, score_texts, try_out

FORMS = ("boxed", "line", "hash")
ONE = " (it asks for exactly one answer: its code counts them, and the right one twice is refused as well)"


class LastRefused(RewardCheck):
    """A completion that corrects itself and ends with the right answer earns less than a right sample.

    The last answer is the answer. A reward that reads the first block, or matches greedily from the first opening
    tag to the last closing one, refuses what it should teach: noticing a mistake. Tried with a wrong answer in
    the data's form before the right one. A reward that counts the answers and refuses all but exactly one, so that the
    right one twice is refused too, says so on purpose: that is information.

    Example:
        re.search(r"<answer>(.*)</answer>", text, re.DOTALL)      # spans both blocks

    Remedy:
        Take the last match: `re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)[-1]`.
    """

    code = "RW406"
    name = "last-refused"
    severity = "warning"
    summary = "a right final answer is refused because another one stands before it"
    cost = Cost.TEACHES_WRONG
    kinds = frozenset({"correctness"})

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the shortest corrected completion that is refused."""
        task = subject.task
        if not subject.steadiness.reliable or not task.cases:
            return
        trials = [trial for case in task.cases for trial in _trials(subject, task, case)]
        refused = [outcome for outcome in try_out(subject, trials) if outcome.refused]
        if not refused:
            return
        best = min(refused, key=lambda outcome: len(outcome.trial.text))
        case = best.trial.case
        one = _asks_for_one(subject) and _refuses_twice(subject, case)
        yield self.finding(
            f"{subject.name} refuses {best.trial.what}: it earns {number(best.score)}, and {number(case.full)} "
            f"without the first one{ONE if one else ''}.",
            advice="Read the last answer of the completion: the last match of a pattern that is not greedy.",
            cause="RW310:paid",  # where the first answer is read, RW310 tells it
            shared=True,
            reward=subject.name,
            severity="info" if one else None,
            evidence=subject.evidence(
                case.row, completion=subject.shaped(best.trial.text), got=best.score, expected=case.full
            ),
            line=subject.description.line,
            count=len({outcome.trial.case.row for outcome in refused}),
        )


def _asks_for_one(subject: RewardSubject) -> bool:
    """Whether the reward's code compares a number of things found with one, as in `len(found) != 1`."""
    used = subject.source.lines_used(subject.description.line)
    for node in ast.walk(subject.source.tree):
        if not isinstance(node, ast.Compare) or node.lineno not in used or len(node.ops) != 1:
            continue
        sides = (node.left, node.comparators[0])
        counts = any(
            isinstance(side, ast.Call)
            and (side.func.attr if isinstance(side.func, ast.Attribute) else getattr(side.func, "id", ""))
            in ("len", "count")
            for side in sides
        )
        if counts and any(isinstance(side, ast.Constant) and side.value in (1, 2) for side in sides):
            return True
    return False


def _refuses_twice(subject: RewardSubject, case: Case) -> bool:
    """Whether the right answer itself is refused where it is written twice."""
    if case.slot is None:
        return False
    text = _with_first(case.slot, case.slot.mark(case.slot.answer))
    return case.falls_short(score_texts(subject, [(case.row, text)])[0])


def _trials(subject: RewardSubject, task: Task, case: Case) -> Iterable[Trial]:
    slot = case.slot
    if task.programs:
        assert subject.batch is not None
        group = subject.batch.groups[case.row]
        wrong = [
            row for row in task.wrong if subject.batch.groups[row] == group and "```" in subject.text(row)
        ]
        for row in wrong[:1]:
            text = f"{subject.text(row)}\n\nNo, that is wrong. Instead:\n\n{case.text}"
            yield Trial(case, text, "a right program after a wrong one")
        return
    if slot is None or isinstance(case.gold, (Mapping, bool)):
        return
    if slot.form not in FORMS and not slot.form.startswith("tag:"):
        return
    far = far_wrong(case.gold, task.options, form=case.form)
    if not far:
        return
    yield Trial(case, _with_first(slot, slot.mark(far[0].text)), "a right answer after a wrong one")


def _with_first(slot: Slot, first: str) -> str:
    """The right sample with another answer before its own, in the same form."""
    last = slot.mark(slot.answer)
    inline = slot.form == "boxed" or slot.form.startswith("tag:")
    start = slot.text.rfind(last)
    head = slot.before if start < 0 else slot.text[:start]
    tail = "" if start < 0 else slot.text[start + len(last) :]
    gap = " No, I must correct that.\n" if inline else "\n\nNo, I must correct that.\n"
    return f"{head}{first}{gap}{last}{tail}"
