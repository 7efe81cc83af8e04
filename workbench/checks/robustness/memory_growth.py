"""RW505: memory that grows with every call."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from rewards.contract import Status
from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Evidence, Finding
from workbench.checks.robustness.slow_rows import row_seconds
from workbench.checks.subject import RewardSubject

PROBE = "workbench.checks.robustness.auditing:memory_kept"
ROUNDS = 4
MILLION = 1_000_000
"""Completions that an ordinary run scores."""
NOTE_BYTES = 300
"""Bytes kept of a completion that are worth a note: 300 MB in a run."""
WARNING_BYTES = 1_500
"""Bytes kept of a completion of 2,000 characters that are worth a warning: the completion itself is kept."""


class MemoryGrowth(RewardCheck):
    """The process keeps more memory after every call.

    A run scores a million completions and more in one process. What is kept of each of them (a list of all scores,
    a cache of texts without a limit) adds up until the trainer is ended for lack of memory, hours into the run. The
    reward is called several times with completions it has not seen; reported is what stays after each call, from
    300 bytes a completion, as a warning where a completion of 2,000 characters is kept whole (2 GB in a run).

    Example:
        _seen[text] = score              # a dictionary at module level, never emptied

    Remedy:
        `functools.lru_cache(maxsize=10_000)` in place of a dictionary or `cache`; keep sums, not lists.
    """

    code = "RW505"
    name = "memory-growth"
    severity = "warning"
    summary = "something of every completion is kept for ever"
    cost = Cost.HAMPERS
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """At most one finding."""
        if row_seconds(subject) > 0.003 or not subject.usable or has_limit(subject):
            return
        if subject.hangs or (subject.base.status == Status.TIMEOUT).any():
            return  # the samples that hang would hang in every round
        rows = subject.few(8)
        kept = subject.probe(PROBE, 12 * len(rows), rows=rows, rounds=ROUNDS, chat=subject.chat)
        if kept is None:
            return
        each = min(kept["kept"]) / len(rows)
        if each < NOTE_BYTES:
            return
        yield self.finding(
            f"{subject.name} keeps {each:,.0f} bytes of every completion it scores: {size(each * MILLION)} after a "
            "million of them.",
            advice="Give what is remembered a limit (functools.lru_cache(maxsize=...)), or keep sums, not lists.",
            cause="kept",
            reward=subject.name,
            severity="warning" if each >= WARNING_BYTES else "info",
            evidence=Evidence(
                got=[round(count) for count in kept["kept"]], expected=f"no growth over {ROUNDS} calls"
            ),
            line=kept["line"] or subject.description.line,
        )


def has_limit(subject: RewardSubject) -> bool:
    """Whether the code limits what it remembers: a `maxsize=` or `maxlen=` that is a number."""
    for node in ast.walk(subject.source.tree):
        if isinstance(node, ast.keyword) and node.arg in ("maxsize", "maxlen"):
            return not isinstance(node.value, ast.Constant) or node.value.value is not None
    return False


def size(count: float) -> str:
    """Bytes in words."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


__all__ = ["MemoryGrowth"]
