"""GGUF files as normal model folders.

transformers reads a GGUF file, but refuses to save what it read ("quantized with gguf and is not
serializable"). So the weights are read once, put into a fresh model of the same configuration without the
quantisation, and saved in float32: the dequantised values as they are, because rounding them to 16 bits
would also round away small updates merged later.
"""

from __future__ import annotations

import importlib.util
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path

from rewards.errors import UsageError
from trainer.models.loading import first_line, quiet_loading, save_model

VERSION = 1
"""Raised when `convert` changes what it writes, so that older conversions are not used again."""


def packaged_file(package: str, *, install: str) -> Path:
    """The one GGUF file inside an installed package, found without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise UsageError(
            f"the package {package.replace('_', '-')} is not installed; install it with: {install}"
        )
    files = sorted(Path(spec.origin).parent.glob("*.gguf"))
    if not files:
        raise UsageError(
            f"the package {package.replace('_', '-')} holds no .gguf file; install it again: {install}"
        )
    return files[0]


def convert(file: Path, folder: Path) -> None:
    """Write the model in the GGUF `file` into `folder`.

    Config, float32 weights, tokenizer with its chat template.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        with _bars_on_terminals_only():
            tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
            read = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise UsageError(f"{file} cannot be read as a GGUF language model: {first_line(error)}") from error
    config = read.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    config.dtype = torch.float32
    plain = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    plain.load_state_dict(read.state_dict())
    plain.generation_config = read.generation_config
    save_model(plain, folder)
    tokenizer.save_pretrained(folder)


@contextmanager
def _bars_on_terminals_only() -> Iterator[None]:
    """Progress bars of the conversion are for people: where standard error is a file they are left out."""
    if sys.stderr.isatty():
        yield
        return
    # The bars listen to no setting of transformers, only to where they are written.
    with quiet_loading(), redirect_stderr(io.StringIO()):
        yield
