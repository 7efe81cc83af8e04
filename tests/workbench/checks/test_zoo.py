"""The zoos: every sound reward is left alone, every broken one found by a check that names the defect, in few findings.

What `docs/selftest.md` says of the whole is compared with a fixed sample here; the whole is among the slow tests.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rewards.running import Runner
from workbench.checks.finding import Finding
from workbench.checks.runner import run_checks
from workbench.samples import read_samples
from workbench.selftest.naming import names_it
from workbench.selftest.zoo import Entry, manifest, read_zoo, zoo_names

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "selftest.md"
ENTRIES = [entry for name in zoo_names() for entry in read_zoo(name)]
BROKEN = [entry for entry in ENTRIES if not entry.sound]
SOUND = [entry for entry in ENTRIES if entry.sound]
SAMPLE = {"r003", "r007", "r037", "f043", "m001", "m003"}
QUIET = {"m002", "f028", "f068"}
MOST = 4
"""Findings at warning level or above on a broken reward; each of them has a cause of its own."""

Run = Callable[..., list[Finding]]


def marked(entries: list[Entry], sample: set[str]) -> list[Any]:
    """Entries as parameters, those outside of the sample among the slow tests."""
    return [
        pytest.param(
            entry,
            id=f"{entry.id}-{entry.kind or 'sound'}",
            marks=[] if entry.id in sample else [pytest.mark.slow],
        )
        for entry in entries
    ]


@pytest.fixture
def loud(tmp_path: Path, runner: Runner) -> Run:
    """Findings at warning level or above on an entry, declared or bare; `rename` maps its source, names and samples."""

    def run(
        entry: Entry, *, declared: bool = True, source: str | None = None, file: str = "rewards.py"
    ) -> Any:
        folder = tmp_path / f"{entry.id}{declared}{Path(file).stem}"
        folder.mkdir(exist_ok=True)
        (folder / file).write_text(source or entry.file.read_text())
        target = f"{folder / file}::{entry.functions[0]}"
        if declared or entry.is_set:
            (folder / "rewardset.toml").write_text(manifest(entry, file, declared=declared))
            target = str(folder)
        report = run_checks(target, read_samples([entry.tasks]), runner=runner)
        return [finding for finding in report.all_findings if finding.at_least("warning")]

    return run


def missed(way: str) -> set[str]:
    """The ids that the document says are missed or falsely alarmed, of "Declared" or "Bare"."""
    section = DOCUMENT.read_text().partition(f"## {way}: missed")[2].partition("\n## ")[0]
    return set(re.findall(r"`\w+/(\w+)`", section))


@pytest.mark.parametrize("entry", marked(BROKEN, SAMPLE))
def test_broken_reward_is_found_as_the_document_says(entry: Entry, loud: Run) -> None:
    findings = loud(entry)
    assert entry.kind is not None
    named = [finding for finding in findings if any(names_it(entry.kind, code) for code in finding.checks)]
    assert bool(named) == (entry.id not in missed("Declared"))
    assert len(findings) <= MOST
    assert all(finding.message and finding.advice for finding in named)


@pytest.mark.parametrize("entry", marked(SOUND, QUIET))
@pytest.mark.parametrize("declared", [True, False])
def test_sound_reward_raises_no_alarm(entry: Entry, declared: bool, loud: Run) -> None:
    findings = loud(entry, declared=declared)
    said = missed("Declared" if declared else "Bare")
    assert findings == [] or entry.id in said


def test_document_claims_what_is_promised() -> None:
    text = DOCUMENT.read_text()
    [declared] = re.findall(r"\| Declared \| all \| (\d+) of (\d+), .*?\| .*?\| (\d+) of (\d+), ", text)
    [bare] = re.findall(r"\| Bare \| all \| (\d+) of (\d+), ", text)
    found, broken, alarms, sound = map(int, declared)
    measured = set(re.findall(r"`(zoo\w*)` \(\d+ broken", text))
    assert measured >= {
        "zoo",
        "zoo_third",
        "zoo_fourth",
    }  # the one given, and those written without sight of the checks
    assert broken == sum(entry.zoo in measured for entry in BROKEN)
    assert sound == sum(entry.zoo in measured for entry in SOUND) >= 125
    assert found >= 0.95 * broken
    assert int(bare[0]) >= 0.80 * broken
    assert alarms <= 0.03 * sound


RENAMED = [entry for entry in BROKEN if entry.id in {"r037", "m001", "f043"}]


@pytest.mark.parametrize("entry", [pytest.param(e, id=e.id) for e in RENAMED])
def test_names_and_wording_do_not_steer_a_check(entry: Entry, loud: Run, tmp_path: Path) -> None:
    other = reworded(entry, tmp_path)
    before = {code for finding in loud(entry) for code in finding.checks}
    source = entry.file.read_text()
    for place, name in enumerate(entry.functions):
        source = re.sub(rf"\b{name}\b", f"zz_{place}", source)
    after = {code for f in loud(other, source=source, file="judge.py") for code in f.checks}
    assert after == before


def reworded(entry: Entry, folder: Path) -> Entry:
    """The entry with other function names, and tasks whose prompts say the same in other words."""
    import json
    from dataclasses import replace

    lines = []
    for line in entry.tasks.read_text().splitlines():
        row = json.loads(line)
        prompt = row["prompt"]
        for message in prompt if isinstance(prompt, list) else ():
            if message["role"] == "user":
                message["content"] = f"Dear helper, kindly do this. {message['content']} Many thanks."
        lines.append(json.dumps(row) + "\n")
    (folder / "other.jsonl").write_text("".join(lines))
    names = tuple(f"zz_{place}" for place in range(len(entry.functions)))
    return replace(entry, functions=names, tasks=folder / "other.jsonl")
