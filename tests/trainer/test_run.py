"""A whole run with a tiny model, in this process: folder, record, sealing, bad input."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rewards.errors import MissingColumnError, ShortfallError, UsageError
from trainer.job import Request
from trainer.rewarding.completions import ScoredBatch
from trainer.rewarding.wrapped import TooManyFailures
from trainer.run import Outcome, save_model, train
from trainer.rundir import RunDir


def start(project: Path, *sets: str, **options: Any) -> Outcome:
    return train(Request(str(project), sets=sets, **{"allow_unsealed": True, **options}))


@pytest.fixture(scope="module")
def finished(sealed_project: Path) -> RunDir:
    """A finished run of six steps from a sealed set; read, never changed."""
    return start(sealed_project, allow_unsealed=False).run


def test_the_run_folder_has_everything(finished: RunDir) -> None:
    there = {path.name for path in finished.path.iterdir()}
    assert {
        "manifest.toml", "seal.json", "environment.json", "metrics.jsonl", "completions", "checkpoints", "stages.json",
        "adapter", "README.md", "report.html", "holdout.jsonl", "run.json",
    } <= there  # fmt: skip
    assert finished.path.name == "sums-1"
    assert finished.path.parent.name == "runs"


@pytest.mark.guide("G14")
def test_metrics_have_a_line_for_each_step_with_trls_names_and_ours(finished: RunDir) -> None:
    metrics = finished.metrics()
    assert [line["step"] for line in metrics] == [1, 2, 3, 4, 5, 6]
    for name in (
        "reward",
        "loss",
        "frac_reward_zero_std",
        "rewards/tagged/mean",
        "groups/zero_spread",
        "rows/failed",
    ):
        assert all(name in line for line in metrics)


def test_metrics_are_strict_json(finished: RunDir) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    for line in finished.metrics_path.read_text().splitlines():
        json.loads(line, parse_constant=refuse)


def test_every_generation_batch_is_recorded(finished: RunDir) -> None:
    files = sorted(file.name for file in finished.completions.iterdir())
    assert files == [f"step_{step:05d}.parquet" for step in range(1, 7)]
    frame = pd.read_parquet(finished.completions / "step_00001.parquet")
    assert len(frame) == 8
    assert frame["group"].nunique() == 2
    assert frame["prompt"][0][0] == {"role": "system", "content": "Maths"}
    assert "answer" in frame


def test_rewards_are_logged_as_the_record_has_them(finished: RunDir) -> None:
    for line in finished.metrics():
        frame = pd.read_parquet(finished.completions / f"step_{line['step']:05d}.parquet")
        assert line["reward"] == pytest.approx(frame["total"].mean(), abs=1e-6)
        assert line["rewards/shortness/mean"] == pytest.approx(frame["shortness"].mean(), abs=1e-6)


@pytest.mark.guide("G23")
def test_the_manifest_of_a_run_has_every_setting_and_can_be_trained_again(
    finished: RunDir, tmp_path: Path
) -> None:
    table = tomllib.loads(finished.manifest_path.read_text())
    assert table["train"]["learning_rate"] == 2e-3
    assert table["train"]["lora"] == {"r": 16, "alpha": 32.0, "dropout": 0.0, "targets": ["q_proj", "v_proj"]}
    assert table["reward"][0]["function"] == "../../rewards.py::tagged"
    again = train(Request(str(finished.manifest_path), run=tmp_path / "again", allow_unsealed=True))
    reward = [line["reward"] for line in again.run.metrics()]
    assert reward == [line["reward"] for line in finished.metrics()]


def test_stages_environment_and_seal_are_written_down(finished: RunDir) -> None:
    [stage] = finished.stages()
    assert (stage.status, stage.step, stage.rewards) == ("done", 6, ("tagged", "right", "shortness"))
    assert finished.environment()["packages"]["trl"]
    facts = json.loads((finished.path / "run.json").read_text())
    assert (facts["sealed"], facts["allow_unsealed"], facts["evidence"]) == (True, False, "strong")


def test_the_adapter_is_what_the_last_checkpoint_holds(finished: RunDir) -> None:
    name = "adapter_model.safetensors"
    assert (finished.adapter / name).read_bytes() == (
        finished.checkpoints / "checkpoint-6" / name
    ).read_bytes()
    assert not (finished.adapter / "optimizer.pt").exists()
    assert (finished.adapter / "tokenizer.json").is_file()


def test_the_adapter_names_its_modules_in_one_order(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").mkdir()
    for number, modules in enumerate((["v_proj", "q_proj"], ["q_proj", "v_proj"])):
        config = {"r": 8, "target_modules": modules, "modules_to_save": None}
        (tmp_path / "checkpoint" / "adapter_config.json").write_text(json.dumps(config))
        save_model(tmp_path / "checkpoint", tmp_path / f"adapter-{number}")
    first, second = (
        (tmp_path / f"adapter-{number}" / "adapter_config.json").read_text() for number in (0, 1)
    )
    assert first == second
    assert json.loads(first)["target_modules"] == ["q_proj", "v_proj"]
    assert json.loads(first)["modules_to_save"] is None


def test_held_out_prompts_are_never_trained_on(finished: RunDir) -> None:
    held = {json.dumps(row["prompt"]) for row in finished.holdout()}
    assert len(held) == 4
    for file in finished.completions.iterdir():
        for prompt in pd.read_parquet(file)["prompt"]:
            assert json.dumps([dict(message) for message in prompt]) not in held


def test_a_finished_run_says_so_and_does_nothing(
    finished: RunDir, capsys: pytest.CaptureFixture[str]
) -> None:
    before = finished.metrics_path.read_bytes()
    outcome = train(Request(str(finished.path.parent.parent), run=finished.path, resume=True))
    assert (outcome.status, outcome.step) == ("done", 6)
    assert "is finished (6 steps); nothing to do" in capsys.readouterr().err
    assert finished.metrics_path.read_bytes() == before


def test_recorded_advantages_are_the_ones_trl_trains_with(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trl import GRPOTrainer

    seen: list[list[float]] = []
    original = GRPOTrainer._generate_and_score_completions

    def spy(self: Any, inputs: Any) -> Any:
        output = original(self, inputs)
        seen.append(output["advantages"].tolist())
        return output

    monkeypatch.setattr(GRPOTrainer, "_generate_and_score_completions", spy)
    broken = "def right(completions, **kwargs):\n    return [1 / (len(c[0]['content']) % 3) for c in completions]\n"
    (project / "rewards.py").write_text((project / "rewards.py").read_text() + broken)
    run = start(project, "max_steps=3", "failure_share=1.0").run
    for number, values in enumerate(seen, 1):
        frame = pd.read_parquet(run.completions / f"step_{number:05d}.parquet")
        assert frame["advantage"].to_numpy() == pytest.approx(np.array(values), abs=1e-5)
    assert any(line["rows/failed"] for line in run.metrics())


def test_too_many_failures_stop_the_run_with_the_reason(project: Path) -> None:
    (project / "rewards.py").write_text(
        "def tagged(completions, **kwargs):\n    return [1 / 0 for c in completions]\n"
    )
    manifest = (project / "rewardset.toml").read_text()
    kept = (
        manifest[: manifest.index('[[reward]]\nfunction = "rewards.py::right"')]
        + manifest[manifest.index("[data]") :]
    )
    (project / "rewardset.toml").write_text(kept)
    with pytest.raises(TooManyFailures, match="could not be scored"):
        start(project)
    run = RunDir.open(project / "runs" / "sums-1")
    [stage] = run.stages()
    assert stage.status == "failed"
    assert "ZeroDivisionError" in (stage.reason or "")
    assert list(run.completions.iterdir())  # the rows that failed are on record


def test_evaluation_rows_are_kept_beside_the_training_rows(project: Path) -> None:
    sets = ("max_steps=2", "eval_strategy=steps", "eval_steps=1", "per_device_eval_batch_size=8")
    run = start(project, *sets).run
    names = sorted(file.name for file in run.completions.iterdir())
    assert names == [
        "eval_00001_001.parquet", "eval_00001_002.parquet", "eval_00002_001.parquet", "eval_00002_002.parquet",
        "step_00001.parquet", "step_00002.parquet",
    ]  # fmt: skip
    assert set(pd.read_parquet(run.completions / names[0])["split"]) == {"eval"}
    assert "eval_reward" in run.metrics()[0]


def test_evaluation_without_held_out_rows_is_refused_before_a_folder_is_made(project: Path) -> None:
    with pytest.raises(UsageError, match=r"eval_strategy=steps needs held-out rows, and there are none"):
        start(project, "data.holdout=0", "eval_strategy=steps", "eval_steps=1")
    assert not (project / "runs").exists()


def test_what_peft_refuses_is_one_sentence(project: Path) -> None:
    with pytest.raises(UsageError, match=r"TRL cannot train under these settings: Target modules .*q_prj"):
        start(project, "lora.targets=q_prj")


def test_a_policy_without_probabilities_ends_the_run_with_its_reason(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    real, calls = torch.multinomial, []

    def blown_up(probabilities: Any, *args: Any, **keywords: Any) -> Any:
        calls.append(1)
        return real(probabilities if len(calls) < 20 else probabilities * torch.nan, *args, **keywords)

    monkeypatch.setattr(torch, "multinomial", blown_up)
    with pytest.raises(
        ShortfallError, match=r"stopped at step \d+: the policy gives no probabilities any more"
    ):
        start(project)
    assert RunDir.open(project / "runs" / "sums-1").stages()[0].status == "failed"


def test_full_fine_tuning_leaves_a_model(project: Path) -> None:
    run = start(project, "lora=false", "max_steps=2").run
    assert (run.full_model / "model.safetensors").is_file()
    assert not run.adapter.exists()


def test_an_unsealed_set_is_refused_with_the_line_that_overrides(project: Path) -> None:
    with pytest.raises(ShortfallError) as caught:
        start(project, allow_unsealed=False)
    assert f"reward-workbench train {project} --allow-unsealed" in str(caught.value)
    assert not (project / "runs").exists()


def test_a_set_changed_since_its_seal_is_refused_and_the_override_recorded(
    sealed_project: Path, tmp_path: Path
) -> None:
    project = tmp_path / "changed"
    shutil.copytree(sealed_project, project, ignore=shutil.ignore_patterns("runs"))
    (project / "rewards.py").write_text((project / "rewards.py").read_text().replace("1.0 if", "0.5 if"))
    with pytest.raises(ShortfallError, match="its code changed"):
        start(project, allow_unsealed=False)
    run = start(project, "max_steps=2").run
    facts = json.loads((run.path / "run.json").read_text())
    assert (facts["sealed"], facts["allow_unsealed"]) == (False, True)
    assert not run.seal_path.exists()


def test_a_changed_learning_rate_does_not_break_the_seal(sealed_project: Path, tmp_path: Path) -> None:
    project = tmp_path / "faster"
    shutil.copytree(sealed_project, project, ignore=shutil.ignore_patterns("runs"))
    assert start(project, "learning_rate=1e-4", "max_steps=2", allow_unsealed=False).status == "done"


def test_data_too_small_for_a_batch_is_refused_before_a_folder_is_made(project: Path) -> None:
    (project / "train.jsonl").write_text('{"prompt": "What is 1 + 1?", "answer": 2}\n')
    with pytest.raises(UsageError, match="the data has 1 training prompt, but one generation batch takes 2"):
        start(project)
    assert not (project / "runs").exists()


def test_a_missing_column_names_argument_columns_and_the_likely_one(project: Path) -> None:
    text = (project / "train.jsonl").read_text().replace('"answer"', '"solution"')
    (project / "train.jsonl").write_text(text)
    with pytest.raises(MissingColumnError, match=r"'right' requires the column 'answer'.*solution"):
        start(project)


def test_a_model_folder_without_tokenizer_is_one_sentence(
    project: Path, tiny_model: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(tiny_model, bare, ignore=shutil.ignore_patterns("tokenizer*", "chat_template*"))
    with pytest.raises(UsageError, match="has no tokenizer"):
        start(project, model=str(bare))


def test_an_existing_run_is_never_overwritten(finished: RunDir, sealed_project: Path) -> None:
    with pytest.raises(UsageError, match="exists already; go on with it by --resume"):
        start(sealed_project, run=finished.path)


def test_settings_cannot_change_at_resume(project: Path) -> None:
    with pytest.raises(UsageError, match="a run goes on under its own settings"):
        start(project, "learning_rate=1", resume=True)


def test_nothing_to_resume_is_told(project: Path) -> None:
    with pytest.raises(UsageError, match="there is no run to resume under"):
        start(project, resume=True)


def test_a_disk_that_fills_up_ends_the_run_with_its_reason(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(folder: Path, batch: ScoredBatch, number: int = 1) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("trainer.rewarding.completions.write_batch", full)
    with pytest.raises(ShortfallError, match="No space left on device"):
        start(project)
    assert RunDir.open(project / "runs" / "sums-1").stages()[0].status == "failed"


@pytest.mark.guide("G15")
def test_a_run_is_halted_where_that_was_asked_and_goes_on_after(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = start(project, "max_completion_length=2", "halt=truncation")
    [stage] = outcome.run.stages()
    assert (outcome.status, stage.status) == ("stopped", "stopped")
    assert stage.reason == "halted by the monitor: truncation"
    assert outcome.step < 6
    assert "critical truncation: 100% of the completions are cut off at 2 tokens" in capsys.readouterr().err
    again = train(Request(str(project), run=outcome.run.path, resume=True, allow_unsealed=True))
    assert (again.status, again.step) == ("done", 6)


@pytest.mark.guide("G15")
def test_a_full_memory_is_told_with_what_filled_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from trl import GRPOTrainer

    original = GRPOTrainer._compute_loss
    calls = []

    def full(self: Any, model: Any, inputs: Any) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return original(self, model, inputs)

    monkeypatch.setattr(GRPOTrainer, "_compute_loss", full)
    with pytest.raises(ShortfallError, match=r"out of memory at step 4: .* activations and logits"):
        start(project)
    run = RunDir.open(project / "runs" / "sums-1")
    told = run.diagnoses()[-1]
    assert (told["name"], told["subject"], told["step"]) == ("out-of-memory", "update", 4)
    assert "per_device_train_batch_size=4" in told["advice"]
    assert run.last_checkpoint() == run.checkpoints / "checkpoint-2"
