"""Merging: put in place once proved, and every fault of a bad merge found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from rewards.errors import MergeProofError, UsageError
from trainer.merging import merge as merging
from trainer.merging.adapters import read_adapter
from trainer.merging.merge import find_trained, merge, write_merged
from trainer.merging.proof import Subject, prove
from trainer.merging.proof_files import Check

Q = "model.layers.0.self_attn.q_proj.weight"


def edit_weights(file: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file, metadata={"format": "pt"})


@pytest.fixture
def merged(tiny_run: Path, tmp_path: Path) -> Subject:
    """A right merge in float32, not yet examined, which a test then spoils."""
    trained = find_trained(tiny_run)
    folder = tmp_path / "merged"
    write_merged(trained, folder, "float32")
    return Subject(trained.base, folder, trained.tokenizer, "float32", trained.adapter)


@pytest.fixture
def no_fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out number 7, which takes seconds, where another number is meant."""
    done = Check(7, "fresh process", True, 0, 0, "")
    monkeypatch.setattr("trainer.merging.proof.check_fresh_reload", lambda folder, dtype: done)


def failed(subject: Subject) -> list[int]:
    return [check.number for check in prove(subject) if check.passed is False]


@pytest.mark.guide("G19")
def test_a_run_is_merged_proved_and_put_in_place(tiny_run: Path) -> None:
    result = merge(tiny_run)
    assert result.folder == tiny_run / "merged"
    assert [check.number for check in result.checks] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert all(check.passed for check in result.checks)
    proof = json.loads((tiny_run / "merge-proof.json").read_text())
    assert proof["proved"] is True
    assert set(proof["checks"][0]) >= {"number", "name", "passed", "value", "limit", "sentence"}
    assert (tiny_run / "merged" / "README.md").is_file()
    assert [path.name for path in tiny_run.glob(".*")] == []


def test_the_merged_weight_is_base_plus_scale_b_a(merged: Subject) -> None:
    base, stored = (
        load_file(merged.base / "model.safetensors"),
        load_file(merged.merged / "model.safetensors"),
    )
    assert merged.adapter is not None
    assert torch.equal(stored[Q], base[Q] + read_adapter(merged.adapter).pairs[Q].delta())
    assert stored.keys() == base.keys()


@pytest.mark.usefixtures("no_fresh_process")
def test_a_right_merge_has_no_fault(merged: Subject) -> None:
    assert failed(merged) == []


@pytest.mark.usefixtures("no_fresh_process")
def test_a_model_that_was_not_merged_at_all_is_found(merged: Subject) -> None:
    shutil.copy(merged.base / "model.safetensors", merged.merged / "model.safetensors")
    assert {2, 8, 9, 10, 11} <= set(failed(merged))


@pytest.mark.usefixtures("no_fresh_process")
def test_a_halved_scale_is_found(merged: Subject) -> None:
    base = load_file(merged.base / "model.safetensors")

    def halve(tensors: dict[str, torch.Tensor]) -> None:
        for name in tensors:
            tensors[name] = base[name] + (tensors[name] - base[name]) / 2

    edit_weights(merged.merged / "model.safetensors", halve)
    assert {2, 8, 9, 10} <= set(failed(merged)) <= {2, 8, 9, 10, 12}


@pytest.mark.usefixtures("no_fresh_process")
def test_one_missing_module_is_found_and_named(merged: Subject) -> None:
    base = load_file(merged.base / "model.safetensors")
    edit_weights(merged.merged / "model.safetensors", lambda tensors: tensors.update({Q: base[Q]}))
    checks = {check.number: check for check in prove(merged)}
    found = {number for number, check in checks.items() if check.passed is False}
    assert {2, 8, 9, 10} <= found <= {2, 8, 9, 10, 12}
    assert Q in checks[2].sentence
    assert checks[10].detail["module"] == Q


@pytest.mark.usefixtures("no_fresh_process")
def test_an_adapter_merged_twice_is_found(merged: Subject) -> None:
    base = load_file(merged.base / "model.safetensors")

    def twice(tensors: dict[str, torch.Tensor]) -> None:
        for name in tensors:
            tensors[name] = tensors[name] + (tensors[name] - base[name])

    edit_weights(merged.merged / "model.safetensors", twice)
    assert 2 in failed(merged)


@pytest.mark.usefixtures("no_fresh_process")
def test_a_changed_weight_the_adapter_does_not_name_is_found(merged: Subject) -> None:
    edit_weights(
        merged.merged / "model.safetensors", lambda tensors: tensors["model.norm.weight"].mul_(1.0001)
    )
    assert 3 in failed(merged)


@pytest.mark.usefixtures("no_fresh_process")
def test_nan_in_the_merged_weights_is_found(merged: Subject) -> None:
    edit_weights(merged.merged / "model.safetensors", lambda tensors: tensors[Q].fill_(float("nan")))
    assert {1, 2, 8} <= set(failed(merged))


def test_an_adapter_with_nan_is_refused_before_it_is_merged(tiny_run: Path) -> None:
    edit_weights(
        tiny_run / "adapter" / "adapter_model.safetensors",
        lambda tensors: next(iter(tensors.values())).fill_(float("nan")),
    )
    with pytest.raises(
        MergeProofError, match=r"not proved, nothing was put in place: 1 finite: \d+ numbers are NaN"
    ):
        merge(tiny_run)
    assert not (tiny_run / "merged").exists()
    assert json.loads((tiny_run / "merge-proof.json").read_text())["proved"] is False


def test_another_base_is_refused(tiny_run: Path) -> None:
    environment = json.loads((tiny_run / "environment.json").read_text())
    environment["base_fingerprint"] = "f" * 64
    (tiny_run / "environment.json").write_text(json.dumps(environment))
    with pytest.raises(MergeProofError, match=r"0 same base: .* holds other weights than were trained on"):
        merge(tiny_run)


def test_a_failed_proof_leaves_the_older_merge_alone(tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tiny_run / "merged").mkdir()
    (tiny_run / "merged" / "mine").write_text("kept")
    bad = Check(2, "changed weights", False, 9.0, 1.0, "off by 9")
    monkeypatch.setattr(merging.merge_proof, "prove", lambda subject, say: [bad])
    with pytest.raises(MergeProofError, match=r"merged is as it was: 2 changed weights: off by 9") as caught:
        merge(tiny_run)
    assert caught.value.exit_code == 1
    assert (tiny_run / "merged" / "mine").read_text() == "kept"
    assert [path.name for path in tiny_run.glob(".*")] == []


def test_a_second_merge_replaces_the_first(tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging.merge_proof, "prove", lambda subject, say: [])
    (tiny_run / "merged").mkdir()
    (tiny_run / "merged" / "stale").write_text("")
    merge(tiny_run)
    assert not (tiny_run / "merged" / "stale").exists()
    assert (tiny_run / "merged" / "config.json").is_file()


def test_sixteen_bits_are_asked_for_by_name(tiny_run: Path, tmp_path: Path, no_fresh_process: None) -> None:
    checks = merge(tiny_run, out=tmp_path / "half", dtype="bf16").checks
    assert load_file(tmp_path / "half" / "model.safetensors")[Q].dtype == torch.bfloat16
    assert json.loads((tiny_run / "merge-proof.json").read_text())["dtype"] == "bfloat16"
    assert (tmp_path / "half" / "README.md").is_file()
    assert {check.number: check.passed for check in checks}[10]


def test_an_unknown_dtype_is_refused(tiny_run: Path) -> None:
    with pytest.raises(UsageError, match="--dtype int8 must be one of float32, bfloat16, float16"):
        merge(tiny_run, dtype="int8")


def test_a_folder_in_use_is_refused(tiny_run: Path) -> None:
    with pytest.raises(UsageError, match="adapter exists already; give another --out"):
        merge(tiny_run, out=tiny_run / "adapter")


def test_a_bare_output_folder_of_trl_is_merged(
    tiny_adapter: Path, tmp_path: Path, no_fresh_process: None
) -> None:
    shutil.copytree(tiny_adapter, tmp_path / "out" / "checkpoint-20")
    shutil.copytree(tiny_adapter, tmp_path / "out" / "checkpoint-3")
    assert find_trained(tmp_path / "out").adapter == tmp_path / "out" / "checkpoint-20"
    result = merge(tmp_path / "out")
    assert result.folder == tmp_path / "out" / "merged"
    assert result.checks[0].passed is None


def test_an_adapter_without_a_base_name_is_told(tiny_adapter: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(tiny_adapter, folder)
    config = json.loads((folder / "adapter_config.json").read_text())
    (folder / "adapter_config.json").write_text(json.dumps({**config, "base_model_name_or_path": None}))
    with pytest.raises(UsageError, match="does not name its base model"):
        merge(folder)


def test_a_whole_model_has_nothing_to_merge(tiny_model: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing to merge: .* holds a whole model"):
        merge(tiny_model)


def test_a_full_fine_tuning_is_proved_where_it_lies(
    tiny_run: Path, merged: Subject, no_fresh_process: None
) -> None:
    shutil.rmtree(tiny_run / "adapter")
    shutil.copytree(merged.merged, tiny_run / "model")
    result = merge(tiny_run)
    assert (result.folder, result.was_adapter) == (tiny_run / "model", False)
    assert [check.number for check in result.checks] == [0, 1, 4, 5, 6, 7, 8, 9, 11, 12]
    of_two = {check.number for check in result.checks if check.passed is None}
    assert of_two >= {8, 9, 12}  # the model would be compared with itself


@pytest.fixture
def tuned(tiny_run: Path, merged: Subject, tmp_path: Path) -> Subject:
    """A full fine-tuning and its cast to bfloat16, not yet examined; every weight was changed by a hundredth."""
    trained = tmp_path / "trained"
    shutil.copytree(merged.base, trained)
    edit_weights(trained / "model.safetensors", lambda t: t.update({name: t[name] * 1.01 for name in t}))
    found = replace(find_trained(tiny_run), adapter=None, full=trained)
    write_merged(found, tmp_path / "cast", "bfloat16")
    return replace(merged, merged=tmp_path / "cast", adapter=None, trained=trained, dtype="bfloat16")


def test_a_full_fine_tuning_that_is_cast_is_proved_by_its_weights(
    tuned: Subject, no_fresh_process: None
) -> None:
    checks = prove(tuned)
    assert [check.number for check in checks] == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert [check.number for check in checks if check.passed is False] == []


def test_one_weight_left_at_the_base_is_found_after_full_fine_tuning(
    tuned: Subject, no_fresh_process: None
) -> None:
    base = load_file(tuned.base / "model.safetensors")[Q].to(torch.bfloat16)
    edit_weights(tuned.merged / "model.safetensors", lambda tensors: tensors.update({Q: base}))
    told = {check.number: check for check in prove(tuned)}
    assert told[2].passed is False
    assert told[2].sentence.endswith(f"tensors are not the trained ones, first {Q}")
    assert told[10].passed is False
    assert Q in told[10].sentence


def test_an_unfinished_run_says_so(tiny_run: Path) -> None:
    shutil.rmtree(tiny_run / "adapter")
    with pytest.raises(UsageError, match="has no trained model yet") as refused:
        merge(tiny_run)
    assert f" --run {tiny_run} --resume" in str(refused.value)


def test_an_empty_folder_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither a run folder nor an output folder of TRL"):
        merge(tmp_path)
