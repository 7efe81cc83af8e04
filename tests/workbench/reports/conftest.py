"""A report with everything in it: what fails, what warns, what is waived, hostile text, checks that did not run."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rewards.running import Runner
from workbench.checks.finding import Cost, Evidence, Finding
from workbench.checks.report import Report
from workbench.checks.runner import run_checks
from workbench.samples import read_samples

HOSTILE = "</pre><script>alert(1)</script>\x00\x1b[31m\ud800 & ]]> \u202e"
"""Markup, control characters, half an emoji, a change of direction."""

CODE = """
def right(completions, answer, **kwargs):
    return [float(c.split()[-1] == a) for c, a in zip(completions, answer)]


def brief(completions, **kwargs):
    print("hello")
    return [1.0 if len(c) < 40 else 0.0 for c in completions]
"""
MANIFEST = """
[set]
name = "sums & more"
[[reward]]
function = "my rewards.py::right"
[[reward]]
function = "my rewards.py::brief"
[[reward]]
function = "rewards.library:exact_match"
name = "same"
[check]
waive = [{ check = "RW122", reason = "prints, for now" }]
"""


@pytest.fixture(scope="session")
def checked_project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    folder = tmp_path_factory.mktemp("project")
    (folder / "my rewards.py").write_text(CODE)
    (folder / "rewardset.toml").write_text(MANIFEST)
    rows = [{"prompt": "2+2", "completion": f"it is {n}", "answer": "4"} for n in (4, 5, 6)]
    (folder / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Runner() as runner:
        report = run_checks(
            str(folder),
            read_samples([folder / "s.jsonl"]),
            select=["RW110", "RW122", "RW120"],
            quick=True,
            runner=runner,
        )
    return folder, report


@pytest.fixture
def full_report(checked_project: tuple[Path, Report]) -> Report:
    """The report, with a hostile warning about `brief` and a matter of the set."""
    report = checked_project[1]
    warning = Finding(
        check="RW107", name="out-of-range", severity="warning", message=f"brief says {HOSTILE}", advice=HOSTILE,
        cause="hostile", cost=Cost.RUINS, reward="brief", line=8, count=2,
        evidence=Evidence(prompt=HOSTILE, completion=HOSTILE, columns={"answer": HOSTILE}, got=2.0, expected=1.0),
    )  # fmt: skip
    of_set = Finding(
        check="RW602", name="dead-groups", severity="info", message="no group differs", advice="add prompts",
        cause="dead", cost=Cost.TEACHES_NOTHING,
    )  # fmt: skip
    return replace(
        report,
        rewards=tuple(
            replace(reward, findings=(*reward.findings, warning)) if reward.name == "brief" else reward
            for reward in report.rewards
        ),
        findings=(of_set,),
    )


@pytest.fixture
def joined_report(full_report: Report) -> Report:
    """The report, where the failing finding of `right` speaks for an error and a warning of two other checks."""
    [right, *others] = full_report.rewards
    [speaker, *rest] = right.findings
    also = tuple(
        replace(speaker, check=check, name=name, severity=severity, message=f"{name} is paid", cause=name)
        for check, name, severity in (
            ("RW301", "empty-paid", "error"),
            ("RW314", "flattery", "warning"),
        )
    )
    joined = replace(right, findings=(replace(speaker, also=also), *rest))
    return replace(full_report, rewards=(joined, *others))


@pytest.fixture
def root(checked_project: tuple[Path, Report]) -> Path:
    """The folder of the project, taken for the checkout."""
    return checked_project[0]
