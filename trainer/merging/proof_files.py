"""The checks of the merge proof that look at files.

Keys, configuration, tokenizer, and loading them afresh.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainer.models.loading import load_tokenizer

LEFTOVERS = ("lora_", "base_layer", "modules_to_save", "base_model.")
ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors", "adapter_model.bin")
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "tokenizer.model",
    "spiece.model",
    "tekken.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "chat_template.jinja",
    "chat_template.json",
)
UNTOLD = {"transformers_version", "_name_or_path", "dtype", "torch_dtype", "architectures", "use_cache"}
"""Configuration entries that may differ without a word.

Who saved, from where, in which dtype (checked by itself).
"""

RELOAD_SECONDS = 900

SUM = {"role": "user", "content": "What is 2 + 3?"}
DIALOGUES: tuple[list[dict[str, str]], ...] = (
    [SUM],
    [{"role": "system", "content": "Be brief."}, SUM],
    [{"role": "system", "content": "Be brief."}, SUM, {"role": "assistant", "content": "5"}, SUM],
    [{"role": "user", "content": "Zwölf mal <answer>12</answer>?\n\n  中文 🙂"}],
)


@dataclass(frozen=True)
class Check:
    """One check's result.

    `passed` is None where it does not apply. `value` was measured, `limit` is what it may be.
    """

    number: int
    name: str
    passed: bool | None
    value: float | int | str | None
    limit: float | int | str | None
    sentence: str
    detail: dict[str, Any] = field(default_factory=dict)


def stored_keys(folder: Path) -> set[str]:
    """The names of the tensors in a folder's weight files, adapters left aside."""
    import torch
    from safetensors import safe_open

    keys: set[str] = set()
    for file in sorted(folder.glob("*.safetensors")):
        if not file.name.startswith("adapter_model"):
            with safe_open(file, framework="pt") as handle:
                keys |= set(handle.keys())
    if not keys:
        for file in sorted(folder.glob("pytorch_model*.bin")):
            keys |= set(torch.load(file, map_location="meta", weights_only=True, mmap=True))
    return keys


def check_keys(merged: Path, base: Path, loaded: Iterable[str]) -> Check:
    """4: the merged files hold the base's tensors by the base's names, and nothing of the adapter lies beside
    them.

    `loaded` are the names the base has once loaded: older files name some tensors otherwise. A head tied to
    its embedding may be written or left out.
    """
    name, keys = "keys", stored_keys(merged)
    leftovers = sorted(key for key in keys if any(part in key for part in LEFTOVERS))
    if leftovers:
        sentence = (
            f"{len(leftovers)} tensors are the adapter's, first {leftovers[0]}: saved without being merged"
        )
        return Check(4, name, False, len(leftovers), 0, sentence)
    files = [file for file in ADAPTER_FILES if (merged / file).exists()]
    if files:
        sentence = f"{files[0]} lies beside the merged weights: loading them would apply the adapter twice"
        return Check(4, name, False, len(files), 0, sentence)
    optional = {"lm_head.weight"} if _tied(merged) else set()
    differences = [sorted((set(wanted) ^ keys) - optional) for wanted in (stored_keys(base), loaded)]
    least = min(differences, key=len)
    sentence = f"{len(keys)} tensors under the base's names, no trace of the adapter"
    if least:
        sentence = f"{len(least)} names differ from the base's, first {least[0]}"
    return Check(4, name, not least, len(least), 0, sentence)


def _tied(folder: Path) -> bool:
    config = read_json(folder / "config.json")
    return bool(
        config.get("tie_word_embeddings", config.get("text_config", {}).get("tie_word_embeddings", False))
    )


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; {} where there is no such file or it holds something else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def check_config(merged: Path, base: Path, dtype: str, *, head_trained: bool = False) -> Check:
    """5: the dtype asked for, the vocabulary as large as the embedding, no quantisation, and all else as in
    the base.

    `head_trained`: the adapter reached the head or the embedding, which explains a head that is no longer
    tied.
    """
    ours, theirs = read_json(merged / "config.json"), read_json(base / "config.json")
    problems = []
    found = str(ours.get("dtype") or ours.get("torch_dtype"))
    if found != dtype:
        problems.append(f"its dtype is {found}, not {dtype}")
    if "quantization_config" in ours:
        problems.append("it still has a quantization_config")
    if _tied(merged) != _tied(base) and not head_trained:
        problems.append("tie_word_embeddings changed, and the adapter does not explain it")
    problems += _vocabulary_problem(merged, ours)
    allowed = UNTOLD | {"tie_word_embeddings", "quantization_config"}
    changed = sorted(
        key
        for key in {*ours, *theirs} - allowed
        if ours.get(key) != theirs.get(key) and _said(key, ours, theirs)
    )
    problems += [f"{key} is {ours.get(key)!r}, in the base {theirs.get(key)!r}" for key in changed]
    sentence = f"{dtype}, as the base in everything else" if not problems else "; ".join(problems)
    return Check(5, "configuration", not problems, len(problems), 0, sentence)


def _said(key: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """False where a key is only written out by one of the two.

    A newer transformers saves more of its defaults.
    """
    return key in ours and key in theirs


def _vocabulary_problem(merged: Path, config: Mapping[str, Any]) -> list[str]:
    from safetensors import safe_open

    stated = config.get("vocab_size", config.get("text_config", {}).get("vocab_size"))
    for file in sorted(merged.glob("*.safetensors")):
        with safe_open(file, framework="pt") as handle:
            for name in handle.keys():  # noqa: SIM118  (safe_open is no mapping)
                if name.endswith(("embed_tokens.weight", "wte.weight", "embed_in.weight")):
                    rows = handle.get_slice(name).get_shape()[0]
                    return (
                        [] if rows == stated else [f"vocab_size is {stated}, the embedding has {rows} rows"]
                    )
    return []


def check_tokenizer(merged: Path, trained: Path, base: Path) -> Check:
    """6.

    Tokenizer files byte for byte those of training; the same texts, ids, special tokens and generation
    settings.
    """
    problems = [
        f"{file} differs from the one trained with"
        for file in TOKENIZER_FILES
        if _bytes(merged / file) != _bytes(trained / file)
    ]
    ours, theirs = load_tokenizer(merged), load_tokenizer(trained)
    for name in ("eos_token_id", "pad_token_id", "bos_token_id"):
        if getattr(ours, name) != getattr(theirs, name):
            problems.append(f"{name} is {getattr(ours, name)}, was {getattr(theirs, name)}")
    problems += [f"dialogue {number} is rendered otherwise" for number in _differing_dialogues(ours, theirs)]
    settings = [read_json(folder / "generation_config.json") for folder in (merged, base)]
    for config in settings:
        config.pop("transformers_version", None)
    if settings[0] != settings[1]:
        problems.append("generation_config.json differs from the base's")
    sentence = "files byte for byte as trained with; template, ids and special tokens equal"
    return Check(6, "tokenizer", not problems, len(problems), 0, "; ".join(problems) or sentence)


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _differing_dialogues(ours: Any, theirs: Any) -> list[int]:
    """The numbers of the fixed dialogues whose text or ids differ, with the assistant's turn opened and not."""
    return [number for number, one in enumerate(DIALOGUES) if _rendered(ours, one) != _rendered(theirs, one)]


def _rendered(tokenizer: Any, dialogue: list[dict[str, str]]) -> list[Any]:
    if not tokenizer.chat_template:
        texts = [message["content"] for message in dialogue]
    else:
        texts = [_template(tokenizer, dialogue, opened) for opened in (True, False)]
    return [texts, [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]]


def _template(tokenizer: Any, dialogue: list[dict[str, str]], opened: bool) -> str:
    """The dialogue as text.

    A template that refuses it (some know no system message) refuses it by its own words.
    """
    from jinja2.exceptions import TemplateError

    try:
        return str(tokenizer.apply_chat_template(dialogue, tokenize=False, add_generation_prompt=opened))
    except TemplateError as error:
        return f"refused: {error}"


def check_fresh_reload(merged: Path, dtype: str) -> Check:
    """7.

    Plain transformers, in a fresh process that cannot import PEFT, loads the folder with no key missing or
    left over.
    """
    facts = fresh_reload(merged)
    problems = [
        f"{len(facts[key])} {key.replace('_', ' ')}: {facts[key][0]}" for key in facts if _some(facts, key)
    ]
    if "error" in facts:
        problems.append(str(facts["error"]))
    elif facts.get("adapters"):
        problems.append("an adapter was loaded with it")
    elif facts.get("dtype") != dtype:
        problems.append(f"it loads as {facts.get('dtype')}, not {dtype}")
    sentence = "; ".join(problems) or "loads with no key missing, unexpected or of another shape"
    return Check(7, "fresh process", not problems, len(problems), 0, sentence)


def _some(facts: Mapping[str, Any], key: str) -> bool:
    return isinstance(facts[key], list) and bool(facts[key])


def fresh_reload(folder: Path) -> dict[str, Any]:
    """What `trainer.merging.reload` says of a folder; {"error": ...} where the process failed."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    command = [sys.executable, "-P", "-m", "trainer.merging.reload", str(folder)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=RELOAD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"loading took longer than {RELOAD_SECONDS} s"}
    last = done.stdout.strip().splitlines()[-1:] or [""]
    try:
        facts = json.loads(last[0])
    except ValueError:
        return {"error": f"the process ended with exit code {done.returncode}: {done.stderr.strip()[-300:]}"}
    return dict(facts)
