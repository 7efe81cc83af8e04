"""Which backend a run uses, and whether it can: said before anything is loaded.

`transformers` holds the policy and generates with it; `vllm` is the same with TRL's own generation by vLLM; `unsloth`
holds the policy in Unsloth's kernels, in 4 bits unless told otherwise. All but the first need a GPU and a package.
Nothing here imports any of them, except `prepare`, which has to import Unsloth before TRL and transformers.
"""

from __future__ import annotations

import importlib.util
import socket
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from rewards.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from trainer.settings import Own, Settings

Backend = Literal["transformers", "vllm", "unsloth"]

PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
UNSLOTH_LORA: dict[str, Any] = {"r": 32, "alpha": 32, "dropout": 0.0, "targets": PROJECTIONS}
"""Unsloth's usual adapter for GRPO; its kernels are made for a dropout of 0."""
PATIENCE_S = 3.0


def lora_defaults(backend: str, preset: dict[str, Any]) -> dict[str, Any]:
    """The adapter a backend starts from where the manifest says nothing: Unsloth's own, else the preset's."""
    return {**preset, **UNSLOTH_LORA} if backend == "unsloth" else preset


def in_four_bits(own: Own) -> bool:
    """Whether the base's weights are held in 4 bits: as said, else with Unsloth."""
    return own.backend == "unsloth" if own.load_in_4bit is None else own.load_in_4bit


def fit_backend(own: Own, trl: dict[str, Any], *, gpu: bool, lora: bool, notes: list[str]) -> Own:
    """The settings of ours as the backend takes them; TRL's `use_vllm` is switched on for `vllm`.

    Args:
        own: the settings of ours.
        trl: TRL's settings, changed in place.
        gpu: whether the run computes on a CUDA device.
        lora: whether an adapter is trained.
        notes: what was translated is added.

    Raises:
        UsageError: the backend needs a GPU that the run has not, or the settings contradict each other.
    """
    if own.backend != "transformers" and not gpu:
        raise UsageError(
            f"backend={own.backend!r} needs a GPU, and this run has none (no GPU here, or preset cpu leaves it alone); "
            'backend = "transformers" runs everywhere'
        )
    if own.backend == "vllm":
        if trl.get("use_vllm") is False:
            raise UsageError("backend='vllm' and use_vllm=false contradict each other; give one of them")
        trl["use_vllm"] = True
        trl.setdefault("vllm_mode", "colocate")
    if own.load_in_4bit is None and own.backend == "unsloth" and not lora:
        own = own.model_copy(update={"load_in_4bit": False})
    if in_four_bits(own):
        if not gpu:
            raise UsageError("load_in_4bit=true needs a GPU, and this run has none; leave it out")
        if not lora:
            raise UsageError(
                "load_in_4bit=true trains an adapter beside weights that stay as they are: it needs lora = true"
            )
        notes.append(
            "trained on a base in 4 bits and merged into its 16-bit weights: the two differ by the rounding, which the "
            "comparison measures and the merge proof does not"
        )
    return own


def require_backend(settings: Settings) -> None:
    """See that the packages of a run's backend are there, and a vLLM server where one is to be used.

    Raises:
        MissingExtraError: a package is missing; the message is its install line.
        UsageError: no server answers, or bitsandbytes is missing.
    """
    trl = settings.trl
    if settings.own.backend == "unsloth" and not _is_installed("unsloth"):
        raise MissingExtraError(
            "unsloth", "unsloth", 'backend = "unsloth" (or "transformers", which needs no more)'
        )
    if trl.get("use_vllm"):
        if not _is_installed("vllm"):
            raise MissingExtraError("vllm", "vllm", "generation by vLLM (or --set use_vllm=false)")
        if trl.get("vllm_mode") == "server":
            _require_server(trl)
    if in_four_bits(settings.own) and not _is_installed("bitsandbytes"):
        raise UsageError(
            "load_in_4bit=true needs the package bitsandbytes, which is not installed: pip install bitsandbytes"
        )


def prepare(settings: Settings) -> None:
    """Import what has to be imported before TRL and transformers: Unsloth replaces parts of both as they load.

    Raises:
        As `require_backend`.
    """
    require_backend(settings)
    if settings.own.backend == "unsloth":
        importlib.import_module("unsloth")


def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _require_server(trl: dict[str, Any]) -> None:
    """See that something listens where the vLLM server is said to be (TRL would wait minutes for it)."""
    url = str(trl.get("vllm_server_base_url") or "")
    if url:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    else:
        host, port = str(trl.get("vllm_server_host") or "0.0.0.0"), int(trl.get("vllm_server_port") or 8000)
    try:
        socket.create_connection((host, port), timeout=PATIENCE_S).close()
    except OSError as error:
        raise UsageError(
            f"no vLLM server answers at {host}:{port} ({error.strerror or error}); start one on other GPUs: "
            "trl vllm-serve --model MODEL, or use vllm_mode=colocate"
        ) from error
