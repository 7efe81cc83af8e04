"""Reward models: sequence classification, as TRL uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewards.contract import Batch, Status
from rewards.errors import ManifestError, TargetError
from rewards.reward_model import model_digest
from rewards.rewardset import RewardSet
from rewards.running import Runner
from rewards.sources import source_digest
from rewards.targets import parse_target


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose one reward is a tiny reward model with random weights."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForSequenceClassification

    root = tmp_path_factory.mktemp("judge")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {text: number for number, text in enumerate([*alphabet, "<|endoftext|>"])}
    raw = Tokenizer(models.BPE(vocabulary, []))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|endoftext|>")
    tokenizer.chat_template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(vocabulary), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, num_labels=1, pad_token_id=vocabulary["<|endoftext|>"],
    )  # fmt: skip
    Qwen2ForSequenceClassification(config).save_pretrained(root / "tiny-judge")
    tokenizer.save_pretrained(root / "tiny-judge")
    (root / "rewardset.toml").write_text('[[reward]]\nfunction = "tiny-judge"\nweight = 0.5\n')
    return root


def logits(folder: Path, texts: list[str]) -> list[float]:
    """The scores by transformers alone, one text at a time."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder / "tiny-judge", num_labels=1).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder / "tiny-judge")
    with torch.inference_mode():
        return [
            float(model(**tokenizer(text, return_tensors="pt", add_special_tokens=False)).logits[0, 0])
            for text in texts
        ]


def test_text_and_conversations_are_scored_as_by_the_model_alone(folder: Path) -> None:
    texts = Batch(["2+2=", "2+2="], ["4", "five, or so"])
    chats = Batch([[{"role": "user", "content": "hi"}]], [[{"role": "assistant", "content": "hello"}]])
    with Runner(spawn=True) as runner, runner.worker(folder, texts) as worker:
        assert worker.description.names == ["tiny-judge"]
        first = worker.call("tiny-judge")
        assert first.errors == {}
        assert first.scores.tolist() == pytest.approx(logits(folder, ["2+2=4", "2+2=five, or so"]), abs=1e-5)
        assert worker.call("tiny-judge", chats).scores.tolist() == pytest.approx(
            logits(folder, ["[user]hi[assistant]hello"]), abs=1e-5
        )


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin", "tokenizer.json"])
def test_the_last_byte_of_any_file_of_a_model_counts(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "judge"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / name).write_bytes(b"0" * (3 << 20) + b"1")
    before = model_digest("judge", tmp_path)
    (folder / "README.md").write_text("about it")
    assert model_digest("judge", tmp_path) == before
    (folder / name).write_bytes(b"0" * (3 << 20) + b"2")
    assert model_digest("judge", tmp_path) != before


def test_a_folder_that_holds_no_model_is_a_wrong_target(tmp_path: Path) -> None:
    (tmp_path / "models" / "judge").mkdir(parents=True)
    (tmp_path / "rewardset.toml").write_text('[[reward]]\nfunction = "models/judge"\n')
    for read in (lambda: RewardSet.load(tmp_path), lambda: source_digest(parse_target(tmp_path))):
        with pytest.raises(TargetError, match="the reward model models/judge has no config"):
            read()


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "rewardset.toml").write_text('[[reward]]\nfunction = "judge"\n')
    with pytest.raises(ManifestError, match="or a reward model"):
        RewardSet.load(tmp_path)


def test_a_model_that_cannot_be_loaded_fails_its_rows_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "judge").mkdir()
    (tmp_path / "judge" / "config.json").write_text('{"model_type": "qwen2"}')
    (tmp_path / "rewardset.toml").write_text('[[reward]]\nfunction = "judge"\n')
    with Runner(spawn=True) as runner, runner.worker(tmp_path, Batch(["p"], ["c"])) as worker:
        result = worker.call("judge")
    assert Status(result.status[0]) == Status.RAISED
    assert "the reward model" in result.errors[0]
