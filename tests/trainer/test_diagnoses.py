"""Each rule: a course that has it, and one that comes close without."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rewards.manifest import TrainSettings
from trainer.diagnoses import RULES, Course, Diagnosis, Facts, Thresholds, out_of_memory
from trainer.diagnoses.out_of_memory import smaller
from trainer.plan import batching
from trainer.presets import PRESETS
from trainer.settings import parse_sets, resolve

FACTS = Facts(
    total_steps=100,
    weights={"right": 1.0, "tags": 1.0, "judge": 0.0},
    kinds={"right": "correctness", "tags": "format", "judge": None},
    ranges={"right": (0.0, 1.0), "tags": (0.0, 1.0), "judge": (0.0, 1.0)},
    max_completion_length=64,
)
USUAL = {"reward": 0.8, "reward_std": 0.5, "rewards/right/mean": 0.4, "rewards/tags/mean": 0.4}
USUAL |= {f"rewards/{name}/std": 0.5 for name in ("right", "tags", "judge")}


def found(rule: str, steps: int = 100, facts: Facts = FACTS, **metrics: Any) -> list[Diagnosis]:
    """What a rule says of a run whose metrics are constants or functions of the share done; `__` stands for `/`."""
    course = Course(facts)
    for step in range(1, steps + 1):
        line = {
            **USUAL,
            **{
                key.replace("__", "/"): value(step / steps) if callable(value) else value
                for key, value in metrics.items()
            },
        }
        course.add(step, line)
    return list(RULES[rule](course, Thresholds()))


def one(rule: str, **metrics: Any) -> Diagnosis:
    (diagnosis,) = found(rule, **metrics)
    return diagnosis


@pytest.mark.guide("G14")
def test_flat_groups_are_no_signal_however_wide_the_batch_is() -> None:
    assert one("no-signal", groups__zero_spread=0.6, reward_std=1.0).severity == "warning"
    worse = one("no-signal", groups__zero_spread=0.9, reward_std=1.0)
    assert worse.severity == "critical"
    assert worse.evidence["reward_std_of_batch"] == 1.0
    assert found("no-signal", groups__zero_spread=0.4) == []


def test_flat_groups_at_the_floor_are_too_hard_and_at_the_ceiling_saturated() -> None:
    assert "too hard" in one("no-signal", groups__zero_spread=0.9, reward=0.05).advice
    assert found("no-signal", groups__zero_spread=0.9, reward=1.9) == []
    done = one("saturated", groups__zero_spread=0.9, reward=1.9)
    assert (done.severity, "95%" in done.seen) == ("info", True)


def test_trls_own_count_serves_where_ours_is_missing() -> None:
    assert one("no-signal", frac_reward_zero_std=0.9).severity == "critical"


@pytest.mark.guide("G15")
def test_collapse_is_told_from_mastery_by_the_reward() -> None:
    assert one("mode-collapse", groups__zero_spread=0.9, completions__duplicates=0.8).name == "mode-collapse"
    assert found("mode-collapse", groups__zero_spread=0.9, completions__duplicates=0.8, reward=1.95) == []
    assert found("mode-collapse", groups__zero_spread=0.9, completions__duplicates=0.1) == []


@pytest.mark.guide("G14")
def test_kl_counts_by_level_and_by_its_own_early_part() -> None:
    growing = {"rewards__right__mean": lambda t: t}
    assert one("kl", kl=0.6, **growing).severity == "warning"
    assert one("kl", kl=0.6).severity == "critical"
    assert one("kl", kl=2.5, **growing).severity == "critical"
    assert "times its early" in one("kl", kl=lambda t: 0.005 if t < 0.5 else 0.3, **growing).seen
    assert found("kl", kl=0.3) == []
    assert one("kl", policy__kl=0.6).severity == "critical"


@pytest.mark.guide("G14", "G15")
def test_a_flat_reward_with_differences_is_stuck() -> None:
    assert "after 100 steps" in one("stuck").seen
    assert found("stuck", reward=lambda t: 0.6 + 0.4 * t) == []
    assert found("stuck", steps=50) == []
    assert found("stuck", reward=1.8) == []


def test_one_reward_up_and_one_down_is_divergence() -> None:
    up, down = {"rewards__tags__mean": lambda t: 0.3 + 0.6 * t}, lambda t: 0.5 - 0.4 * t
    hacked = one("component-divergence", **up, rewards__right__mean=down, reward=lambda t: 0.8 + 0.2 * t)
    assert (hacked.severity, hacked.subject) == ("critical", "tags/right")
    assert one("component-divergence", **up, rewards__right__mean=down, reward=0.8).severity == "warning"
    assert found("component-divergence", **up) == []


PENALTY = Facts(
    total_steps=100,
    weights={"right": 1.0, "words": -0.5, "shape": -1.0},
    kinds={"right": "correctness", "words": None, "shape": "format"},
)


def test_a_penalised_feature_that_falls_is_no_divergence() -> None:
    well = {"rewards__right__mean": lambda t: 0.2 + 0.6 * t, "rewards__words__mean": lambda t: 0.9 - 0.6 * t}
    assert found("component-divergence", facts=PENALTY, **well) == []


def test_a_penalised_feature_is_told_by_what_it_costs() -> None:
    grown = {"rewards__right__mean": lambda t: 0.2 + 0.6 * t, "rewards__words__mean": lambda t: 0.2 + 0.6 * t}
    (told,) = found("component-divergence", facts=PENALTY, **grown, reward=lambda t: 0.8 + 0.2 * t)
    assert told.seen.startswith("'right' rises by 0.48 while 'words' (a penalty) rises by 0.48")
    assert (told.subject, "high on 'right' and high on 'words'" in told.advice) == ("right/words", True)
    lost = {"rewards__right__mean": lambda t: 0.8 - 0.6 * t, "rewards__words__mean": lambda t: 0.9 - 0.6 * t}
    (told,) = found("component-divergence", facts=PENALTY, **lost)
    assert told.seen.startswith("'words' (a penalty) falls by 0.48 while 'right' falls by 0.48")


def test_a_penalty_is_neither_a_format_that_is_ignored_nor_what_is_wanted() -> None:
    assert found("format-ignored", facts=PENALTY, rewards__shape__mean=0.0) == []
    assert Facts(weights={"wrong": -1.0}, kinds={"wrong": "correctness"}).primary == "reward"


def test_a_lesser_reward_that_falls_for_correctness_is_a_price() -> None:
    price = one(
        "component-divergence",
        rewards__right__mean=lambda t: 0.2 + 0.6 * t,
        rewards__tags__mean=lambda t: 0.9 - 0.5 * t,
    )
    assert price.severity == "info"


def test_a_reward_that_only_watches_bears_witness() -> None:
    better = {"reward": lambda t: 0.5 + t}
    hacked = one("oracle", **better, rewards__judge__mean=lambda t: 0.6 - 0.4 * t)
    assert (hacked.severity, hacked.subject) == ("critical", "judge")
    assert found("oracle", **better, rewards__judge__mean=0.5) == []
    assert found("oracle", rewards__judge__mean=lambda t: 0.6 - 0.4 * t) == []


def test_held_out_prompts_below_the_base_twice_are_told() -> None:
    below = {"held_out__gain": -0.3, "held_out__gain_low": -0.4, "held_out__gain_high": -0.2}
    assert one("oracle", **below).severity == "critical"
    ahead = {"held_out__gain": 0.0, "held_out__gain_low": -0.1, "held_out__gain_high": 0.1}
    assert one("oracle", **ahead, reward=lambda t: 0.5 + t).severity == "warning"
    assert found("oracle", **ahead) == []


def test_evaluations_without_an_interval_raise_no_alarm() -> None:
    course = Course(Facts(weights={"right": 1.0}))
    for step in range(1, 81):
        line = {"reward": 0.5}
        if step % 20 == 0:
            line |= {"held_out/gain": 0.1 if step > 40 else -0.3}
            line |= {"held_out/gain_low": -0.4, "held_out/gain_high": -0.2} if step <= 40 else {}
        course.add(step, line)
    assert list(RULES["oracle"](course, Thresholds())) == []


@pytest.mark.guide("G15")
def test_a_format_that_is_never_earned_is_ignored() -> None:
    ignored = one("format-ignored", rewards__tags__mean=0.01)
    assert "solved example" in ignored.advice
    assert found("format-ignored", rewards__tags__mean=lambda t: 0.04 * t + 0.001) == []
    assert found("format-ignored", rewards__right__mean=0.0) == []


def test_length_that_pays_is_left_alone() -> None:
    longer = {"completions__mean_length": lambda t: 30 + 60 * t}
    assert one("length", **longer).severity == "warning"
    assert one("length", **longer, completions__clipped_ratio=0.3).severity == "critical"
    assert found("length", **longer, rewards__right__mean=lambda t: t) == []
    assert "brevity" in one("length", completions__mean_length=lambda t: 60 - 50 * t).advice


def test_length_that_doubles_is_found_in_a_log_of_every_25th_step() -> None:
    course = Course(replace(FACTS, total_steps=200))
    for step in range(25, 201, 25):
        course.add(step, {**USUAL, "completions/mean_length": 100 * (1 + step / 200)})
    assert [diagnosis.name for diagnosis in RULES["length"](course, Thresholds())] == ["length"]


def test_nearly_all_cut_off_is_told_at_the_first_step() -> None:
    first = one("truncation", steps=1, completions__clipped_ratio=0.95)
    assert (first.severity, "max_completion_length (128)" in first.advice) == ("critical", True)
    assert one("truncation", completions__clipped_ratio=0.2).severity == "warning"
    assert found("truncation", steps=1, completions__clipped_ratio=0.5) == []
    assert found("truncation", completions__clipped_ratio=0.05) == []


def test_entropy_is_measured_by_its_own_start_and_excused_by_learning() -> None:
    falling = {"entropy": lambda t: 1.7 * math.exp(-4 * t)}
    assert one("entropy", **falling).severity == "critical"
    assert found("entropy", **falling, rewards__right__mean=lambda t: t) == []
    assert found("entropy", entropy=0.05) == []


@pytest.mark.parametrize("metric", ["loss", "grad_norm", "step__grad_norm", "step__weights"])
def test_what_is_not_finite_is_critical(metric: str) -> None:
    diagnosis = one("non-finite", **{metric: lambda t: math.nan if t == 0.5 else 1.0})
    assert (diagnosis.severity, "step 50" in diagnosis.seen) == ("critical", True)


def test_steps_without_gradient_and_spikes_are_counted() -> None:
    assert one("no-op-steps", grad_norm=lambda t: 0.2 if t < 0.6 else 1e-4).severity == "critical"
    assert found("no-op-steps", grad_norm=0.2) == []
    spiky = lambda t: 9.0 if round(t * 100) in (30, 50, 70) else 0.2 + 0.01 * math.sin(90 * t)  # noqa: E731
    assert one("gradient-spikes", grad_norm=spiky).evidence["steps"] == [30, 50, 70]
    assert found("gradient-spikes", grad_norm=lambda t: 9.0 if t == 0.5 else 0.2) == []


def test_old_completions_are_clipped() -> None:
    assert one("clipping", clip_ratio__region_mean=0.3).severity == "warning"
    assert found("clipping", clip_ratio__region_mean=0.1) == []


@pytest.mark.guide("G15")
@pytest.mark.parametrize("part", ["rewards", "generation", "update"])
def test_a_slow_step_names_its_part(part: str) -> None:
    times: dict[str, Any] = {"step__rewards_seconds": 0.2, "step__generation_seconds": 2.0}
    times["step__update_seconds"] = 1.0
    usual = dict(times)
    late = times[f"step__{part}_seconds"] + 6.0
    times[f"step__{part}_seconds"] = lambda t: late if t > 0.5 else usual[f"step__{part}_seconds"]
    times["step__seconds"] = lambda t: 3.2 + (6.0 if t > 0.5 else 0.0)
    assert one("slow-step", **times).subject == part
    assert found("slow-step", **usual, step__seconds=3.2) == []


def test_rewards_that_take_most_of_a_step_are_told_and_longer_answers_excused() -> None:
    assert one("slow-step", step__seconds=3.0, step__rewards_seconds=2.0).subject == "rewards"
    longer = {"step__seconds": lambda t: 1 + 3 * t, "step__generation_seconds": lambda t: 0.9 + 2.9 * t}
    assert one("slow-step", **longer).subject == "generation"
    assert found("slow-step", **longer, completions__mean_length=lambda t: 30 + 95 * t) == []


def test_rows_that_fail_are_told() -> None:
    assert one("failed-rows", rows__failed=2.0, rows__scored=30.0).evidence["share"] == pytest.approx(0.0625)
    assert found("failed-rows", rows__failed=0.0, rows__scored=32.0) == []


@pytest.mark.guide("G15")
def test_out_of_memory_names_what_filled_it_and_the_next_smaller_settings() -> None:
    settings = {
        "per_device_train_batch_size": 8,
        "max_completion_length": 256,
        "gradient_checkpointing": False,
    }
    diagnosis = out_of_memory(settings, "update")
    assert "activations and logits" in diagnosis.seen
    assert "--set per_device_train_batch_size=4 --set gradient_accumulation_steps=2" in diagnosis.advice
    assert "gradient_checkpointing=true" in diagnosis.advice


@pytest.mark.parametrize("part", ["generation", "update", None])
@pytest.mark.parametrize("preset", [*PRESETS])
def test_no_advice_against_a_full_memory_is_refused_by_our_own_settings(
    preset: str, part: str | None
) -> None:
    train = TrainSettings(model="m", preset=preset)
    before = resolve(train, device="cpu").trl
    advice = smaller(before, part).split(", or ")
    assert advice[-1].startswith("--set max_completion_length=")
    for one in advice:
        after = resolve(train, device="cpu", sets=parse_sets(one.replace("--set ", "").split())).trl
        assert after != before
        if part != "generation":
            rows = [batching(trl) for trl in (before, after)]
            assert rows[0] == replace(rows[1], passes=rows[0].passes, accumulation=rows[0].accumulation)


def test_an_advice_that_several_processes_cannot_take_is_left_out() -> None:
    settings = {"per_device_train_batch_size": 4, "steps_per_generation": 1, "num_generations": 8}
    assert smaller(settings, processes=2) == (
        "--set per_device_train_batch_size=2 --set gradient_accumulation_steps=2 --set steps_per_generation=2, or "
        "--set max_completion_length=256"
    )
    assert smaller({**settings, "max_completion_length": 1}, "generation", processes=2) == (
        "--set per_device_train_batch_size=2 --set gradient_accumulation_steps=2 --set steps_per_generation=1 "
        "--set num_generations=4"
    )


def test_thresholds_move_the_lines() -> None:
    course = Course(FACTS)
    for step in range(1, 101):
        course.add(step, {**USUAL, "kl": 0.3})
    assert next(iter(RULES["kl"](course, Thresholds(kl_warn=0.2)))).severity == "critical"


def test_every_diagnosis_has_a_page_that_begins_with_its_name() -> None:
    folder = Path(str(RULES["kl"].__globals__["__file__"])).parent  # type: ignore[attr-defined]
    for name in [*RULES, "out-of-memory"]:
        text = (folder / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
        assert text.startswith(f'"""{name}: ')


def test_the_manual_of_the_diagnoses_is_current(repository: Path, write_docs: bool) -> None:
    from trainer.diagnoses.manual import manual

    document = repository / "docs" / "diagnoses.md"
    if write_docs:
        document.write_text(manual(), encoding="utf-8")
    assert document.read_text(encoding="utf-8") == manual(), "docs/diagnoses.md is old: run `make docs`"
