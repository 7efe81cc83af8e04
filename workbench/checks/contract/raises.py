"""RW110: an exception on a sample or on an ordinary odd completion."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.contract import Status
from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.odd import Odd
from workbench.checks.subject import RewardSubject, reason_of
from workbench.other_form import TRIED, cause_and_remedy

ADVICE = (
    "Treat the case in the code and score it (0.0 if it is a bad answer); one exception ends the whole run."
)


class Raises(RewardCheck):
    """The reward raises an exception on a completion.

    An exception ends the training run; TRL neither retries nor saves a checkpoint. Samples are tried as they
    are, then the odd completions every policy writes sooner or later: empty, blank, cut off, an unclosed tag,
    an answer that is no number. Failures of one type and place are told once, with the smallest completion
    that raises.

    Example:
        last = text.split()[-1]          # IndexError on an empty completion

    Remedy:
        Treat the case: no last word is a wrong answer, 0.0. Do not wrap everything in `except: return 0.0`,
        which hides the next misspelt name.
    """

    code = "RW110"
    name = "raises"
    severity = "error"
    summary = "an exception on a sample or an ordinary odd completion"
    cost = Cost.STOPS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each type and place of an exception."""
        places: dict[tuple[str, int | None], list[int]] = {}
        base = subject.base
        for place, (row, state) in enumerate(zip(subject.rows, base.status, strict=True)):
            if state == Status.RAISED:
                error = base.errors.get(place, "")
                places.setdefault((reason_of(error), subject.source.line_of(error)), []).append(row)
        for rows in places.values():
            yield self._on_samples(subject, rows)
        seen = set(places)
        for item, _, state in subject.odd.shortest_first():
            error = subject.odd.error_of(item)
            origin = (reason_of(error), subject.source.line_of(error))
            if state == Status.RAISED and origin not in seen:
                seen.add(origin)
                yield self._on_odd(subject, item, error)

    def _on_samples(self, subject: RewardSubject, rows: list[int]) -> Finding:
        row = subject.smallest(rows)
        error = subject.base.errors[subject.rows.index(row)]
        text = subject.text(row)
        small = subject.probe(
            "workbench.checks.shrinking:shrink_error", 20, row=row, text=text, chat=subject.chat
        )
        completion = None
        if small is not None and small["error"] and len(small["text"]) < len(text):
            completion, error = subject.shaped(small["text"]), small["error"]
        message = (
            f"{subject.name} raises {_sentence(subject, error)} on {_rows(len(rows), len(subject.rows))}."
        )
        misread = self._misread(subject, rows)
        if misread:
            message = f"{message[:-1]}: {misread[0]}."
        advice = misread[1] if misread else ADVICE
        return self._say(subject, error, message, row, completion, "error", len(rows), advice)

    def _misread(self, subject: RewardSubject, rows: list[int]) -> tuple[str, str] | None:
        """Cause and remedy, where every sample fails and is scored once it is in the other form; else None."""
        if len(rows) < len(subject.rows) or subject.description.entry.cost == "paid":
            return None
        few = rows[:TRIED]
        result = subject.other_shape(few, [subject.text(row) for row in few])
        if not (result.status == Status.NUMBER).any() or (result.status >= Status.WRONG_TYPE).any():
            return None
        return cause_and_remedy(subject.name, "chat" if subject.chat else "text")

    def _on_odd(self, subject: RewardSubject, item: Odd, error: str) -> Finding:
        message = f"{subject.name} raises {_sentence(subject, error)} on {item.what}."
        return self._say(
            subject,
            error,
            message,
            subject.odd.row,
            subject.shaped(item.text),
            "error" if item.usual else "warning",
            1,
        )

    def _say(
        self,
        subject: RewardSubject,
        error: str,
        message: str,
        row: int | None,
        completion: object,
        severity: str,
        count: int,
        advice: str = ADVICE,
    ) -> Finding:
        line = subject.source.line_of(error)
        return self.finding(
            message,
            advice=advice,
            cause=f"raises {reason_of(error)} at {subject.source.statement(line)}",
            reward=subject.name,
            severity="error" if severity == "error" else "warning",
            evidence=subject.evidence(row, completion=completion, got=error, expected="a number"),
            line=line or subject.description.line,
            count=count,
            shared=True,
        )


def _sentence(subject: RewardSubject, error: str) -> str:
    return subject.source.without_place(error)


def _rows(count: int, total: int) -> str:
    if count == total and total > 1:
        return f"every sample ({total})"
    return "a sample" if count == 1 else f"{count} of {total} samples"
