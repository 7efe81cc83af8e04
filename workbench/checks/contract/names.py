"""RW116: names TRL would mix up or lose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from workbench.checks.check import SetCheck
from workbench.checks.finding import Cost, Evidence, Finding
from workbench.checks.subject import SetSubject

RESERVED = ("prompt", "completion", "step", "advantage")


class Names(SetCheck):
    """Two rewards share one name in TRL's log, or a name takes the place of one of the log's own columns.

    TRL names a reward by its `__name__` below any `functools.partial`, else by its class. Two instances of
    one class, two partials of one function or two lambdas share a name: their means are logged as one
    average, and the table of completions keeps only the last one's column. A reward called `prompt`,
    `completion` or `step` replaces that column, one called `advantage` is lost. A lambda's name says nothing
    to anyone. Two rewards whose marks give them one name are an error: scores are kept by name, so both go by the
    names of their functions instead.

    Example:
        think = TagReward("think"); answer = TagReward("answer")     # both are "TagReward"

    Remedy:
        Give each its own name: `self.__name__ = f"{tag}_reward"`, or a `def` for each.
    """

    code = "RW116"
    name = "names"
    severity = "warning"
    summary = "names that are equal in TRL's sense, reserved or unreadable"
    cost = Cost.HAMPERS
    needs = "nothing"

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding for each name that is shared, reserved or unreadable."""
        rewards = subject.description.rewards
        for name in dict.fromkeys(reward.wished for reward in rewards if reward.wished):
            same = [reward for reward in rewards if name in (reward.wished, reward.name)]
            who = [reward.entry.function.replace("::", ":").rpartition(":")[2] for reward in same]
            yield self.finding(
                f"{' and '.join(who)} are both named '{name}' (@reward(name=...)): scores are kept by name, "
                f"so they go by {' and '.join(reward.name for reward in same)}.",
                advice="Give each a name of its own.",
                cause=f"marked {name}",
                severity="error",
                evidence=Evidence(got=name, expected="a name for each reward"),
                line=same[-1].line,
                count=len(same),
            )
        shared = [name for name, count in Counter(reward.trl_name for reward in rewards).items() if count > 1]
        for name in shared:
            who = [reward.name for reward in rewards if reward.trl_name == name]
            yield self.finding(
                f"{' and '.join(who)} share the name '{name}' in TRL's log: their metrics are merged into one "
                "average, and the completions table keeps only the last one's scores.",
                advice="Give each a name of its own: set __name__ on the instances, or write a def for each.",
                cause=f"shared {name}",
                evidence=Evidence(got=name, expected="a name for each reward"),
                line=next(reward.line for reward in rewards if reward.trl_name == name),
                count=len(who),
            )
        for reward in rewards:
            problem = _problem(reward.trl_name)
            if problem and reward.trl_name not in shared:
                yield self.finding(
                    f"{reward.name} is called '{reward.trl_name}' in TRL's log: {problem}.",
                    advice="Write it as a def, or set its __name__.",
                    cause=f"name {reward.trl_name}",
                    reward=reward.name,
                    evidence=Evidence(got=reward.trl_name),
                    line=reward.line,
                )


def _problem(name: str) -> str | None:
    if name in RESERVED:
        return f"the log has a column '{name}' of its own, which it replaces or loses"
    if name == "<lambda>":
        return "every lambda is, so nobody can tell it from another"
    if not name.isprintable() or not name.strip():
        return "that cannot be printed"
    return None
