"""RW403: a wrong answer that resembles the right one is paid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from workbench.answer_form import gold_text, same_answer, value_of
from workbench.answer_variants import far_wrong, near_misses
from workbench.checks.check import number, shown
from workbench.checks.exploits.prompt_echo import prompt_texts
from workbench.checks.finding import Cost
from workbench.checks.subject import RewardSubject
from workbench.checks.task import Case, Task
from workbench.checks.trials import Outcome, Trial, TrialCheck

_ABOUT = re.compile(
    r"\b(?:approximate(?:ly)?|approx|roughly|estimated?|round(?:ed)?|nearest|tolerance|ballpark)\b"
    r"|\bwithin\s+\d|\bto\s+(?:one|two|three|\d+)\s+(?:decimal|significant)",
    re.IGNORECASE,
)
CLOSE = 0.25


class NearMiss(TrialCheck):
    """142 is paid for 42, or 4, or 43: containment, a prefix or a wide tolerance takes a wrong answer for right.

    Tried are numbers with a digit more or less, the other sign, ten times the value, off by one or by a half
    (never closer than a fiftieth; never closer than a quarter where the prompt asks for about that much), a part of a
    list or a record, the beginning of a text. Each is proved to differ from the ground truth; where any wrong answer is
    paid, RW303 tells it.

    Example:
        return [float(gold in answer) ...]          # 42 in 142

    Remedy:
        Compare values: equal numbers, equal sets, equal normalised texts. If a tolerance is meant, keep it small.
    """

    code = "RW403"
    name = "near-miss"
    severity = "error"
    summary = "a wrong answer that resembles the right one is paid in full"
    cost = Cost.TEACHES_WRONG
    kinds = frozenset({"correctness"})
    advice = "Compare values: equal numbers, sets, normalised texts; if a tolerance is meant, keep it small."

    def trials(self, subject: RewardSubject, task: Task, case: Case) -> Iterable[Trial]:
        """Near misses in the place of the right answer."""
        if case.slot is None:
            return
        far = far_wrong(case.gold, task.options, form=case.form)
        control = case.slot.write(far[0].text) if far else case.slot.write("")
        empty = case.slot.write("")
        assert subject.batch is not None
        about = bool(_ABOUT.search(prompt_texts(subject.batch.prompts[case.row])[1]))
        joint = " " if case.slot.answer.count(" ") and "," not in case.slot.answer else ", "
        for miss in near_misses(case.gold, task.options, form=case.form, joint=joint):
            if any(same_answer(miss.text, other) is not False for other in case.also):
                continue
            if about and _is_close(miss.text, case.gold):
                continue
            text = case.slot.exactly(miss.text)
            if text is not None:
                yield Trial(case, text, f"a wrong answer {miss.what}", control, (empty,))

    def sentence(self, subject: RewardSubject, best: Outcome) -> str:
        """The wrong answer beside the right one."""
        case = best.trial.case
        assert case.slot is not None
        end = len(best.trial.text) - len(case.slot.after)
        said = best.trial.text[len(case.slot.before) : end]
        right = case.gold if isinstance(case.gold, (Mapping, list, tuple)) else gold_text(case.gold)
        return (
            f"{subject.name} pays the wrong answer {shown(said)} for {shown(right)} ({best.trial.what[15:]}): "
            f"{number(best.score)}, as much as a right sample ({number(case.full)})."
        )


def _is_close(written: str, gold: object) -> bool:
    """Whether two numbers differ by less than a quarter of the larger one."""
    one, other = value_of(written), value_of(gold_text(gold))
    if one is None or other is None:
        return False
    return abs(one - other) < CLOSE * max(abs(one), abs(other))
