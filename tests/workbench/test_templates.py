"""The templates from end to end: what `init` writes checks clean, can be sealed, and trains."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workbench.cli.command import run
from workbench.project import create_from_template, template_names

SAMPLE = "code"
"""The template that the ordinary tests go all the way with: its rewards run programs."""

each = [pytest.param(name, marks=() if name == SAMPLE else pytest.mark.slow) for name in template_names()]


@pytest.mark.guide("G28")
@pytest.mark.parametrize("template", template_names())
def test_a_new_project_is_sealed_by_the_quick_checks_as_it_stands(tmp_path: Path, template: str) -> None:
    create_from_template(tmp_path / "p", template)
    done = run("check", "p", "--seal", "--quick", "--format", "json", cwd=tmp_path, timeout=300)
    assert done.code == 0, done.out[-2000:] + done.err[-2000:]
    report = json.loads(done.out)
    findings = [one for reward in report["rewards"] for one in reward["findings"]] + report["set"]["findings"]
    assert [one["message"] for one in findings if one["severity"] != "info"] == []
    assert (report["verdict"], report["strength"]) == ("pass", "strong")
    assert (tmp_path / "p" / "rewardset.seal.json").is_file()


@pytest.mark.parametrize("template", ["arithmetic", "gsm8k"])
def test_a_new_project_has_no_slow_pattern_and_says_why_its_prompts_hold_an_example(
    tmp_path: Path, template: str
) -> None:
    create_from_template(tmp_path / "p", template)
    done = run(
        "check", "p", "--select", "RW502,RW802", "--format", "json", cwd=tmp_path, timeout=300
    )  # fmt: skip
    report = json.loads(done.out)
    findings = [one for reward in report["rewards"] for one in reward["findings"]] + report["set"]["findings"]
    assert [one["message"] for one in findings if not one.get("waived")] == []


@pytest.mark.slow
@pytest.mark.guide("G28")
@pytest.mark.parametrize("template", template_names())
def test_nothing_is_found_in_a_new_project(tmp_path: Path, template: str) -> None:
    create_from_template(tmp_path / "p", template)
    done = run("check", "p", "--format", "json", cwd=tmp_path, timeout=900)
    report = json.loads(done.out)
    findings = [one for reward in report["rewards"] for one in reward["findings"]] + report["set"]["findings"]
    assert [one["message"] for one in findings if one["severity"] != "info"] == []


@pytest.mark.guide("G28")
@pytest.mark.parametrize("template", each)
def test_a_sealed_project_trains_on_the_toy_model(tmp_path: Path, template: str) -> None:
    create_from_template(tmp_path / "p", template)
    done = run(
        "train", ".", "--model", "toy", "--run", "r", "--set", "max_steps=5", "--set", "save_steps=5",
        cwd=tmp_path / "p", timeout=600,
    )  # fmt: skip
    assert done.code == 0, done.out[-2000:] + done.err[-2000:]
    lines = (tmp_path / "p" / "r" / "metrics.jsonl").read_text("utf-8").splitlines()
    steps = [line for line in map(json.loads, lines) if "reward" in line]
    assert [line["step"] for line in steps] == [1, 2, 3, 4, 5]
    assert all(line["rows/failed"] == 0 for line in steps)
    assert (tmp_path / "p" / "r" / "adapter").is_dir()
