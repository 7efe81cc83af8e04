"""Sound rewards in use: the built-in ones, the templates' and TRL's own raise no error and no warning.

A few run always; all of them, with every check, are among the slow tests.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.checks.finding import Finding
from workbench.checks.runner import run_checks
from workbench.opening import open_target
from workbench.project import create_from_template
from workbench.samples import read_samples

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
TEMPLATES = ("arithmetic", "gsm8k", "code", "json", "qa", "summary")

LIBRARY: list[tuple[str, str, str]] = [
    ("exact_match", "zoo_fresh/tasks/phrases.jsonl", "ignore_punctuation = true, ignore_case = true"),
    ("numeric", "zoo/tasks/maths_tags.jsonl", ""),
    ("maths_equal", "zoo/tasks/maths_boxed.jsonl", ""),
    ("multiple_choice", "zoo/tasks/choice.jsonl", ""),
    ("set_match", "zoo/tasks/maths_set.jsonl", ""),
    ("think_format", "zoo_fresh/tasks/minds_form.jsonl", ""),
    ("soft_xml_format", "zoo/tasks/layout.jsonl", 'tag_names = ["think", "answer"]'),
    ("incremental_format", "zoo/tasks/layout.jsonl", 'tag_names = ["think", "answer"]'),
    ("valid_python", "zoo_more/tasks/fences.jsonl", ""),
    ("code_block_present", "zoo_more/tasks/fences.jsonl", ""),
    ("repetition_penalty", "zoo/tasks/repeat.jsonl", ""),
    ("max_length", "zoo_fresh/tasks/digest_len.jsonl", "longest = 25"),
]
"""Name, samples, and parameters where the samples need them."""


def loud(findings: list[Finding]) -> list[tuple[str, str]]:
    """Code and message of what is at warning level or above."""
    return [(finding.check, finding.message) for finding in findings if finding.at_least("warning")]


@pytest.mark.parametrize(
    ("name", "tasks", "params"),
    [
        pytest.param(*row, id=row[0], marks=[] if row[0] == "numeric" else [pytest.mark.slow])
        for row in LIBRARY
    ],
)
def test_built_in_reward_raises_no_alarm(
    name: str, tasks: str, params: str, tmp_path: Path, runner: Any
) -> None:
    table = f'[[reward]]\nfunction = "rewards.library:{name}"\nparams = {{ {params} }}\n'
    (tmp_path / "rewardset.toml").write_text(table)
    report = run_checks(str(tmp_path), read_samples([renamed(FIXTURES / tasks, tmp_path)]), runner=runner)
    assert loud(report.all_findings) == []


def renamed(tasks: Path, folder: Path) -> Path:
    """The tasks with their ground truth in a column `answer`, which the built-in rewards read."""
    rows = [json.loads(line) for line in tasks.read_text().splitlines()]
    for row in rows:
        others = [key for key in row if key not in ("prompt", "samples", "answer")]
        if "answer" not in row and others:
            row["answer"] = row.pop(others[0])
    path = folder / "samples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
def test_template_raises_no_alarm(template: str, tmp_path: Path, runner: Any) -> None:
    create_from_template(tmp_path / "p", template)
    samples = open_target(str(tmp_path / "p"), [], pinned=True).samples
    report = run_checks(str(tmp_path / "p"), samples, runner=runner)
    assert loud(report.all_findings) == []
    assert report.verdict == "pass"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        ("accuracy_reward", "zoo/tasks/maths_boxed.jsonl"),
        ("think_format_reward", "zoo_fresh/tasks/minds_form.jsonl"),
    ],
)
def test_reward_of_trl_raises_no_alarm_but_what_is_told_of_it(
    name: str, tasks: str, tmp_path: Path, runner: Any
) -> None:
    pytest.importorskip("trl")
    rows = renamed(FIXTURES / tasks, tmp_path)
    rows.write_text(rows.read_text().replace('"answer":', '"solution":'))
    report = run_checks(f"trl.rewards:{name}", read_samples([rows]), runner=runner)
    assert {code for code, _ in loud(report.all_findings)} <= TOLD[name]


TOLD: dict[str, set[str]] = {
    "accuracy_reward": {"RW406"},  # it reads the first of two boxes: a corrected answer is refused
    "think_format_reward": {"RW302"},  # its pattern takes an empty <think></think>
}
"""True faults of TRL's rewards that are told at warning level or above, each with its reason beside it."""
