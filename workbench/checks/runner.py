"""Running the checks over a target: the rewards one after another, then the set.

A check sees one subject and yields findings; what fails on the way (a lost worker, a fault of a check)
becomes an entry under `skipped`, and the others still run. The user's code only runs in worker processes.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rewards.errors import RewardWorkbenchError
from workbench.checks.bench import Bench
from workbench.checks.check import Check, RewardCheck, SetCheck
from workbench.checks.finding import Finding, merge
from workbench.checks.report import Report, RewardReport, Skipped
from workbench.checks.selection import select as select_checks
from workbench.checks.subject import Options, RewardSubject, SetSubject
from workbench.versions import FOLDER

if TYPE_CHECKING:
    from rewards.contract import Batch
    from rewards.manifest import Manifest, Waiver
    from rewards.rewardset import SetDescription
    from rewards.running import Runner
    from workbench.samples.records import Samples

Progress = Callable[[str, int, int], None]
"""Called with the name of a reward, checks done and checks to do."""

NO_SAMPLES = "no samples: add --samples FILE"


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

    Raises:
        UsageError: a selected code does not exist.
        TargetError, ManifestError, LoadError: the target cannot be loaded.
    """
    started = time.perf_counter()
    checks = select_checks(select, ignore)
    manifest = manifest_of(target)
    settings = manifest.check if manifest else None
    options = Options(
        quick=quick,
        seed=seed if seed is not None else settings.seed if settings else 0,
        examples=examples if examples is not None else settings.examples if settings else 100,
        assume_kinds=assume_kinds,
        memory=_memory(manifest),
    )
    if samples is not None and len(samples):
        batch = batch if batch is not None else samples.batch()
    else:
        samples = batch = None
    with _runner(runner) as workers:
        bench = Bench(workers, target, batch)
        try:
            run = _Run(bench, bench.description, samples, batch, options, progress)
            run.everything(checks)
        finally:
            bench.close()
    waivers = settings.waive if settings else ()
    return run.report(
        target,
        waivers,
        fail_on=settings.fail_on if settings else "error",
        seconds=time.perf_counter() - started,
    )


def manifest_of(target: str) -> Manifest | None:
    """The manifest of a project target; None for other targets. Runs none of the user's code."""
    from rewards.manifest import read_manifest
    from rewards.targets import parse_target

    parsed = parse_target(target)
    return read_manifest(parsed.path) if parsed.kind == "project" else None


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
    """One run: subjects, findings so far, and what was skipped."""

    def __init__(
        self,
        bench: Bench,
        description: SetDescription,
        samples: Samples | None,
        batch: Batch | None,
        options: Options,
        progress: Progress | None,
    ) -> None:
        self.description = description
        self.samples = samples
        self.options = options
        self.progress = progress
        alone = len(description.rewards) == 1
        self.subjects = [
            RewardSubject(reward, bench, samples, batch, options, alone) for reward in description.rewards
        ]
        self.set_subject = SetSubject(description, self.subjects, samples, batch, options)
        self.findings: list[Finding] = []
        self.skipped: list[Skipped] = []
        self.ran: dict[str, int] = {}
        self.durations: dict[str, float] = {}

    def everything(self, checks: Sequence[type[Check]]) -> None:
        """All checks on each reward, then those of the set."""
        chosen = self._leave_out(checks)
        of_reward = [check() for check in chosen if issubclass(check, RewardCheck)]
        of_set = [check() for check in chosen if issubclass(check, SetCheck)]
        for subject in self.subjects:
            uncallable = self._why_uncallable(subject)
            held: list[str] = []
            for done, check in enumerate(of_reward, 1):
                if uncallable and check.needs == "samples" and check.code != "RW102":
                    self.skipped.append(Skipped(check.code, uncallable, subject.name))
                elif check.kinds is not None and not self._concerned(check, subject):
                    held += (
                        [check.code]
                        if subject.task.suggested in check.kinds and not subject.task.kind
                        else []
                    )
                else:
                    self._one(check, functools.partial(check.run, subject), subject.name)
                if self.progress is not None:
                    self.progress(subject.name, done, len(of_reward))
            if held:
                kind = subject.task.suggested
                why = f'{len(held)} held back: looks like {kind}, not declared: kind = "{kind}", or --assume-kinds'
                self.skipped += [Skipped(code, why, subject.name) for code in held]
        callable_ones = [subject for subject in self.subjects if not self._why_uncallable(subject)]
        self.set_subject.members = callable_ones
        for of_all in of_set:
            if len(callable_ones) < len(self.subjects) and of_all.needs == "samples":
                self.skipped.append(Skipped(of_all.code, "a reward of the set cannot be called"))
            else:
                self._one(of_all, functools.partial(of_all.run, self.set_subject), None)

    def _concerned(self, check: Check, subject: RewardSubject) -> bool:
        """Whether the reward is of a kind that the check is about; a task that cannot be read is of none."""
        try:
            return check.kinds is None or subject.task.kind in check.kinds
        except RewardWorkbenchError:
            return False

    def _leave_out(self, checks: Sequence[type[Check]]) -> list[type[Check]]:
        chosen = []
        for check in checks:
            if self.samples is None and check.needs == "samples":
                self.skipped.append(Skipped(check.code, NO_SAMPLES))
            elif self.options.quick and not check.quick:
                self.skipped.append(Skipped(check.code, "left out by --quick"))
            else:
                chosen.append(check)
        return chosen

    def _why_uncallable(self, subject: RewardSubject) -> str | None:
        """Why no call can work, so that the checks that need one would only repeat it."""
        described = subject.description
        if described.signature.problem is not None:
            return "it cannot be called (RW101)"
        if self.samples is not None and described.missing_columns(self.samples.columns):
            return "it cannot be called without its column (RW102)"
        if described.entry.cost == "paid":
            return 'it is paid for (cost = "paid"), so it is not called'
        if self.samples is not None and not subject.concerned:
            return "its `when` holds for no sample"
        return None

    def _one(self, check: Check, run: Callable[[], Iterable[Finding]], reward: str | None) -> None:
        began = time.perf_counter()
        try:
            self.findings += list(run())
            self.ran[check.code] = check.version
        except RewardWorkbenchError as error:
            self.skipped.append(Skipped(check.code, f"could not be run: {error}", reward))
        self.durations[check.code] = self.durations.get(check.code, 0.0) + time.perf_counter() - began

    def report(self, target: str, waivers: Sequence[Waiver], *, fail_on: str, seconds: float) -> Report:
        """The findings merged, waived and ordered."""
        waived = [_waive(finding, waivers) for finding in merge(self.findings)]
        labels = self.samples.labels if self.samples is not None else []
        return Report(
            target=target,
            description=self.description,
            rewards=tuple(
                RewardReport(subject.name, tuple(f for f in waived if f.reward == subject.name))
                for subject in self.subjects
            ),
            findings=tuple(finding for finding in waived if finding.reward is None),
            skipped=tuple(self.skipped),
            ran=tuple(sorted(self.ran.items())),
            seconds=seconds,
            fail_on=fail_on,
            quick=self.options.quick,
            seed=self.options.seed,
            rows=len(labels),
            right=labels.count("right"),
            wrong=labels.count("wrong") + labels.count("hack"),
            durations=dict(sorted(self.durations.items())),
        )


def _waive(finding: Finding, waivers: Sequence[Waiver]) -> Finding:
    for waiver in waivers:
        if waiver.check == finding.check and waiver.reward in (None, finding.reward):
            return replace(finding, waived=waiver.reason)
    return finding


__all__ = ["Progress", "manifest_of", "run_checks"]
