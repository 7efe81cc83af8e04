"""RW210: writing the same again pays more."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject
from workbench.checks.trials import score_texts

TIMES = (2, 4, 8, 16)
FAR = (64, 256)
ROWS = 4
BLOCKS = 3
LONGEST = 20_000
_BLOCK = re.compile(r"<([A-Za-z][\w.-]{0,30})>([^<]*)</\1>")

Part = tuple[str, str, str]
"""What stands before, the text that is repeated, what stands behind."""


class RepetitionPays(RewardCheck):
    """A completion written twice, four times, eight times earns more and more.

    What is paid by the piece is written by the piece: a count of tags, words or citations without a cap has no
    best completion, and a policy runs to the length limit. The best samples are repeated as they are. Where right
    samples are known, more than the best of them is too much, also for repeating what stands inside a pair of tags;
    where none are, the score must still be rising after 64 and 256 copies.

    Example:
        return [len(text.split()) / 100 for text in texts]

    Remedy:
        Count each part once, or cap the score: `min(1.0, ...)`, and let it fall beyond the length that is meant.
    """

    code = "RW210"
    name = "repetition-pays"
    severity = "error"
    summary = "writing the same again earns more without end"
    cost = Cost.TEACHES_WRONG
    advice = "Count each part once, or cap the score and let it fall beyond the length that is meant."

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the number of copies and what they earn."""
        if not subject.steadiness.reliable or subject.compares or not subject.scores:
            return
        scores = subject.scores
        judged = bool(subject.task.cases) and subject.judged and bool(subject.labelled("right"))
        top = max(scores[row] for row in (subject.labelled("right") if judged else scores) if row in scores)
        rows = sorted(scores, key=lambda row: (-scores[row], len(subject.text(row))))
        rows = [row for row in rows if subject.text(row).strip()][:ROWS]
        for row in rows:
            for part in _parts(subject.text(row))[: None if judged else 1]:
                found = self._rising(subject, row, part, top, judged=judged)
                if found is not None:
                    yield self._tell(subject, row, part, *found)
                    return

    def _rising(
        self, subject: RewardSubject, row: int, part: Part, top: float, *, judged: bool
    ) -> tuple[int, float] | None:
        """(copies, score) where the score rises with the copies beyond what is right."""
        own = subject.scores[row]
        few = score_texts(subject, [(row, _copies(part, times)) for times in TIMES])
        if not all(
            later > earlier + 1e-9 for earlier, later in zip([own, *few[:-1]][:3], few[:3], strict=True)
        ):
            return None
        margin = max(1e-6, 0.02 * abs(top))
        if judged and few[2] > top + margin and few[3] >= few[2] - 1e-9:
            times = next(times for times, score in zip(TIMES, few, strict=True) if score > top + margin)
            return times, few[TIMES.index(times)]
        far = score_texts(subject, [(row, _copies(part, times)) for times in FAR])
        if few[3] > few[2] and far[0] > few[3] * 1.2 and far[1] > far[0] * 1.2 and far[1] > top:
            return FAR[0], far[0]
        return None

    def _tell(self, subject: RewardSubject, row: int, part: Part, times: int, score: float) -> Finding:
        before, _, _ = part
        inside = f" with what stands inside its {before[before.rfind('<') :]}" if before else ""
        return self.finding(
            f"{subject.name} pays repetition: a sample that earns {number(subject.scores[row])} earns {number(score)}"
            f"{inside} written {times} times over, and more with every copy.",
            advice=self.advice,
            cause="rises",
            reward=subject.name,
            evidence=subject.evidence(
                row,
                completion=subject.shaped(_copies(part, times)),
                got=score,
                expected=f"at most {number(max(subject.scores.values()))}",
            ),
            line=subject.description.line,
        )


def _parts(text: str) -> list[Part]:
    """The whole text, and what stands inside each of its tags: what is repeated, with what stands around it.

    >>> _parts("<think>so</think> 7")
    [('', '<think>so</think> 7', ''), ('<think>', 'so', '</think> 7')]
    """
    if len(text) > LONGEST:
        return []
    blocks = [match for match in _BLOCK.finditer(text) if match[2].strip()][:BLOCKS]
    return [("", text, ""), *((text[: m.start(2)], m[2], text[m.end(2) :]) for m in blocks)]


def _copies(part: Part, times: int) -> str:
    before, inside, after = part
    return before + "\n".join([inside] * times) + after
