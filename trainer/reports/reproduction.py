"""What makes a run again: `reproduce.sh` and `requirements.txt` in its folder, written when it begins.

The manifest of a run has every setting, seed and path; the script trains it into another folder, with as many
processes as the run had. What was set to `none`, which TOML cannot say and a preset would fill in again, stands in the
script's command. The same packages on the same kind of processor give the same numbers; other hardware gives nearly
the same.
"""

from __future__ import annotations

import importlib.metadata
import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trainer.presets import PRESETS, TOY
from trainer.ranks import launched, launched_here
from trainer.rundir import write_whole
from trainer.settings import NEUTRAL

SCRIPT, LOCK, MANIFEST = "reproduce.sh", "requirements.txt", "manifest.toml"


def write_reproduction(folder: Path, *, python: str, fingerprint: str, sealed: bool, threads: int) -> None:
    """Write both files into a run folder.

    Args:
        folder: the run folder, as it is being filled; its manifest is there.
        python: the version of Python.
        fingerprint: of the reward set; the script's own run has to show the same.
        sealed: whether the set was sealed when the run began.
        threads: CPU threads of the run; another number adds up in another order.
    """
    write_whole(folder / LOCK, "".join(f"{line}\n" for line in installed()))
    write_script(folder, python=python, fingerprint=fingerprint, sealed=sealed, threads=threads)


def write_script(
    folder: Path,
    *,
    python: str,
    fingerprint: str,
    sealed: bool,
    threads: int,
    changed: Sequence[str] = (),
) -> None:
    """Write reproduce.sh alone; `changed` says how the run changed its rewards on the way."""
    path = folder / MANIFEST
    train = tomllib.loads(path.read_text(encoding="utf-8")).get("train", {}) if path.is_file() else {}
    processes = launched()
    text = script(
        python=python,
        fingerprint=fingerprint,
        sealed=sealed,
        threads=threads,
        unset=unset_names(train),
        processes=processes,
        configuration=launch_name(cpu=bool(train.get("use_cpu"))),
        changed=changed,
    )
    write_whole(folder / SCRIPT, text)
    (folder / SCRIPT).chmod(0o755)


def installed() -> list[str]:
    """Every installed package with its version, as pip reads it, sorted."""
    read = (
        package.metadata for package in importlib.metadata.distributions()
    )  # read anew each time it is asked for
    found = {f"{metadata['Name']}=={metadata['Version']}" for metadata in read if metadata["Name"]}
    return sorted(found, key=str.lower)


def unset_names(train: Mapping[str, Any]) -> list[str]:
    """The settings that are not in a run's `[train]`, were `none` therefore, and would be filled in again.

    >>> unset_names({"preset": "small-gpu", **NEUTRAL, **PRESETS["small-gpu"].settings})
    ['max_prompt_length']
    """
    preset = PRESETS.get(str(train.get("preset")))
    if preset is None:
        return []
    filled = {**NEUTRAL, **preset.settings, "max_prompt_length": preset.max_prompt_length}
    if train.get("model") == "toy":
        filled |= {**TOY.settings, "max_prompt_length": None}
    there = {*train, *(name for stage in train.get("stage", []) for name in stage)}
    return [name for name, value in filled.items() if value is not None and name not in there]


def launch_name(*, cpu: bool) -> str:
    """The configuration of `launch-config` that starts processes as this one was started."""
    if launched() > launched_here():
        return "nodes"
    if os.environ.get("ACCELERATE_USE_FSDP", "false").lower() == "true":
        return "fsdp"
    if os.environ.get("ACCELERATE_USE_DEEPSPEED", "false").lower() == "true":
        return "zero3" if os.environ.get("ACCELERATE_DEEPSPEED_ZERO_STAGE") == "3" else "zero2"
    return "cpu" if cpu else "ddp"


def script(
    *,
    python: str,
    fingerprint: str,
    sealed: bool,
    threads: int,
    unset: Sequence[str] = (),
    processes: int = 1,
    configuration: str = "ddp",
    changed: Sequence[str] = (),
) -> str:
    """The text of reproduce.sh.

    Args:
        python, fingerprint, sealed, threads: as for `write_reproduction`.
        unset: settings that are `none`.
        processes: how many trained together.
        configuration: how they were started, a name of `launch-config`.
        changed: how the run changed its rewards on the way.
    """
    sets = [f"threads={threads}", *(f"{name}=none" for name in unset)]
    words = ["train", MANIFEST, "--allow-unsealed", *(part for one in sets for part in ("--set", one))]
    command = f'{_start(processes, configuration)} {shlex.join(words)} --run "$target"'
    return (
        "#!/bin/sh\n"
        "# Trains this run again: the same rewards, rows, settings and seeds, into another folder.\n"
        "#\n"
        "#   sh reproduce.sh [FOLDER]        default: beside this one, with -again at its end\n"
        "#\n"
        f"{_limits(processes, configuration, changed)}"
        f"# Python {python}; packages: python -m pip install -r {LOCK}\n"
        f"# The reward set {_proved(sealed, changed)}, fingerprint {fingerprint}. It is read where it lies, so "
        "its\n# files, the training data and the model have to be there as they were.\n"
        "set -e\n"
        'here=$(cd "$(dirname "$0")" && pwd)\n'
        'target=${1:-"$here-again"}\n'
        'case $target in /*) ;; *) target="$PWD/$target" ;; esac\n'
        'cd "$here"\n'
        f"{command}\n"
    )


def _start(processes: int, configuration: str) -> str:
    if processes == 1:
        return "reward-workbench"
    return (
        f'accelerate launch --config_file "$(reward-workbench launch-config {configuration})" '
        f"--num_processes {processes} -m trainer"
    )


def _proved(sealed: bool, changed: Sequence[str]) -> str:
    if changed:
        return "is the last one"
    return "was sealed when this run began" if sealed else "was not sealed when this run began"


def _limits(processes: int, configuration: str, changed: Sequence[str]) -> str:
    """Comment lines on what the script does not do by itself."""
    lines = []
    if changed:
        lines.append(
            "The run changed its rewards on the way, which this script does not: it makes all steps on the"
        )
        lines.append("last ones.")
        lines += [" ".join(f"- {sentence}".split()) for sentence in changed]  # one line each: it is a comment
    if processes > 1:
        lines.append(f"{processes} processes trained together, each on a device of its own.")
    if processes > 1 and configuration == "nodes":
        lines.append(
            "They were on several machines: start it on each, with --machine_rank N --main_process_ip HOST."
        )
    return "".join(f"# {line}\n" for line in lines)
