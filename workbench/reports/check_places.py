"""Where a finding points to, for reports that are shown beside the code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.checks.finding import Finding
from workbench.checks.report import Report


@dataclass(frozen=True)
class Place:
    """A file, relative to the root of a checkout where it lies in it, and a line, counted from 1."""

    path: Path
    line: int


def place_of(finding: Finding, report: Report, root: Path) -> Place:
    """The line of code of a finding; else where its reward is defined; else the target itself.

    Code that lies outside `root` (an installed package) is pointed to where the set names it.
    """
    description = report.description
    if finding.reward is None:
        return Place(_relative(_target(report), root), 1)
    reward = description.reward(finding.reward)
    file = Path(reward.file) if reward.file else None
    if file is None or not file.resolve().is_relative_to(root.resolve()):
        return Place(_relative(_target(report), root), _named_at(report, reward.entry.function, reward.name))
    return Place(_relative(file, root), finding.line or reward.line or 1)


def _target(report: Report) -> Path:
    description = report.description
    if description.manifest_path is not None:
        return description.manifest_path
    files = [reward.file for reward in description.rewards if reward.file]
    return Path(files[0]) if files else description.root


def _named_at(report: Report, function: str, name: str) -> int:
    """The line of the manifest that names a reward."""
    manifest = report.description.manifest_path
    if manifest is None or not manifest.is_file():
        return 1
    lines = manifest.read_text(encoding="utf-8", errors="replace").splitlines()
    for wanted in (f'"{name}"', f'"{function}"', function):
        for number, line in enumerate(lines, 1):
            if wanted in line.partition("#")[0]:
                return number
    return 1


def _relative(path: Path, root: Path) -> Path:
    path, root = path.resolve(), root.resolve()
    return path.relative_to(root) if path.is_relative_to(root) else path


__all__ = ["Place", "place_of"]
