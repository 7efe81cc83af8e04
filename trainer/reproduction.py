"""What makes a run again: `reproduce.sh` and `requirements.txt` in its folder, written when it begins.

The manifest of a run has every setting, seed and path; the script trains it into another folder. The same packages on
the same kind of processor give the same numbers; other hardware gives nearly the same.
"""

from __future__ import annotations

import importlib.metadata
import shlex
from pathlib import Path

from trainer.rundir import write_whole

SCRIPT, LOCK = "reproduce.sh", "requirements.txt"


def write_reproduction(folder: Path, *, python: str, fingerprint: str, sealed: bool, threads: int) -> None:
    """Write both files into a run folder.

    Args:
        folder: the run folder, as it is being filled.
        python: the version of Python.
        fingerprint: of the reward set; the script's own run has to show the same.
        sealed: whether the set was sealed when the run began.
        threads: CPU threads of the run; another number adds up in another order.
    """
    write_whole(folder / LOCK, "".join(f"{line}\n" for line in installed()))
    write_whole(
        folder / SCRIPT, script(python=python, fingerprint=fingerprint, sealed=sealed, threads=threads)
    )
    (folder / SCRIPT).chmod(0o755)


def installed() -> list[str]:
    """Every installed package with its version, as pip reads it, sorted."""
    found = {
        f"{package.metadata['Name']}=={package.version}"
        for package in importlib.metadata.distributions()
        if package.metadata["Name"]
    }
    return sorted(found, key=str.lower)


def script(*, python: str, fingerprint: str, sealed: bool, threads: int) -> str:
    """The text of reproduce.sh."""
    seal = "sealed" if sealed else "not sealed"
    command = shlex.join(
        ["reward-workbench", "train", "manifest.toml", "--allow-unsealed", "--set", f"threads={threads}"]
    )
    return (
        "#!/bin/sh\n"
        "# Trains this run again: the same rewards, rows, settings and seeds, into another folder.\n"
        "#\n"
        "#   sh reproduce.sh [FOLDER]        default: beside this one, with -again at its end\n"
        "#\n"
        f"# Python {python}; packages: python -m pip install -r {LOCK}\n"
        f"# The reward set was {seal} when this run began, fingerprint {fingerprint}. It is read where it lies, so "
        "its\n# files, the training data and the model have to be there as they were.\n"
        "set -e\n"
        'here=$(cd "$(dirname "$0")" && pwd)\n'
        'target=${1:-"$here-again"}\n'
        'case $target in /*) ;; *) target="$PWD/$target" ;; esac\n'
        'cd "$here"\n'
        f'{command} --run "$target"\n'
    )
