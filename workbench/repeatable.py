"""Whether a reward's code gives the same score for the same row every time, as far as its text shows.

A conservative look at everything the function depends on: its own part of its file (`rewards.code_slices`), the
local files it imports, and the packages. Whatever reads a clock, a file, the network, the environment or random
numbers, keeps state between calls, or uses a package that is not known to be free of such things, is not
repeatable. What the look cannot see (a C extension that keeps state, a set whose order decides) the author has to
say: `deterministic = false`.

The digest of the same code is what cached scores are kept under.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import os
import platform
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewards.code_slices import CodeSlice, Imported, code_slice, imports_of, words
from rewards.fingerprint import digest
from rewards.rewardset import RewardDescription
from workbench.state_keeping import kept_state

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
    "parse_file iterparse environ getenv system popen getpid uuid1 uuid4 token_hex getcontext setcontext"
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
_DUNDERS = frozenset(["__name__", "__class__", "__doc__", "__init__", "__call__", "__len__", "__version__"])


@dataclass(frozen=True)
class Look:
    """What a look at a reward's code gave.

    `digest` names the code and everything installed; `why_not` says why scores must not be kept, None where they
    may; `deadlines`: what takes long may have been given up, and is not to be kept.
    """

    digest: str
    why_not: str | None
    deadlines: bool = False


@dataclass
class _Findings:
    """What is collected on the way through the files."""

    parts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    deadlines: bool = False
    seen: set[tuple[Path, frozenset[str] | None]] = field(default_factory=set)


def look(reward: RewardDescription, root: Path) -> Look:
    """Look at the code of a reward of a set in the folder `root`; runs none of it."""
    entry = reward.entry
    findings = _Findings()
    if not entry.deterministic:
        findings.problems.append("it is declared deterministic = false")
    elif entry.runs == "warm" or entry.cost == "paid" or reward.file is None:
        findings.problems.append("its code cannot be read")
    else:
        try:
            _follow_reference(entry.function, Path(os.path.abspath(root)), findings)
        except RecursionError:
            findings.problems.append("its code is nested too deeply to be read")
    code = digest(
        [
            entry.function, entry.params, entry.when, entry.scope,
            sorted(findings.parts.items()), installed(), own_code(),
        ]
    )  # fmt: skip
    return Look(code, findings.problems[0] if findings.problems else None, findings.deadlines)


def _follow_reference(function: str, root: Path, findings: _Findings) -> None:
    where, separator, name = function.partition("::")
    if separator:
        _file(Path(os.path.abspath(root / where)), root, {name.partition(".")[0]}, findings)
        return
    module, _, name = function.partition(":")
    _module(Imported(module, name.partition(".")[0]), root, root, findings)


# -------------------------------------------------------------------------------------------- following code


def _file(path: Path, root: Path, names: set[str] | None, findings: _Findings) -> None:
    """Look at the part of a local file that these names need; None: all of it.

    Links are not followed: what a linked file imports, Python looks for beside the link.
    """
    key = (path, frozenset(names) if names is not None else None)
    if key in findings.seen:
        return
    findings.seen.add(key)
    try:
        stat = path.stat()
        tree = _tree(path.resolve(), stat.st_mtime_ns, stat.st_size)
    except (OSError, SyntaxError, ValueError):
        findings.problems.append(f"{path.name} cannot be read")
        return
    part = code_slice(tree, names)
    place = path.relative_to(root) if path.is_relative_to(root) else path
    findings.parts[f"{place}:{sorted(names) if names is not None else '*'}"] = hashlib.blake2b(
        part.text().encode("utf-8", "surrogatepass"), digest_size=16
    ).hexdigest()
    for imported in {*part.imports.values(), *_local_imports(part, path, root)}:
        _module(imported, path.parent, root, findings)
    for statement in part.statements:
        _scan(statement, path, root, findings)
    findings.problems += _file_readers(part, path)
    state = kept_state(part)
    if state is not None:
        findings.problems.append(f"{path.name}, line {state.line}: {state.why}")


@functools.lru_cache(maxsize=64)
def _tree(path: Path, _modified: int, _size: int) -> ast.Module:
    """A file's syntax tree, parsed once for all the rewards in it; nobody changes it."""
    return ast.parse(path.read_bytes())


def _file_readers(part: CodeSlice, path: Path) -> list[str]:
    """Uses of names that read files in a package which the code imports, whatever they are called on."""
    imported = [*part.imports.values(), *part.modules]
    imported += [
        what
        for statement in part.statements
        for node in ast.walk(statement)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for _, what in imports_of(node)
    ]
    packages = {what.module.partition(".")[0] for what in imported}
    readers = frozenset(name for package in packages for name in READERS.get(package, ()))
    found = [what.attribute for what in imported if what.attribute in readers] + [
        node.attr
        for statement in part.statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and node.attr in readers
    ]
    return [f"{path.name}: it may read a file with {name}" for name in found]


def _local_imports(part: CodeSlice, path: Path, root: Path) -> list[Imported]:
    """Imports of local modules whose names are not used: they run all the same."""
    return [what for what in part.modules if _local_file(what, path.parent, root) is not None]


def _local_file(what: Imported, folder: Path, root: Path) -> Path | None:
    """The local file that an import runs, None where it is installed."""
    bases = [folder, root]
    if what.level:
        base = folder
        for _ in range(what.level - 1):
            base = base.parent
        bases = [base]
    elif _is_ours(what.module) or _is_standard(what.module) or _spec_is_installed(what.module):
        return None
    parts = what.module.split(".") if what.module else []
    for base in bases:
        place = base.joinpath(*parts)
        for file in (place.with_suffix(".py") if parts else place / "__init__.py", place / "__init__.py"):
            if file.is_file():
                return Path(os.path.abspath(file))
    return None


def _module(what: Imported, folder: Path, root: Path, findings: _Findings) -> None:
    """Judge an import: ours, standard, installed, or a local file to follow."""
    top = what.module.partition(".")[0]
    if not what.level and _is_ours(what.module):
        _ours(what, findings)
        return
    if not what.level and _is_standard(what.module):
        if top not in STANDARD or not _submodule_allowed(what):
            findings.problems.append(f"it uses {what.module}")
        elif what.attribute in DENIED:
            findings.problems.append(f"it uses {what.module}.{what.attribute}")
        return
    file = _local_file(what, folder, root)
    if file is not None:
        inner = None
        if what.attribute is not None:
            inner = _local_file(
                Imported(f"{what.module}.{what.attribute}".strip("."), None, what.level), folder, root
            )
        _file(
            inner or file,
            root,
            None if what.attribute in (None, "*") or inner else {str(what.attribute)},
            findings,
        )
        return
    if top not in PACKAGES or not _submodule_allowed(what) or what.attribute in DENIED:
        findings.problems.append(f"it uses {what.module or what.attribute}")
    findings.deadlines |= top in DEADLINES


def _submodule_allowed(what: Imported) -> bool:
    """For packages of which only a part is known to compute."""
    top, _, rest = what.module.partition(".")
    if top not in _SUBMODULES:
        return not any(part in DENIED for part in rest.split("."))
    first = rest.partition(".")[0] or what.attribute
    return first in _SUBMODULES[top]


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "rewards" and importlib.util.find_spec("rewards") is not None


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


@functools.cache
def _spec_is_installed(module: str) -> bool:
    try:
        found = importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return False
    return found is not None and "site-packages" in Path(found.origin or "").parts


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


def _scan(statement: ast.stmt, path: Path, root: Path, findings: _Findings) -> None:
    for node in ast.walk(statement):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for _, what in imports_of(node):
                _module(what, path.parent, root, findings)
            continue
        why = _problem(node)
        if why is not None:
            findings.problems.append(f"{path.name}, line {getattr(node, 'lineno', 0)}: {why}")


def _problem(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        if node.attr in DENIED:
            return f"it uses .{node.attr}"
        if node.attr.startswith("__") and node.attr.endswith("__") and node.attr not in _DUNDERS:
            return f"it uses .{node.attr}"
    if isinstance(node, ast.Name) and node.id in BUILTINS:
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


@functools.cache
def installed() -> str:
    """A digest of Python and of every installed package with its version."""
    names: list[str] = []
    for folder in sys.path:
        place = Path(folder)
        if place.is_dir():
            names += [
                entry.name for entry in place.iterdir() if entry.name.endswith((".dist-info", ".egg-info"))
            ]
    text = "\n".join([platform.python_implementation(), sys.version, platform.machine(), *sorted(names)])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@functools.cache
def own_code() -> str:
    """A digest of the `rewards` package itself, whose version does not change with every edit of a checkout."""
    import rewards

    state = hashlib.blake2b(digest_size=16)
    folder = Path(rewards.__file__ or "").parent
    for file in sorted([*folder.glob("*.py"), *(folder / "library").rglob("*.py")]):
        state.update(file.read_bytes())
    return state.hexdigest()


__all__: list[Any] = ["Look", "installed", "look", "own_code"]
