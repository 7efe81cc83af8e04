"""RW202: scores that depend on Python's hash seed."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rewards.contract import Batch, CallResult, completion_text
from rewards.errors import RewardWorkbenchError
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.steadiness import differ, plain_scores
from workbench.checks.subject import RewardSubject, Source
from workbench.mutations import Material, mutate

SEEDS = (1, 2)
PARTS = 48
"""Samples tried in part, at most: what a loop meets first often decides only where something is missing."""
TAKEN_APART = ("drop", "cut", "behead", "swap")
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
    GPUs, in a resumed run, on a colleague's machine. Tried in processes with other hash seeds, on the samples and on
    parts of them; only where the reward's file calls `hash` or goes through a set.

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
        rows, batch = _tried(subject)
        first = plain_scores(subject.bench.call(subject.name, batch, timeout_s=subject.patience_s))
        for seed in SEEDS:
            result = _with_seed(subject, batch, seed)
            if result is None:
                return
            then = plain_scores(result)
            moved = [place for place in range(len(batch)) if differ(first[place], then[place])]
            if moved:
                place = min(moved, key=lambda p: len(completion_text(batch.completions[p])))
                got = [None if np.isnan(x) else float(x) for x in (first[place], then[place])]
                yield self._tell(subject, rows[place], batch.completions[place], got, seed, len(moved))
                return

    def _tell(
        self,
        subject: RewardSubject,
        row: int,
        completion: Any,
        got: list[float | None],
        seed: int,
        count: int,
    ) -> Finding:
        return self.finding(
            f"{subject.name} gives the same completion another score in another process: {_shown(got[0])}, and "
            f"{_shown(got[1])} with PYTHONHASHSEED={seed}.",
            advice="Sort sets before using their order, and use zlib.crc32 or hashlib instead of hash().",
            cause="hash seed",
            reward=subject.name,
            evidence=subject.evidence(
                row, completion=completion, got=got, expected="the same score in every process"
            ),
            line=subject.description.line,
            count=count,
        )


def _tried(subject: RewardSubject) -> tuple[list[int], Batch]:
    """Samples, and parts of them under their own prompts: the row of each, and all as one batch."""
    rows = subject.few(64)
    assert subject.batch is not None
    completions = [subject.batch.completions[row] for row in rows]
    if not subject.compares:
        texts = [(row, subject.text(row)) for row in rows]
        parts = _parts(texts, random.Random(subject.options.seed), min(PARTS, subject.affordable()))
        rows = [*rows, *(row for row, _ in parts)]
        completions += [subject.shaped(text) for _, text in parts]
    return rows, subject.variant(rows, completions)


def _parts(items: Sequence[tuple[int, str]], rng: random.Random, most: int) -> list[tuple[int, str]]:
    """Texts with pieces left out or exchanged, under their own prompts."""
    long = [item for item in items if len(item[1].split()) > 1]
    made: dict[tuple[int, str], None] = {}
    for place in range(2 * most if long else 0):
        row, text = long[place % len(long)]
        part = mutate(text, TAKEN_APART[rng.randrange(len(TAKEN_APART))], rng.randrange, Material())
        if part.strip() and (row, part) not in items:
            made[(row, part)] = None
    return list(made)[:most]


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


def _with_seed(subject: RewardSubject, batch: Batch, seed: int) -> CallResult | None:
    """One call in a fresh interpreter with this hash seed; None where it did not start."""
    from rewards.running import Runner

    try:
        with (
            Runner(spawn=True, environment={"PYTHONHASHSEED": str(seed)}) as runner,
            runner.worker(subject.bench.target) as worker,
        ):
            return worker.call(subject.name, batch, timeout_s=subject.patience_s)
    except RewardWorkbenchError:
        return None


def _shown(score: float | None) -> str:
    return "nothing (None)" if score is None else number(score)
