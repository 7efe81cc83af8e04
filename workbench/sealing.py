"""Sealing a checked set: from a report of the checks to the seal beside the manifest.

`rewards.seal` knows what a seal is; this module says what a run of the checks proved: on which samples, with which
checks, findings and waivers. A set is sealed only where the verdict is "pass".

Where samples were added to a sealed set that has not changed, what was proved on the rows of the seal need not be
proved again: checks that judge completions one by one look at the new rows, beside some of the sealed ones. Checks that
rest on all rows together (signal, labels) see all of them.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from rewards.errors import SealError
from rewards.seal import (
    DIGITS,
    SealedCheck,
    SealedSamples,
    SkippedCheck,
    here,
    read_seal,
    seal_of,
    verify,
    write_seal,
)
from rewards.sources import source_digest
from rewards.targets import parse_target

if TYPE_CHECKING:
    from rewards.running import Runner
    from rewards.seal import Seal
    from workbench.checks.report import Proved, Report
    from workbench.checks.subject import Options
    from workbench.samples.records import Samples

COMPANY = 100
"""Sealed rows that stand beside new ones, so that what is read off the samples (forms of answers, ranges) is there."""
_WORTH_IT = 0.8
"""The share of the rows above which all are looked at."""
_OF_ALL_ROWS = ("RW6", "RW7", "RW8", "RW213")
"""Families that rest on all rows together, and the check of laws, whose own code a seal does not cover."""


def seal_report(report: Report, samples: Samples | None) -> Path:
    """Write the seal of a set that passed its checks, and return the file.

    Raises:
        SealError: findings at or above `fail_on` stand (also those that a baseline knows, which proves nothing),
            there were no samples, checks were left out by their codes, or the files are not those that were checked;
            nothing is written.
        UsageError: the seal cannot be written.
    """
    if report.rows == 0:
        raise SealError(
            "not sealed: without samples nothing was shown; add --samples FILE or name them in the manifest"
        )
    standing = [f for f in report.all_findings if f.waived is None and f.at_least(report.fail_on)]
    if standing:
        first = f"{standing[0].check} {standing[0].name}"
        raise SealError(
            f"not sealed: {len(standing)} finding{'s' if len(standing) != 1 else ''} at or above "
            f"'{report.fail_on}' (first: {first}); correct the reward, or waive with a reason under [check] waive"
        )
    if report.chosen:
        raise SealError("not sealed: checks were selected or ignored, and a seal stands for all of them")
    _see_unchanged(report)
    seal = make_seal(report, samples)
    write_seal(report.description.seal_path, seal)
    return report.description.seal_path


def _see_unchanged(report: Report) -> None:
    """See that what was checked is what the files say now, and what an earlier seal that was relied on had sealed.

    Raises:
        SealError: it is not.
    """
    parsed = parse_target(report.description.target)
    same = not report.source or report.source == source_digest(parsed)
    if same and report.proved is not None:
        same = read_seal(parsed.seal_path).fingerprint == report.description.fingerprint
    if not same:
        raise SealError(
            "not sealed: the code or the manifest changed while the checks ran; check the set again"
        )


def make_seal(report: Report, samples: Samples | None, *, created: str | None = None) -> Seal:
    """The seal of a report; nothing is written. `created` defaults to now."""
    findings = [finding for finding in report.all_findings if finding.waived is None]
    waived = [finding for finding in report.all_findings if finding.waived is not None]
    return seal_of(
        report.description,
        sealed_samples(samples, report.description.root),
        created=created or datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        checks=[SealedCheck(code, version, report.seed) for code, version in report.ran],
        skipped=[
            *(SkippedCheck(**item.to_json()) for item in report.skipped),
            *(SkippedCheck(code, "not selected") for code in _not_selected(report)),
        ],
        findings=[{**finding.to_json(), "reward": finding.reward} for finding in findings],
        waivers=[
            {"check": f.check, "reward": f.reward, "reason": f.waived, "fingerprint": f.fingerprint}
            for f in waived
        ],
        quick=report.quick,
        source=report.source,
        options={"examples": report.examples, "assume_kinds": report.assume_kinds},
        extends=report.proved.created if report.proved is not None else "",
    )


def _not_selected(report: Report) -> list[str]:
    from workbench.checks.selection import CHECKS

    touched = {code for code, _ in report.ran} | {item.check for item in report.skipped}
    return sorted(set(CHECKS) - touched)


def sealed_samples(samples: Samples | None, root: Path) -> SealedSamples:
    """What a seal records of samples: a digest of all rows with their labels, and the counts."""
    if samples is None:
        return SealedSamples(hash="", rows=0, groups=0)
    each = row_digests(samples)
    return SealedSamples(
        hash=hashlib.blake2b("".join(each).encode(), digest_size=16).hexdigest(),
        rows=len(samples),
        groups=len(set(samples.groups)),
        right=samples.labels.count("right"),
        wrong=samples.labels.count("wrong") + samples.labels.count("hack"),
        sources=tuple(_relative(path, root) for path in samples.sources),
        each="".join(digest[:DIGITS] for digest in each),
    )


def row_digests(samples: Samples) -> list[str]:
    """32 hex digits for each row: its prompt, completion, columns, label and expected scores."""
    digests = []
    names = sorted(samples.columns)
    for row in range(len(samples)):
        content = [
            samples.prompts[row],
            samples.completions[row],
            {name: samples.columns[name][row] for name in names if samples.columns[name][row] is not None},
            samples.labels[row],
            samples.expected[row],
        ]
        text = json.dumps(content, sort_keys=True, default=str)
        digests.append(hashlib.blake2b(text.encode(), digest_size=16).hexdigest())
    return digests


def proved_by(seal: Seal, samples: Samples, options: Options) -> Proved | None:
    """What a seal that holds has shown of these samples, so that only the others have to be looked at.

    Args:
        seal: a seal that was verified against the code as it is.
        samples: the samples as they are now; sealed rows may stand anywhere in them.
        options: how thorough the checks are to be.

    Returns:
        None where all has to be looked at: no row of the seal is among the samples, the new rows are most of them, or
        seal and run differ in options or environment.
    """
    from workbench.checks.report import Proved  # late: verifying a seal needs none of the checks
    from workbench.checks.selection import CHECKS
    from workbench.checks.subject import spread_rows

    now = {"examples": options.examples, "assume_kinds": options.assume_kinds}
    if seal.quick != options.quick or seal.options != now or seal.environment != here():
        return None
    sealed = set(seal.samples.digests)
    known = [digest[:DIGITS] in sealed for digest in row_digests(samples)]
    # what compares the rows of a prompt was shown for the groups as they were
    fresh = {group for group, old in zip(samples.groups, known, strict=True) if not old}
    new = [row for row, group in enumerate(samples.groups) if group in fresh]
    old = [row for row, group in enumerate(samples.groups) if group not in fresh]
    beside = (
        [old[at] for at in spread_rows([samples.groups[row] for row in old], COMPANY)] if new and old else []
    )
    if not old or len(new) + len(beside) > _WORTH_IT * len(samples):
        return None
    told = (*seal.findings, *seal.waivers)
    found = {(one["check"], f.get("reward")) for f in told for one in (f, *f.get("also", ()))}
    unsure = {item.check for item in seal.skipped}
    pairs = frozenset(
        (ran.check, reward.name)
        for ran in seal.checks
        if _row_by_row(ran.check) and ran.check not in unsure
        and ran.version == CHECKS[ran.check].version and ran.seed == options.seed
        for reward in seal.rewards
        if not {(ran.check, reward.name), (ran.check, None)} & found
    )  # fmt: skip
    return Proved(pairs, tuple(sorted([*new, *beside])), len(new), len(old), seal.created)


def _row_by_row(code: str) -> bool:
    """Whether a check judges completions by themselves, so that what it showed of some holds whatever is added."""
    from workbench.checks.check import RewardCheck
    from workbench.checks.selection import CHECKS

    check = CHECKS.get(code)
    return (
        check is not None
        and issubclass(check, RewardCheck)
        and check.needs == "samples"
        and not code.startswith(_OF_ALL_ROWS)
    )


def _relative(path: Path, root: Path) -> str:
    try:
        return str(path.resolve().relative_to(root.resolve()))
    except ValueError:
        return path.name


def verify_seal(target: str, *, runner: Runner | None = None) -> Seal:
    """Read the seal of a target and hold it against the code as it is now. No samples are read, no reward is called.

    Where files and manifest are as they were, nothing is loaded; else the set is, to tell what changed.

    Raises:
        SealError: there is no seal, it is damaged, or the set changed since; says what.
        TargetError, ManifestError, LoadError: the target cannot be loaded.
    """
    parsed = parse_target(target)
    seal = read_seal(parsed.seal_path)
    if seal.source and seal.source == source_digest(parsed):
        return seal
    from rewards.running import Runner

    if runner is None:
        with Runner() as own:
            description = own.inspect(target)
    else:
        description = runner.inspect(target)
    changes = verify(seal, description)
    if changes:
        raise SealError(f"the seal does not hold: {'; '.join(changes)}; check the set again with --seal")
    return seal


__all__ = ["make_seal", "proved_by", "seal_report", "sealed_samples", "verify_seal"]
