"""Loading what lies in a model folder: tokenizer, model, and a fingerprint of its weights.

torch and transformers are imported when they are first needed; a missing one is answered with the line that
installs it.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rewards.errors import MissingExtraError, UsageError


def need(module: str) -> Any:
    """Import `module`, or raise MissingExtraError with the line that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(module.split(".")[0], "train", "this command") from error


def load_tokenizer(folder: str | os.PathLike[str], *, template: Mapping[str, Any] | None = None) -> Any:
    """The tokenizer of a model folder, with a pad token (its own, else the end-of-sequence token).

    `template` holds TRL's `chat_template_kwargs`, which `trainer.data.prompts.render` gives to its chat template.
    """
    transformers = need("transformers")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(os.fspath(folder))
    except (OSError, ValueError, ImportError) as error:
        raise UsageError(f"the tokenizer in {folder} cannot be loaded: {first_line(error)}") from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.template_keywords = dict(template or {})
    return tokenizer


def load_model(
    folder: str | os.PathLike[str],
    *,
    dtype: str = "float32",
    attention: str | None = None,
    quantization: Any | None = None,
) -> Any:
    """The causal language model of a folder with weights in `dtype`.

    `auto` keeps the dtype it is stored in. `quantization` is a configuration of transformers' for fewer bits.
    """
    transformers = need("transformers")
    options: dict[str, Any] = {} if attention is None else {"attn_implementation": attention}
    if quantization is not None:
        options["quantization_config"] = quantization
    try:
        with quiet_loading():
            return transformers.AutoModelForCausalLM.from_pretrained(
                os.fspath(folder), dtype=dtype, **options
            )
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        raise UsageError(f"the model in {folder} cannot be loaded: {first_line(error)}") from error


def save_model(model: Any, folder: Path) -> None:
    """Save a model's configuration and weights into `folder`, without progress bars.

    Raises:
        OSError: they cannot be written; also where safetensors has an error of its own for it.
    """
    safetensors = need("safetensors")
    try:
        with quiet_loading():
            model.save_pretrained(folder)
    except safetensors.SafetensorError as error:
        raise OSError(f"{folder} cannot be written: {error}") from error


@contextmanager
def quiet_loading() -> Iterator[None]:
    """No progress bars of transformers while the block runs (they would end up in logs)."""
    logging = need("transformers.utils.logging")
    was_on = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_on:
            logging.enable_progress_bar()


def weight_files(folder: Path) -> list[Path]:
    """The files that hold a model's weights, sorted by name."""
    files = sorted(folder.glob("*.safetensors"))
    return files or sorted(folder.glob("pytorch_model*.bin"))


def fingerprint_weights(folder: str | os.PathLike[str]) -> str:
    """A hex digest of every tensor of a model folder: name, dtype, shape and bytes, however split in files.

    Raises:
        UsageError: the folder holds no weights.
    """
    files = weight_files(Path(folder))
    if not files:
        raise UsageError(f"{folder} has no weights to take a fingerprint of")
    whole = hashlib.sha256()
    for _, digest in sorted(_tensor_digests(files)):
        whole.update(digest)
    return whole.hexdigest()


def _tensor_digests(files: list[Path]) -> Iterator[tuple[str, bytes]]:
    """Name and digest of every tensor; one tensor at a time, so that large models fit."""
    torch = need("torch")
    for file in files:
        if file.suffix == ".safetensors":
            with need("safetensors").safe_open(file, framework="pt") as handle:
                for name in handle.keys():  # noqa: SIM118  (safe_open is no mapping)
                    yield name, _digest(torch, name, handle.get_tensor(name))
        else:
            for name, tensor in torch.load(file, map_location="cpu", weights_only=True).items():
                yield name, _digest(torch, name, tensor)


def _digest(torch: Any, name: str, tensor: Any) -> bytes:
    content = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy()
    digest = hashlib.sha256(f"{name}|{tensor.dtype}|{tuple(tensor.shape)}|".encode())
    digest.update(memoryview(content))  # no copy: a tensor may be gigabytes
    return digest.digest()


def first_line(error: BaseException) -> str:
    """The first line of an error's text, at most 300 characters; the type's name where it has none."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
