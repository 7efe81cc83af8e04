"""Sealing a checked set: from a report of the checks to the seal beside the manifest.

`rewards.seal` knows what a seal is; this module says what a run of the checks proved: on which samples, with which
checks, findings and waivers. A set is sealed only where the verdict is "pass".
"""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from rewards.errors import SealError
from rewards.seal import SealedCheck, SealedSamples, SkippedCheck, read_seal, seal_of, verify, write_seal
from rewards.sources import source_digest
from rewards.targets import parse_target

if TYPE_CHECKING:
    from rewards.running import Runner
    from rewards.seal import Seal
    from workbench.checks.report import Report
    from workbench.samples.records import Samples


def seal_report(report: Report, samples: Samples | None) -> Path:
    """Write the seal of a set that passed its checks, and return the file.

    Raises:
        SealError: findings at or above `fail_on` stand, or there were no samples; nothing is written.
        UsageError: the seal cannot be written.
    """
    if report.rows == 0:
        raise SealError(
            "not sealed: without samples nothing was shown; add --samples FILE or name them in the manifest"
        )
    if report.verdict != "pass":
        standing = report.standing
        first = f"{standing[0].check} {standing[0].name}"
        raise SealError(
            f"not sealed: {len(standing)} finding{'s' if len(standing) != 1 else ''} at or above "
            f"'{report.fail_on}' (first: {first}); correct the reward, or waive with a reason under [check] waive"
        )
    seal = make_seal(report, samples)
    write_seal(report.description.seal_path, seal)
    return report.description.seal_path


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
        findings=[finding.to_json() for finding in findings],
        waivers=[
            {"check": f.check, "reward": f.reward, "reason": f.waived, "fingerprint": f.fingerprint}
            for f in waived
        ],
        quick=report.quick,
        source=source_digest(parse_target(report.description.target)),
    )


def _not_selected(report: Report) -> list[str]:
    from workbench.checks.selection import CHECKS

    touched = {code for code, _ in report.ran} | {item.check for item in report.skipped}
    return sorted(set(CHECKS) - touched)


def sealed_samples(samples: Samples | None, root: Path) -> SealedSamples:
    """What a seal records of samples: a digest of all rows with their labels, and the counts."""
    if samples is None:
        return SealedSamples(hash="", rows=0, groups=0)
    digest = hashlib.blake2b(digest_size=16)
    for row in range(len(samples)):
        columns = {name: values[row] for name, values in samples.columns.items()}
        content = [
            samples.prompts[row],
            samples.completions[row],
            columns,
            samples.labels[row],
            samples.expected[row],
        ]
        digest.update(json.dumps(content, sort_keys=True, default=str).encode())
    return SealedSamples(
        hash=digest.hexdigest(),
        rows=len(samples),
        groups=len(set(samples.groups)),
        right=samples.labels.count("right"),
        wrong=samples.labels.count("wrong") + samples.labels.count("hack"),
        sources=tuple(_relative(path, root) for path in samples.sources),
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


__all__ = ["make_seal", "seal_report", "sealed_samples", "verify_seal"]
