"""The benchmarks' own tools, and what `startup.py` holds the commands to."""

from __future__ import annotations

import importlib.util
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
