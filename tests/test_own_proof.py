"""The product on itself: flawed sets are stopped with the right advice, repaired ones pass; the whole proof is slow."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "own_proof.py"


@pytest.fixture(scope="module")
def own_proof() -> ModuleType:
    """The script as a module that other processes can import too."""
    spec = importlib.util.spec_from_file_location("own_proof", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["own_proof"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["dot_and_newline", "wrong_column", "against_the_batch"])
def test_a_flawed_set_is_stopped_with_the_repair_advised_and_the_repaired_one_passes(
    name: str, own_proof: ModuleType
) -> None:
    [flaw] = [flaw for flaw in own_proof.flaws() if flaw.name == name]
    refusal = own_proof.quick_check(flaw.folder("flawed"), flaw)
    assert refusal.right(flaw), refusal
    assert not own_proof.quick_check(flaw.folder("repaired")).refused


def test_every_flaw_has_a_flawed_and_a_repaired_project(own_proof: ModuleType) -> None:
    flaws = own_proof.flaws()
    assert len(flaws) == 12
    for flaw in flaws:
        for side in ("flawed", "repaired"):
            assert {file.name for file in flaw.folder(side).iterdir() if file.is_file()} >= {
                "rewards.py",
                "rewardset.toml",
            }


def test_the_oracle_wants_the_right_number_in_tags_and_nothing_else(own_proof: ModuleType) -> None:
    assert own_proof.oracle(" <answer>12</answer>\n", 12) == 1.0
    for text in (
        "12",
        "<answer>13</answer>",
        "<answer>12",
        "It is <answer>12</answer>",
        "<answer>12 13</answer>",
    ):
        assert own_proof.oracle(text, 12) == 0.0


def made_up(own_proof: ModuleType, **changes: float) -> object:
    """A proof in which everything holds, but for a gain."""
    names = [flaw.name for flaw in own_proof.flaws()]
    right = {flaw.name: own_proof.Refusal(True, (flaw.check,), flaw.advice) for flaw in own_proof.flaws()}
    moved = own_proof.Moved(2.0, 0.1)
    drift = own_proof.Drift("length", 0.5, moved, own_proof.Moved(-2.0, 0.1))
    healthy = own_proof.Trained(0.1, 0.5, 40, "done", (drift,))
    gains = {"flawed": 0.0, "repaired": 0.4} | changes
    runs = {
        (name, side): own_proof.Trained(
            0.1, 0.1 + gains[side], 40, "done", (drift,) if side == "flawed" else ()
        )
        for name in names
        for side in ("flawed", "repaired")
    }
    passed = dict.fromkeys(names, own_proof.Refusal(False, (), None))
    return own_proof.Proof(40, 0, right, passed, runs, healthy)


def test_a_proof_that_holds_says_so_and_one_that_does_not_says_where(own_proof: ModuleType) -> None:
    assert "Everything holds." in own_proof.document(made_up(own_proof))
    assert "the sign agrees in **10 of 10** clear cases" in own_proof.document(made_up(own_proof))
    assert "Last quarter of the run: in **0 of 10**" in own_proof.document(made_up(own_proof))
    assert "+2.000, foretold | -2.000, **not foretold** |" in own_proof.document(made_up(own_proof))
    weak = own_proof.document(made_up(own_proof, repaired=0.3))
    assert "- the repaired set sign reaches 0.75 of the healthy gain" in weak
    strong = own_proof.document(made_up(own_proof, flawed=0.3))
    assert "- the flawed set sign reaches 0.75 of the healthy gain" in strong


@pytest.mark.slow
def test_the_whole_proof_holds(
    own_proof: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))  # its processes import it by name
    proof = own_proof.prove(tmp_path, jobs=2)
    assert proof.failures() == []
