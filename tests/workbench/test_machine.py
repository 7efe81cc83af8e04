"""What `doctor` finds out about the machine."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from workbench import machine
from workbench.machine import Extra, describe_machine, find_chromium, probe_isolation, probe_sandbox

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="isolation is probed on Linux")


def test_an_extra_names_the_line_that_installs_it() -> None:
    extra = Extra(name="vllm", versions={}, missing=("vllm",))
    assert extra.install_line == "pip install 'reward-workbench[vllm]'"


def test_every_extra_of_the_package_is_looked_at(repository: Path) -> None:
    declared = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(machine.EXTRAS) == set(declared) - {"all", "test", "dev"}


@pytest.mark.parametrize("name", ["app", "train", "trackio", "wandb", "ray"])
def test_an_extra_is_looked_at_whole(name: str, repository: Path) -> None:
    declared = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert tuple(re.split(r"[<>=~]", line)[0] for line in declared[name]) == machine.EXTRAS[name]


def test_cores_and_memory_are_positive() -> None:
    found = describe_machine()
    assert found.cores >= 1
    assert found.memory_gib >= found.memory_free_gib > 0


def test_torch_is_not_imported_to_learn_its_version() -> None:
    code = "import sys, workbench.machine as m; m.describe_machine(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@linux_only
def test_each_means_of_isolation_is_really_tried() -> None:
    probes = {probe.name: probe for probe in probe_isolation()}
    assert set(probes) == {"Landlock", "seccomp", "user namespaces", "bubblewrap"}
    assert all(probe.detail for probe in probes.values())
    assert all("let through" not in probe.detail for probe in probes.values())


def test_the_sandbox_is_started_to_learn_its_level() -> None:
    from rewards.sandbox import Level

    probe = probe_sandbox()
    assert probe.name in {level.value for level in Level}


@linux_only
def test_a_probe_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "PROBE_TIMEOUT_S", 0.2)
    probe = machine._probe("sleep", (sys.executable, "-c", "import time; time.sleep(60)"))
    assert not probe.works
    assert "timed out" in probe.detail


def test_without_a_search_path_there_is_no_chromium(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_chromium() is None


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "models" / "smollm2-1a2b").mkdir(parents=True)
    monkeypatch.setenv("REWARD_WORKBENCH_CACHE", str(tmp_path))
    found = describe_machine()
    assert (found.cache, found.cached) == (str(tmp_path / "models"), ("smollm2-1a2b",))
