"""RW615: a single reward, or none that looks at a ground truth."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import SetCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import SetSubject

SEVERAL = 2


class FewSignals(SetCheck):
    """A project has one reward only, or a target several of which none reads a ground truth or the prompt.

    A single signal is easily satisfied in a way that was not meant; three to five rewards of one aspect each
    (correctness, format, length, style) hold each other in check. A set whose members all look at the completion
    alone can teach how an answer looks, never whether it is right. Information: one reward may be all that is wanted,
    and layout alone may be what a first stage is for.

    Example:
        reward_funcs=[format_reward]

    Remedy:
        Add a reward for what is still free: `reward-workbench init` writes a set of several to start from.
    """

    code = "RW615"
    name = "few-signals"
    severity = "info"
    summary = "one reward only, or none that looks at a ground truth"
    cost = Cost.HAMPERS

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """At most one finding."""
        members = subject.members
        if subject.batch is None or not members:
            return
        blind = [
            m
            for m in members
            if not m.reads and not m.reads_prompts and m.description.entry.kind != "correctness"
        ]
        if len(members) < SEVERAL and subject.description.manifest_path is not None:
            also = ", and it reads no ground truth" if blind else ""
            yield self.finding(
                f"{members[0].name} is the only reward{also}: three to five of different kinds hold each other "
                "in check.",
                advice="If more is wanted, add rewards for what it leaves free (correctness, format, length).",
                cause="single",
            )
        elif len(blind) == len(members) >= SEVERAL:
            columns = ", ".join(sorted(subject.batch.columns)) or "none"
            yield self.finding(
                f"None of the {len(members)} rewards reads a ground truth or the prompt (columns: {columns}): they can "
                "teach how an answer looks, not whether it is right.",
                advice="Add a reward that compares the answer with a column of the data.",
                cause="blind",
            )
