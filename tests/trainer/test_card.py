"""The model card says what is so, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainer.reports.card import (
    card,
    comparison_text,
    front_matter,
    proof_text,
    seal_text,
    stages_text,
    watch_text,
    write_card,
)
from trainer.rundir import RunDir, Stage
from trainer.runfiles import RunFacts, read_facts


def facts(run: Path, **changes: Any) -> RunFacts:
    path = run / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return read_facts(RunDir.open(run))


@pytest.mark.guide("G23")
def test_the_card_names_rewards_weights_and_hyperparameters(tiny_run: Path) -> None:
    text = card(RunDir.open(tiny_run))
    assert "| tagged | format | 1 | 0 to 1 |" in text
    assert "| right | correctness | 0 (watched, not trained on) | not declared |" in text
    assert "| learning_rate | 0.0002 |" in text
    assert "| LoRA | r 2, alpha 4.0, dropout 0.0, on all-linear |" in text
    assert "1 prompts from `train.jsonl`, 2 held out" in text
    assert "trl 1.16.0" in text


def test_an_unsealed_run_is_called_unsealed(tiny_run: Path) -> None:
    assert seal_text(facts(tiny_run)).startswith("**Not sealed** (there is no seal)")


def test_weak_evidence_is_called_weak(tiny_run: Path) -> None:
    assert "**weak evidence**" in seal_text(facts(tiny_run, sealed=True, evidence="weak"))
    assert "weak" not in seal_text(facts(tiny_run, sealed=True, evidence="strong"))


def test_what_was_not_done_is_said_to_be_missing(tiny_run: Path) -> None:
    text = card(RunDir.open(tiny_run))
    assert "Not compared yet: `reward-workbench compare` does it." in text
    assert "Not merged yet: `reward-workbench merge` does it." in text


@pytest.mark.parametrize(
    ("model", "base"),
    [
        ("smollm2", 'base_model: "HuggingFaceTB/SmolLM2-135M-Instruct"'),
        ("Qwen/Qwen2.5-0.5B-Instruct", 'base_model: "Qwen/Qwen2.5-0.5B-Instruct"'),
        ("toy", None),
        ("/home/me/model", None),
        ("./models/mine.gguf", None),
    ],
)
def test_the_front_matter_names_a_base_the_hub_knows(tiny_run: Path, model: str, base: str | None) -> None:
    text = front_matter(facts(tiny_run, model=model), 'a "name"')
    assert text.startswith("---\n")
    assert text.endswith("\n---")
    assert ("base_model:" in text) == (base is not None)
    assert base is None or base in text
    assert 'model_name: "a \\"name\\""' in text


def test_a_failed_proof_is_not_hidden() -> None:
    checks = [{"passed": False, "sentence": "off by 9"}, {"passed": None, "sentence": "not noted"}]
    assert proof_text({"proved": False, "checks": checks}) == "**The last merge was not proved**: off by 9"


def test_the_comparison_is_a_table() -> None:
    pair = {"mean": 0.5, "low": 0.25, "high": 0.75}
    text = comparison_text(
        {
            "lines": [{"name": "total", "base": 1.0, "trained": 1.5, "paired": pair}],
            "sampling": {"temperature": 0.7, "top_p": 0.9},
            "prompts": 20,
            "completions": 8,
            "sentence": "total 1.0 -> 1.5",
        }
    )
    assert "| total | 1.000 | 1.500 | +0.500 | +0.250 to +0.750 |" in text


def test_the_merged_model_gets_the_card_too(tiny_run: Path) -> None:
    (tiny_run / "merged").mkdir()
    (tiny_run / "merged" / "config.json").write_text("{}")
    write_card(RunDir.open(tiny_run))
    assert (tiny_run / "merged" / "README.md").read_text() == (tiny_run / "README.md").read_text()


def test_the_card_of_a_staged_run_has_its_stages(tiny_run: Path) -> None:
    run = RunDir.open(tiny_run)
    manifest = run.manifest()
    run.write_stages(
        [
            Stage("one", ("tagged",), 4, 4, "done"),
            Stage("two", ("tagged", "right"), 6, 3, "done", reason="enough"),
        ]
    )
    manifest["train"]["stage"] = [{"where": {"level": "easy"}}, {"weights": {"right": 0.5}}]
    text = stages_text(run, manifest)
    assert "| one | tagged | level in easy | 4 of 4 |  |" in text
    assert "| two | tagged, right (weight 0.5) | all | 3 of 6 | enough |" in text
    assert "for 7 steps, by the rewards" in card(run)


def test_the_card_tells_what_the_monitor_told_at_its_worst(tiny_run: Path) -> None:
    run = RunDir.open(tiny_run)
    assert "nothing to warn of" in watch_text(run)
    told = {"name": "kl", "seen": "far", "means": "It moves fast", "advice": "Slow down"}
    lines = [{**told, "step": 3, "severity": "warning"}, {**told, "step": 9, "severity": "critical"}]
    run.diagnoses_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert watch_text(run) == "- **kl** (critical, step 9): far. It moves fast."
