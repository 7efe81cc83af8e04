"""A digest of everything a seal covers, as it is written, without running any of it.

A reward set is what its files and its manifest say. As long as none of that changed since a set was sealed, it
is the set that was sealed, and nothing has to be loaded to know it. (The reverse does not hold: writing a
default down changes this digest and not the fingerprint.)
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from rewards.errors import TargetError
from rewards.fingerprint import LIBRARY, code_fingerprint, digest, library_fingerprint, package_versions
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
    files: dict[str, dict[str, str]] = {}  # rewards of one file have one code, which is read once
    entries = []
    for entry in manifest.reward:
        where = entry.function.partition("::")[0]
        if where not in files:
            files[where] = _code(entry.function, manifest.root)
        entries.append([entry.model_dump(mode="json", include=entry.stated | {"name"}), files[where]])
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
    """As loading does it: an installed package goes before a file of the same name in the project."""
    found = importlib.util.find_spec(parts[0])  # looks at the top level only, which imports nothing
    if found is not None and found.origin and "site-packages" in Path(found.origin).parts:
        from importlib import metadata  # late: it takes its time

        distributions = metadata.packages_distributions().get(parts[0], [parts[0]])
        return package_versions(distributions)
    if found is not None and found.origin:
        root = (
            Path(found.origin).parent.parent
            if found.submodule_search_locations
            else Path(found.origin).parent
        )
    file = root.joinpath(*parts).with_suffix(".py")
    if not file.is_file():
        file = root.joinpath(*parts, "__init__.py")
    if not file.is_file():
        raise TargetError(f"there is no module '{'.'.join(parts)}'")
    return library_fingerprint() if file.resolve().is_relative_to(LIBRARY) else code_fingerprint(file, root)
