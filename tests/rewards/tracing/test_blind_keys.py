"""Functions written without sight of the tracer: same scores, credits that add up, and those of the hand-made keys."""

from __future__ import annotations

import functools

import pytest

from rewards.contract import CallResult, call
from rewards.tracing.recorder import recording
from tests.rewards.tracing import blind

PAID_IN_PARTS = [name for name in blind.functions() if blind.key_of(name) is not None]

SAID_OTHERWISE = frozenset(["gated_multiplier"])
"""`score *= 0.5` under a test is a credit of its own here; the key takes it off the credits before it."""


def test_all_functions_are_there() -> None:
    assert (len(blind.functions()), len(PAID_IN_PARTS)) == (84, 67)
    assert sum(len(blind.rows_of(name)) for name in blind.functions()) == 711


def left(result: CallResult) -> tuple[object, ...]:
    """All that a call leaves behind."""
    return (
        result.scores.tobytes(), result.status.tolist(), result.errors, result.printed, result.metrics, result.extra
    )  # fmt: skip


@pytest.mark.parametrize("name", blind.functions())
def test_a_traced_call_does_what_an_ordinary_one_does(name: str) -> None:
    made = blind.explainer(name)
    plain, traced = (loaded.function(loaded.names[0]) for loaded in (made.plain, made.traced))
    batch = blind.batch_of(name)
    for rows in (batch, *(batch.rows([row]) for row in range(len(batch)))):
        with recording():
            recorded = call(traced, rows)
        assert left(recorded) == left(call(plain, rows))


@functools.cache
def measure_of(name: str) -> blind.Measure:
    return blind.measured(name, blind.explained(name))


@pytest.mark.parametrize("name", blind.functions())
def test_every_row_is_exact(name: str) -> None:
    assert all(explanation.exact for explanation in blind.explained(name))


@pytest.mark.parametrize("name", PAID_IN_PARTS)
def test_credits_are_those_of_the_blind_key(name: str) -> None:
    measure = measure_of(name)
    assert measure.sums == measure.rows
    if name not in SAID_OTHERWISE:
        assert (measure.met, measure.good) == (measure.wanted, measure.given), measure.misses


def test_conditions_and_places_are_those_of_the_blind_keys() -> None:
    total = blind.Measure("all")
    for name in PAID_IN_PARTS:
        total.add(measure_of(name))
    assert total.wanted == 813
    assert total.met / total.wanted > 0.995
    assert total.good / total.given > 0.99
    assert total.spans_exact / total.spans >= 0.97
    assert (total.spans_exact + total.spans_contained) / total.spans > 0.99
    assert total.conditions_met / total.conditions > 0.97
