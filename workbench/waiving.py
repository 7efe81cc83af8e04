"""Accepting a finding: a waiver with its reason in the manifest, comments and layout kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rewards.errors import ManifestError, UsageError
from rewards.manifest import read_manifest, write_text

MAX_REASON = 500


def add_waiver(path: Path, check: str, reward: str | None, reason: str) -> None:
    """Write `{ check, reward, reason }` under `[check] waive` of a manifest; an older one for the same is replaced.

    Args:
        path: the `rewardset.toml`.
        check: the code of the check.
        reward: the reward whose finding is accepted; None: one of the set, or of every reward.
        reason: why, for whoever reads the manifest and the seal.

    Raises:
        UsageError: there is no reason, or it is too long.
        ManifestError: the file cannot be read or written.
    """
    import tomlkit

    words = " ".join(reason.split())
    if not words or len(words) > MAX_REASON:
        raise UsageError(f"say in 1 to {MAX_REASON} characters why this is accepted")
    read_manifest(path)
    document: Any = tomlkit.parse(path.read_text(encoding="utf-8"))
    table = document.setdefault("check", tomlkit.table())
    waivers: Any = table.get("waive")
    if waivers is None:
        waivers = table["waive"] = tomlkit.array().multiline(True)
    for at, old in enumerate(waivers):
        if old.get("check") == check and old.get("reward") == reward:
            del waivers[at]
            break
    nested = not isinstance(waivers, tomlkit.items.Array)
    entry: Any = tomlkit.table() if nested else tomlkit.inline_table()
    entry["check"] = check
    if reward is not None:
        entry["reward"] = reward
    entry["reason"] = words
    waivers.append(entry)
    text = tomlkit.dumps(document)
    if "waive" not in text:
        raise ManifestError(f"{path.name} could not be changed; write the waiver by hand")
    write_text(path, text)
