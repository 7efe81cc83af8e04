"""The forecast of what a merge into 16 bits leaves, against the measured values it rests on."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewards.manifest import TrainSettings
from trainer.merging.erasure import forecast, rate_sum, retained, typical_weight
from trainer.settings import Settings, parse_sets, resolve


def settings(*sets: str) -> Settings:
    return resolve(TrainSettings(model="m"), device="cpu", sets=parse_sets(sets))


def test_measured_points_come_back_and_what_is_between_lies_between() -> None:
    assert retained(0.003, "bfloat16") == pytest.approx(0.93)
    assert 0.53 < retained(0.0015, "bfloat16") < 0.82
    assert retained(0.0015, "float16") == 1.0
    assert 0 < retained(1e-6, "bfloat16") < 0.01


def test_a_falling_schedule_counts_half() -> None:
    assert rate_sum(settings("learning_rate=1e-6", "lr_scheduler_type=linear"), 300) == pytest.approx(1.5e-4)
    assert rate_sum(settings("learning_rate=1e-6", "lr_scheduler_type=constant"), 300) == pytest.approx(3e-4)


@pytest.mark.parametrize(
    ("rate", "steps", "change"), [("1e-6", 300, 0.0008), ("5e-6", 300, 0.004), ("5e-5", 500, 0.064)]
)
def test_the_largest_change_is_the_one_derived_for_a_model_2048_wide(
    rate: str, steps: int, change: float, tmp_path: Path
) -> None:
    given = settings(f"learning_rate={rate}", "lr_scheduler_type=linear", "lora.r=16", "lora.alpha=32")
    found = forecast(tmp_path, [(given, steps)], "bfloat16")  # no weights there: 2048 inputs, deviation 0.02
    assert found is not None
    assert found.most == pytest.approx(change, rel=0.08)
    assert found.kept == retained(found.most, "bfloat16")
    assert found.kept_least < found.kept or found.kept == 1.0


def test_stages_add_up_and_nothing_is_lost_in_float32(tmp_path: Path) -> None:
    one = (settings("learning_rate=1e-5"), 10)
    once, twice = (forecast(tmp_path, [one] * count, "bfloat16") for count in (1, 2))
    assert once is not None
    assert twice is not None
    assert twice.most == pytest.approx(2 * once.most)
    assert forecast(tmp_path, [one], "float32") is None
    assert forecast(tmp_path, [(settings("lora=false"), 10)], "bfloat16") is None


def test_the_weights_of_the_model_are_what_is_compared_with(tiny_model: Path) -> None:
    inputs, deviation = typical_weight(tiny_model)
    assert inputs in (64, 128)
    assert deviation == pytest.approx(0.1, rel=0.1)
