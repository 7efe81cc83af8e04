"""Exports, called as the systems they are made for call them, give what `score` gives."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import math
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rewards.errors import UsageError
from rewards.running import Runner
from workbench.export.folder import SYSTEMS, system_named, write_export
from workbench.export.plan import Plan, plan_export
from workbench.samples import read_samples
from workbench.scoring import score

REWARDS = '''
from helpers.words import last_word


def right(completions, answer, tolerance=0.0, **kwargs):
    """None where there is no number; one row at a time or many."""
    found = [last_word(c[-1]["content"]) for c in completions]
    return [None if f is None else 2.0 * (abs(f - float(a)) <= tolerance) for f, a in zip(found, answer)]


async def brief(prompts, completions, **kwargs):
    assert prompts[0][0]["role"] == "user"
    return [1.0 if len(c[-1]["content"]) < 10 else 0.0 for c in completions]


def unlike(completions, **kwargs):
    texts = [c[-1]["content"] for c in completions]
    return [float(texts.count(t) == 1) for t in texts]
'''
HELPER = """
def last_word(text):
    try:
        return float(text.split()[-1])
    except (ValueError, IndexError):
        return None
"""
MANIFEST = """
[set]
name = "sums"
samples = "s.jsonl"
[[reward]]
function = "rewards.py::right"
name = "correct"
weight = 2.0
params = { tolerance = 0.5 }
range = [0.0, 2.0]
abstains = true
[[reward]]
function = "rewards.py::brief"
weight = 0.5
when = { task = ["sums", "more"] }
[[reward]]
function = "rewards.py::unlike"
weight = 0.25
scope = "group"
"""
TEXTS = ["it is 4", "it is 4.4", "it is five", "it is 4"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sums")
    (folder / "rewards.py").write_text(REWARDS)
    (folder / "helpers").mkdir()
    (folder / "helpers" / "__init__.py").write_text("")
    (folder / "helpers" / "words.py").write_text(HELPER)
    (folder / "rewardset.toml").write_text(MANIFEST)
    rows = [
        {
            "prompt": [{"role": "user", "content": "2+2"}],
            "completion": [{"role": "assistant", "content": text}],
            "answer": "4",
            "task": "sums" if place < 3 else "other",
        }
        for place, text in enumerate(TEXTS)
    ]
    (folder / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture(scope="module")
def scored(project: Path) -> tuple[Plan, list[dict[str, Any]]]:
    """The plan of the export, and what `score` gives to each row."""
    with Runner() as runner:
        samples = read_samples([project / "s.jsonl"])
        rows = list(score(str(project), samples, runner=runner).rows())
        return plan_export(runner.inspect(str(project)), chat=samples.chat), rows


@pytest.fixture
def clean_modules() -> Iterator[None]:
    before, path = dict(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - set(before):
        if name.startswith(("_exported_", "helpers", "adapter", "swift")):
            del sys.modules[name]
    sys.path[:] = path


@pytest.fixture
def exported(scored: Any, tmp_path: Path, clean_modules: None) -> Any:
    """Writes an export and loads its adapter, as the systems do: by path."""

    def write(system: str) -> Any:
        chosen = SYSTEMS[system]
        write_export(scored[0], chosen, tmp_path / "out")
        spec = importlib.util.spec_from_file_location("adapter", tmp_path / "out" / chosen.file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return write


def same(given: list[float | None], rows: list[dict[str, Any]], name: str) -> bool:
    wanted = [row["scores"][name] for row in rows]
    return [None if value is None or math.isnan(value) else value for value in given] == wanted


def totals(rows: list[dict[str, Any]], *, group: bool) -> list[float]:
    return [row["total"] - (0 if group else 0.25 * row["scores"]["unlike"]) for row in rows]


CHAT = [[{"role": "assistant", "content": text}] for text in TEXTS]
PROMPT = [{"role": "user", "content": "2+2"}]
TASKS = ["sums", "sums", "sums", "other"]


def test_the_samples_have_what_makes_an_export_difficult(scored):
    rows = scored[1]
    assert [row["scores"]["correct"] for row in rows] == [2.0, 2.0, None, 2.0]
    assert [row["scores"]["brief"] for row in rows] == [1.0, 1.0, 0.0, None]


def test_trl_gets_functions_names_weights_and_settings(exported, scored):
    module = exported("trl")
    assert [function.__name__ for function in module.reward_funcs] == ["correct", "brief", "unlike"]
    assert module.grpo_settings["reward_weights"] == [2.0, 0.5, 0.25]
    assert module.grpo_settings["scale_rewards"] == "group"
    keywords = {
        "prompts": [PROMPT] * 4, "completions": CHAT, "completion_ids": [[1]] * 4, "answer": ["4"] * 4,
        "task": TASKS, "trainer_state": None, "log_extra": None, "log_metric": None,
    }  # fmt: skip
    for function in module.reward_funcs:
        given = function(**keywords)
        if inspect.iscoroutinefunction(function):
            given = asyncio.run(given)
        assert same(given, scored[1], function.__name__)


def test_verl_gets_one_completion_or_a_batch(exported, scored):
    module = exported("verl")
    extras = [{"task": task, "question": "2+2"} for task in TASKS]
    ones = [module.compute_score("x", text, "4", extra) for text, extra in zip(TEXTS, extras, strict=True)]
    assert [one["score"] for one in ones] == pytest.approx(totals(scored[1], group=False))
    assert "unlike" not in ones[0]
    batch = module.compute_score_batch(
        data_sources=["x"] * 4, solution_strs=TEXTS, ground_truths=[{"answer": "4"}] * 4, extra_infos=extras
    )
    assert [one["score"] for one in batch] == pytest.approx(totals(scored[1], group=True))
    assert same([one["correct"] for one in batch], scored[1], "correct")


def test_verl_may_call_from_a_running_event_loop(exported):
    module = exported("verl")

    async def reward_loop() -> Any:
        return module.compute_score("x", "it is 4", "4", {"task": "sums"})

    assert asyncio.run(reward_loop())["brief"] == 1.0


def test_verifiers_gets_functions_by_its_parameters(exported, scored):
    module = exported("verifiers")
    assert module.WEIGHTS == [2.0, 0.5, 0.25]
    plural = {"states", "prompts", "completions", "answers", "tasks", "infos"}
    of_group = [bool(plural & set(inspect.signature(function).parameters)) for function in module.FUNCS]
    assert of_group == [False, False, True]
    correct = [
        module.FUNCS[0](prompt=PROMPT, completion=completion, answer="4", state={}, info={"task": task})
        for completion, task in zip(CHAT, TASKS, strict=True)
    ]
    assert correct == [2.0, 2.0, 0.0, 2.0]
    unlike = module.FUNCS[2](prompts=[PROMPT] * 4, completions=CHAT, answers=["4"] * 4, states=[{}] * 4)
    assert same(unlike, scored[1], "unlike")


def test_openrlhf_gets_tensors(exported, scored):
    torch = pytest.importorskip("torch")
    module = exported("openrlhf")
    prompts = ["<|user|>2+2<|assistant|>"] * 4
    queries = [f"{prompt}{text}<|im_end|>\n" for prompt, text in zip(prompts, TEXTS, strict=True)]
    labels = [json.dumps({"answer": "4", "task": task}) for task in TASKS]
    given = module.reward_func(queries, prompts, labels)
    assert torch.allclose(given["rewards"], torch.tensor(totals(scored[1], group=False)))
    assert given["scores"].min() >= 0
    assert given["scores"].max() <= 1
    assert same(given["extra_logs"]["correct"].tolist(), scored[1], "correct")
    assert "unlike" not in given["extra_logs"]


@pytest.mark.parametrize("place", ["swift.rewards", "swift.plugin"])
def test_ms_swift_gets_a_class_for_each_reward(exported, scored, place, monkeypatch):
    plugin = types.ModuleType(place)
    plugin.ORM, plugin.orms = type("ORM", (), {"__init__": lambda self, args=None, **kwargs: None}), {}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "swift", types.ModuleType("swift"))
    monkeypatch.setitem(sys.modules, place, plugin)
    exported("ms-swift")
    assert list(plugin.orms) == ["correct", "brief", "unlike"]
    columns = {
        "answer": ["4"] * 4,
        "task": TASKS,
        "messages": [[*PROMPT, *CHAT[0]]] * 4,
        "trainer_state": object(),
    }
    for name, orm in plugin.orms.items():
        assert same(orm(args=None)(TEXTS, **columns), scored[1], name)


@pytest.mark.parametrize("system", SYSTEMS)
def test_files_are_as_they_were_and_the_readme_says_what_carries_over(scored, project, tmp_path, system):
    written = write_export(scored[0], SYSTEMS[system], tmp_path / "out")
    assert {file.relative_to(tmp_path / "out").as_posix() for file in written} == {
        "rewards.py", "helpers/__init__.py", "helpers/words.py", "README.md", SYSTEMS[system].file,
    }  # fmt: skip
    assert (tmp_path / "out" / "rewards.py").read_bytes() == (project / "rewards.py").read_bytes()
    text = (tmp_path / "out" / "README.md").read_text()
    kept, lost = text.split("## What carries over")[1].split("## What does not")
    assert "Weights" in kept
    assert "None" in kept + lost
    assert "roup scope" in kept + lost
    assert "seal" in lost


def test_nothing_is_overwritten_and_nothing_half_written(scored, tmp_path):
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(UsageError, match=r"already has README\.md; nothing was written"):
        write_export(scored[0], SYSTEMS["verl"], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_unknown_systems_are_told_with_the_nearest():
    with pytest.raises(UsageError, match="did you mean 'ms-swift'"):
        system_named("swift")
    with pytest.raises(UsageError, match="known are trl, verl, verifiers, openrlhf, ms-swift"):
        system_named("xyz")


def test_text_rewards_and_packages_are_seen(tmp_path):
    (tmp_path / "plain.py").write_text(
        "import numpy as np\nfrom rewards import reward\n\n@reward(weight=3.0)\n"
        "def neat(completions, solution, **kwargs):\n"
        "    return [float(c == s) for c, s in zip(completions, solution)]\n"
    )
    with Runner() as runner:
        plan = plan_export(runner.inspect(str(tmp_path / "plain.py")))
    assert (plan.chat, plan.gold, plan.needs) == (False, "solution", ("numpy", "reward-workbench"))
    assert plan.rewards[0].entry.weight == 3.0


def test_library_rewards_are_named_not_copied(tmp_path):
    (tmp_path / "rewardset.toml").write_text('[[reward]]\nfunction = "rewards.library:exact_match"\n')
    with Runner() as runner:
        plan = plan_export(runner.inspect(str(tmp_path)))
    assert plan.files == {}
    assert plan.needs == ("reward-workbench",)


def test_a_function_of_another_system_is_refused_with_the_way_out(tmp_path):
    (tmp_path / "verl.py").write_text(
        "def compute_score(data_source, solution_str, ground_truth):\n    return 1.0\n"
    )
    with (
        Runner() as runner,
        pytest.raises(UsageError, match=r"compute_score is written for verl, .* takes completions"),
    ):
        plan_export(runner.inspect(str(tmp_path / "verl.py")))
