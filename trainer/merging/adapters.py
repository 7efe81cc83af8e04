"""A LoRA adapter on disk, read without PEFT: what it adds to which weight.

The merge proof has to know what the merged weights should be without asking the library that merged them. So
this reads `adapter_config.json` and the tensors itself: a weight W becomes W + scale x B A, other tensors in
the file (modules trained whole, biases) replace what was there. Kinds of adapters it does not know are
refused, never guessed.
"""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.errors import UsageError

PREFIX = "base_model.model."
PAIR = re.compile(r"^(?P<module>.*)\.lora_(?P<embedding>embedding_)?(?P<side>[AB])(?:\.weight)?$")


@dataclass(frozen=True)
class Pair:
    """The two factors of one weight's change.

    `a` (r, in), `b` (out, r), the scale, and whether W is stored turned over.
    """

    a: Any
    b: Any
    scale: float
    turned: bool

    def delta(self) -> Any:
        """scale x B A in float32, in the shape of the weight."""
        product = (self.b.float() @ self.a.float()) * self.scale
        return product.T if self.turned else product


@dataclass(frozen=True)
class Adapter:
    """`pairs` by the name of the weight they change, `replaced` by the name of the tensor they stand for."""

    config: Mapping[str, Any]
    pairs: dict[str, Pair]
    replaced: dict[str, Any]
    tensors: dict[str, Any]

    @property
    def base_name(self) -> str | None:
        """The base model's name or path as noted at training; None where nothing was noted."""
        name = self.config.get("base_model_name_or_path")
        return str(name) if name else None


def is_adapter_folder(folder: Path) -> bool:
    """True where `folder` holds an adapter's configuration and its weights."""
    return (folder / "adapter_config.json").is_file() and any(folder.glob("adapter_model.*"))


def read_adapter(folder: Path) -> Adapter:
    """Read a LoRA adapter.

    Raises:
        UsageError: the folder holds none, or one of a kind that cannot be recomputed here (DoRA and others).
    """
    config = _config(folder)
    tensors = _tensors(folder)
    sides: dict[str, dict[str, Any]] = {}
    replaced: dict[str, Any] = {}
    for name, tensor in tensors.items():
        plain = name.removeprefix(PREFIX)
        match = PAIR.match(plain)
        if match:
            place = sides.setdefault(match["module"], {"embedding": bool(match["embedding"])})
            place[match["side"]] = tensor
        elif "lora_" in plain:
            raise UsageError(
                f"{folder}: the adapter holds {name}, a kind of LoRA that cannot be merged with proof"
            )
        else:
            replaced[plain] = tensor
    pairs = {f"{module}.weight": _pair(config, module, place, folder) for module, place in sides.items()}
    return Adapter(config, pairs, replaced, tensors)


def _config(folder: Path) -> dict[str, Any]:
    try:
        config: dict[str, Any] = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder} holds no readable adapter_config.json: {error}") from error
    if config.get("peft_type") != "LORA":
        raise UsageError(
            f"{folder} holds a {config.get('peft_type')} adapter; only LoRA can be merged with proof"
        )
    if config.get("use_dora"):
        raise UsageError(f"{folder} holds a DoRA adapter; only plain LoRA can be merged with proof")
    return config


def _tensors(folder: Path) -> dict[str, Any]:
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    safe = folder / "adapter_model.safetensors"
    try:
        if safe.is_file():
            return dict(load_file(safe))
        return dict(torch.load(folder / "adapter_model.bin", map_location="cpu", weights_only=True))
    except (OSError, ValueError, RuntimeError, SafetensorError, pickle.UnpicklingError) as error:
        raise UsageError(f"the adapter's weights in {folder} cannot be read: {error}") from error


def _pair(config: Mapping[str, Any], module: str, place: Mapping[str, Any], folder: Path) -> Pair:
    if "A" not in place or "B" not in place:
        raise UsageError(f"{folder}: the adapter holds only one half of its change to {module}")
    rank = int(_pattern(config.get("rank_pattern"), module, config.get("r", 8)))
    alpha = float(_pattern(config.get("alpha_pattern"), module, config.get("lora_alpha", 8)))
    scale = alpha / (rank**0.5 if config.get("use_rslora") else rank)
    turned = bool(config.get("fan_in_fan_out") or place["embedding"])
    return Pair(place["A"], place["B"], scale, turned)


def _pattern(patterns: Mapping[str, Any] | None, module: str, default: Any) -> Any:
    """The value of the pattern that matches the end of the module's name, as PEFT looks it up."""
    for pattern, value in (patterns or {}).items():
        if re.match(rf"(.*\.)?({pattern})$", module):
            return value
    return default
