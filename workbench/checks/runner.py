"""Running the checks over a target: the rewards one after another, then the set.

A check sees one subject and yields findings; what fails on the way (a lost worker, a fault of a check)
becomes an entry under `skipped`, and the others still run. The user's code only runs in worker processes.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rewards.targets import did_you_mean
from workbench.checks.check import Check, RewardCheck, SetCheck
from workbench.checks.code.lead import Lead, fold
from workbench.checks.finding import Finding, merge
from workbench.checks.one_cause import Sign, join_causes, signs_of
from workbench.checks.paid import Pay
from workbench.checks.report import Proved, Report, RewardReport, Skipped
from workbench.checks.selection import CHECKS
from workbench.checks.selection import select as select_checks
from workbench.checks.session import NOT_CONCERNED, Outcome, Session, why_held
from workbench.checks.subject import Options
from workbench.opening import manifest_of
from workbench.versions import FOLDER

if TYPE_CHECKING:
    from rewards.contract import Batch
    from rewards.manifest import Manifest, Waiver
    from rewards.running import Runner
    from workbench.samples.records import Samples

Progress = Callable[[str, int, int], None]
"""Called with the name of a reward, checks done and checks to do."""

Found = Callable[[Finding], None]
"""Called with each finding as it is made; equal ones are not yet joined, and leads that await a proof are left out."""

PROOFS = {code: check.proved_by for code, check in CHECKS.items() if issubclass(check, Lead)}
"""By the code of a lead, the checks that prove it."""


def run_checks(
    target: str,
    samples: Samples | None,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    quick: bool = False,
    seed: int | None = None,
    examples: int | None = None,
    assume_kinds: bool = False,
    progress: Progress | None = None,
    runner: Runner | None = None,
    batch: Batch | None = None,
    proved: Proved | None = None,
    pay: Pay | None = None,
    found: Found | None = None,
) -> Report:
    """Check every reward of a target, and the set.

    Args:
        target: see `rewards.targets`.
        samples: completions with columns and labels; None: only what needs no call is checked.
        select, ignore: starts of codes; none selected means all.
        quick: leave out the checks that take longer, and use fewer rows.
        seed, examples: of what is drawn; default: those of the manifest.
        assume_kinds: take what a reward's name or columns suggest for its declared kind.
        progress: told after each check.
        runner: starts the workers; default: one of its own.
        batch: the rows of `samples` with token ids of a tokenizer; default: `samples.batch()`.
        proved: what need not be looked at again, because a seal says so (`workbench.sealing.proved_by`).
        pay: asked before calls that cost money; None: only recorded answers are used.
        found: told of each finding at once.

    Raises:
        UsageError: a selected code does not exist.
        TargetError, ManifestError, LoadError: the target cannot be loaded.
    """
    started = time.perf_counter()
    source = source_of(target)
    checks = select_checks(select, ignore)
    manifest = manifest_of(target)
    settings = manifest.check if manifest else None
    options = options_of(manifest, quick=quick, seed=seed, examples=examples, assume_kinds=assume_kinds)
    if samples is not None and len(samples):
        batch = batch if batch is not None else samples.batch()
    else:
        samples = batch = None
    with _runner(runner) as workers, contextlib.ExitStack() as stack:

        def opened(part: Samples | None, rows: Batch | None) -> Session:
            return stack.enter_context(contextlib.closing(Session(workers, target, part, rows, options, pay)))

        run = _Run(opened(samples, batch), progress)
        if found is not None:
            waivers = settings.waive if settings else ()
            run.found = lambda finding: found(waive(finding, waivers))
        if proved is not None and samples is not None and batch is not None and proved.rows:
            run.narrow = opened(samples.take(proved.rows), batch.rows(proved.rows))
        run.everything(checks, proved)
        findings = run.joined(settings.waive if settings else ())
    report = run.report(
        target,
        findings,
        settings.waive if settings else (),
        fail_on=settings.fail_on if settings else "error",
        seconds=time.perf_counter() - started,
        proved=proved,
    )
    return replace(report, source=source, chosen=bool(select or ignore))


def source_of(target: str) -> str:
    """The digest of a target's files as they are now, "" where they cannot be read; loading tells why."""
    from rewards.errors import RewardWorkbenchError
    from rewards.sources import source_digest
    from rewards.targets import parse_target

    try:
        return source_digest(parse_target(target))
    except (RewardWorkbenchError, OSError):
        return ""


def options_of(
    manifest: Manifest | None,
    *,
    quick: bool = False,
    seed: int | None = None,
    examples: int | None = None,
    assume_kinds: bool = False,
) -> Options:
    """How thorough a run is: as asked for, else as the manifest says, else as usual."""
    settings = manifest.check if manifest else None
    return Options(
        quick=quick,
        seed=seed if seed is not None else settings.seed if settings else 0,
        examples=examples if examples is not None else settings.examples if settings else 100,
        assume_kinds=assume_kinds,
        memory=_memory(manifest),
    )


def _memory(manifest: Manifest | None) -> Path | None:
    """Where a project keeps the examples that were found; None for other targets, and where nothing can be written."""
    if manifest is None or not os.access(manifest.path.parent, os.W_OK):
        return None
    return manifest.path.parent / FOLDER


@contextlib.contextmanager
def _runner(given: Runner | None) -> Iterator[Runner]:
    if given is not None:
        yield given
        return
    from rewards.running import Runner

    with Runner() as runner:
        yield runner


class _Run:
    """One run: the session, findings so far, and what was skipped."""

    def __init__(self, session: Session, progress: Progress | None) -> None:
        self.session = session
        self.narrow: Session | None = None
        """The rows that still have to be looked at by checks that were proved on the others."""
        self.progress = progress
        self.found: Found | None = None
        self.findings: list[Finding] = []
        self.skipped: list[Skipped] = []
        self.ran: dict[str, int] = {}
        self.durations: dict[str, float] = {}

    def everything(self, checks: Sequence[type[Check]], proved: Proved | None) -> None:
        """All checks on each reward, then those of the set."""
        chosen = self._leave_out(checks)
        of_reward = [check() for check in chosen if issubclass(check, RewardCheck)]
        for reward in self.session.description.names:
            held: dict[str, list[str]] = {}
            for done, check in enumerate(of_reward, 1):
                session = self.session
                if proved is not None and (check.code, reward) in proved.pairs:
                    if self.narrow is None:
                        self.ran[check.code] = check.version
                        continue
                    session = self.narrow
                outcome = session.of_reward(check, reward)
                if outcome.held is not None:
                    held.setdefault(outcome.held, []).append(check.code)
                elif outcome.skipped != NOT_CONCERNED:
                    self._take(check, outcome, reward)
                if self.progress is not None:
                    self.progress(reward, done, len(of_reward))
            for kind, codes in held.items():
                self.skipped += [Skipped(code, why_held(kind, codes), reward, kind) for code in codes]
        for of_set in chosen:
            if issubclass(of_set, SetCheck):
                check_of_set = of_set()
                self._take(check_of_set, self.session.of_set(check_of_set), None)

    def _leave_out(self, checks: Sequence[type[Check]]) -> list[type[Check]]:
        reasons = {check: self.session.left_out(check) for check in checks}
        self.skipped += [Skipped(check.code, why) for check, why in reasons.items() if why]
        return [check for check, why in reasons.items() if not why]

    def _take(self, check: Check, outcome: Outcome, reward: str | None) -> None:
        self.findings += outcome.findings  # one that was broken off may have found something
        if self.found is not None and not isinstance(check, Lead):
            for finding in outcome.findings:
                self.found(finding)
        if outcome.skipped is not None:
            self.skipped.append(Skipped(check.code, outcome.skipped, reward))
            if not outcome.seconds:
                return
        else:
            self.ran[check.code] = check.version
        self.durations[check.code] = self.durations.get(check.code, 0.0) + outcome.seconds

    def _signs(self, reward: str, findings: Sequence[Finding]) -> list[Sign]:
        """What tells causes apart among findings of a reward."""
        return signs_of(next(one for one in self.session.subjects if one.name == reward), findings)

    def joined(self, waivers: Sequence[Waiver]) -> list[Finding]:
        """The findings with what belongs together as one, and marked where they are waived."""
        lines = {described.name: described.line for described in self.session.description.rewards}
        merged = merge(fold(self.findings, PROOFS, lines))
        return join_causes([waive(finding, waivers) for finding in merged], self._signs, lines)

    def report(
        self,
        target: str,
        findings: Sequence[Finding],
        waivers: Sequence[Waiver],
        *,
        fail_on: str,
        seconds: float,
        proved: Proved | None,
    ) -> Report:
        """What came of the run, with the findings of `joined`."""
        session = self.session
        labels = session.samples.labels if session.samples is not None else []
        return Report(
            target=target,
            description=session.description,
            rewards=tuple(
                RewardReport(name, tuple(f for f in findings if f.reward == name))
                for name in session.description.names
            ),
            findings=tuple(finding for finding in findings if finding.reward is None),
            skipped=tuple(self.skipped),
            ran=tuple(sorted(self.ran.items())),
            seconds=seconds,
            fail_on=fail_on,
            quick=session.options.quick,
            seed=session.options.seed,
            examples=session.options.examples,
            assume_kinds=session.options.assume_kinds,
            rows=len(labels),
            right=labels.count("right"),
            wrong=labels.count("wrong") + labels.count("hack"),
            durations=dict(sorted(self.durations.items())),
            notes=tuple(_idle(waivers, findings, self.ran)),
            proved=proved,
        )


def waive(finding: Finding, waivers: Sequence[Waiver]) -> Finding:
    """The finding with the reason of the first waiver that is about it; one that speaks for others needs theirs too."""
    others = [waive(other, waivers) for other in finding.also]
    for waiver in waivers:
        if waiver.check == finding.check and waiver.reward in (None, finding.reward):
            return replace(finding, waived=waiver.reason) if all(o.accepted for o in others) else finding
    return finding


def _idle(waivers: Sequence[Waiver], findings: Sequence[Finding], ran: Mapping[str, int]) -> Iterator[str]:
    """What to say of waivers that fit no finding: they would hide the next one."""
    for waiver in waivers:
        where = f" of reward '{waiver.reward}'" if waiver.reward else ""
        if waiver.check not in CHECKS:
            yield f"[check] waive: there is no check {waiver.check}{did_you_mean(waiver.check, CHECKS)}"
        elif waiver.check in ran and all(
            finding.check != waiver.check or waiver.reward not in (None, finding.reward)
            for finding in findings
        ):
            yield f"[check] waive: nothing to waive, {waiver.check}{where} finds nothing; take the line out"


__all__ = ["Found", "Progress", "options_of", "run_checks", "waive"]
