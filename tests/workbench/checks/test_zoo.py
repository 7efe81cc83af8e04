"""The zoos: every sound reward is left alone, and the defects that the present families cover are found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rewards.running import Runner
from workbench.checks.finding import Finding
from workbench.checks.runner import run_checks
from workbench.samples import read_samples

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
ZOO = FIXTURES / "zoo"
MORE = FIXTURES / "zoo_more"
ENTRIES: list[dict[str, Any]] = [json.loads(line) for line in (ZOO / "zoo.jsonl").read_text().splitlines()]
OTHERS: list[dict[str, Any]] = [json.loads(line) for line in (MORE / "zoo.jsonl").read_text().splitlines()]
SOUND = [entry for entry in ENTRIES if entry["verdict"] == "healthy"]
SLOW = ("r009", "r017")  # run programs in processes of their own

COVERED = {
    "set-names": {"RW116"},
    "signature": {"RW101"},
    "bad-value": {"RW105", "RW106", "RW214"},
    "bad-count": {"RW104"},
    "crash": {"RW110"},
    "no-signal": {"RW601"},
    "swallowed-error": {"RW126"},
    "set-cancel": {"RW602"},
    "shape": {"RW113", "RW114"},
    "gold-wiring": {"RW103", "RW115"},
    "mutates-input": {"RW121"},
    "side-effect": {"RW122"},
    "not-portable": {"RW116", "RW117"},
    "async-blocking": {"RW119"},
    "nondeterministic": {"RW201", "RW202"},
    "batch-dependent": {"RW204", "RW205", "RW206"},
    "parse-miss": {"RW401", "RW402", "RW208"},
    "parse-grab": {"RW310", "RW406"},
    "loose-match": {"RW309", "RW310", "RW403", "RW308"},
    "empty-paid": {"RW301", "RW302"},
    "format-farm": {"RW302", "RW304", "RW107", "RW210"},
    "hedge": {"RW308", "RW310", "RW403"},
    "stuffing": {"RW312"},
    "length-exploit": {"RW107", "RW210", "RW313", "RW301"},
    "code-verdict": {"RW319"},
    "code-unsafe": {"RW319"},
}
"""Kinds of defect that the families have to find, and the checks that name them."""


def toml(entry: dict[str, Any], file: str, names: list[str]) -> str:
    """A manifest that declares what the entry declares; a set's members declare nothing."""
    said = entry["declares"]
    tables = []
    for name, weight in zip(names, entry["weights"], strict=True):
        table = f'[[reward]]\nfunction = "{file}::{name}"\nweight = {weight}\n'
        if len(names) == 1:
            low, high = map(float, said["range"])
            table += f'kind = "{said["role"]}"\nrange = [{low}, {high}]\nscope = "{said["scope"]}"\n'
            table += f"abstains = {str(said['abstains']).lower()}\n"
        tables.append(table)
    return "\n".join(tables)


@pytest.fixture
def entry_findings(tmp_path: Path, runner: Runner) -> Callable[..., list[Finding]]:
    """Findings at warning level or above on an entry, declared or bare, of some families or all."""

    def run(
        entry: dict[str, Any], *, zoo: Path = ZOO, declared: bool = True, select: tuple[str, ...] = ()
    ) -> list[Finding]:
        folder = tmp_path / f"{entry['id']}{declared}"
        folder.mkdir(exist_ok=True)
        (folder / "rewards.py").write_text((zoo / entry["file"]).read_text())
        target = folder / "rewards.py"
        if declared or len(entry["functions"]) > 1:
            (folder / "rewardset.toml").write_text(toml(entry, "rewards.py", entry["functions"]))
            target = folder
        samples = read_samples([zoo / entry["tasks"]])
        report = run_checks(str(target), samples, select=select, runner=runner)
        return [finding for finding in report.all_findings if finding.at_least("warning")]

    return run


@pytest.mark.parametrize(
    "entry", [pytest.param(e, id=e["id"], marks=[pytest.mark.slow] if e["id"] in SLOW else []) for e in SOUND]
)
def test_sound_reward_raises_no_alarm_declared_or_not(entry, entry_findings):
    assert entry_findings(entry) == []
    assert entry_findings(entry, declared=False) == []


@pytest.mark.parametrize(
    "entry", [pytest.param(e, id=f"{e['id']}-{e['kind']}") for e in ENTRIES if e.get("kind") in COVERED]
)
def test_defect_of_a_covered_kind_is_found_by_a_check_that_names_it(entry, entry_findings):
    found = {finding.check for finding in entry_findings(entry)}
    assert found & COVERED[entry["kind"]]
    assert {code for code in found if code.startswith(("RW1", "RW6"))} <= COVERED[entry["kind"]]


@pytest.mark.slow
@pytest.mark.parametrize("entry", [pytest.param(e, id=e["id"]) for e in OTHERS if e["verdict"] == "healthy"])
def test_other_sound_rewards_raise_no_alarm_declared_or_not(entry, entry_findings):
    assert entry_findings(entry, zoo=MORE) == []
    assert entry_findings(entry, zoo=MORE, declared=False) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry", [pytest.param(e, id=f"{e['id']}-{e['kind']}") for e in OTHERS if e.get("kind") in COVERED]
)
def test_other_defects_of_a_covered_kind_are_found(entry, entry_findings):
    assert entry_findings(entry, zoo=MORE)


@pytest.mark.parametrize("kind", ["bad-count", "hedge", "format-farm", "parse-grab"])
def test_names_of_functions_and_files_do_not_steer_a_check(kind, entry_findings, tmp_path, runner):
    entry = next(entry for entry in ENTRIES if entry["kind"] == kind)
    before = entry_findings(entry)
    name = entry["functions"][0]
    other = tmp_path / "other"
    other.mkdir()
    (other / "judge.py").write_text((ZOO / entry["file"]).read_text().replace(name, "zz"))
    (other / "rewardset.toml").write_text(toml(entry, "judge.py", ["zz"]))
    report = run_checks(str(other), read_samples([ZOO / entry["tasks"]]), runner=runner)
    after = [finding for finding in report.all_findings if finding.at_least("warning")]
    assert [(f.check, f.message.replace("zz", name)) for f in after] == [(f.check, f.message) for f in before]
