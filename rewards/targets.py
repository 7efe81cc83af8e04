"""What a TARGET on the command line means, read without running anything.

A target is a project folder with `rewardset.toml`, a Python file (`rewards.py`), one reward of a file
(`rewards.py::format_reward`) or an importable `package.module:function`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rewards.errors import TargetError

MANIFEST = "rewardset.toml"


@dataclass(frozen=True)
class Target:
    """A target taken apart.

    `path` is the manifest of a project, the Python file, or the current folder for an importable module;
    `module` is its dotted name there; `name` is the one reward asked for, None for all.
    """

    text: str
    kind: Literal["project", "file", "module"]
    path: Path
    name: str | None = None
    module: str | None = None

    @property
    def root(self) -> Path:
        """The folder that relative paths and local imports belong to."""
        return self.path if self.kind == "module" else self.path.parent

    @property
    def seal_path(self) -> Path:
        """Where the seal of this target is kept."""
        if self.kind == "project":
            return self.path.with_name("rewardset.seal.json")
        if self.kind == "file":
            suffix = f".{self.name}" if self.name else ""
            return self.path.with_name(f"{self.path.name}{suffix}.seal.json")
        return self.path / f"{self.module}.{self.name}.seal.json"


def parse_target(text: str | Path) -> Target:
    """Take a target apart.

    Raises:
        TargetError: nothing of that name exists, or the text has none of the four forms.
    """
    text = str(text)
    where, separator, name = text.partition("::")
    path = Path(where).expanduser()
    if path.suffix == ".toml" and path.is_file() and not separator:
        return Target(text, "project", path.resolve())
    if path.suffix == ".py":
        if not path.is_file():
            raise TargetError(f"there is no file {where}{_likely(path)}")
        if separator and not name:
            raise TargetError(f"'{text}' names no function after '::'")
        return Target(text, "file", path.resolve(), name or None)
    if path.is_dir():
        manifest = path / MANIFEST
        if manifest.is_file():
            if separator:
                raise TargetError(
                    f"'{text}': '::' follows a Python file; for one reward of a project use --only {name}"
                )
            return Target(text, "project", manifest.resolve())
        raise TargetError(
            f"{where} has no {MANIFEST}: name a reward file in it ({_example_file(path)}) "
            "or make a project with `reward-workbench init`"
        )
    module, separator, name = text.partition(":")
    if (
        separator
        and not name.startswith(":")
        and name
        and all(part.isidentifier() for part in module.split("."))
    ):
        return Target(text, "module", Path.cwd(), name, module)
    if path.is_file():
        raise TargetError(
            f"'{where}' is no reward file; if it holds completions, it goes behind the rewards: "
            f"{_example_file(path.parent)} --samples {where}"
        )
    raise TargetError(
        f"there is no file or folder '{where}'; a target is a project folder, a file.py, "
        "a file.py::function or a package.module:function"
    )


def _example_file(folder: Path) -> str:
    files = sorted(path.name for path in folder.glob("*.py"))
    preferred = [name for name in files if "reward" in name.lower()] or files
    return str(folder / (preferred[0] if preferred else "rewards.py"))


def _likely(path: Path) -> str:
    folder = path.parent
    names = [entry.name for entry in folder.glob("*.py")] if folder.is_dir() else []
    return did_you_mean(path.name, names)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` where something of that name is near, else ""."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""
