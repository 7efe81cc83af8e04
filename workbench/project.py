"""Making a project folder: from a template, or around a reward file somebody has.

Everything is written into a hidden folder beside its place first and moved there when it is complete, so that
a full disk or a read-only folder leaves nothing half-written. Nothing that exists is ever overwritten.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rewards.errors import TargetError, UsageError
from rewards.fingerprint import local_files
from rewards.rewardset import RewardDescription, SetDescription
from rewards.targets import MANIFEST, did_you_mean
from workbench.kinds import KIND_WEIGHTS, suggested_kind

TEMPLATES_FOLDER = Path(__file__).parent / "templates"
DEFAULT_TEMPLATE = "gsm8k"

_STORED_AS = {"gitignore": ".gitignore"}  # a .gitignore in the package's own tree would hide its files


def template_names() -> list[str]:
    """The templates there are; `_tour` is the app's own."""
    return sorted(manifest.parent.name for manifest in TEMPLATES_FOLDER.glob(f"[!_]*/{MANIFEST}"))


def create_from_template(folder: Path, template: str = DEFAULT_TEMPLATE) -> list[Path]:
    """Write a template's project into `folder`.

    Returns:
        The files written.

    Raises:
        UsageError: no such template, one of the files exists already, or the folder cannot be written.
    """
    known = template_names()
    if template not in known:
        hint = did_you_mean(template, known) or f"; there are {', '.join(known)}"
        raise UsageError(f"there is no template '{template}'{hint}")

    def fill(into: Path) -> None:
        for source in sorted((TEMPLATES_FOLDER / template).iterdir()):
            if source.is_file():
                shutil.copyfile(source, into / _STORED_AS.get(source.name, source.name))

    return create_whole(folder, fill)


def create_from_file(folder: Path, file: Path, description: SetDescription) -> list[Path]:
    """Write a project around a reward file, which itself stays as it is.

    A file inside `folder` is used where it lies; another is copied there, with the local modules it imports.

    Args:
        folder: the project's folder, new or not.
        file: the reward file.
        description: the rewards in it, as a worker found them.

    Returns:
        The files written.

    Raises:
        UsageError: a file of the project exists already, or the folder cannot be written.
    """
    source, root = file.resolve(), file.resolve().parent
    inside = source.is_relative_to(folder.resolve())
    place = source.relative_to(folder.resolve()) if inside else Path(source.name)
    text = manifest_text(folder.resolve().name, place.as_posix(), description.rewards)

    def fill(into: Path) -> None:
        (into / MANIFEST).write_text(text, encoding="utf-8")
        for local in [] if inside else local_files(source, root):
            copy = into / local.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(local, copy)

    return create_whole(folder, fill)


# ------------------------------------------------------------------------------- all of it, or nothing


def create_whole(
    folder: Path, fill: Callable[[Path], None], failed: str = "no project was made in"
) -> list[Path]:
    """Let `fill` write files into a hidden folder, then move them to `folder`; all of them or none.

    `failed` begins the sentence where it cannot be written.

    Raises:
        UsageError: one of the files exists already, or the folder cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = folder if folder.is_dir() else folder.parent
        hidden = Path(tempfile.mkdtemp(dir=beside, prefix=".init-"))
    except OSError as error:
        raise UsageError(_cannot_write(folder, failed, error)) from error
    try:
        fill(hidden)
        return _move(hidden, folder)
    except OSError as error:
        raise UsageError(_cannot_write(folder, failed, error)) from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _move(hidden: Path, folder: Path) -> list[Path]:
    """Move the finished files of `hidden` to `folder`; all of them or none."""
    names = sorted(path.relative_to(hidden) for path in hidden.rglob("*") if path.is_file())
    present = [name.as_posix() for name in names if os.path.lexists(folder / name)]
    if present:
        raise UsageError(
            f"{folder} already has {', '.join(present)}; nothing was written: name another folder or move "
            f"{'it' if len(present) == 1 else 'them'} away"
        )
    if not folder.exists():
        umask = os.umask(0)
        os.umask(umask)
        hidden.chmod(0o777 & ~umask)
        hidden.rename(folder)
        return [folder / name for name in names]
    moved: list[Path] = []
    try:
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (hidden / name).rename(folder / name)
            moved.append(folder / name)
    except OSError:
        for path in moved:
            path.unlink(missing_ok=True)
        raise
    return moved


def _cannot_write(folder: Path, failed: str, error: OSError) -> str:
    reasons = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the disk quota is used up",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "no permission to write there",
    }
    reason = reasons.get(error.errno or 0, error.strerror or str(error))
    return f"{failed} {folder}: {reason}"


# --------------------------------------------------------------------------------- the manifest's text


def manifest_text(name: str, file: str, rewards: Sequence[RewardDescription]) -> str:
    """A `rewardset.toml` for the rewards of one file: weights by kind, and a comment for each key."""
    if not rewards:
        raise TargetError(f"{file} defines no reward")
    columns = sorted({column for reward in rewards for column in reward.signature.required})
    tables = "\n".join(_reward_table(file, reward) for reward in rewards)
    return f"""\
# The reward set of {file}.
#
#   reward-workbench serve .        look at it            reward-workbench check . --seal   prove it
#   reward-workbench score .        score the samples     reward-workbench train .          train from it
#
# Paths are relative to this file. Only [[reward]] is needed; everything else has a default.

[set]
name = {_quoted(name)}
# Completions to judge: jsonl, json, csv, parquet, or a completions log of TRL. Each row has a `prompt`, a
# `completion`{_and_columns(columns)}, and may have a `label` (right, partial, wrong, hack).
# samples = "samples.jsonl"

# Kinds are read from the names: correct what is wrong. Weights are the usual ones of the kind (TRL's own
# default is 1.0). What a function promises to return is yours to say: range = [0.0, 1.0].

{tables}
[data]
# train = "train.jsonl"                 # jsonl, csv, parquet, or the name of a hub data set
# columns = {{ question = "prompt" }}     # source = target
# system_prompt = ""
holdout = 0.1                           # share of the prompts kept back for the comparison

[train]
preset = "cpu"                          # cpu | small-gpu | large-gpu; any TRL setting below it wins over the preset
model = "smollm2"                       # hub name, folder or .gguf file; "smollm2": packaged; "toy": made on the spot
lora = true                             # false: full fine-tuning
"""


def _and_columns(columns: Sequence[str]) -> str:
    if not columns:
        return ""
    return ", the " + ("column " if len(columns) == 1 else "columns ") + ", ".join(f"`{c}`" for c in columns)


def _reward_table(file: str, reward: RewardDescription) -> str:
    """One `[[reward]]`; what the function's own `@reward` mark declares is not said again."""
    written = reward.entry.function.rpartition("::")[2]
    lines = ["[[reward]]", f"function = {_quoted(f'{file}::{written}')}"]
    declared = set(reward.declared)
    kind = reward.entry.kind or suggested_kind(reward.name)
    if "kind" not in declared:
        lines.append(f'kind = "{kind}"' if kind else "# kind = ...   # " + " | ".join(KIND_WEIGHTS))
    if "weight" not in declared:
        lines.append(f"weight = {KIND_WEIGHTS[kind] if kind else 1.0}")
    if "range" not in declared:
        lines.append("# range = [0.0, 1.0]")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    import tomlkit

    return tomlkit.item(text).as_string()
