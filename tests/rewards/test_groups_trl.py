"""Our advantages against TRL's own code.

The statements that turn rewards into advantages are taken out of the installed `GRPOTrainer` by their
syntax tree and run as they stand; nothing of them is typed here.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards import groups

torch = pytest.importorskip("torch", reason="TRL's own arithmetic needs torch")
grpo = pytest.importorskip("trl.trainer.grpo_trainer", reason="TRL's own arithmetic needs trl")

MODES = [
    ("sum_then_normalize", "group"),
    ("sum_then_normalize", "batch"),
    ("sum_then_normalize", "none"),
    ("normalize_then_sum", "group"),
]
FLOAT32 = float(np.finfo(np.float32).eps)


def assigns(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == name for target in statement.targets
    )


def trl_arithmetic() -> Callable[..., tuple[Any, Any, Any]]:
    """TRL's statements from `unscorable_mask =` to `advantages = torch.nan_to_num(`, as a function."""
    source = textwrap.dedent(inspect.getsource(grpo.GRPOTrainer._generate_and_score_completions))
    body = ast.parse(source).body[0].body  # type: ignore[attr-defined]
    first = next(i for i, line in enumerate(body) if assigns(line, "unscorable_mask"))
    last = max(
        i for i, line in enumerate(body) if assigns(line, "advantages") and "nan_to_num" in ast.unparse(line)
    )
    wrapper = ast.parse("def arithmetic(self, rewards_per_func, num_generations, device):\n    pass")
    function: Any = wrapper.body[0]
    function.body = body[first : last + 1] + ast.parse("return rewards, std_rewards, advantages").body
    namespace = dict(vars(grpo))
    exec(compile(ast.fix_missing_locations(wrapper), "trl", "exec"), namespace)
    return namespace["arithmetic"]  # type: ignore[no-any-return]


ARITHMETIC = trl_arithmetic()


def ask_trl(
    scores: np.ndarray, weights: np.ndarray, size: int, mode: tuple[str, str], dtype: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """TRL's totals (or normalised sums), spreads and advantages."""
    trainer = SimpleNamespace(
        multi_objective_aggregation=mode[0],
        scale_rewards=mode[1],
        reward_weights=torch.tensor(weights, dtype=dtype),
        reward_funcs=[None] * scores.shape[1],
    )
    table = torch.tensor(scores, dtype=dtype)
    found = ARITHMETIC(trainer, table, size, torch.device("cpu"))
    return tuple(part.double().numpy() for part in found)  # type: ignore[return-value]


@pytest.fixture
def doubles() -> Iterator[None]:
    """TRL's arithmetic in float64, where rounding hides nothing."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@st.composite
def batches(draw: st.DrawFn, cells: st.SearchStrategy[float]) -> tuple[np.ndarray, np.ndarray, int]:
    """Scores (groups x size, k) with gaps, weights and the group size."""
    size, count, k = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    row = st.lists(st.one_of(cells, st.just(float("nan"))), min_size=k, max_size=k)
    scores = draw(st.lists(row, min_size=size * count, max_size=size * count))
    weights = draw(st.lists(st.sampled_from([-0.5, 0.0, 0.3, 1.0, 2.0]), min_size=k, max_size=k))
    return np.array(scores), np.array(weights), size


def group_names(rows: int, size: int) -> list[int]:
    return [row // size for row in range(rows)]


def rounding(rows: np.ndarray, spreads: np.ndarray, mode: tuple[str, str]) -> np.ndarray:
    """1e-6, and what float32 cannot hold: some units in the last place of the totals, over the divisor."""
    largest = np.nanmax(np.abs(rows[np.isfinite(rows)]), initial=1.0)
    divisor = 1.0 if mode == ("sum_then_normalize", "none") else np.nan_to_num(spreads, nan=1.0) + 1e-4
    units = 8 * FLOAT32 * largest / divisor
    return np.asarray(1e-6 + units)


ordinary = st.floats(-2, 2, allow_subnormal=False)
steps = st.integers(-8, 8).map(lambda number: number / 4)
# Squares of numbers beyond 1e18 overflow float32, or not, by the order of a sum; infinity (and 1e39, which is
# infinite in float32) has one outcome.
wild = st.one_of(st.floats(-1e18, 1e18), st.sampled_from([float("inf"), float("-inf"), 1e39, -1e39]))


@pytest.mark.guide("G2")
@pytest.mark.parametrize("mode", MODES, ids="-".join)
@given(case=batches(st.one_of(ordinary, steps)))
def test_in_float32_advantages_are_trls_up_to_its_rounding(
    mode: tuple[str, str], case: tuple[np.ndarray, np.ndarray, int]
) -> None:
    scores, weights, size = case
    rows, spreads, expected = ask_trl(scores, weights, size, mode, torch.float32)
    names = group_names(len(scores), size)
    got = groups.advantages(scores, weights, names, aggregation=mode[0], scale_rewards=mode[1])
    assert np.all(np.abs(got - expected) <= rounding(rows, spreads, mode) * np.maximum(1.0, np.abs(expected)))


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.usefixtures("doubles")
def test_in_float64_the_formulas_are_trls_to_nine_digits(mode: tuple[str, str]) -> None:
    @given(case=batches(st.one_of(ordinary, steps)))
    def agree(case: tuple[np.ndarray, np.ndarray, int]) -> None:
        scores, weights, size = case
        _, _, expected = ask_trl(scores, weights, size, mode, torch.float64)
        codes = np.array(group_names(len(scores), size))
        got = groups._advantages(scores, weights, codes, len(scores) // size, *mode)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)

    with np.errstate(all="ignore"):
        agree()


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@given(case=batches(st.one_of(steps, wild)))
def test_infinite_and_huge_scores_end_as_they_end_in_trl(
    mode: tuple[str, str], case: tuple[np.ndarray, np.ndarray, int]
) -> None:
    scores, weights, size = case
    rows, spreads, expected = ask_trl(scores, weights, size, mode, torch.float32)
    names = group_names(len(scores), size)
    got = groups.advantages(scores, weights, names, aggregation=mode[0], scale_rewards=mode[1])
    assert np.all(np.abs(got - expected) <= rounding(rows, spreads, mode) * np.maximum(1.0, np.abs(expected)))


@given(case=batches(st.one_of(ordinary, steps)))
def test_totals_are_trls_weighted_sums(case: tuple[np.ndarray, np.ndarray, int]) -> None:
    scores, weights, size = case
    rows, _, _ = ask_trl(scores, weights, size, MODES[0], torch.float32)
    np.testing.assert_allclose(groups.totals(scores, weights), rows, atol=2e-6)


@given(case=batches(steps))
def test_group_statistics_are_trls_means_and_spreads(case: tuple[np.ndarray, np.ndarray, int]) -> None:
    scores, weights, size = case
    _, spreads, _ = ask_trl(scores, weights, size, MODES[0], torch.float32)
    seen = groups.group_statistics(scores, weights, group_names(len(scores), size))
    np.testing.assert_allclose(seen.spread, spreads[::size], atol=2e-6)
