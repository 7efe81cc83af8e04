"""RW213: a law that the project states is broken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.laws.drawing import rows_and_texts
from workbench.checks.properties import falsify, remember, reproduction, shrink
from workbench.checks.subject import RewardSubject


class OwnLaw(RewardCheck):
    """A completion breaks a law that you wrote for your rewards.

    A law is a function marked `@law`, in the reward file or in `laws.py` beside the manifest. It is tried on the
    samples and on many changed completions; the smallest one that breaks it is shown. A law that raises something
    other than an AssertionError is told as a warning, and so is one that fails because the reward does.

    Example:
        from workbench.laws import law

        @law
        def shouting_never_pays(score, completion):
            return score(completion.upper()) <= score(completion)

    Remedy:
        Correct the reward where the law is what you mean, or the law where it asks for too much.
    """

    code = "RW213"
    name = "own-law"
    severity = "error"
    summary = "a completion breaks a law of your own"
    cost = Cost.TEACHES_WRONG

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each broken law."""
        laws: list[dict[str, Any]] = subject.probe("workbench.checks.laws.running:found", 1) or []
        for law in laws:
            yield from self._one(subject, law)

    def _one(self, subject: RewardSubject, law: dict[str, Any]) -> Iterator[Finding]:
        why: dict[tuple[int, str], str] = {}

        def broken(items: Sequence[tuple[int, str]]) -> list[bool]:
            said = subject.probe(
                "workbench.checks.laws.running:keeps",
                4 * len(items),
                law=law["name"],
                items=list(items),
                chat=subject.chat,
            )
            for item, reason in zip(items, said or [""] * len(items), strict=True):
                why[item] = reason
            return [bool(why[item]) for item in items]

        samples = [(row, subject.text(row)) for row in subject.few(16)]
        shown = [item for item, is_broken in zip(samples, broken(samples), strict=True) if is_broken]
        found = min(shown, key=lambda item: len(item[1])) if shown else None
        if found is None and not subject.options.quick:
            found = falsify(
                subject,
                rows_and_texts(subject),
                broken,
                key=f"law:{law['name']}",
                rows=subject.few(12),
                examples=law["examples"],
            )
        if found is None:
            return
        raised = why[found].startswith("! ")
        row, text = shrink(
            found,
            lambda items: [
                b and why[i].startswith("! ") == raised for i, b in zip(items, broken(items), strict=True)
            ],
        )
        reason = why[(row, text)] or why[found]
        remember(subject, f"law:{law['name']}", text)
        says = f" ({law['says']})" if law["says"] else ""
        yield self.finding(
            f"{subject.name} breaks the law {law['name']}{says}: {reason.removeprefix('! ')}."
            if not raised
            else f"The law {law['name']} itself raises {reason.removeprefix('! ')}.",
            advice=f"The law stands in {law['file']}, line {law['line']}. {reproduction(subject, self.code)}",
            cause=f"law {law['name']}",
            reward=subject.name,
            severity="warning" if raised else "error",
            evidence=subject.evidence(
                row, completion=subject.shaped(text), got=reason, expected="the law holds"
            ),
            line=subject.description.line,
            count=max(1, len(shown)),
        )
