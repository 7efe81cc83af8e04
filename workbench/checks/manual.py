"""The manual of the checks, made of their docstrings: a page for each, and `docs/checks.md` of all.

python -m workbench.checks.manual docs/checks.md
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from workbench.checks.check import FAMILIES, Check, RewardCheck
from workbench.checks.selection import CHECKS

NEEDS = {"nothing": "needs no samples", "samples": "needs samples"}


def page(check: type[Check]) -> str:
    """One check's manual page as plain text, for `check --explain`."""
    of = "each reward" if issubclass(check, RewardCheck) else "the set"
    facts = f"{check.code} {check.name} ({check.severity}, on {of}, {NEEDS[check.needs]})"
    return f"{facts}\n\n{inspect.cleandoc(check.__doc__ or '')}\n"


def listing() -> str:
    """All checks, a line each, for `check --list`."""
    lines = [
        f"{code}  {check.severity:<7}  {check.name:<17}  {check.summary}"
        for code, check in sorted(CHECKS.items())
    ]
    return "\n".join(lines) + "\n"


def manual() -> str:
    """`docs/checks.md`: every check by family."""
    parts = [
        "# Checks",
        "",
        "What `reward-workbench check` looks for. This page is made from the checks' own docstrings "
        "(`python -m workbench.checks.manual docs/checks.md`).",
        "",
        "A severity is the worst a check reports. Findings are ordered by what costs most to train on; one cause",
        "is told once, with a count and the smallest completion that shows it. To accept a finding, write a reason:",
        "",
        "```toml",
        "[check]",
        'waive = [{ check = "RW122", reward = "length", reason = "prints while we debug it" }]',
        "```",
        "",
        "Some checks are about one kind of reward only: what a format reward may do is wrong for a correctness one. A",
        "reward of a set that declares no kind and only looks like one is not judged by it. Its checks of that kind",
        "are *held back*, which is told at the top, in the verdict and where the set is sealed: a pass says nothing of",
        'them. Declare the kind (`kind = "correctness"` under `[[reward]]`, or `@reward(kind="correctness")`), or run',
        "them all the same with `--assume-kinds`. A reward that is alone in its target is judged by the labels of its",
        "samples.",
    ]
    for family, title in FAMILIES.items():
        checks = [check for code, check in sorted(CHECKS.items()) if code.startswith(family)]
        if checks:
            parts += ["", f"## {family} {title}"]
        for check in checks:
            parts += ["", f"### {check.code} {check.name}", "", f"*{check.severity}* · {check.summary}", ""]
            parts += _markdown(inspect.cleandoc(check.__doc__ or ""))
    return "\n".join(parts) + "\n"


def _markdown(text: str) -> list[str]:
    """A docstring as Markdown: the example as a code block, the remedy as a paragraph with a bold word."""
    lines: list[str] = []
    body, _, rest = text.partition("\nExample:\n")
    example, _, remedy = rest.partition("\nRemedy:\n")
    lines += body.rstrip().split("\n")
    if example.strip():
        lines += ["", "```python", *inspect.cleandoc(example).split("\n"), "```"]
    if remedy.strip():
        lines += ["", "**Remedy.** " + " ".join(inspect.cleandoc(remedy).split("\n"))]
    return lines


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(manual(), encoding="utf-8")
