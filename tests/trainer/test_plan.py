"""TRL's batch rules as arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from rewards.errors import UsageError
from trainer.plan import batching, check_evaluation, plan_run


def sizes(**settings: Any) -> Any:
    return batching({"per_device_train_batch_size": 8, "num_generations": 4, **settings})


@pytest.mark.guide("G10")
def test_rows_and_prompts_follow_from_batch_accumulation_and_group() -> None:
    found = sizes(gradient_accumulation_steps=2)
    assert (found.rows, found.prompts, found.group, found.window) == (16, 4, 4, 1)


def test_processes_multiply_the_rows() -> None:
    found = batching(
        {"per_device_train_batch_size": 1, "num_generations": 8, "gradient_accumulation_steps": 4}, 2
    )
    assert (found.rows, found.prompts) == (8, 1)


def test_a_generation_used_for_two_steps_makes_a_window_of_two() -> None:
    found = sizes(steps_per_generation=8, gradient_accumulation_steps=4)
    assert (found.window, found.steps(3), found.generations(5)) == (2, 6, 3)


def test_iterations_widen_the_window() -> None:
    assert sizes(num_iterations=3).window == 3


@pytest.mark.guide("G10")
def test_groups_that_do_not_fit_are_refused_with_the_nearest_legal_values() -> None:
    with pytest.raises(UsageError) as caught:
        sizes(num_generations=6)
    assert str(caught.value) == (
        "8 rows are generated at a time (per_device_train_batch_size 8 x gradient_accumulation_steps 1), which is no "
        "whole number of groups of num_generations=6; nearest legal: gradient_accumulation_steps=3, or "
        "num_generations=4 or 8"
    )


def test_a_group_of_one_is_refused() -> None:
    with pytest.raises(UsageError, match="num_generations=1 must be at least 2"):
        sizes(num_generations=1)


def test_generation_batch_size_is_read_and_checked() -> None:
    assert sizes(generation_batch_size=32).prompts == 8
    with pytest.raises(
        UsageError, match=r"generation_batch_size=20 must be a multiple of the 8 rows .* legal: 16 or 24"
    ):
        sizes(generation_batch_size=20)
    with pytest.raises(UsageError, match="say the same thing"):
        sizes(generation_batch_size=32, steps_per_generation=4)


def test_a_batch_size_that_is_no_number_is_named() -> None:
    with pytest.raises(UsageError, match=r"per_device_train_batch_size='8' \(str\) must be a whole number"):
        sizes(per_device_train_batch_size="8")


def test_evaluation_needs_whole_groups_too() -> None:
    check_evaluation(
        {"per_device_eval_batch_size": 3, "num_generations": 4}
    )  # no evaluation: nothing to check
    with pytest.raises(UsageError, match=r"per_device_eval_batch_size=6 does not hold .* legal: 4 or 8"):
        check_evaluation({"eval_strategy": "steps", "per_device_eval_batch_size": 6, "num_generations": 4})


def test_epochs_become_steps_over_whole_generation_batches() -> None:
    plan = plan_run(sizes(), 11, max_steps=-1, epochs=2.0)
    assert (plan.max_steps, plan.prompts_needed, plan.epochs) == (11, 22, 2.0)


def test_max_steps_decide_how_many_prompts_are_needed() -> None:
    plan = plan_run(sizes(), 10, max_steps=45, epochs=1.0)
    assert (plan.max_steps, plan.prompts_needed, plan.epochs) == (45, 90, 9.0)


def test_data_too_small_for_one_generation_batch_is_refused_not_trained_for_0_steps() -> None:
    with pytest.raises(UsageError) as caught:
        plan_run(sizes(), 1, max_steps=45, epochs=1.0)
    assert str(caught.value).startswith(
        "the data has 1 training prompt, but one generation batch takes 2 (8 rows in groups of 4), so not one step"
    )


def test_epochs_that_give_no_step_are_refused() -> None:
    with pytest.raises(UsageError, match=r"num_train_epochs=0.1 over 4 prompts gives no step"):
        plan_run(sizes(), 4, max_steps=-1, epochs=0.1)
