"""A digest of everything a seal covers, as it is written, without running any of it.

A reward set is what its files and its manifest say. As long as none of that changed since a set was sealed, it
is the set that was sealed, and nothing has to be loaded to know it. (The reverse does not hold: writing a
default down changes this digest and not the fingerprint.)
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from rewards.errors import TargetError
from rewards.fingerprint import code_fingerprint, digest, package_versions
from rewards.manifest import read_manifest
from rewards.reward_model import is_model_reference, model_digest
from rewards.targets import Target


def source_digest(target: Target) -> str:
    """32 hex digits over the code files, `[set]` and `[[reward]]` of a target; no user code is run.

    Raises:
        ManifestError: the manifest cannot be read.
        TargetError: a file or module that it names is not there.
    """
    if target.kind != "project":
        reference = f"{target.module}:{target.name}" if target.module else target.path.name
        return digest([target.name, _code(reference, target.root)])
    manifest = read_manifest(target.path)
    covered = {"aggregation", "scale_rewards", "tokenizer"}
    entries = [
        [entry.model_dump(mode="json", include=entry.stated | {"name"}), _code(entry.function, manifest.root)]
        for entry in manifest.reward
    ]
    return digest([manifest.set.model_dump(mode="json", include=covered), entries])


def _code(reference: str, root: Path) -> dict[str, str]:
    """The code behind `FILE.py::NAME` or `package.module:NAME`."""
    if is_model_reference(reference, root):
        return model_digest(reference, root)
    where, separator, _ = reference.partition("::")
    if separator or where.endswith(".py"):
        file = root / where
        if not file.is_file():
            raise TargetError(f"there is no file {file}")
        return code_fingerprint(file, file.parent)
    return _module_code(where.partition(":")[0].split("."), root)


def _module_code(parts: list[str], root: Path) -> dict[str, str]:
    found: Any = None
    if not (root / parts[0]).is_dir() and not (root / f"{parts[0]}.py").is_file():
        found = importlib.util.find_spec(parts[0])  # looks at the top level only, which imports nothing
        if found is None or not found.origin:
            raise TargetError(f"there is no module '{'.'.join(parts)}'")
        if "site-packages" in Path(found.origin).parts:
            return package_versions([parts[0]])
        root = Path(found.origin).parent.parent
    file = root.joinpath(*parts).with_suffix(".py")
    if not file.is_file():
        file = root.joinpath(*parts, "__init__.py")
    if not file.is_file():
        raise TargetError(f"there is no module '{'.'.join(parts)}'")
    return code_fingerprint(file, root)
