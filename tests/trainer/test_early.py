"""What is wrong with the options of a training, told without torch."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from rewards.errors import UsageError
from trainer.early import model_beside_resume, refuse_early, trl_fields
from trainer.rundir import RunDir


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ("nonsense=1", "there is no setting 'nonsense'; see GRPOConfig of TRL"),
        ("num_generation=4", "there is no setting 'num_generation'; did you mean 'num_generations'?"),
        ("num_generations=5", "no whole number of groups of num_generations=5; nearest legal: "),
        ("max_steps=abc", "max_steps='abc' (str) must be a whole number"),
        ("learning_rate=fast", "learning_rate='fast' (str) must be a number"),
        ("bf16=maybe", "bf16='maybe' (str) must be true or false"),
        ("model=tooy", "there is no model 'tooy' here; did you mean 'toy'?"),
        ("model=./nowhere", "no such model folder: ./nowhere"),
        ("model=nowhere.gguf", "no such GGUF file: nowhere.gguf"),
    ],
)
def test_a_wrong_option_is_refused_with_the_nearest_legal(project: Path, sets: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        refuse_early(str(project), sets=[sets])
    assert said in str(error.value)


def test_good_options_and_hub_names_pass(project: Path) -> None:
    refuse_early(str(project), model="Qwen/Qwen2.5-0.5B-Instruct", sets=["learning_rate=1e-4", "lora.r=4"])
    refuse_early(str(project), model="gpt2", sets=["max_steps=7"])


def test_nothing_heavy_is_loaded_for_it(project: Path) -> None:
    code = (
        f"import sys; from trainer.early import refuse_early; refuse_early({str(project)!r})\n"
        "print([name for name in ('torch', 'trl', 'transformers', 'datasets') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_fields_read_from_the_sources_are_those_of_the_class() -> None:
    from trl import GRPOConfig

    assert set(trl_fields()) >= {field.name for field in dataclasses.fields(GRPOConfig) if field.init}


def test_the_runs_own_model_may_stand_beside_resume(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = project / "runs" / "one"
    run.mkdir(parents=True)
    (run / "stages.json").write_text("[]")
    (run / "manifest.toml").write_text('[train]\nmodel = "toy"\n')
    monkeypatch.setattr(RunDir, "open", classmethod(lambda cls, path: cls(path)))
    model_beside_resume(str(project), model="toy", run=run)
    with pytest.raises(
        UsageError, match="trains the model 'toy': --model smollm2 cannot stand beside --resume"
    ):
        model_beside_resume(str(project), model="smollm2", run=run)
