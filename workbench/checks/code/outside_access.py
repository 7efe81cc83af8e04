"""RW902: the network or files, used while scoring."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code
from workbench.checks.subject import RewardSubject

NETWORK = (
    "requests.",
    "httpx.",
    "aiohttp.",
    "urllib.request.",
    "http.client.",
    "socket.",
    "openai.",
    "anthropic.",
)
QUIET = ("socket.gethostname", "socket.AF_", "urllib.request.quote")
FILES = frozenset(["open", "io.open", "os.remove", "os.unlink", "shutil.rmtree", "shutil.copy"])
METHODS = frozenset([".read_text", ".write_text", ".read_bytes", ".write_bytes", ".unlink", ".to_csv"])


class OutsideAccess(Lead):
    """The code reaches the network or files while it scores.

    A score then depends on something that is not in the samples: the same reward gives other scores on another day or
    machine, a seal cannot cover it, and every process of a training writes to the same file. Reading a file once when
    the module is loaded is fine and not reported.

    Example:
        with open("seen.txt", "a") as file:      # in the reward: all ranks append to it
            file.write(text)

    Remedy:
        Read what is needed when the file is loaded; log through `log_extra` and `log_metric`, which TRL passes.
    """

    code = "RW902"
    name = "outside-access"
    summary = "the network or files are used while scoring"
    advice = (
        "Load what is needed at module level; use TRL's log_extra and log_metric for what is to be recorded."
    )
    proved_by = ("RW507", "RW203")

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """Calls inside functions."""
        for call in code.nodes(ast.Call):
            name = code.called(call)
            if not code.in_function(call) or name.startswith(QUIET):
                continue
            if name.startswith(NETWORK):
                yield Spot(call.lineno, f"uses the network ({name})", "network")
            elif name in FILES or name in METHODS:
                yield Spot(call.lineno, f"reads or writes files ({name.lstrip('.')})", "files")
