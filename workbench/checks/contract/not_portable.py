"""RW117: a function that cannot be sent to another process."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Evidence, Finding
from workbench.checks.subject import RewardSubject


class NotPortable(RewardCheck):
    """The function cannot be pickled.

    TRL's asynchronous trainer sends the rewards to a child process, `datasets.map(num_proc=...)` and Ray do
    the same. A lambda, a function made inside another function, and an object that holds a lock, a file or a
    connection cannot be sent. The ordinary GRPOTrainer calls rewards in its own process and does not need it.

    Example:
        def make(tag):
            return lambda completions, **kwargs: [...]
        tag_reward = make("answer")

    Remedy:
        A `def` at module level, with `functools.partial` (or `params` in the manifest) for its settings.
    """

    code = "RW117"
    name = "not-portable"
    severity = "warning"
    summary = "the function cannot be pickled"
    cost = Cost.HAMPERS
    needs = "nothing"

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with pickle's own reason."""
        why = subject.probe("unpicklable", 1)
        if why is None:
            return
        yield self.finding(
            f"{subject.name} cannot be sent to another process: {why}.",
            advice="Write it as a def at module level; bind settings with functools.partial or params.",
            cause="pickle",
            reward=subject.name,
            evidence=Evidence(got=why, expected="pickle.dumps(function) works"),
            line=subject.description.line,
        )
