"""A reward set in a trainer of one's own, and the folder it leaves behind."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from rewards.errors import ShortfallError, UsageError
from trainer import attach
from trainer.attached import Attached, _window
from trainer.bare import is_bare, read_bare
from trainer.rundir import RunDir
from trainer.watching.watch import look, watch

STEPS = 4


def build(attached: Attached, model: Path, out: Path, callbacks: list[Any], **settings: Any) -> Any:
    """What a user writes."""
    from datasets import Dataset
    from peft import LoraConfig
    from trl import GRPOConfig, GRPOTrainer

    rows = [{"prompt": [{"role": "user", "content": f"What is {n} + 1?"}], "answer": n + 1} for n in range(8)]
    config = GRPOConfig(
        output_dir=str(out),
        use_cpu=True,
        bf16=False,
        max_steps=STEPS,
        save_steps=2,
        logging_steps=1,
        per_device_train_batch_size=8,
        num_generations=4,
        max_completion_length=6,
        gradient_checkpointing=False,
        learning_rate=2e-3,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
        **{"reward_weights": attached.weights, **settings},
    )
    return GRPOTrainer(
        model=str(model),
        reward_funcs=attached.reward_funcs,
        args=config,
        train_dataset=Dataset.from_list(rows),
        callbacks=callbacks,
        peft_config=LoraConfig(r=4, target_modules=["q_proj"], task_type="CAUSAL_LM"),
    )


@pytest.fixture(scope="module")
def out(sealed_project: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a script of one's own."""
    folder = tmp_path_factory.mktemp("own") / "out"
    with warnings.catch_warnings(), attach(sealed_project) as attached:
        warnings.simplefilter("ignore")  # a plain script's: transformers and TRL have some of their own
        build(attached, tiny_model, folder, [attached.monitor(samples_every=2, kl_every=2)]).train()
    return folder


def test_everything_is_recorded_beside_what_trl_writes(out: Path) -> None:
    run = RunDir(out)
    assert [line["step"] for line in run.metrics()] == [1, 2, 3, 4]
    assert sorted(file.name for file in run.completions.iterdir()) == [
        f"step_{step:05d}.parquet" for step in range(1, 5)
    ]
    frame = pd.read_parquet(run.completions / "step_00001.parquet")
    assert frame["group"].tolist() == ["1-0"] * 4 + ["1-1"] * 4
    assert run.metrics()[0]["reward"] == pytest.approx(frame["total"].mean(), abs=1e-6)
    assert [file.name for file in sorted(run.samples.iterdir())] == [
        "step_00001.jsonl",
        "step_00002.jsonl",
        "step_00004.jsonl",
    ]
    assert "policy/kl" in run.metrics()[1]


def test_the_monitor_told_what_is_wrong_with_an_untaught_model(out: Path) -> None:
    told = [line["name"] for line in RunDir(out).diagnoses()]
    assert "truncation" in told


def test_the_folder_is_watched_like_a_run(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert is_bare(out)
    view = look(RunDir(out))
    assert (view.status, view.step, view.max_steps) == ("done", 4, 4)
    assert view.rewards == ("tagged", "right", "shortness")
    watch(RunDir(out), terminal=False)
    shown = capsys.readouterr().out
    assert "step 4/4  reward" in shown
    assert "truncation (step 1): " in shown


def test_trls_own_history_serves_where_nothing_was_attached(out: Path, tmp_path: Path) -> None:
    shutil.copytree(out / "checkpoint-4", tmp_path / "out" / "checkpoint-4")
    bare = read_bare(tmp_path / "out")
    assert [line["step"] for line in bare.lines] == [1, 2, 3, 4]
    assert set(bare.rewards) == {"tagged", "right", "shortness"}
    assert "truncation" in [line["name"] for line in bare.diagnoses]


def test_a_script_that_was_killed_goes_on_from_its_last_whole_checkpoint(
    out: Path, sealed_project: Path, tiny_model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(out, folder)
    (folder / "checkpoint-4" / "whole.json").unlink()  # a kill came in between
    with warnings.catch_warnings(), attach(sealed_project) as attached:
        warnings.simplefilter("ignore")
        trainer = build(attached, tiny_model, folder, [attached.monitor(samples_every=2, kl_every=2)])
        last = attached.last_checkpoint(folder)
        assert last == str(folder / "checkpoint-2")
        trainer.train(resume_from_checkpoint=last)
    again, before = RunDir(folder), RunDir(out)
    assert [json.loads(line)["step"] for line in again.metrics_path.read_text().splitlines()] == [1, 2, 3, 4]
    assert again.diagnoses_path.read_text() == before.diagnoses_path.read_text()
    for step in (3, 4):
        frames = [pd.read_parquet(run.completions / f"step_{step:05d}.parquet") for run in (again, before)]
        pd.testing.assert_frame_equal(*[frame.drop(columns="seconds") for frame in frames])


def test_a_folder_without_a_whole_checkpoint_starts_over(tmp_path: Path) -> None:
    assert Attached.last_checkpoint(tmp_path) is None


def test_an_unsealed_set_is_refused_with_the_way_round(project: Path) -> None:
    with pytest.raises(ShortfallError, match=r"attach\(\.\.\., allow_unsealed=True\)"):
        attach(project)


def test_a_forgotten_monitor_is_told(project: Path, tiny_model: Path, tmp_path: Path) -> None:
    with attach(project, allow_unsealed=True) as attached:
        state = type("State", (), {"global_step": 0, "log_history": []})()
        with pytest.raises(UsageError, match=r"callbacks=\[s.monitor\(\)\]"):
            attached.reward_funcs[0](
                prompts=["a", "a"],
                completions=[[{"role": "assistant", "content": "1"}]] * 2,
                completion_ids=[[1], [1]],
                answer=["1", "1"],
                trainer_state=state,
                log_extra=print,
                log_metric=print,
            )


def test_other_weights_than_the_sets_are_refused(project: Path) -> None:
    with attach(project, only=["tagged"], allow_unsealed=True) as attached:
        arguments = type("Arguments", (), {"reward_weights": [2.0]})()
        with pytest.raises(UsageError, match=r"reward_weights=\[2.0\]; the set's are \[1.0\]: pass"):
            attached.prepare(arguments)
        assert attached.modes["scale_rewards"] == "group"
        with pytest.raises(UsageError, match="kl_wran"):
            attached.monitor(thresholds={"kl_wran": 1.0})


def test_weights_that_are_left_out_and_other_modes_than_the_sets_are_refused(project: Path) -> None:
    def arguments(**given: Any) -> Any:
        values = {
            "reward_weights": [1.0, 1.0, 0.0], "num_generations": 4, "scale_rewards": "group",
            "multi_objective_aggregation": "sum_then_normalize", **given,
        }  # fmt: skip
        return type("Arguments", (), values)()

    with attach(project, allow_unsealed=True) as attached:
        attached.prepare(arguments())
        with pytest.raises(
            UsageError, match=r"no reward_weights, so all are 1; the set's are \[1.0, 1.0, 0.0\]"
        ):
            attached.prepare(arguments(reward_weights=None))
        with pytest.raises(UsageError, match=r"has scale_rewards='none', the set 'group': pass \*\*s.modes"):
            attached.prepare(arguments(scale_rewards="none"))
    with attach(f"{project / 'rewards.py'}::right", allow_unsealed=True) as attached:  # nothing is declared
        attached.prepare(arguments(reward_weights=None, scale_rewards="none"))


def test_what_was_attached_is_written_down(out: Path, sealed_project: Path) -> None:
    facts = json.loads((out / "attached.json").read_text())
    assert (facts["target"], facts["sealed"]) == (str(sealed_project), True)
    assert facts["weights"] == {"tagged": 1.0, "right": 1.0, "shortness": 0.0}


def test_the_folder_is_merged_and_compared_like_a_run(out: Path, tmp_path: Path) -> None:
    from trainer.comparing.comparison import compare_run
    from trainer.merging.merge import merge

    merged = merge(out)
    assert merged.folder == out / "merged"
    prompts = tmp_path / "prompts.jsonl"
    rows = [{"prompt": f"What is {n} + 2?", "answer": n + 2} for n in range(3)]
    prompts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    comparison = compare_run(out, prompts=prompts)
    assert [line.name for line in comparison.lines] == ["total", "tagged", "right", "shortness"]
    assert (comparison.prompts, (out / "comparison.json").is_file()) == (3, True)
    with pytest.raises(UsageError, match="no held-out prompts"):
        compare_run(out)


def test_a_folder_without_a_set_is_compared_by_the_one_that_is_named(out: Path, tmp_path: Path) -> None:
    from trainer.comparing.comparison import compare_run

    shutil.copytree(out / "checkpoint-4", tmp_path / "out" / "checkpoint-4")
    with pytest.raises(UsageError, match="give the set that is to score: --target TARGET"):
        compare_run(tmp_path / "out")


def test_a_group_may_lie_on_several_processes() -> None:
    sizes = SimpleNamespace(
        per_device_train_batch_size=2,
        gradient_accumulation_steps=3,
        num_generations=8,
        steps_per_generation=1,
        num_iterations=2,
    )
    assert _window(sizes, 4) == 2
    with pytest.raises(UsageError, match="8"):
        _window(sizes, 1)
