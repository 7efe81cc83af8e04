"""Checks of a project, one at a time, for another process that asks by name: `python -P -m workbench.checks.serving`.

The pytest plugin checks through it, so that nothing of ours (NumPy, Hypothesis and its settings, a package called
`rewards`) comes into a test session, and nothing of the session (its warnings filter, its import path) into the checks.

A line of JSON goes in and one comes out. The first that comes out is the plan, made without running any of the user's
code; each request `{"check": "RW104", "reward": "correctness"}` (`null`: the set) is answered with the findings, or why
the check did not run. A cause that another check has told already is not told again: `same_as` names that check. What
goes wrong with the target is `{"error": "one sentence"}`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import IO, Any

from rewards.errors import RewardWorkbenchError
from rewards.manifest import Manifest
from workbench.checks.check import RewardCheck, SetCheck
from workbench.checks.finding import merge
from workbench.checks.runner import options_of, waive
from workbench.checks.selection import CHECKS
from workbench.checks.session import Outcome, Session
from workbench.opening import manifest_of

WIDTH = 100


class Service:
    """One project, opened when the first check is asked for. A context manager.

    Args:
        target: the folder of the project, or its manifest.
        quick: leave out what takes long.

    Raises:
        TargetError, ManifestError: it is no project, or its manifest cannot be used.
    """

    def __init__(self, target: str, *, quick: bool = False) -> None:
        self.target = target
        self.quick = quick
        manifest = manifest_of(target)
        if manifest is None:
            raise RewardWorkbenchError(f"{target} is no project: it has no rewardset.toml")
        self.manifest: Manifest = manifest
        self.notes: list[str] = []
        self._causes: dict[tuple[str | None, str], str] = {}
        self._same_as = ""
        self._session: Session | None = None
        self._runner: Any = None

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        if self._session is not None:
            self._session.close()
        if self._runner is not None:
            self._runner.close()

    def plan(self) -> dict[str, Any]:
        """The set's name, its rewards, and the checks there are, each with what it is run on."""
        return {
            "name": self.manifest.set.name or self.manifest.root.name,
            "rewards": [entry.name for entry in self.manifest.reward],
            "checks": [
                {
                    "check": code,
                    "name": check.name,
                    "of": "reward" if issubclass(check, RewardCheck) else "set",
                }
                for code, check in sorted(CHECKS.items())
            ],
        }

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """What one check says; RewardWorkbenchError where the target cannot be loaded."""
        session = self._opened()
        kind = CHECKS[request["check"]]
        left_out = session.left_out(kind)
        if left_out:
            return {"skipped": left_out, "findings": []}
        check = kind()
        if isinstance(check, RewardCheck):
            outcome = session.of_reward(check, request["reward"])
        else:
            assert isinstance(check, SetCheck)
            outcome = session.of_set(check)
        self._same_as = ""
        findings = self._told(session, outcome)
        return {
            "skipped": outcome.skipped,
            "findings": findings,
            "same_as": self._same_as,
            "notes": self._new_notes(),
        }

    def _told(self, session: Session, outcome: Outcome) -> list[dict[str, Any]]:
        from workbench.reports.check_text import finding_text, safe

        settings = self.manifest.check
        told = []
        for finding in (waive(found, settings.waive) for found in merge(outcome.findings)):
            first = self._causes.setdefault((finding.reward, finding.cause), finding.check)
            if first != finding.check:
                self._same_as = first
                continue
            description = session.description.reward(finding.reward) if finding.reward else None
            told.append(
                {
                    "severity": finding.severity,
                    "message": safe(finding.message),
                    "text": finding_text(finding, description, width=WIDTH),
                    "waived": finding.waived,
                    "fails": not finding.accepted and finding.at_least(settings.fail_on),
                }
            )
        return told

    def _opened(self) -> Session:
        if self._session is None:
            from rewards.running import Runner
            from rewards.targets import parse_target
            from workbench.opening import open_target, sample_paths
            from workbench.tokenizing import tokenizer_for

            samples, batch = None, None
            if sample_paths(parse_target(self.target), self.manifest):
                samples = open_target(self.target, pinned=True).samples
                self.notes = [*samples.notes, *map(str, samples.skipped)]
                batch = samples.batch(tokenizer_for(self.manifest))
            if self._runner is None:
                self._runner = Runner()
            options = options_of(self.manifest, quick=self.quick)
            self._session = Session(self._runner, self.target, samples, batch, options)
        return self._session

    def _new_notes(self) -> list[str]:
        notes, self.notes = self.notes, []
        return notes


def serve(target: str, *, quick: bool, requests: IO[str], answers: IO[str]) -> None:
    """Answer requests until there are no more."""

    def say(content: dict[str, Any]) -> None:
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    try:
        service = Service(target, quick=quick)
    except RewardWorkbenchError as error:
        say({"error": str(error)})
        return
    with service:
        say(service.plan())
        for line in requests:
            try:
                say(service.answer(json.loads(line)))
            except RewardWorkbenchError as error:
                say({"error": str(error)})


def main() -> None:
    """Serve the folder named on the command line; what anybody prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(str(Path(sys.argv[1])), quick="--quick" in sys.argv[2:], requests=sys.stdin, answers=answers)


if __name__ == "__main__":
    main()
