"""RW915: chance without a seed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code
from workbench.checks.subject import RewardSubject

SEEDED = frozenset(
    ["random.Random", "numpy.random.default_rng", "numpy.random.RandomState", "random.SystemRandom"]
)
QUIET = frozenset(["random.seed", "numpy.random.seed", "random.getstate", "random.setstate"])


class UnseededRandom(Lead):
    """The code draws random numbers from a generator that was not given a seed.

    Then equal completions get different scores, and a run cannot be repeated. A generator made from the text itself
    (`random.Random(zlib.crc32(text.encode()))`) is fine, and so is a reward that declares `deterministic = false`.

    Example:
        score += random.uniform(-0.01, 0.01)         # "to break ties"

    Remedy:
        `random.Random(seed)` with a seed made from the row, or declare `deterministic = false`.
    """

    code = "RW915"
    name = "unseeded-random"
    summary = "random numbers are drawn without a seed"
    advice = "Draw from random.Random(seed) with a seed made from the row, or declare deterministic = false."
    proved_by = ("RW201", "RW206", "RW120")

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """Calls of the global generators, and of new ones without a seed."""
        if not subject.description.entry.deterministic:
            return
        for call in code.nodes(ast.Call):
            name = code.called(call)
            if not code.in_function(call) or name in QUIET:
                continue
            drawn = name.startswith(("random.", "numpy.random.")) and name not in SEEDED
            fresh = name in SEEDED and not call.args and not call.keywords
            if drawn or fresh:
                yield Spot(call.lineno, f"draws random numbers without a seed ({name})", "random")
