"""What a command works on: a target and the samples that belong to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rewards.errors import SamplesError
from rewards.manifest import Manifest, read_manifest
from rewards.targets import Target, parse_target
from workbench.labels import labels_file, with_labels
from workbench.samples import Samples, read_samples
from workbench.samples.folders import LABELS_FILE
from workbench.samples.form import read_as
from workbench.samples.reader import holds_samples

LOOKED_AT = 20
"""Files looked into for one with rows, where none is named."""


@dataclass(frozen=True)
class Opened:
    """A target taken apart, its manifest if it has one, and its samples."""

    target: Target
    manifest: Manifest | None
    samples: Samples


def manifest_of(target: str | Path) -> Manifest | None:
    """The manifest of a project target; None for other targets. Runs none of the user's code."""
    return _manifest(parse_target(target))


def _manifest(target: Target) -> Manifest | None:
    return read_manifest(target.path) if target.kind == "project" else None


def open_target(
    target: str | Path,
    samples: Sequence[Path] = (),
    *,
    pinned: bool = False,
    form: str = "",
    columns: Mapping[str, str] | None = None,
) -> Opened:
    """Take a target apart and read its samples. Runs none of the user's code.

    What `labels.jsonl` beside the target says about rows is part of the samples (`workbench.labels`).

    Args:
        target: see `rewards.targets`.
        samples: sample files, relative to the current folder; none: those of the manifest.
        pinned: append the rows of `labels.jsonl` that are not among the samples.
        columns: names to change in the samples, source = target, beside those of the manifest.
        form: have them read as "chat" or "text"; "": as the manifest's `read_as` says, else as they are.

    Raises:
        TargetError, ManifestError: the target cannot be used.
        SamplesError: no samples were named, or no row could be read.
        UsageError: no row has a column that `columns` is to change.
    """
    parsed = parse_target(target)
    manifest = _manifest(parsed)
    paths = list(samples) or sample_paths(parsed, manifest)
    if not paths:
        raise SamplesError(no_samples(parsed, manifest))
    named = columns or {}
    columns = {**(manifest.data.columns if manifest else {}), **named}
    form = form or (manifest.set.read_as if manifest else "")
    found = read_as(read_samples(paths, columns=columns, named=named), form)
    return Opened(parsed, manifest, with_labels(found, labels_file(parsed), add=pinned))


def sample_paths(target: Target, manifest: Manifest | None) -> list[Path]:
    """The sample files a target names itself."""
    return manifest.sample_paths if manifest else []


def planned_group_size(manifest: Manifest | None) -> int | None:
    """Completions of a prompt in the training that a manifest plans; None where it plans none."""
    if manifest is None or "train" not in manifest.model_fields_set:
        return None
    from trainer.presets import PRESETS

    stated = manifest.train.settings.get("num_generations")
    preset = PRESETS.get(manifest.train.preset)
    size = stated if stated is not None else preset.settings.get("num_generations") if preset else None
    return size if isinstance(size, int) and size > 1 else None


def likely_samples(folder: Path) -> Path | None:
    """A file of a folder that has rows to read, the likeliest by its name; None where there is none."""
    files = [
        path for ending in ("jsonl", "json", "csv", "parquet") for path in sorted(folder.glob(f"*.{ending}"))
    ]
    named = [path for word in ("sample", "completion") for path in files if word in path.name.lower()]
    tried = dict.fromkeys([*named, *(path for path in files if path.name != LABELS_FILE)])
    return next((path for path in list(tried)[:LOOKED_AT] if holds_samples(path)), None)


def no_samples(target: Target, manifest: Manifest | None) -> str:
    """The sentence for a target without samples."""
    near = likely_samples(target.root)
    if manifest is not None:
        name = near.name if near is not None else "FILE"
        return f'{manifest.path.name} names no samples: write [set] samples = "{name}" or add --samples FILE'
    hint = f" (for example --samples {near})" if near is not None else ""
    return f"no completions to score: add --samples FILE{hint}"
