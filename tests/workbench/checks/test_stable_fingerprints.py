"""A finding is known again after its code was re-formatted: by waivers' readers, baselines and code scanning."""

import ast
from pathlib import Path
from typing import Any

import pytest

from rewards.running import Runner
from workbench.checks.runner import run_checks
from workbench.samples import read_samples
from workbench.selftest.zoo import Entry, manifest, read_zoo, zoo_names

BROKEN = [entry for name in zoo_names() for entry in read_zoo(name) if not entry.sound]
SAMPLE = {"r025", "m053", "f016", "r057"}


def reformatted(source: str) -> str:
    """The same code in another layout: quotes, brackets and line breaks of another hand, comments, lines moved."""
    text = ast.unparse(ast.parse(source))
    starts = {node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}
    lines = ["# moved", "", ""]
    for number, line in enumerate(text.splitlines(), 1):
        if number in starts:
            indent = line[: len(line) - len(line.lstrip())]
            lines += ["", f"{indent}# line {number} was here"]
        lines.append(line)
    return "\n".join(lines) + "\n"


def test_the_other_layout_is_the_same_code_on_other_lines() -> None:
    source = "def a(x):\n    if (x ==\n        'b'):\n        return 1\n    return 2\n"
    changed = reformatted(source)
    assert ast.dump(ast.parse(changed)) == ast.dump(ast.parse(source))
    assert changed.splitlines().index("        return 1") > 3


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, id=entry.id, marks=[] if entry.id in SAMPLE else [pytest.mark.slow])
        for entry in BROKEN
    ],
)
def test_fingerprints_are_those_of_the_code_not_of_its_layout(
    entry: Entry, tmp_path: Path, runner: Runner
) -> None:
    source = entry.file.read_text()

    def prints(text: str, place: str) -> dict[str, Any]:
        folder = tmp_path / place
        folder.mkdir()
        (folder / "rewards.py").write_text(text)
        (folder / "rewardset.toml").write_text(manifest(entry, "rewards.py", declared=True))
        report = run_checks(str(folder), read_samples([entry.tasks]), runner=runner, quick=True)
        return {finding.fingerprint: (finding.check, finding.cause) for finding in report.all_findings}

    before = prints(source, "before")
    assert before or entry.id not in SAMPLE
    assert prints(reformatted(source), "after") == before
