"""The benchmarks' own tools, and what `startup.py` holds the commands to."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_rounds_are_interleaved_and_the_first_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    timing = script("timing", monkeypatch)
    order: list[str] = []
    seconds = timing.interleaved({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2)
    assert order == ["a", "b"] * 3
    assert {name: len(each) for name, each in seconds.items()} == {"a": 2, "b": 2}


def test_a_ratio_is_the_median_of_the_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    timing = script("timing", monkeypatch)
    assert timing.ratio({"a": [2.0, 9.0, 4.0], "b": [1.0, 3.0, 4.0]}, "a", "b") == 2.0


@pytest.mark.parametrize("command", ["HELP", "CHECK", "CHECK_PROJECT"])
def test_help_and_check_import_nothing_heavy(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    startup = script("startup", monkeypatch)
    modules = startup.imported(getattr(startup, command))
    assert "typer" in modules
    assert not modules & set(startup.HEAVY)


def test_score_and_the_bare_loop_agree_on_every_real_completion(monkeypatch: pytest.MonkeyPatch) -> None:
    overhead = script("score_overhead", monkeypatch)
    rows, samples = overhead.bare_rows(), overhead.read_samples([overhead.SAMPLES])
    assert len(samples) == len(rows["completions"]) == 5276
    with overhead.Runner() as runner:
        overhead.check_same(samples, runner, [function(**rows) for function in overhead.bare_functions()])


@pytest.mark.guide("G12")
def test_the_gpu_check_says_in_one_sentence_that_there_is_no_gpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check = script("gpu_check", monkeypatch)
    monkeypatch.setattr(check, "has_gpu", lambda: False)
    assert check.main([]) == 2
    said = capsys.readouterr()
    assert said.err == "no GPU here, so nothing was checked; --device cpu runs the part that needs none\n"
    assert said.out == ""


def test_the_gpu_check_runs_nothing_whose_package_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    check = script("gpu_check", monkeypatch)
    part = check.Part("x", ("a_package_that_is_nowhere",), ())
    line = check.run_part(part, tmp_path, "cuda", 2, 0.0)
    assert line.result == "not run: a_package_that_is_nowhere is not installed"
    assert not line.failed
    late = check.run_part(check.PARTS[0], tmp_path, "cuda", 2, 0.0)
    assert late.result == "failed in training: no time was left"
    assert late.failed


@pytest.mark.slow
def test_the_gpu_check_trains_merges_and_proves_on_a_cpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check = script("gpu_check", monkeypatch)
    monkeypatch.setattr(check, "BUDGET_S", 1e6)
    assert check.main(["--device", "cpu", "--steps", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.match(r"transformers +2 .* of \d+ checks  trained, merged, proved", lines[1])
    assert all(line.endswith("not run: it needs a GPU") for line in lines[2:])
