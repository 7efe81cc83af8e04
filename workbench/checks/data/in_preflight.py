"""Checks that need the model's tokenizer: `preflight` makes them, `check` lists them as left to it."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import SetCheck
from workbench.checks.finding import Finding
from workbench.checks.subject import SetSubject


class InPreflight(SetCheck):
    """Base of those checks: they have a code and a manual page here, and run in `preflight`."""

    elsewhere = "it needs the model's tokenizer: reward-workbench preflight makes it"

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """Never asked for: `elsewhere` says why."""
        return ()


__all__ = ["InPreflight"]
