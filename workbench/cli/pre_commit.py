"""The pre-commit hook: `check --quick` on what a commit touches, `python -P -m workbench.cli.pre_commit FILE ...`.

A changed file belongs to the reward set next above it if the set uses it (its manifest, its samples, the code of its
rewards); the set is checked once. A Python file of no set is checked by itself where it defines rewards, which is
read off its text: nothing of a file without rewards is run.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rewards.errors import RewardWorkbenchError
from rewards.fingerprint import local_files
from rewards.manifest import Manifest, read_manifest
from rewards.targets import MANIFEST


def targets_of(changed: Sequence[Path], top: Path) -> list[Path]:
    """What to check for changed files: manifests and reward files, each once, in the order of the files.

    `top` is where the search for a manifest ends. A manifest that cannot be read is a target, so that it is told.
    """
    found: dict[Path, None] = {}
    for file in changed:
        manifest = _manifest_above(file.resolve(), top.resolve())
        if manifest is not None and _uses(manifest, file.resolve()):
            found[manifest] = None
        elif file.suffix == ".py" and file.is_file() and defines_rewards(file):
            found[file] = None
    return list(found)


def _manifest_above(file: Path, top: Path) -> Path | None:
    for folder in file.parents:
        if (folder / MANIFEST).is_file():
            return folder / MANIFEST
        if folder == top:
            break
    return None


def _uses(path: Path, file: Path) -> bool:
    """Whether a reward set uses a file."""
    if path == file:
        return True
    try:
        manifest = read_manifest(path)
    except RewardWorkbenchError:
        return file.suffix == ".py"
    return file in [sample.resolve() for sample in manifest.sample_paths] or file in _code(manifest)


def _code(manifest: Manifest) -> set[Path]:
    files: set[Path] = set()
    for entry in manifest.reward:
        where = entry.function.partition("::")[0]
        if where.endswith(".py") and (manifest.root / where).is_file():
            files.update(local_files(manifest.root / where, manifest.root))
    return files


def defines_rewards(file: Path) -> bool:
    """Whether a file defines a public function at its top level that takes `completions`."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    return any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and not node.name.startswith("_")
        and "completions" in [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
        for node in tree.body
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what the named files belong to; the worst exit code of all checks."""
    files = [Path(argument) for argument in (sys.argv[1:] if arguments is None else arguments)]
    worst = 0
    for target in targets_of(files, Path.cwd()):
        command = [sys.executable, "-P", "-m", "workbench.cli.main", "check", str(target), "--quick"]
        worst = max(worst, subprocess.run(command, check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
