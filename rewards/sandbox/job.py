"""A program to be run, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from rewards.sandbox.level import Level
from rewards.sandbox.server import Limits


@dataclass(frozen=True)
class Job:
    """A program to run as a script, its standard input, and what it may use."""

    code: str
    stdin: str = ""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Result:
    """What became of a program.

    `status`: "ok" (ended with exit code 0), "failed" (another exit code, an exception), "timeout", "died" (a
    signal: out of memory, a crash), "output" (printed too much), "disk" (wrote too much), or "error" (the sandbox
    failed, not the program; `error` says how).
    """

    status: str
    output: str = ""
    error: str = ""
    code: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    level: Level = Level.NONE
