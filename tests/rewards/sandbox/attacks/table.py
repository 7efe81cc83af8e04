"""The attacks as a document: what each is after, and how it went at each level in a real run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rewards.sandbox import Level
from tests.rewards.sandbox.attacks.attack import Attack, Cheat
from tests.rewards.sandbox.attacks.cheats import MORE_CHEATS, THIRTEEN
from tests.rewards.sandbox.attacks.escapes import ESCAPES
from tests.rewards.sandbox.attacks.system import SYSTEM
from tests.rewards.sandbox.attacks.trying import Tried

LEVELS = (Level.LANDLOCK, Level.BUBBLEWRAP)

CHAPTERS: dict[str, Sequence[Attack | Cheat]] = {
    "The sixteen that sandboxes are compared by": SYSTEM,
    "More ways out": ESCAPES,
    "Thirteen cheating programs": THIRTEEN,
    "More cheating programs": MORE_CHEATS,
}

_HEAD = """# Attacks on the sandbox

Written by `make docs` from a real run of every attack (`tests/rewards/sandbox/attacks/`) at both levels; `make test`
tries them all again. An attack is contained when nothing it was after happened: told by the file, server, process or
memory outside that it aimed at, never by what the program says. The sandbox must also go on as if nothing had
happened: the same server process runs the next program, and an honest program that is graded next passes all its
tests. A cheating program is contained when it is not paid, gets a verdict like any other wrong program, and the honest
program after it gets its due from the same judge.

What is said after "contained" is the error the program met, or how it was ended.

At the level `landlock` a program can learn whether a path outside exists (`stat` is not covered by Landlock); it cannot
read, list or change anything there. At the level `bubblewrap` nothing outside has a name.
"""


def document(tried: Mapping[tuple[str, Level], Tried]) -> str:
    """The whole document for the outcomes of a run."""
    parts = [_HEAD]
    for title, attacks in CHAPTERS.items():
        parts.append(f"## {title}\n")
        parts.append("| attack | after | " + " | ".join(level.value for level in LEVELS) + " |")
        parts.append("|---|---|" + "---|" * len(LEVELS))
        for attack in attacks:
            cells = [_cell(tried[attack.name, level]) for level in LEVELS]
            parts.append(f"| {attack.name} | {attack.aim} | {' | '.join(cells)} |")
        parts.append("")
    return "\n".join(parts)


def _cell(one: Tried) -> str:
    return f"**got through**: {one.how}" if one.broke else f"contained: {one.how}"


def rows(text: str) -> list[tuple[str, str, list[str]]]:
    """Name, aim and cells of each row of a document."""
    found = []
    for line in re.findall(r"^\| (.+) \|$", text, re.MULTILINE):
        name, aim, *cells = line.split(" | ")
        if name != "attack":
            found.append((name, aim, cells))
    return found
