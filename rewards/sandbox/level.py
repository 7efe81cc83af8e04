"""How strongly model-written code is shut in: the levels, and the choice between them.

none         not at all
limits       a process of its own with limits of time, memory and output; files and network stand open
seatbelt     the same in macOS's sandbox: no network, no files, no other programs
landlock     Landlock and seccomp: no network, no files, no processes, no signals
bubblewrap   the same in namespaces of its own: nothing outside even has a name
container    a container engine's container without network
service      a service on another machine, or wherever its owner put it
"""

from __future__ import annotations

from enum import Enum

from rewards.errors import SandboxError
from rewards.permissions import UNSAFE_CODE


class Level(Enum):
    """A level; `rank` orders them, equal ranks are as good as each other."""

    NONE = "none"
    LIMITS = "limits"
    SEATBELT = "seatbelt"
    LANDLOCK = "landlock"
    BUBBLEWRAP = "bubblewrap"
    CONTAINER = "container"
    SERVICE = "service"

    @property
    def rank(self) -> int:
        """0 (none) to 3 (out of reach)."""
        return _RANKS[self]

    @classmethod
    def named(cls, name: str) -> Level:
        """The level of a name.

        Raises:
            SandboxError: there is none of that name.
        """
        try:
            return cls(name)
        except ValueError:
            known = ", ".join(level.value for level in cls)
            raise SandboxError(f"isolation={name!r}: known levels are {known}") from None


_RANKS = {
    Level.NONE: 0,
    Level.LIMITS: 1,
    Level.SEATBELT: 2,
    Level.LANDLOCK: 2,
    Level.BUBBLEWRAP: 3,
    Level.CONTAINER: 3,
    Level.SERVICE: 3,
}

DECLARED = Level.LANDLOCK
"""The level asked for where nothing else is said."""


def require(found: Level, asked: Level, *, unsafe: bool, why: str = "") -> None:
    """Refuse a level below the one asked for.

    Raises:
        SandboxError: it is below and `unsafe` is false.
    """
    if found.rank >= asked.rank or unsafe:
        return
    reason = f" ({why})" if why else ""
    raise SandboxError(
        f"model-written code is not run: it asks for the level '{asked.value}' and this machine offers "
        f"'{found.value}'{reason}; see `reward-workbench doctor`, or run it all the same with {UNSAFE_CODE}"
    )
