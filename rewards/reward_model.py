"""A reward model: a sequence-classification model with one label, used as TRL uses one.

The text is prompt plus completion (a conversation through the model's chat template), the score its one logit.
The weights are loaded at the first call, so a set that names a reward model can be described without torch.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rewards.errors import MissingExtraError, TargetError, UsageError
from rewards.file_digests import file_digest
from rewards.fingerprint import digest

BATCH = 16
"""Texts in one forward pass; a whole call at once would grow the memory with the call."""


def is_model_reference(reference: str, root: Path) -> bool:
    """Whether `reference` names a model (a folder with a config.json, or a hub name) and no function."""
    if "::" in reference or reference.endswith(".py"):
        return False
    return (root / reference / "config.json").is_file() or (":" not in reference and "/" in reference)


def model_digest(reference: str, root: Path) -> dict[str, str]:
    """What a fingerprint knows of a reward model: a digest of each file in its folder, by all of its bytes.

    Weights in any format, tokenizer, chat template and code of its own count; hidden files and Markdown do not. A hub
    name stands for itself.

    Raises:
        TargetError: the folder holds no model, or a file in it cannot be read.
    """
    folder = root / reference
    if not folder.is_dir():
        return {reference: reference}
    if not (folder / "config.json").is_file():
        raise TargetError(
            f"the reward model {reference} has no config.json: a reward is FILE.py::NAME, package.module:NAME, a "
            "folder with a sequence-classification model, or a hub name"
        )
    files = [
        file
        for file in sorted(folder.iterdir())
        if file.is_file() and not file.name.startswith(".") and file.suffix != ".md"
    ]
    try:
        return {reference: digest([[file.name, file_digest(file)] for file in files])}
    except OSError as error:
        raise TargetError(
            f"the reward model {reference} cannot be read: {error.filename}: {error.strerror}"
        ) from None


class RewardModel:
    """A reward model as a reward function.

    Args:
        reference: a folder with a sequence-classification model, relative to `root`, or a hub name.
        root: the folder of the manifest.
    """

    def __init__(self, reference: str, root: Path) -> None:
        folder = root / reference
        self.source = str(folder.resolve()) if folder.is_dir() else reference
        self.__name__ = reference.rstrip("/").rpartition("/")[2]

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **_: Any) -> list[float]:
        """The logit of each prompt with its completion.

        Raises:
            MissingExtraError: torch or transformers is not installed.
            UsageError: the source is no sequence-classification model with one label.
        """
        import torch

        model, tokenizer = _load(self.source)
        texts = [
            _text(prompt, completion, tokenizer)
            for prompt, completion in zip(prompts, completions, strict=True)
        ]
        scores: list[float] = []
        for start in range(0, len(texts), BATCH):
            inputs = tokenizer(
                text=texts[start : start + BATCH],
                return_tensors="pt",
                padding=True,
                padding_side="right",
                add_special_tokens=False,
            ).to(model.device)
            with torch.inference_mode():
                scores += model(**inputs).logits[:, 0].float().tolist()  # (rows, 1) -> (rows,)
        return scores


def _text(prompt: Any, completion: Any, tokenizer: Any) -> str:
    if isinstance(prompt, str) and isinstance(completion, str):
        return prompt + completion
    return str(tokenizer.apply_chat_template([*prompt, *completion], tokenize=False))


@functools.lru_cache(maxsize=2)
def _load(source: str) -> tuple[Any, Any]:
    try:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    except ImportError as error:
        raise MissingExtraError(error.name or "transformers", "train", f"the reward model {source}") from None
    try:
        model = AutoModelForSequenceClassification.from_pretrained(source, num_labels=1)
        tokenizer = AutoTokenizer.from_pretrained(source)
    except (OSError, ValueError) as error:
        first = str(error).strip().split("\n")[0]
        raise UsageError(f"the reward model {source} cannot be loaded: {first}") from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return model.eval().to(device), tokenizer
