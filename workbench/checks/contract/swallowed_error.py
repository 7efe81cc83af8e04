"""RW126: a programming mistake that the reward's own except clause hides."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject, Source

NAME_ERRORS = ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError")
BROAD = ("Exception", "BaseException")


class SwallowedError(RewardCheck):
    """An exception of the reward's own making is caught by a broad `except` and becomes a score.

    `except: return 0.0` turns a misspelt name into "every completion is wrong". Training then runs without an
    error and teaches nothing. Reported are names that do not exist (on any sample), and other exceptions that
    arise in the reward's own code on every sample and end in a bare `except` or `except Exception`. Narrow
    handlers, as `except ValueError` around a parser, are left alone, unless an attribute that does not exist is asked
    for on the samples labelled right, and on no others.

    Example:
        try:
            scores.append(float(parse_nubmer(text) == gold))     # NameError on every row
        except Exception:
            scores.append(0.0)

    Remedy:
        Correct the mistake, and catch only what is expected: `except ValueError:`.
    """

    code = "RW126"
    name = "swallowed-error"
    severity = "error"
    summary = "a mistake in the code is caught and turned into a score"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each type and place of a swallowed exception."""
        if not any(isinstance(node, ast.ExceptHandler) for node in ast.walk(subject.source.tree)):
            return
        rows = subject.few(16)
        probe = "workbench.checks.swallowing:swallowed"
        caught: list[dict[str, Any]] | None = subject.probe(probe, len(rows), rows=rows)
        for item in caught or []:
            every = len(item["rows"]) == len(rows) and len(rows) >= 3
            broad = caught_broadly(subject.source, item["caught"])
            if (broad and (item["type"] in NAME_ERRORS or every)) or _right_ones(subject, item, rows):
                yield self._say(subject, item, len(rows))

    def _say(self, subject: RewardSubject, item: dict[str, Any], tried: int) -> Finding:
        count = len(item["rows"])
        row = subject.smallest(item["rows"])
        where = "every sample" if count == tried else f"{count} of {tried} samples"
        constant = len(set(subject.scores.values())) <= 1
        return self.finding(
            f"{subject.name} raises {item['type']}: {item['text']} on {where} and turns it into a score in an except "
            "clause.",
            advice="Correct the mistake, and catch only the exceptions that are expected there.",
            cause="constant" if constant else f"swallows {item['type']} {item['text']}",
            reward=subject.name,
            evidence=subject.evidence(row, got=subject.scores.get(row), expected=f"no {item['type']}"),
            line=item["line"],
            count=count,
            shared=constant,
        )


def _right_ones(subject: RewardSubject, item: dict[str, Any], rows: list[int]) -> bool:
    """Whether it is a missing attribute (not of None) that every right sample tried meets, and not every wrong one."""
    if item["type"] != "AttributeError" or "'NoneType'" in item["text"] or not subject.judged:
        return False
    met = set(item["rows"])
    right = set(subject.labelled("right")) & set(rows)
    wrong = set(subject.labelled("wrong", "hack")) & set(rows)
    return len(right) >= 3 and right <= met and bool(wrong) and not wrong <= met


def caught_broadly(source: Source, line: int) -> bool:
    """Whether the innermost `try` around a line has a bare handler, or one for Exception or BaseException."""
    best: ast.Try | None = None
    for node in ast.walk(source.tree):
        around = isinstance(node, ast.Try) and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
        if around and isinstance(node, ast.Try) and (best is None or node.lineno > best.lineno):
            best = node
    return best is not None and any(_is_broad(handler.type) for handler in best.handlers)


def _is_broad(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(isinstance(name, ast.Name) and name.id in BROAD for name in names)
