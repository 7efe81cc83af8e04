"""The files by which other repositories use this one in CI: they are valid, and what they call exists."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
import yaml


def schema(repository: Path, name: str) -> Any:
    return json.loads((repository / "fixtures" / "schemas" / name).read_text())


def read(repository: Path, name: str) -> Any:
    return yaml.safe_load((repository / name).read_text())


def check_options() -> set[str]:
    """The options of `reward-workbench check`."""
    from workbench.cli import main

    main._register()
    command: Any = typer.main.get_command(main.app)
    return {option for parameter in command.commands["check"].params for option in parameter.opts}


def test_the_action_is_valid_by_githubs_schema(repository: Path) -> None:
    jsonschema.Draft7Validator(schema(repository, "github-action.json")).validate(
        read(repository, "action.yml")
    )


def test_every_option_of_the_action_exists(repository: Path) -> None:
    steps = read(repository, "action.yml")["runs"]["steps"]
    said = {option for step in steps for option in re.findall(r"(?<=[\s(])--[a-z-]+", step.get("run", ""))}
    assert said - {"--quiet"} <= check_options()
    assert "--format" in said


def test_inputs_reach_the_script_as_variables_only(repository: Path) -> None:
    action = read(repository, "action.yml")
    assert [step["run"] for step in action["runs"]["steps"] if "${{" in step.get("run", "")] == []
    used = set(re.findall(r"inputs\.([a-z-]+)", (repository / "action.yml").read_text()))
    assert used == set(action["inputs"])


def run_action(repository: Path, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The script of the action's last step, with the variables that its inputs become."""
    action = read(repository, "action.yml")
    step = action["runs"]["steps"][-1]
    values = {name: str(given["default"]) for name, given in action["inputs"].items()} | inputs
    variables = {key: values[re.findall(r"inputs\.([a-z-]+)", text)[0]] for key, text in step["env"].items()}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]], cwd=folder, env={**os.environ, **variables, "PATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "neat.py").write_text(
        "def neat(completions, **k):\n    return [1 / len(c) for c in completions]\n"
    )
    (tmp_path / "my rows.jsonl").write_text('{"prompt": "p", "completion": "c"}\n' * 2)
    return tmp_path


def test_the_action_annotates_writes_sarif_and_ends_with_the_checks_code(
    repository: Path, project: Path
) -> None:
    done = run_action(
        repository, project, target="neat.py", samples="my rows.jsonl", quick="true", sarif="r.sarif"
    )
    assert done.returncode == 1, done.stderr
    assert "::error file=neat.py,line=2,title=RW110 raises (neat)::" in done.stdout
    assert json.loads((project / "r.sarif").read_text())["version"] == "2.1.0"


def test_the_action_only_verifies_a_seal_where_that_is_asked_for(repository: Path, project: Path) -> None:
    done = run_action(repository, project, target="neat.py", **{"verify-seal": "true"})
    assert done.returncode == 1
    assert "there is no seal" in done.stderr


def test_the_hook_is_a_hook_of_pre_commit(repository: Path) -> None:
    [hook] = read(repository, ".pre-commit-hooks.yaml")
    assert {"id", "name", "entry", "language"} <= set(hook)
    module = hook["entry"].rpartition(" ")[2]
    assert (repository / (module.replace(".", "/") + ".py")).is_file()
    assert re.search(hook["files"], "sums/rewards.py")
    assert not re.search(hook["files"], "README.md")


def test_the_workflow_in_the_reference_is_valid_and_uses_what_there_is(repository: Path) -> None:
    text = (repository / "docs" / "reference.md").read_text()
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    [workflow] = [block for block in blocks if isinstance(block, dict) and "jobs" in block]
    workflow = {
        ("on" if key is True else key): value for key, value in workflow.items()
    }  # YAML 1.1 reads on as true
    jsonschema.Draft7Validator(schema(repository, "github-workflow.json")).validate(workflow)
    given = {
        name
        for job in workflow["jobs"].values()
        for step in job["steps"]
        if "reward-workbench" in step.get("uses", "")
        for name in step.get("with", {})
    }
    assert given
    assert given <= set(read(repository, "action.yml")["inputs"])
    [hooks] = [block for block in blocks if isinstance(block, dict) and "repos" in block]
    ids = [hook["id"] for repo in hooks["repos"] for hook in repo["hooks"]]
    assert ids == [hook["id"] for hook in read(repository, ".pre-commit-hooks.yaml")]
