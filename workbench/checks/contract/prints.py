"""RW122: output during a call."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from workbench.checks.check import RewardCheck, shown
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject


class Prints(RewardCheck):
    """The reward writes to standard output.

    A few lines a call are a matter of taste (information). A line for every completion drowns the training
    log, slows the run and writes the data into every log collector; values of environment variables may be
    secrets.

    Example:
        print("completion:", text, os.environ)

    Remedy:
        `log_metric("name", value)` and `log_extra("column", values)`, which TRL passes to every reward, or `logging`
        at debug level.
    """

    code = "RW122"
    name = "prints"
    severity = "warning"
    summary = "writes to standard output"
    cost = Cost.HAMPERS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """A warning for a line a row or environment values, information for a few lines."""
        seen = subject.observation
        if not seen or not seen["printed"].strip():
            return
        rows, lines = subject.few(), seen["printed_lines"]
        secrets = bool(seen["environment_shown"])
        each_row = lines >= len(rows) and len(rows) > 1
        what = f"{lines} line{'' if lines == 1 else 's'} for {len(rows)} completions"
        if secrets:
            what += ", with values of the environment among them"
        yield self.finding(
            f"{subject.name} writes to standard output: {what} (the first: {shown(_first(seen['printed']))}).",
            advice="Use log_metric and log_extra, which TRL passes to every reward, or logging at debug level.",
            cause="prints",
            reward=subject.name,
            severity="warning" if secrets or each_row else "info",
            evidence=subject.evidence(rows[0], got=_first(seen["printed"]), expected="no output"),
            line=_print_line(subject),
            count=len(rows) if each_row else 1,
        )


def _first(printed: str) -> str:
    return printed.strip().split("\n")[0][:200]


def _print_line(subject: RewardSubject) -> int | None:
    """The line of the only `print` the reward can reach, if there is exactly one."""
    used = subject.source.lines_used(subject.description.line)
    calls = [
        node for node in ast.walk(subject.source.tree) if isinstance(node, ast.Call) and node.lineno in used
    ]
    lines = [node.lineno for node in calls if isinstance(node.func, ast.Name) and node.func.id == "print"]
    return lines[0] if len(lines) == 1 else subject.description.line
