"""RW208: white space or line ends around a right completion change its score."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding, Severity
from workbench.checks.subject import RewardSubject
from workbench.checks.task import Case, Task
from workbench.checks.trials import Outcome, Trial, try_out

SHARE = 0.05


class Invariance(RewardCheck):
    """A right sample earns less with a new line at its end, spaces around it, or Windows line ends.

    Whether a completion ends in a new line is an accident of decoding. White space around it, and the way lines
    end, must not count for content or correctness; for a layout, the new line at the very end must not. What models
    hardly write is told as information where it is the only way: Windows line ends, and letters with accents in
    Unicode's other form (composed or decomposed).

    Example:
        re.match(r"^<answer>.*</answer>\\n$", text)        # models end without the new line

    Remedy:
        Take `text.strip()` before anything else, and let `\\s*` stand where lines end.
    """

    code = "RW208"
    name = "invariance"
    severity = "warning"
    summary = "white space or line ends around a right completion change its score"
    cost = Cost.TEACHES_WRONG
    kinds = frozenset({"correctness", "content", "relevance", "format"})

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding that names all that changes the score."""
        task = subject.task
        if not task.cases or not subject.steadiness.reliable:
            return
        trials = [trial for case in task.cases for trial in _trials(task, case)]
        lowered = [outcome for outcome in try_out(subject, trials) if _lower(outcome)]
        common = [outcome for outcome in lowered if outcome.trial.what not in RARE]
        composed = [outcome for outcome in lowered if outcome.trial.what == COMPOSED]
        windows = [outcome for outcome in lowered if outcome.trial.what == WINDOWS]
        if common:
            yield self._tell(subject, common + windows, "warning")
        rare = composed if common else composed + windows
        if rare:
            yield self._tell(subject, rare, "info")

    def _tell(self, subject: RewardSubject, lowered: list[Outcome], severity: Severity) -> Finding:
        ways = list(dict.fromkeys(outcome.trial.what for outcome in lowered))
        best = min(lowered, key=lambda o: (ways.index(o.trial.what), len(o.trial.text)))
        more = f"; the same {', '.join(ways[1:])}" if len(ways) > 1 else ""
        return self.finding(
            f"{subject.name} gives a right sample {number(best.score)} instead of {number(best.control)} "
            f"{ways[0]}{more}.",
            advice="Strip the text before anything else, and allow white space wherever lines end.",
            cause=severity,
            reward=subject.name,
            severity=severity,
            evidence=subject.evidence(
                best.trial.case.row,
                completion=subject.shaped(best.trial.text),
                got=best.score,
                expected=best.control,
            ),
            line=subject.description.line,
            count=len({outcome.trial.case.row for outcome in lowered}),
        )


COMPOSED = "in another Unicode form of its letters"
WINDOWS = "with Windows line ends"
RARE = (COMPOSED, WINDOWS)


def _trials(task: Task, case: Case) -> Iterable[Trial]:
    text = case.text
    changed = [
        (f"{text}\n", "with a new line at its end"),
        (text.rstrip("\n"), "without the new line at its end"),
    ]
    if task.kind != "format":
        changed += [
            (f"\n{text}", "with a new line before it"),
            (f"{text}  " if text.startswith("```") else f"  {text}  ", "with spaces around it"),
            (text.replace("\r\n", "\n").replace("\n", "\r\n"), WINDOWS),
            (unicodedata.normalize("NFD", text), COMPOSED),
            (unicodedata.normalize("NFC", text), COMPOSED),
        ]
    for other, what in changed:
        if other != text:
            yield Trial(case, other, what, control=text)


def _lower(outcome: Outcome) -> bool:
    case = outcome.trial.case
    return outcome.score < outcome.control - max(1e-6, SHARE * (case.full - case.floor))
