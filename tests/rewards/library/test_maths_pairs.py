"""`docs/maths-pairs.md` is current, and there is a reason for each pair on which graders differ."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """`benchmarks/maths_pairs.py`."""
    spec = importlib.util.spec_from_file_location("maths_pairs", ROOT / "benchmarks/maths_pairs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_document_is_what_the_script_writes(script: ModuleType) -> None:
    document = (ROOT / "docs/maths-pairs.md").read_text("utf-8")
    assert document == script.document(), "docs/maths-pairs.md is old: run benchmarks/maths_pairs.py --write"


def test_every_pair_in_dispute_is_judged_and_no_other(script: ModuleType) -> None:
    pairs = script.read_lines("gold_pred_pairs.jsonl")
    disputed = {script.key(pair) for pair, _ in script.disputed(pairs, script.verdicts(pairs))}
    judged = {script.key(row) for row in script.read_lines("judged.jsonl")}
    assert (len(pairs), len(judged)) == (955, 57)
    assert disputed == judged


def test_no_pair_is_paid_or_refused_wrongly(script: ModuleType) -> None:
    pairs = script.read_lines("gold_pred_pairs.jsonl")
    truth = {script.key(row): row["same"] for row in script.read_lines("judged.jsonl")}
    for pair, own in zip(pairs, script.verdicts(pairs), strict=True):
        same = truth.get(script.key(pair), pair["grader_verdict"])
        assert own is None or own == same, pair
