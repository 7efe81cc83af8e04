"""slow-step: a part of the step takes much longer than it did, or the rewards take more than the model.

Names the part: rewards, generation or update (forward and backward). Generation that grows with the length of the
completions is no fault of its own. Needs the workbench's clock (`step/..._seconds`).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.watching.thresholds import Thresholds

LEAST_SECONDS = 0.5
ADVICE = {
    "rewards": "Find the slow reward (rewards/NAME/seconds) and make it quicker, cache what it looks up, or make it "
    "async",
    "generation": "Lower max_completion_length or num_generations, or generate with vLLM (use_vllm=true); see whether "
    "something else uses the machine",
    "update": "Lower per_device_train_batch_size, train LoRA on fewer layers; see whether memory is full or something "
    "else uses the machine",
}


def slow_step(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """Each part against its own early median; and the share of the rewards."""
    whole = course.recent("step/seconds")
    if whole is None:
        return
    now, early_whole = whole.median(), course.start("step/seconds")
    longer = _growth_of_length(course)
    slowest: tuple[float, str, float] | None = None
    for part in ADVICE:
        recent, early = course.recent(f"step/{part}_seconds"), course.start(f"step/{part}_seconds")
        if recent is None or early is None or early_whole is None:
            continue
        expected = early.median() * (1.0 if part == "rewards" else longer)
        more = recent.median() - expected
        if more > 0 and now - more > 0 and now >= thresholds.slow_ratio * (now - more):
            slowest = max(slowest or (0.0, "", 0.0), (more, part, early.median()))
    if slowest is not None and now >= LEAST_SECONDS:
        more, part, before = slowest
        yield _found(part, now, f"{part} takes {more:.1f} s more than at the start ({before:.1f} s)", more)
        return
    rewards = course.recent("step/rewards_seconds")
    if rewards is not None and now >= LEAST_SECONDS and rewards.median() >= thresholds.rewards_share * now:
        share = rewards.median() / now
        yield _found(
            "rewards", now, f"the rewards take {rewards.median():.1f} s, {share:.0%} of it", rewards.median()
        )


def _growth_of_length(course: Course) -> float:
    now, start = course.recent("completions/mean_length"), course.start("completions/mean_length")
    if now is None or start is None or start.median() <= 0:
        return 1.0
    return max(1.0, now.median() / start.median())


def _found(part: str, whole: float, seen: str, seconds: float) -> Diagnosis:
    return Diagnosis(
        "slow-step",
        "warning",
        f"a step takes {whole:.1f} s: {seen}",
        "The run takes much longer than it has to",
        ADVICE[part],
        subject=part,
        evidence={"step_seconds": whole, "part": part, "part_seconds": seconds},
    )
