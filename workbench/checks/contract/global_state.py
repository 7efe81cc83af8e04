"""RW123: the reward changes what belongs to the whole process."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Evidence, Finding
from workbench.checks.subject import RewardSubject

_ADVICE = {
    "the state of": "Use a generator of the reward's own, random.Random(seed), instead of seeding the global one.",
    "the locale": "Convert numbers and dates without setlocale.",
    "the current folder": "Use absolute paths, or cwd= of subprocess.",
    "the environment": "Pass env= to the child process instead of changing os.environ.",
    "the warning filters": "Put them inside `with warnings.catch_warnings():`.",
    "the decimal context": "Use `with decimal.localcontext():`.",
    "a running alarm": "Cancel it: signal.alarm(0) in a finally.",
    "the handler": "Put the old handler back in a finally.",
}


class GlobalState(RewardCheck):
    """A call leaves global state of the process changed.

    Rewards run inside the trainer. One that calls `random.seed(0)` makes the sampling of every step draw the
    same numbers; one that changes the locale, the current folder, the environment, the decimal precision or a
    signal handler changes how everything after it behaves. Drawing from the global generator is left alone
    here.

    Example:
        random.seed(0)
        sample = random.sample(cases, 20)

    Remedy:
        State of its own: `random.Random(0).sample(cases, 20)`.
    """

    code = "RW123"
    name = "global-state"
    severity = "warning"
    summary = "random seeds, locale, folder, environment or handlers are changed"
    cost = Cost.RUINS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each thing that a call leaves changed."""
        seen = subject.observation
        if not seen or not seen["changed"]:
            return
        reseeded: list[str] = []
        if any("state of" in what for what, _ in seen["changed"]):
            rows = subject.few(4)
            reseeded = subject.probe("reseeds", 2 * len(rows), rows=rows) or []
        for what, how in seen["changed"]:
            if "state of" in what and what not in reseeded:
                continue
            verb = f"changes {what}"
            if "state of" in what:
                verb = "seeds a global random generator: after a call it is always in the same state"
            yield self.finding(
                f"{subject.name} {verb} ({how or what.removeprefix('the state of ')}).",
                advice=next(
                    (advice for start, advice in _ADVICE.items() if what.startswith(start)),
                    "Put it back before returning, in a finally.",
                ),
                cause=what,
                reward=subject.name,
                evidence=Evidence(got=how or "the same state after every call", expected="unchanged"),
                line=subject.description.line,
            )
