"""RW113: chat messages or plain text read as the other."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from rewards.contract import CallResult, Status
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject


class OtherShape(RewardCheck):
    """The reward measures the message list instead of the text (or the other way round).

    With chat prompts a completion is `[{"role": "assistant", "content": "..."}]`, a list of one dict; with
    plain prompts it is the text. `len`, `in`, `count` and `split` work on both without an error, and on the
    wrong one they give every completion the same score. Shown by scoring the same texts in both shapes. A
    reward that refuses the shape it was not made for (an exception) is fine.

    Example:
        return [float(len(completion) > 200) for completion in completions]    # a chat completion has length 1

    Remedy:
        Have the samples read in the form the reward is for (`--read-as`), or take the text out first:
        `text = completion if isinstance(completion, str) else completion[-1]["content"]`.
    """

    code = "RW113"
    name = "other-shape"
    severity = "error"
    summary = "chat message lists are read as text, or text as message lists"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """An error where the samples' own shape is constant and the other is not; information for the reverse."""
        assert subject.batch is not None
        rows = subject.few()
        texts = [subject.text(row) for row in rows]
        if len(set(texts)) < 3 or not _single_turn([subject.batch.completions[row] for row in rows]):
            return
        own = np.array([subject.scores.get(row, np.nan) for row in rows])
        other = subject.other_shape(rows, texts)
        own_name, other_name = (
            ("chat messages", "plain text") if subject.chat else ("plain text", "chat messages")
        )
        other_form = "text" if subject.chat else "chat"
        if not _all_numbers(other) or not np.isfinite(own).all() or _alike(own, other.scores):
            return
        if np.ptp(own) == 0 and np.ptp(other.scores) > 0:
            place = int(np.argmax(np.abs(other.scores - own)))
            yield self.finding(
                f"{subject.name} scores every sample {number(own[0])}: the samples are {own_name}, and it judges them "
                f"as if they were {other_name} (the same texts as {other_name} get {number(other.scores.min())} to "
                f"{number(other.scores.max())}).",
                advice="Take the text out of the completion first: completion if isinstance(completion, str) else "
                f'completion[-1]["content"]; or have the samples read as {other_name} with --read-as {other_form}.',
                cause="constant",
                shared=True,
                reward=subject.name,
                evidence=subject.evidence(rows[place], got=own[place], expected=float(other.scores[place])),
                line=subject.description.line,
                count=len(rows),
            )
        elif np.ptp(own) > 0 and np.ptp(other.scores) == 0:
            place = int(np.argmax(np.abs(other.scores - own)))
            yield self.finding(
                f"{subject.name} is made for {own_name}: the same texts as {other_name} all get "
                f"{number(other.scores[0])}, without an error.",
                advice="Nothing to do for these samples; raise a TypeError for the other shape, or read both.",
                cause="other",
                reward=subject.name,
                severity="info",
                evidence=subject.evidence(rows[place], got=float(other.scores[place]), expected=own[place]),
                line=subject.description.line,
            )


def _all_numbers(result: CallResult) -> bool:
    return bool((result.status == Status.NUMBER).all())


def _alike(own: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> bool:
    return bool(np.allclose(own, other, atol=1e-9))


def _single_turn(completions: list[object]) -> bool:
    return all(isinstance(c, str) or (isinstance(c, list) and len(c) == 1) for c in completions)
