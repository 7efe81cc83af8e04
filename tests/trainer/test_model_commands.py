"""merge, compare, sample and watch from the command line: what is printed, and the exit codes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from trainer.__main__ import main
from trainer.merging.merge import find_trained, merge, write_merged
from trainer.merging.proof import Subject, prove


@pytest.fixture(autouse=True)
def this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands run in the tests' own process, whose environment they leave alone."""
    monkeypatch.setattr("trainer.__main__.prepare_process", lambda: None)


@pytest.mark.guide("G19")
def test_merge_prints_the_proof_and_the_folder(tiny_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["merge", str(tiny_run)]) == 0
    printed = capsys.readouterr()
    assert "  2  ok      changed weights" in printed.out
    assert printed.out.endswith(f"proved; the model is {tiny_run / 'merged'}\n")
    assert printed.err.startswith("merging ")


def test_a_failed_proof_ends_with_one_line_and_exit_code_1(
    tiny_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = tiny_run / "adapter" / "adapter_model.safetensors"
    tensors = load_file(weights)
    next(iter(tensors.values())).fill_(float("inf"))
    save_file(tensors, weights)
    assert main(["merge", str(tiny_run)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: the merge is not proved, nothing was put in place: 1 finite: ")


@pytest.mark.parametrize("command", ["merge", "compare", "watch"])
def test_a_run_that_is_not_there_ends_with_exit_code_2(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "nowhere"]) == 2
    assert capsys.readouterr().err == "error: no such run folder: nowhere\n"


def test_compare_prints_a_table_and_how_far_it_is(tiny_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_merged(find_trained(tiny_run), tiny_run / "merged", "float32")
    assert main(["compare", str(tiny_run)]) == 0
    printed = capsys.readouterr()
    assert "tagged (format)" in printed.out
    assert "prompts shared with the 1 trained on: none" in printed.out
    assert "trained: 16 of 16 completions" in printed.err


def test_sample_prints_the_answer_alone_on_standard_output(
    tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sample", str(tiny_model), "--prompt", "Why?"]) == 0
    assert capsys.readouterr().out.startswith("> Why?\n")


def test_watching_a_failed_run_ends_with_exit_code_1(
    tiny_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = json.loads((tiny_run / "stages.json").read_text())
    stages["stages"][0].update(status="failed", reason="out of memory")
    (tiny_run / "stages.json").write_text(json.dumps(stages))
    assert main(["watch", str(tiny_run)]) == 1
    assert capsys.readouterr().out.endswith("failed at step 2 of 2 (out of memory)\n")


@pytest.mark.guide("G20")
def test_the_merged_model_works_in_a_text_generation_pipeline(tiny_run: Path) -> None:
    from transformers import pipeline
    from transformers.utils import logging

    write_merged(find_trained(tiny_run), tiny_run / "merged", "float32")
    logging.set_verbosity_error()
    generate = pipeline("text-generation", model=str(tiny_run / "merged"))
    chat = [{"role": "user", "content": "What is 2 + 3?"}]
    (answer,) = generate(chat, max_new_tokens=4, do_sample=True, temperature=0.7, top_p=0.9)
    assert answer["generated_text"][-1]["role"] == "assistant"


@pytest.mark.filterwarnings("ignore::UserWarning")  # peft warns of it, and goes on
def test_lora_on_a_tied_head_is_found(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    from trainer.merging.proof_files import Check

    config = LoraConfig(r=2, lora_alpha=4, target_modules=["q_proj", "lm_head"], task_type="CAUSAL_LM")
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(tiny_model), config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_" in name:
                parameter.fill_(0.125)
    model.save_pretrained(tmp_path / "adapter")
    shutil.copytree(tmp_path / "adapter", tmp_path / "out")
    done = Check(7, "fresh process", True, 0, 0, "")
    monkeypatch.setattr("trainer.merging.proof.check_fresh_reload", lambda *_: done)
    failed = _failed_numbers(tmp_path / "out", tmp_path / "merged")
    assert 8 in failed


def _failed_numbers(out: Path, folder: Path) -> list[int]:
    trained = find_trained(out)
    write_merged(trained, folder, "float32")
    subject = Subject(trained.base, folder, trained.tokenizer, "float32", trained.adapter)
    return [check.number for check in prove(subject) if check.passed is False]


def test_a_full_disk_leaves_nothing_behind(tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rewards.errors import UsageError

    def full(model: Any, folder: Path) -> None:
        (folder / "model.safetensors").write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("trainer.merging.merge.save_model", full)
    with pytest.raises(
        UsageError, match="merged cannot be written: No space left on device; give another --out"
    ):
        merge(tiny_run)
    assert not (tiny_run / "merged").exists()
    assert list(tiny_run.glob(".merged*")) == []
