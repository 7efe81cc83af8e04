"""RW202: scores that depend on Python's hash seed."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import numpy as np

from rewards.contract import CallResult
from rewards.errors import RewardWorkbenchError
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.steadiness import differ, plain_scores
from workbench.checks.subject import RewardSubject, Source

SEEDS = (1, 2)
ORDERED = (
    "list",
    "tuple",
    "iter",
    "next",
    "enumerate",
    "zip",
    "join",
    "map",
    "filter",
    "max",
    "min",
    "Counter",
)


class HashOrder(RewardCheck):
    """A score depends on the order of a set or on `hash()`, which differ from process to process.

    Python salts the hash of a text anew in every process. A reward that takes the first element of a set, or
    derives a score from `hash(text)`, is stable within one process and different in the next one: on several
    GPUs, in a resumed run, on a colleague's machine. Tried in processes with other hash seeds; only where the
    reward's file calls `hash` or goes through a set.

    Example:
        words = list(set(text.split()))[:20]      # which twenty depends on the process

    Remedy:
        Sort before taking a part: `sorted(set(...))`; use `zlib.crc32` or `hashlib` instead of `hash`.
    """

    code = "RW202"
    name = "hash-order"
    severity = "error"
    summary = "a score depends on the hash seed of the process"
    cost = Cost.TEACHES_WRONG
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding where two hash seeds give a row two scores."""
        if not subject.steadiness.reliable or not uses_hashes(subject.source) or subject.base.seconds > 2.0:
            return
        if not subject.description.entry.deterministic:
            return
        rows = subject.few(64)
        batch = subject.variant(rows)
        first = plain_scores(subject.bench.call(subject.name, batch, timeout_s=subject.patience_s))
        for seed in SEEDS:
            result = _with_seed(subject, rows, seed)
            if result is None:
                return
            then = plain_scores(result)
            moved = [place for place in range(len(rows)) if differ(first[place], then[place])]
            if moved:
                place = min(moved, key=lambda p: len(subject.text(rows[p])))
                got = [None if np.isnan(x) else float(x) for x in (first[place], then[place])]
                yield self.finding(
                    f"{subject.name} gives the same completion another score in another process: {_shown(got[0])}, and "
                    f"{_shown(got[1])} with PYTHONHASHSEED={seed}.",
                    advice="Sort sets before using their order, and use zlib.crc32 or hashlib instead of hash().",
                    cause="hash seed",
                    reward=subject.name,
                    evidence=subject.evidence(
                        rows[place], got=got, expected="the same score in every process"
                    ),
                    line=subject.description.line,
                    count=len(moved),
                )
                return


def uses_hashes(source: Source) -> bool:
    """Whether a file calls `hash` or `id`, or goes through a set: membership, size and set arithmetic have no order."""
    sets = _set_names(source.tree)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in ("hash", "id"):
                return True
            if name == "pop" and isinstance(node.func, ast.Attribute) and _is_set(node.func.value, sets):
                return True
            if name in ORDERED and any(_is_set(argument, sets) for argument in node.args):
                return True
        elif isinstance(node, (ast.For, ast.comprehension)) and _is_set(node.iter, sets):
            return True
    return False


def _set_names(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_set(node.value, names):
            names |= {
                part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)
            }
    return names


def _is_set(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Call):
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        return called in ("set", "frozenset", "union", "intersection", "difference", "symmetric_difference")
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.Sub, ast.BitXor)):
        return _is_set(node.left, names) or _is_set(node.right, names)
    return False


def _with_seed(subject: RewardSubject, rows: list[int], seed: int) -> CallResult | None:
    """One call in a fresh interpreter with this hash seed; None where it did not start."""
    from rewards.running import Runner

    try:
        with (
            Runner(spawn=True, environment={"PYTHONHASHSEED": str(seed)}) as runner,
            runner.worker(subject.bench.target) as worker,
        ):
            return worker.call(subject.name, subject.variant(rows), timeout_s=subject.patience_s)
    except RewardWorkbenchError:
        return None


def _shown(score: float | None) -> str:
    return "nothing (None)" if score is None else number(score)
