"""How `make demo` judges a run, and that each of its commands is one there is."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def _script() -> ModuleType:
    path = Path(__file__).parent.parent / "benchmarks" / "demo.py"
    spec = importlib.util.spec_from_file_location("the_demo", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


demo = _script()


def comparison(low: float | None, high: float | None) -> dict[str, Any]:
    """A comparison.json with one line: the total."""
    paired = {"mean": 0.5, "low": low, "high": high}
    return {"prompts": 20, "lines": [{"name": "total", "base": 1.0, "trained": 1.5, "paired": paired}]}


def test_a_rise_beyond_the_first_spread_holds() -> None:
    rise = demo.rise_of([0.1, 0.3] * 5 + [0.2] * 20 + [0.9] * 10)
    assert (round(rise.first, 9), round(rise.last, 9), rise.holds) == (0.2, 0.9, True)


def test_a_rise_within_the_first_spread_does_not_hold() -> None:
    assert not demo.rise_of([0.0, 1.0] * 5 + [0.9] * 10).holds


def test_a_flat_run_does_not_hold() -> None:
    assert not demo.rise_of([0.5] * 48).holds


def test_too_few_steps_are_refused_with_their_number() -> None:
    with pytest.raises(ValueError, match="19 logged steps are too few"):
        demo.rise_of([0.5] * 19)


@pytest.mark.parametrize(("low", "better"), [(0.1, True), (0.0, False), (-0.1, False), (None, False)])
def test_merged_beats_base_where_the_whole_interval_is_above_zero(low: float | None, better: bool) -> None:
    assert demo.beats_base(comparison(low, 0.9)) is better


def test_a_line_tells_both_means_and_the_interval() -> None:
    line = comparison(0.1, 0.9)["lines"][0]
    assert (
        demo.comparison_line(line)
        == "  total        1.000 -> 1.500  (+0.500, 95 % interval +0.100 to +0.900)"
    )
    line["paired"]["low"] = None
    assert demo.comparison_line(line) == "  total        1.000 -> 1.500  (+0.500)"


@pytest.mark.parametrize("first", [0.2, 0.9])
def test_the_verdict_needs_both_a_rise_and_a_better_model(
    first: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "manifest.toml").touch()
    (tmp_path / "stages.json").touch()
    lines = [json.dumps({"step": step, "reward": first if step < 10 else 0.9}) for step in range(40)]
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "comparison.json").write_text(json.dumps(comparison(0.1, 0.9)))
    assert demo.verdict(tmp_path) is (first < 0.9)
    assert "on 20 held-out prompts" in capsys.readouterr().out


def test_a_failing_command_ends_the_demo_with_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        demo.run_step(1, 1, demo.Step("a step that cannot work", ("score", "no-such-folder")))
    assert ended.value.code == 2
    assert "The demo stops here: exit code 2." in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.guide("G19", "G23")
def test_the_demo_works_with_the_toy_model(repository: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            str(repository / "benchmarks" / "demo.py"),
            "--model",
            "toy",
            "--work",
            str(tmp_path / "demo"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "Training worked" in done.stdout
