"""A digest of everything a seal covers, as it is written, without running any of it.

A reward set is what its files and its manifest say. As long as none of that changed since a set was sealed, it
is the set that was sealed, and nothing has to be loaded to know it. (The reverse does not hold: writing a
default down changes this digest and not the fingerprint.)
"""

from __future__ import annotations

from pathlib import Path

from rewards.errors import TargetError
from rewards.fingerprint import LIBRARY, code_fingerprint, digest, library_fingerprint, module_versions
from rewards.manifest import read_manifest
from rewards.packages import OUR_PACKAGES, find
from rewards.reward_model import is_model_reference, model_digest
from rewards.rewardset import SEALED_SETTINGS
from rewards.targets import Target

COVERAGE = 2
"""Counts up whenever a seal covers more, so that an older one does not hold on the word of unchanged files alone."""


def source_digest(target: Target) -> str:
    """32 hex digits over the code files, `[set]` and `[[reward]]` of a target; no user code is run.

    Raises:
        ManifestError: the manifest cannot be read.
        TargetError: a file or module that it names is not there.
    """
    if target.kind != "project":
        reference = f"{target.module}:{target.name}" if target.module else target.path.name
        return digest([COVERAGE, target.name, _code(reference, target.root)])
    manifest = read_manifest(target.path)
    files: dict[str, dict[str, str]] = {}  # rewards of one file have one code, which is read once
    entries = []
    for entry in manifest.reward:
        where = entry.function.partition("::")[0]
        if where not in files:
            files[where] = _code(entry.function, manifest.root)
        entries.append([entry.model_dump(mode="json", include=entry.stated | {"name"}), files[where]])
    return digest([COVERAGE, manifest.set.model_dump(mode="json", include=set(SEALED_SETTINGS)), entries])


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
    """As loading does it: an installed package goes before a file of the same name in the project."""
    found = find(parts[0])
    if found is not None and found.folder is not None:
        if found.installed and parts[0] not in OUR_PACKAGES:
            return module_versions(parts[:1])
        root = found.folder
    file = root.joinpath(*parts).with_suffix(".py")
    if not file.is_file():
        file = root.joinpath(*parts, "__init__.py")
    if not file.is_file():
        raise TargetError(f"there is no module '{'.'.join(parts)}'")
    if file.resolve().is_relative_to(LIBRARY):
        return library_fingerprint()
    return code_fingerprint(file, root, dotted=True)
