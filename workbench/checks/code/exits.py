"""RW913: the code ends the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code
from workbench.checks.finding import Cost
from workbench.checks.subject import RewardSubject

EXITS = frozenset(["sys.exit", "os._exit", "os.abort", "exit", "quit", "os.kill", "os.killpg"])
KILLS = frozenset(["os.kill", "os.killpg"])


class Exits(Lead):
    """The reward can end the program it runs in.

    In training that is the trainer: `sys.exit` ends the run without a checkpoint, `os._exit` without a word, on
    whatever completion comes along that way. Calls while the file is loaded are seen at once and not reported.

    Example:
        if api_key is None:
            sys.exit("no key")

    Remedy:
        Raise an error while the file is loaded, where it is seen before anything runs; score a bad completion 0.0.
    """

    code = "RW913"
    name = "exits"
    summary = "the code can end the program"
    cost = Cost.STOPS
    advice = "Raise an error when the file is loaded; score a bad completion instead of leaving."
    proved_by = ("RW112", "RW110", "RW501", "RW214")

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """Calls that leave, inside functions; signals only where they go to this process."""
        for call in code.nodes(ast.Call):
            name = code.called(call)
            if name in EXITS and code.in_function(call) and (name not in KILLS or _to_itself(code, call)):
                yield Spot(call.lineno, f"ends the program with {name}", f"exit {name}")
        for raised in code.nodes(ast.Raise):
            kind = raised.exc.func if isinstance(raised.exc, ast.Call) else raised.exc
            if isinstance(kind, ast.Name) and kind.id == "SystemExit" and code.in_function(raised):
                yield Spot(raised.lineno, "ends the program with SystemExit", "exit SystemExit")


def _to_itself(code: Code, call: ast.Call) -> bool:
    return any(isinstance(part, ast.Call) and code.called(part) == "os.getpid" for part in ast.walk(call))
