"""Whether a reward's code gives the same score for the same row every time, as far as its text shows.

A conservative look at everything the function depends on: its own part of its file (`rewards.code_slices`), the
local files it imports, the packages, and what any file of its set does to other modules. Whatever reads a clock, a
file, the network, the environment or random numbers, keeps state between calls, or uses a package that is not known
to be free of such things, is not repeatable. What the look cannot see (a C extension that keeps state, a set whose
order decides) the author has to say: `deterministic = false`. What really happens is watched besides, where rewards
are called (`rewards.outside`).

The digest of the same code is what cached scores are kept under.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rewards
from rewards.code_slices import Imported, words
from rewards.fingerprint import digest
from rewards.rewardset import RewardDescription, SetDescription
from workbench.code_files import (
    Files,
    Part,
    Place,
    changed_in,
    imports_in,
    part_of,
    reaches_out,
    state_in,
)

STANDARD = words(
    "__future__ abc ast base64 binascii bisect cmath collections contextlib copy dataclasses datetime decimal difflib "
    "enum fractions functools hashlib heapq html itertools json keyword math numbers operator re string struct "
    "statistics textwrap tokenize types typing unicodedata urllib warnings xml zlib calendar colorsys"
)
"""Modules of the standard library that compute and do nothing else, apart from `DENIED` names in them."""

PACKAGES = words(
    "regex numpy sympy mpmath rapidfuzz Levenshtein jsonschema referencing orjson ujson yaml toml tomlkit tomli "
    "pydantic typing_extensions more_itertools toolz editdistance textdistance jellyfish word2number num2words "
    "unidecode ftfy emoji sqlglot bs4 lxml markdown pyparsing attr attrs math_verify latex2sympy2_extended trl"
)
"""Installed packages known to compute and do nothing else, apart from `DENIED` names in them."""

DEADLINES = frozenset(["math_verify", "latex2sympy2_extended", "trl"])
"""Those that give up after some seconds: what took long is not kept."""

OWN = words(
    "choice cosine_length dates diversity exact extraction fuzzy incremental instructions json_format json_reading "
    "json_schemas language_consistency languages length linear_pattern lines markdown_format maths maths_answers "
    "maths_equality maths_terms maths_values number numeric parameters pattern references repetition rightness "
    "sentences sets style symbolic think_format xml_format"
)
"""Members of the library that compute; those that ask a judge or run programs are not among them."""

OWN_DEADLINES = frozenset(["maths", "maths_equality", "maths_values", "symbolic"])

OWN_NAMES = frozenset(["reward", "credit", "completion_text", "Status"])

DENIED = words(
    "now today utcnow fromtimestamp astimezone localtime time sleep random urandom default_rng seed load fromfile "
    "loadtxt genfromtxt memmap open fdopen read_text read_bytes write_text write_bytes request urlopen urlretrieve "
    "parse_file iterparse fromregex TOMLFile rand environ getenv system popen getpid uuid1 uuid4 token_hex getcontext "
    "setcontext"
)
"""Attributes that read a clock, files, the network, the environment or random numbers."""

BUILTINS = words(
    "open input exec eval compile __import__ globals locals vars id hash breakpoint setattr delattr"
)
"""Built-in functions with which nothing can be promised."""

READERS = {
    "xml": words("parse"),
    "lxml": words("parse XSLT"),
    "markdown": words("markdownFromFile convertFile"),
}
"""Names that read files in some packages and compute in others."""

_SUBMODULES = {
    "urllib": frozenset(["parse"]),
    "xml": frozenset(["etree", "sax", "dom"]),
    "trl": frozenset(["rewards"]),
}
_DUNDERS = frozenset(["__name__", "__class__", "__init__", "__call__", "__len__", "__version__"])

_OF_THE_FILE = words("__name__ __file__ __path__ __spec__ __loader__ __package__ __builtins__ __cached__")
"""Names that say where a file lies."""


@dataclass(frozen=True)
class Look:
    """What a look at a reward's code gave.

    `digest` names the code and everything installed; `why_not` says why scores must not be kept, None where they
    may; `deadlines`: what takes long may have been given up, and is not to be kept. `files` are the local files that
    it uses (without links), None: any that its set loads may bear on it; `read` are those that were read for this.
    """

    digest: str
    why_not: str | None
    deadlines: bool = False
    files: frozenset[str] | None = field(default=frozenset(), compare=False)
    read: frozenset[str] = field(default=frozenset(), compare=False)

    def concerns(self, reads: Iterable[tuple[str, str]]) -> bool:
        """Whether any of these uses of the world (`rewards.outside`) may be in a score of this reward."""
        return any(not file or self.files is None or file in self.files for file, _ in reads)

    def changed_since(self, moment: int) -> bool:
        """Whether a file was written after this moment (`time.time_ns`), so that other code may have run."""
        return any(not 0 < _changed_at(file) < moment for file in self.read)


@dataclass
class _Findings:
    """What is collected on the way through the files."""

    files: Files
    parts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    deadlines: bool = False
    packages: set[str] = field(default_factory=set)
    seen: set[tuple[Path, frozenset[str] | None]] = field(default_factory=set)

    @property
    def paths(self) -> set[Path]:
        """The files that were looked into."""
        return {path for path, _ in self.seen}


@dataclass
class _Set:
    """What holds for every reward of a set, since one process loads all of it.

    `effects` is what loading a file may do to other modules; `changed` and `packages` are the files and packages into
    which a function of any file writes while it runs, with the place where it does.
    """

    effects: _Findings
    outward: bool = False
    changed: dict[Path, str] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)


def look(reward: RewardDescription, root: Path) -> Look:
    """Look at the code of a reward that is a set of its own in the folder `root`; runs none of it."""
    return next(iter(_looks([reward], [reward], root).values()))


def looks(description: SetDescription, loaded: SetDescription | None = None) -> dict[str, Look]:
    """Look at the code of every reward of a set, by name; runs none of it.

    Args:
        description: the rewards.
        loaded: everything that their process loads, where it is more.
    """
    return _looks(description.rewards, (loaded or description).rewards, description.root)


def _looks(
    rewards: Sequence[RewardDescription], loaded: Sequence[RewardDescription], root: Path
) -> dict[str, Look]:
    files = Files(root)
    packages, own = installed(), own_code()
    try:
        common: _Set | None = _of_set([reward.entry.function for reward in loaded], files)
    except RecursionError:
        common = None
    return {reward.name: _look(reward, files, common, [packages, own]) for reward in rewards}


def _look(reward: RewardDescription, files: Files, common: _Set | None, around: list[str]) -> Look:
    entry = reward.entry
    findings = _Findings(files)
    if not entry.deterministic:
        findings.problems.append("it is declared deterministic = false")
    elif entry.runs == "warm" or entry.cost == "paid" or reward.file is None:
        findings.problems.append("its code cannot be read")
    else:
        try:
            if common is None:
                raise RecursionError
            _follow_reference(entry.function, findings)
            _add_set(common, findings)
        except RecursionError:
            findings.problems.append("its code is nested too deeply to be read")
    code = digest(
        [entry.function, entry.params, entry.when, entry.scope, sorted(findings.parts.items()), *around]
    )
    used = frozenset(map(os.path.realpath, findings.paths))
    if common is None or common.outward:
        return Look(code, *_verdict(findings), None, used | frozenset(map(os.path.realpath, files.paths)))
    return Look(code, *_verdict(findings), used, used)


def _verdict(findings: _Findings) -> tuple[str | None, bool]:
    return findings.problems[0] if findings.problems else None, findings.deadlines


def _follow_reference(function: str, findings: _Findings) -> None:
    where, separator, name = function.partition("::")
    root = findings.files.root
    if separator:
        _file(Path(os.path.abspath(root / where)), frozenset([name.partition(".")[0]]), findings)
        return
    module, _, name = function.partition(":")
    _module(Imported(module, name.partition(".")[0]), root, findings)


# ------------------------------------------------------------------------------------------ what a set loads


def _of_set(functions: Sequence[str], files: Files) -> _Set:
    """Look at all files that the process of these functions loads, at once or while it runs."""
    found = _Set(_Findings(files))
    pending: list[Path] = []
    for function in functions:
        where, separator, _ = function.partition("::")
        if separator:
            pending.append(Path(os.path.abspath(files.root / where)))
        elif ":" in function:
            pending += _paths(files.place(Imported(function.partition(":")[0], None), files.root))
    done: set[Path] = set()
    while pending:
        path = pending.pop()
        content = files.content(path) if path not in done else None
        done.add(path)
        if content is None:
            continue
        if reaches_out(content):
            found.outward = True
            _file(path, frozenset(), found.effects)
        imports = imports_in(content)
        pending += [file for _, what in imports for file in _paths(files.place(what, path.parent))]
        changed = changed_in(content)
        for name, what in imports:
            if name not in changed:
                continue
            why = f"{path.name}, line {changed[name]}: it changes {name}, which outlives the call"
            place = files.place(what, path.parent)
            if place is None:
                found.packages.setdefault(what.module.partition(".")[0], why)
            found.changed.update(dict.fromkeys(_paths(place), why))
    return found


def _paths(place: Place | None) -> tuple[Path, ...]:
    return (*place.packages, *place.modules) if place is not None else ()


def _add_set(common: _Set, findings: _Findings) -> None:
    findings.problems += [why for path, why in common.changed.items() if path in findings.paths]
    findings.problems += [why for name, why in common.packages.items() if name in findings.packages]
    findings.parts.update({f"loaded {place}": part for place, part in common.effects.parts.items()})
    findings.problems += common.effects.problems


# -------------------------------------------------------------------------------------------- following code


def _file(path: Path, names: frozenset[str] | None, findings: _Findings) -> None:
    """Look at the part of a local file that these names need; None: all of it.

    Links are not followed: what a linked file imports, Python looks for beside the link.
    """
    if (path, names) in findings.seen:
        return
    findings.seen.add((path, names))
    files = findings.files
    content = files.content(path)
    if content is None:
        findings.problems.append(f"{path.name} cannot be read")
        return
    part = part_of(content, names)
    place = path.relative_to(files.root) if path.is_relative_to(files.root) else path
    findings.parts[f"{place}:{sorted(names) if names is not None else '*'}"] = part.digest
    for what in (*part.used, *part.inside):
        _module(what, path.parent, findings)
    for what in part.unused:
        _only_loaded(what, path.parent, findings)
    findings.problems += [f"{path.name}, line {line}: {why}" for line, why in _problems_in(content, names)]
    findings.problems += _file_readers(part, path)
    changed = changed_in(content)
    for name in sorted(part.names & set(part.code.bound) & set(changed)):
        findings.problems.append(
            f"{path.name}, line {changed[name]}: it changes {name}, which outlives the call"
        )
    state = state_in(content, names, files.depths(part.code, path.parent))
    if state is not None:
        findings.problems.append(f"{path.name}, line {state.line}: {state.why}")


def _file_readers(part: Part, path: Path) -> list[str]:
    """Uses of names that read files in a package which the code imports, whatever they are called on."""
    imported = [*part.used, *part.unused, *part.inside]
    packages = {what.module.partition(".")[0] for what in imported}
    readers = frozenset(name for package in packages for name in READERS.get(package, ()))
    if not readers:
        return []
    found = [what.attribute for what in (*part.used, *part.inside) if what.attribute in readers] + [
        node.attr
        for statement in part.code.statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and node.attr in readers
    ]
    return [f"{path.name}: it may read a file with {name}" for name in found]


def _only_loaded(what: Imported, folder: Path, findings: _Findings) -> None:
    """An import whose name is not used: a local file runs all the same."""
    for file in _paths(findings.files.place(what, folder)):
        _file(file, frozenset(), findings)


def _module(what: Imported, folder: Path, findings: _Findings) -> None:
    """Judge an import: ours, standard, installed, or a local file to follow."""
    top = what.module.partition(".")[0]
    if not what.level and _is_ours(what.module):
        _ours(what, findings)
        return
    if not what.level and _is_standard(what.module):
        findings.packages.add(top)
        if top not in STANDARD or not _submodule_allowed(what) or what.attribute == "*":
            findings.problems.append(f"it uses {what.module}")
        elif what.attribute in DENIED:
            findings.problems.append(f"it uses {what.module}.{what.attribute}")
        return
    place = findings.files.place(what, folder)
    if place is not None:
        _local(what, place, findings)
        return
    findings.packages.add(top)
    if top not in PACKAGES or not _submodule_allowed(what) or what.attribute in {*DENIED, "*"}:
        findings.problems.append(f"it uses {what.module or what.attribute}")
    findings.deadlines |= top in DEADLINES


def _local(what: Imported, place: Place, findings: _Findings) -> None:
    """Follow an import of local files, and of every package on its way."""
    if place.unknown or not _paths(place):
        findings.problems.append(f"it uses {what.module or what.attribute}")
        return
    for package in place.packages:  # `import a.b` gives all of `a`
        _file(package, None if what.attribute is None else frozenset(), findings)
    for module in place.modules:
        if place.attribute == "*" and module.name == "__init__.py":
            findings.problems.append(
                f"it uses everything of {what.module or '.'}"
            )  # `__all__` may name modules
        whole = place.attribute is None or place.attribute == "*"
        _file(module, None if whole else frozenset([str(place.attribute)]), findings)


def _submodule_allowed(what: Imported) -> bool:
    """For packages of which only a part is known to compute."""
    top, _, rest = what.module.partition(".")
    if top not in _SUBMODULES:
        return not any(part in DENIED for part in rest.split("."))
    first = rest.partition(".")[0] or what.attribute
    return first in _SUBMODULES[top]


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "rewards"


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def _ours(what: Imported, findings: _Findings) -> None:
    """A name of this product: members of the library that compute, and the marks."""
    parts = what.module.split(".")
    home = parts[2] if parts[:2] == ["rewards", "library"] and len(parts) > 2 else None
    if parts == ["rewards", "library"] and what.attribute is not None:
        member = getattr(importlib.import_module("rewards.library"), what.attribute, None)
        home = getattr(member, "__module__", "").removeprefix("rewards.library.").partition(".")[0]
    if home in OWN:
        findings.deadlines |= home in OWN_DEADLINES
    elif what.attribute not in OWN_NAMES:
        findings.problems.append(f"it uses {what.module}{f'.{what.attribute}' if what.attribute else ''}")


# --------------------------------------------------------------------------------------------- looking at code


@functools.lru_cache(maxsize=2048)
def _problems_in(content: bytes, names: frozenset[str] | None) -> tuple[tuple[int, str], ...]:
    """What stands against keeping scores in a part of a text, with the line of each."""
    return tuple(
        (getattr(node, "lineno", 0), why)
        for statement in part_of(content, names).code.statements
        for node in ast.walk(statement)
        if (why := _problem(node)) is not None
    )


def _problem(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        if node.attr in DENIED:
            return f"it uses .{node.attr}"
        if node.attr.startswith("__") and node.attr.endswith("__") and node.attr not in _DUNDERS:
            return f"it uses .{node.attr}"
    if isinstance(node, ast.Name) and node.id in BUILTINS | _OF_THE_FILE:
        return f"it uses {node.id}"
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return f"it keeps {', '.join(node.names)} between calls"
    if isinstance(node, ast.Call):
        return _call_problem(node)
    return None


def _call_problem(call: ast.Call) -> str | None:
    if isinstance(call.func, ast.Name) and call.func.id == "getattr":
        name = call.args[1] if len(call.args) > 1 else None
        if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
            return "it uses getattr with a name that is not written down"
        if name.value in DENIED or name.value.startswith("__"):
            return f"it uses getattr for {name.value}"
    for keyword in call.keywords:
        if keyword.arg and ("timeout" in keyword.arg or "deadline" in keyword.arg):
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else 0
            if value is not None and not (isinstance(value, (int, float)) and value >= 2):
                return f"it has a deadline of its own ({keyword.arg})"
    return None


# ------------------------------------------------------------------------------------------ what is installed


def installed() -> str:
    """A digest of Python and of every installed package with its version."""
    return _installed(tuple((folder, _changed_at(folder)) for folder in sys.path))


@functools.lru_cache(maxsize=8)
def _installed(folders: tuple[tuple[str, int], ...]) -> str:
    names: list[str] = []
    for folder, _ in folders:
        with contextlib.suppress(OSError):
            names += [name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info"))]
    text = "\n".join([platform.python_implementation(), sys.version, platform.machine(), *sorted(names)])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def own_code() -> str:
    """A digest of the `rewards` package itself, whose version does not change with every edit of a checkout."""
    folder = Path(rewards.__file__ or "").parent
    files = sorted([*folder.glob("*.py"), *(folder / "library").rglob("*.py")])
    return _own_code(tuple((file, _changed_at(file)) for file in files))


@functools.lru_cache(maxsize=8)
def _own_code(files: tuple[tuple[Path, int], ...]) -> str:
    state = hashlib.blake2b(digest_size=16)
    for file, _ in files:
        state.update(file.read_bytes())
    return state.hexdigest()


def _changed_at(place: str | Path) -> int:
    """When a file or folder changed last, by the time that no copy can set; 0 for none."""
    try:
        return os.stat(place).st_ctime_ns
    except (OSError, ValueError):
        return 0


__all__: list[Any] = ["Look", "installed", "look", "looks", "own_code"]
