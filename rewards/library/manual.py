"""The manual of the library, made of the members' docstrings: `docs/library.md`.

python -m rewards.library.manual docs/library.md
"""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

from rewards.marks import mark_of

KINDS = {
    "correctness": "Answers",
    "format": "Format",
    "length": "Length",
    "style": "Style",
    "diversity": "Diversity",
}
"""The headings, by kind of reward."""

INTRODUCTION = """# The library

Rewards that are ready to use. Each is a plain function in TRL's form, tested against what other projects' rewards of
the same meaning return (`fixtures/peers/README.md`). Name it in a manifest, its parameters in `params`:

```toml
[[reward]]
function = "rewards.library:numeric"
params = { relative_tolerance = 0.01 }
```

or import it: `from rewards.library import numeric`. Scores are from 0 to 1, penalties from -1 to 0; what such a part is
worth beside the others is its weight. None means that a row cannot be scored, for want of a reference that can be
read. A data column named like a parameter would arrive in its place, and is refused by name.

This page is made from the docstrings (`make docs`)."""


SHAPING = """## Rewards made of rewards

Written in your own file of rewards, for example `brief_if_right = gate(max_length, by=correctness_reward)`; what comes
out is a plain TRL reward with a name, and is named in a manifest like any other: `rewards.py::brief_if_right`."""

PRESETS = """## Presets

Whole sets for the usual tasks: `rewards.library.presets.preset("maths")` has `functions()` and `weights` for
GRPOTrainer, and `to_toml()` for a manifest."""


def page(member: Any, module: str = "rewards.library") -> str:
    """One member's part of the manual."""
    mark = mark_of(member)
    low, high = mark["range"]
    facts = [
        f"`{module}:{member.__name__}`",
        f"range {low:g} to {high:g}",
        f"weight {mark['weight']:g}",
    ]
    if mark.get("scope") == "group":
        facts.append("compares the completions of one prompt")
    if mark.get("abstains"):
        facts.append("may abstain")
    return f"### {member.__name__}\n\n{' · '.join(facts)}\n\n{_contract(member)}"


def _contract(member: Any) -> str:
    return f"```text\n{inspect.cleandoc(inspect.getdoc(member) or '')}\n```"


def _form(maker: Any) -> str:
    """How a maker of rewards is called, without types."""
    shown: list[str] = []
    for parameter in inspect.signature(maker).parameters.values():
        if (
            parameter.kind is parameter.KEYWORD_ONLY
            and "*" not in shown
            and not any("*" in one for one in shown)
        ):
            shown.append("*")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        shown.append(f"{'*' * (parameter.kind is parameter.VAR_POSITIONAL)}{parameter.name}{default}")
    return f"{maker.__name__}({', '.join(shown)})"


def manual() -> str:
    """The whole manual: every member of the library, by kind.

    >>> "### numeric" in manual()
    True
    """
    library = importlib.import_module("rewards.library")
    members = [getattr(library, name) for name in library.__all__]
    parts = [INTRODUCTION]
    for kind, heading in KINDS.items():
        parts.append(f"## {heading}")
        parts += [page(member) for member in members if mark_of(member)["kind"] == kind]
    judge = importlib.import_module("rewards.library.judge")
    parts += ["## A language model as a judge", page(judge.judge, judge.__name__)]
    shaping = importlib.import_module("rewards.library.shaping")
    makers = [getattr(shaping, name) for name in shaping.__all__]
    parts += [SHAPING, *(f"### {one.__name__}\n\n`{_form(one)}`\n\n{_contract(one)}" for one in makers)]
    presets = importlib.import_module("rewards.library.presets").PRESETS
    parts += [PRESETS, *(f"### {name}\n\n```toml\n{one.to_toml()}```" for name, one in presets.items())]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(manual(), encoding="utf-8")
