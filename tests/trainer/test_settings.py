"""Settings: layers, translations, and what is refused before a model loads."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from rewards.errors import MissingExtraError, UsageError
from rewards.manifest import Stage, TrainSettings
from trainer.presets import PRESETS, TOY, find_preset
from trainer.settings import Settings, build_config, check_with_trl, parse_sets, resolve


def settings(*sets: str, asked: str | None = None, stage: Stage | None = None, **train: Any) -> Settings:
    manifest = TrainSettings(**{"model": "m", **train})
    return resolve(manifest, device="cpu", model=asked, stage=stage, sets=parse_sets(sets))


@pytest.mark.guide("G9")
@pytest.mark.guide("G26")
@pytest.mark.parametrize("name", sorted(PRESETS))
def test_the_installed_trl_accepts_every_preset(name: str) -> None:
    config = build_config(check_with_trl(settings(preset=name)), "out")
    wanted = PRESETS[name].settings
    assert config.learning_rate == wanted["learning_rate"]
    assert config.num_generations == wanted["num_generations"]
    assert config.gradient_accumulation_steps == wanted["gradient_accumulation_steps"]


@pytest.mark.guide("G9")
def test_the_small_gpu_preset_has_the_known_values() -> None:
    trl = PRESETS["small-gpu"].settings
    named = ("learning_rate", "adam_beta1", "adam_beta2", "weight_decay", "per_device_train_batch_size")
    assert [trl[name] for name in named] == [5e-6, 0.9, 0.99, 0.1, 1]
    assert (trl["gradient_accumulation_steps"], trl["num_generations"], trl["max_grad_norm"]) == (4, 8, 0.1)
    assert (trl["max_completion_length"], trl["save_steps"], trl["optim"]) == (512, 100, "adamw_8bit")
    assert (trl["lr_scheduler_type"], trl["warmup_steps"], trl["logging_steps"]) == ("cosine", 0.1, 1)
    assert PRESETS["small-gpu"].max_prompt_length == 256


@pytest.mark.guide("G9")
def test_the_large_gpu_preset_has_the_known_values() -> None:
    trl = PRESETS["large-gpu"].settings
    assert (trl["learning_rate"], trl["per_device_train_batch_size"], trl["num_generations"]) == (1e-5, 4, 16)
    assert (trl["gradient_accumulation_steps"], trl["max_completion_length"]) == (2, 1024)
    assert (trl["use_vllm"], trl["logging_steps"]) == (True, 10)
    assert PRESETS["large-gpu"].max_prompt_length == 512


def test_translated_preset_values_come_with_a_note() -> None:
    notes = " / ".join(settings(preset="small-gpu").notes)
    assert "warmup_ratio=0.1 is written warmup_steps=0.1" in notes
    assert "optim=adamw_8bit needs a GPU: adamw_torch is used" in notes


def test_an_unknown_preset_names_the_likely_one() -> None:
    with pytest.raises(UsageError, match="no preset 'small_gpu'; did you mean 'small-gpu'"):
        find_preset("small_gpu")


def test_layers_win_in_order_preset_manifest_stage_command_line() -> None:
    stage = Stage(name="s", max_steps=7, learning_rate=3e-4)
    found = settings("learning_rate=4e-4", stage=stage, learning_rate=2e-4, temperature=0.8)
    assert (found.trl["learning_rate"], found.trl["max_steps"], found.trl["temperature"]) == (4e-4, 7, 0.8)
    assert settings(stage=stage, learning_rate=2e-4).trl["learning_rate"] == 3e-4


def test_epochs_replace_the_weaker_layers_max_steps() -> None:
    assert "max_steps" not in settings("num_train_epochs=2").trl


def test_the_toy_model_brings_settings_that_teach_it() -> None:
    found = settings(asked="toy", per_device_train_batch_size=8, learning_rate=2e-4, max_steps=48)
    assert found.trl["learning_rate"] == TOY.settings["learning_rate"]
    assert found.trl["per_device_train_batch_size"] == 32
    assert found.trl["max_steps"] == 48  # the length of the run stays the manifest's
    assert found.lora is not None
    assert found.lora.r == 8
    assert any("toy" in note for note in found.notes)


def test_a_manifest_written_for_the_toy_keeps_its_own_settings() -> None:
    assert settings(model="toy", learning_rate=1e-3).trl["learning_rate"] == 1e-3


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ("warmup_ratio=0.1", "warmup_steps", 0.1),
        ("max_steps=none", "max_steps", -1),
        ("evaluation_strategy=no", "eval_strategy", "no"),
    ],
)
def test_settings_of_older_guides_are_translated(given: str, name: str, value: Any) -> None:
    found = settings(given)
    assert found.trl[name] == value
    assert any(given.partition("=")[0] in note for note in found.notes)


def test_torch_dtype_becomes_the_dtype_of_the_weights() -> None:
    assert settings("torch_dtype=torch.bfloat16").own.dtype == "bfloat16"


def test_max_prompt_length_is_ours_because_trl_has_none() -> None:
    found = settings("max_prompt_length=128")
    assert found.own.max_prompt_length == 128
    assert "max_prompt_length" not in found.trl


def test_a_setting_that_is_gone_is_dropped_with_its_reason() -> None:
    found = settings("overwrite_output_dir=true")
    assert "overwrite_output_dir" not in found.trl
    assert "overwrite_output_dir no longer exists: a run never overwrites another" in found.notes


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("reward_weights=[1.0]", "reward_weights cannot be set here: weights belong to the reward set"),
        ("output_dir=x", "output_dir cannot be set here: the run folder is chosen with --run"),
        ("temperature=0", "temperature=0 must be above 0"),
        ("learning_rate=nan", "learning_rate=nan must be above 0"),
        ("learning_rate=-1", "learning_rate=-1 must be above 0"),
        ("max_completion_length=0", "max_completion_length=0 must be at least 1"),
        ("beta=nan", "beta=nan must be at least 0"),
        ("max_steps=-3", "max_steps=-3 must be at least 1, or -1"),
        ("top_p=3", "top_p=3 must be above 0 and at most 1"),
        ("loss_type=dr-grpo", "loss_type='dr-grpo' is unknown; did you mean 'dr_grpo'?; it is one of grpo"),
        ("save_strategy=epoch", "save_strategy='epoch' must be 'steps'"),
        ("save_steps=0", "save_steps=0 must be a whole number"),
        ("report_to=wandbb", "report_to='wandbb' is unknown; did you mean 'wandb'?"),
        ("lora.rank=8", "lora: there is no setting 'rank'; known: r, alpha, dropout, targets"),
        ("lora=8", "lora=8 must be true, false or a table"),
        ("lora.targets=lm_head", "lora: targets='lm_head' (str) must not name lm_head"),
        ("lora.targets=q_proj, lm_head", "lora: targets='q_proj, lm_head' (str) must not name lm_head"),
        (
            "load_best_model_at_end=true",
            "load_best_model_at_end cannot be set here: the result is the model of",
        ),
        ("ignore_data_skip=true", "ignore_data_skip cannot be set here: a resumed run would train again"),
        ("logging_strategy=no", "logging_strategy cannot be set here: the record, adaptive weights"),
        ("seed=-1", "seed=-1 must be at least 0"),
        ("failure_share=2", "failure_share=2 (int) must be less than or equal to 1"),
        ("remove_unused_columns=true", "remove_unused_columns=true would take the answer columns away"),
        ("preset=gpu", "there is no preset 'gpu'"),
    ],
)
def test_a_value_that_cannot_work_is_one_sentence(given: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings(given)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("lerning_rate=1e-4", "there is no setting 'lerning_rate'; did you mean 'learning_rate'?"),
        ("learning_rate=fast", "learning_rate='fast' (str) must be a valid number"),
        ("max_steps=2.5", "max_steps=2.5 (float) must be a valid integer"),
        ("disable_dropout=yes", "disable_dropout='yes' (str) must be true or false"),
        ("optim=adam_w", "TRL refuses the settings: adam_w is not a valid OptimizerNames"),
    ],
)
def test_trl_has_the_last_word_on_its_own_settings(given: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_with_trl(settings(given))
    assert str(caught.value).startswith(sentence)


@pytest.mark.guide("G27")
@pytest.mark.parametrize(
    ("tracker", "line"),
    [
        ("wandb", r"pip install 'reward-workbench\[wandb\]'"),
        ("trackio", r"pip install 'reward-workbench\[trackio\]'"),
        ("tensorboard", "pip install tensorboard"),
    ],
)
def test_a_tracker_that_is_not_installed_is_answered_with_its_install_line(
    tracker: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises((MissingExtraError, UsageError), match=line):
        settings(f"report_to={tracker}", "optim=adamw_torch")


@pytest.mark.guide("G27")
def test_nothing_is_reported_anywhere_unless_asked() -> None:
    assert settings().trl["report_to"] == "none"


def test_checkpoints_are_moved_to_the_end_of_a_generation_window() -> None:
    found = settings("steps_per_generation=2", "save_steps=7")
    assert found.trl["save_steps"] == 8
    assert any("save_steps=7 became 8" in note for note in found.notes)


def test_two_checkpoints_are_kept_where_one_was_asked_for() -> None:
    found = settings("save_total_limit=1")
    assert found.trl["save_total_limit"] == 2
    assert any("save_total_limit=1 became 2" in note for note in found.notes)
    assert settings("save_total_limit=3").trl["save_total_limit"] == 3


@pytest.mark.guide("G11")
def test_lora_follows_preset_manifest_and_command_line() -> None:
    assert settings(preset="small-gpu").lora == settings("lora=true", preset="small-gpu").lora
    by_manifest = settings("lora.alpha=8", lora={"r": 4, "targets": ["q_proj"]}).lora
    assert by_manifest is not None
    assert (by_manifest.r, by_manifest.alpha, by_manifest.targets) == (4, 8, ("q_proj",))
    assert settings(lora=False).lora is None
    assert settings("lora=false").lora is None
    assert settings("lora=none").lora is None


def test_a_seed_of_none_is_trls_own() -> None:
    assert settings("seed=none").seed == settings().seed == 42


def test_no_model_is_a_sentence_with_the_way_out() -> None:
    with pytest.raises(UsageError, match="no model is named: give --model"):
        settings(model="")


def test_settings_come_back_exactly_from_the_manifest_they_wrote() -> None:
    found = check_with_trl(settings("lora.r=4", "steps_per_generation=2", preset="small-gpu", asked="toy"))
    again = Settings.from_manifest(found.to_manifest(), device="cpu", notes=found.notes)
    assert again == found.model_copy(update={"saves": "said"})  # as resolved, once and for all


def test_set_values_are_read_as_toml_and_else_as_text() -> None:
    found = parse_sets(["a=1e-4", "b=true", "c=[1, 2]", "d=q_proj,v_proj", "e=None", "f=True"])
    assert found == {"a": 1e-4, "b": True, "c": [1, 2], "d": "q_proj,v_proj", "e": None, "f": True}
    with pytest.raises(UsageError, match="must have the form key=value"):
        parse_sets(["learning_rate"])


def test_settings_presets_and_run_folder_load_without_torch() -> None:
    code = "import sys, trainer.settings, trainer.presets, trainer.rundir; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_cpu_preset_leaves_a_gpu_alone_and_says_so() -> None:
    found = resolve(TrainSettings(model="m"), device="cuda")
    assert (found.device, found.trl["use_cpu"]) == ("cpu", True)
    assert (
        "there is a GPU here that this run leaves alone: preset small-gpu or large-gpu uses it" in found.notes
    )


def test_gpu_presets_on_a_gpu_keep_bf16_and_vllm() -> None:
    found = resolve(TrainSettings(model="m", preset="large-gpu"), device="cuda")
    assert (found.device, found.trl["bf16"], found.trl["use_vllm"]) == ("cuda", True, True)
    assert "use_cpu" not in found.trl


def test_vllm_that_is_not_installed_is_answered_with_its_install_line() -> None:
    found = resolve(TrainSettings(model="m", preset="large-gpu"), device="cuda")
    with pytest.raises(MissingExtraError, match=r"pip install 'reward-workbench\[vllm\]'"):
        check_with_trl(found)


def test_a_short_run_has_its_first_checkpoint_within_a_third() -> None:
    assert settings("max_steps=12").trl["save_steps"] == 4
    assert settings("max_steps=2").trl["save_steps"] == 1
    assert settings("max_steps=1000").trl["save_steps"] == 25
    assert settings("max_steps=12", "save_steps=12").trl["save_steps"] == 12


def test_a_manifests_save_steps_gives_way_where_the_command_makes_the_run_shorter() -> None:
    train = TrainSettings.model_validate({"model": "toy", "max_steps": 48, "save_steps": 24})
    assert resolve(train, device="cpu").trl["save_steps"] == 24
    assert resolve(train, device="cpu", sets={"max_steps": 6}).trl["save_steps"] == 2
    assert resolve(train, device="cpu", sets={"max_steps": 30}).trl["save_steps"] == 24
