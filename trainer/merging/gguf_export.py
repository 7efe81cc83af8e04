"""A merged model as one GGUF file, by llama.cpp's own converter where it is installed; then looked at.

The converter is a script of llama.cpp (`convert_hf_to_gguf.py`) and in no package, so it is looked for on the search
path and in the folder that LLAMA_CPP names. The file is written whole or not at all, and put in place only once its
tensors can be read.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from rewards.errors import UsageError
from trainer.models.loading import first_line, need

CONVERTER = "convert_hf_to_gguf.py"
TYPES = ("f32", "f16", "bf16", "q8_0")
HOW = (
    "git clone https://github.com/ggml-org/llama.cpp; pip install -r "
    "llama.cpp/requirements/requirements-convert_hf_to_gguf.txt; export LLAMA_CPP=$PWD/llama.cpp"
)


def find_converter() -> Path:
    """llama.cpp's converter.

    Raises:
        UsageError: there is none; the sentence has what installs it.
    """
    named = os.environ.get("LLAMA_CPP")
    if named:
        script = Path(named).expanduser() / CONVERTER
        if script.is_file():
            return script
        raise UsageError(f"LLAMA_CPP={named} holds no {CONVERTER}; name the folder of llama.cpp's sources")
    found = shutil.which(CONVERTER)
    if found is None:
        raise UsageError(f"--gguf needs llama.cpp's {CONVERTER}, which is not on the search path: {HOW}")
    return Path(found)


def check_type(kind: str) -> None:
    """See that the converter writes files of this type.

    Raises:
        UsageError: it does not.
    """
    if kind not in TYPES:
        raise UsageError(
            f"--gguf {kind} must be one of {', '.join(TYPES)}; smaller ones are made by llama-quantize"
        )


def gguf_file(model: Path, kind: str) -> Path:
    """The file of a model folder: beside it, and named like it."""
    return model.with_name(f"{model.name}-{kind}.gguf")


def see_free_gguf(model: Path, kind: str) -> None:
    """See that the file beside a folder that is yet to be written is not there.

    Raises:
        UsageError: it is, so it is not of this model.
    """
    file = gguf_file(model, kind)
    if file.exists():
        raise UsageError(f"{file} exists already; give another --out")


def export_gguf(model: Path, kind: str, say: Callable[[str], None] = lambda text: None) -> Path:
    """Convert a model folder; returns the file, which lies beside the folder and is named like it.

    Args:
        model: a folder with configuration, weights and tokenizer.
        kind: how weights are stored: f32, f16, bf16 or q8_0.
        say: takes each line of progress.

    Raises:
        UsageError: no converter, an unknown type, or the converter failed (its last line is in the sentence).
    """
    check_type(kind)
    script = find_converter()
    target = gguf_file(model, kind)
    temporary = target.with_name(f".{target.name}.tmp")
    say(f"converting {model.name} to {target.name} with {script} ...")
    command = [sys.executable, str(script), str(model), "--outfile", str(temporary), "--outtype", kind]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode or not temporary.is_file():
            lines = [line for line in (done.stderr or done.stdout).strip().splitlines() if line.strip()]
            raise UsageError(
                f"{CONVERTER} could not convert {model}: {lines[-1] if lines else 'it said nothing'}"
            )
        tensors = count_tensors(temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    say(f"{target}: {tensors} tensors, {target.stat().st_size / 1e6:.0f} MB")
    return target


def count_tensors(file: Path) -> int:
    """The tensors of a GGUF file.

    Raises:
        UsageError: it cannot be read, or holds none.
    """
    gguf = need("gguf")
    try:
        count = len(gguf.GGUFReader(file).tensors)
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise UsageError(
            f"the converter wrote {file.name}, which cannot be read: {first_line(error)}"
        ) from error
    if count == 0:
        raise UsageError(f"the converter wrote {file.name} without a single tensor")
    return count
