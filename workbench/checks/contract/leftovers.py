"""RW124: threads, processes and files that stay behind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Evidence, Finding
from workbench.checks.subject import RewardSubject


class Leftovers(RewardCheck):
    """Every call leaves threads, child processes or open files behind.

    A reward is called thousands of times in a run. A thread, a process or a file handle left by each call
    adds up until the system refuses the next one, hours into the run. Something kept from the first call on
    and used again (a pool, a connection) is fine; so only what grows with a second and third call is
    reported.

    Example:
        threading.Thread(target=report, daemon=True).start()     # never ends, one more with each call

    Remedy:
        Join or shut down what the call started: `with ThreadPoolExecutor() as pool:`, `process.wait()`,
        `with open(...)`.
    """

    code = "RW124"
    name = "leftovers"
    severity = "warning"
    summary = "threads, processes or open files stay behind after each call"
    cost = Cost.HAMPERS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each kind of thing that grows with every call."""
        first = subject.observation
        if not first or not (first["threads"] or first["children"] or first["open_files"] > 0):
            return
        rows = subject.few()
        later = [subject.probe("observe", len(rows), rows=rows) for _ in range(2)]
        if None in later:
            return
        for kind, unit in (("threads", "thread"), ("children", "child process"), ("open_files", "open file")):
            counts = [_count(seen[kind]) for seen in (first, *later)]
            if all(count > 0 for count in counts):
                names = f" ({', '.join(sorted(set(first['threads']))[:3])})" if kind == "threads" else ""
                many = f"{counts[-1]} {unit}{'' if counts[-1] == 1 else 'es' if unit.endswith('s') else 's'}"
                yield self.finding(
                    f"{subject.name} leaves {many} behind with every call{names}.",
                    advice="End what the call started: join threads, wait for processes, close files (use `with`).",
                    cause=kind,
                    reward=subject.name,
                    evidence=Evidence(got=counts, expected=[0, 0, 0]),
                    line=subject.description.line,
                )


def _count(value: Any) -> int:
    return len(value) if isinstance(value, list) else int(value)
