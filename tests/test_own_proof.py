"""The product on itself: flawed sets are stopped with the right advice, repaired ones pass; the whole proof is slow."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "own_proof.py"


@pytest.fixture(scope="module")
def own_proof() -> Iterator[ModuleType]:
    """The script as a module that other processes can import too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT.parent))  # what it imports lies beside it
        yield load()


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("own_proof", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["own_proof"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["dot_and_newline", "wrong_column", "against_the_batch", "always_full"])
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


def made_up(own_proof: ModuleType, *, late: float = 2.0, **changes: float) -> Any:
    """A proof in which everything holds, but for a gain, or the drift in the run."""
    foretold = sys.modules["foretold"]
    names = [flaw.name for flaw in own_proof.flaws()]
    right = {flaw.name: own_proof.Refusal(True, (flaw.check,), flaw.advice) for flaw in own_proof.flaws()}
    sure, moved, against = (foretold.Estimate(value, 0.01, 19) for value in (0.5, 2.0, late))
    told = (
        foretold.Forecast("length", 0, sure, moved, whole=against),
        foretold.Forecast("length", 1, sure, against, moved),
        foretold.Forecast("tags", 1, foretold.Estimate(0.1, 0.2, 19), moved, moved),
        foretold.Forecast("digits", 1, sure, foretold.Estimate(0.1, 0.2, 19), moved),
    )
    healthy = own_proof.Trained(0.1, 0.5, 40, "done", told)
    gains = {"flawed": 0.0, "repaired": 0.4} | changes
    runs = {
        (name, side): own_proof.Trained(0.1, 0.1 + gains[side], 40, "done", told if side == "flawed" else ())
        for name in names
        for side in ("flawed", "repaired")
    }
    passed = dict.fromkeys(names, own_proof.Refusal(False, (), None))
    return own_proof.Proof(40, 0, right, passed, runs, healthy)


def test_a_proof_that_holds_says_so_and_one_that_does_not_says_where(own_proof: ModuleType) -> None:
    text = own_proof.document(made_up(own_proof))
    assert "Everything holds." in text
    assert "| the untrained model | the first window | 10 | 10 | 10 | **10** | 10 of 10 |" in text
    assert "| a window's batches | the following window | 30 | 20 | 10 | **10** | 20 of 20 |" in text
    assert "| `sign` | length | +0.50 | +2.000 `+` | `+` |" in text
    assert "| `sign` | digits | - | - | `o` |" in text
    assert "| `sign` | tags |" not in text
    weak = own_proof.document(made_up(own_proof, repaired=0.3))
    assert "- the repaired set sign reaches 0.75 of the healthy gain" in weak
    strong = own_proof.document(made_up(own_proof, flawed=0.3))
    assert "- the flawed set sign reaches 0.75 of the healthy gain" in strong
    turned = own_proof.document(made_up(own_proof, late=-2.0))
    assert "- in the run the direction of only 0 of 10 clear drifts was foretold" in turned
    assert (
        "- `sign`, length, window 2: differential +0.50, drift -2.000; the strongest there: length +0.50"
        in turned
    )
    assert "| 0.5 and more | 10 of 10 | 0 of 10 |" in turned
    missed = made_up(own_proof)
    missed.refusals["sign"] = own_proof.Refusal(False, (), None)
    assert "only 11 of 12 flawed sets are stopped with the right advice" in own_proof.document(missed)


def test_a_differential_is_judged_by_its_own_error_over_groups(own_proof: ModuleType) -> None:
    import numpy as np

    foretold = sys.modules["foretold"]
    advantages = np.tile([1.0, -1.0], (20, 2))
    follows = foretold.differential(advantages * 3.0, advantages)
    assert (follows.value, follows.freedom, follows.p) == (1.0, 19, 0.0)
    noise = foretold.differential(np.random.default_rng(0).normal(size=(20, 4)), advantages)
    assert noise.p > 0.05
    assert foretold.differential(np.ones((20, 4)), advantages) is None
    unscored = np.full((20, 4), np.nan)
    unscored[:, :2] = advantages[:, :2]
    assert foretold.differential(unscored, advantages).value == 1.0


def test_the_more_forecasts_there_are_the_clearer_each_has_to_be(own_proof: ModuleType) -> None:
    foretold = sys.modules["foretold"]
    assert foretold.clear([0.01, 0.2]) == [True, False]
    assert foretold.clear([0.01, *[0.2] * 9]) == [False] * 10
    assert foretold.tail(2.086, 20) == pytest.approx(0.05, abs=1e-4)
    assert foretold.tail(0.0, 5) == 1.0
    assert foretold.mean_of([1.0]).p == foretold.mean_of([0.0, 0.0]).p == 1.0


def test_a_window_is_foretold_from_the_batches_before_it(own_proof: ModuleType) -> None:
    import numpy as np

    foretold = sys.modules["foretold"]
    flat = np.zeros((4, 2))
    pushed = {"length": np.tile([0.0, 1.0], (4, 1)), "advantage": np.tile([-1.0, 1.0], (4, 1))}
    levels = [{"length": flat + step, "advantage": flat} for step in (0.0, 1.0, 3.0, 2.0)]
    told = foretold.forecasts_of(pushed, [pushed] * 3, levels)
    assert [(one.window, one.following.value, one.same and one.same.value) for one in told] == [
        (0, 1.0, None),
        (1, 2.0, 1.0),
        (2, -1.0, 2.0),
    ]
    assert told[0].whole.value == 2.0
    judged = foretold.judge(told[1:])
    assert [one.window for one in judged.refuted] == [2]
    assert (judged.all, judged.moved, judged.same_sign) == (2, 2, 1)


@pytest.mark.slow
def test_the_whole_proof_holds(own_proof: ModuleType, tmp_path: Path) -> None:
    proof = own_proof.prove(tmp_path, jobs=2)
    # from the untrained model over five steps at once the bound is met narrowly or missed narrowly: docs/own-proof.md
    assert [one for one in proof.failures() if not one.startswith("before launch")] == []
    before = proof.before_launch()
    assert len(before.borne_out) >= 0.8 * before.moved
