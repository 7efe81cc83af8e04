"""Training runs drawn from a seed, completion by completion: healthy ones and ones with a known illness.

Eight prompts of different difficulty with eight completions each are drawn at every step; two binary rewards
(correctness, format) score them, and the metrics are computed from these scores as TRL and the workbench compute
theirs. A scenario only says how the chances move over the run. Nothing here knows a rule or a threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trainer.diagnoses import Facts

STEPS, PROMPTS, GROUP, CAP = 300, 8, 8, 512


@dataclass(frozen=True)
class Moment:
    """The chances at one moment of a run; `right` is the mean chance over prompts of usual difficulty."""

    right: float = 0.4
    formatted: float = 0.5
    tied: float = 0.0  # share of groups whose completions are all the same
    length: float = 120.0
    cut: float = 0.0
    entropy: float = 0.5
    kl: float = 0.01
    gradient: float = 0.2
    rewards_s: float = 0.2
    generation_s: float = 1.5
    update_s: float = 1.0
    nan: float = 0.0  # chance that the gradient is NaN
    same: float = 0.0  # share of completions equal to another of their group


@dataclass(frozen=True)
class Scenario:
    """A kind of run: its moments, what should be diagnosed ("" for a healthy run), and how it is trained."""

    name: str
    expected: str
    moments: Callable[[float, np.random.Generator], Callable[[float], Moment]]
    beta: float = 0.04
    noise: float = 1.0
    facts: dict[str, Any] = field(default_factory=dict)


def rise(t: float, low: float, high: float, middle: float = 0.4, speed: float = 8.0) -> float:
    """A smooth way from `low` to `high` around the share `middle` of the run."""
    return low + (high - low) / (1 + math.exp(-speed * (t - middle)))


def learning(t: float) -> Moment:
    """A run as it should be."""
    return Moment(
        right=rise(t, 0.3, 0.7),
        formatted=rise(t, 0.25, 0.95, 0.2, 14),
        entropy=0.5 - 0.25 * t,
        kl=0.005 + 0.08 * t,
    )


def plain(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    pace = rng.uniform(0.8, 1.3)
    return lambda t: learning(min(1.0, t * pace))


def longer_reasoning(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    factor = rng.uniform(0.7, 1.1)
    return lambda t: replace(
        learning(t),
        length=120 * (1 + factor * t),
        cut=0.03 * t,
        generation_s=1.5 * (1 + factor * t),
        right=rise(t, 0.25, 0.75, 0.5, 5),
    )


def staged(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    return lambda t: replace(
        learning(t), formatted=rise(t, 0.15, 0.97, 0.12, 25), right=rise(t, 0.3, 0.65, 0.6, 9)
    )


def converged(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    return lambda t: replace(
        learning(t), right=rise(t, 0.4, 0.975, 0.2, 16), formatted=rise(t, 0.4, 0.99, 0.15, 20)
    )


def after(onset: float, ill: Callable[[float, Moment], Moment]) -> Callable[[float], Moment]:
    """A healthy run until `onset`; then `ill(u, healthy)` with u from 0 to 1."""

    def moment(t: float) -> Moment:
        if t < onset:
            return learning(t)
        return ill((t - onset) / (1 - onset), learning(onset))

    return moment


def collapse(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    right = rng.uniform(0.05, 0.4)
    return after(
        onset,
        lambda u, m: replace(
            m,
            tied=rise(u, 0, 1.0, 0.15, 30),
            same=rise(u, 0, 1.0, 0.15, 30),
            right=right,
            formatted=0.5,
            entropy=m.entropy * (1 - 0.9 * u),
        ),
    )


def hidden_collapse(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    return after(onset, lambda u, m: replace(m, tied=rise(u, 0, 1.0, 0.15, 30), right=0.5, formatted=0.5))


def kl_explosion(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    power = rng.uniform(5, 8)
    return after(onset, lambda u, m: replace(m, kl=m.kl * math.exp(power * u), right=m.right * (1 - 0.4 * u)))


def stuck_with_variance(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    right, formatted = rng.uniform(0.25, 0.6), rng.uniform(0.3, 0.7)
    return lambda t: Moment(right=right, formatted=formatted)


def stuck_at_zero(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    return lambda t: Moment(right=0.004, formatted=0.004, gradient=0.01)


def hacking(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    low = rng.uniform(0.08, 0.2)
    return lambda t: Moment(
        right=0.45 if t < onset else rise((t - onset) / (1 - onset), 0.46, low, 0.4, 8),
        formatted=rise(t, 0.3, 1.0, onset + 0.2, 9),
        kl=0.01 + 0.1 * t,
    )


def length_blow_up(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    return after(
        onset,
        lambda u, m: replace(
            m, length=120 * (1 + 3.5 * u), cut=0.7 * max(0.0, u - 0.3), right=m.right * 0.95
        ),
    )


def nan_gradients(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    return lambda t: replace(learning(t), nan=0.15 if t > 0.5 else 0.0)


def all_truncated(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    share = rng.uniform(0.95, 1.0)
    return lambda t: Moment(right=0.03, formatted=0.01, cut=share, length=CAP * 0.99)


def dead_groups(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    return lambda t: replace(learning(t * 0.3), tied=0.9)


def entropy_collapse(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    end = rng.uniform(0.01, 0.08)
    return after(onset, lambda u, m: replace(m, entropy=m.entropy * max(end, math.exp(-6 * u))))


def format_ignored(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
    return lambda t: replace(learning(t), formatted=rng.uniform(0.0, 0.006))


def slow(part: str) -> Callable[[float, np.random.Generator], Callable[[float], Moment]]:
    def moments(onset: float, rng: np.random.Generator) -> Callable[[float], Moment]:
        times = rng.uniform(5, 9)

        def moment(t: float) -> Moment:
            m = learning(t)
            return m if t < onset else replace(m, **{f"{part}_s": getattr(m, f"{part}_s") * times + 2})

        return moment

    return moments


SCENARIOS = (
    Scenario("plain", "", plain),
    Scenario("beta 0", "", plain, beta=0.0),
    Scenario("longer reasoning", "", longer_reasoning),
    Scenario("staged", "", staged),
    Scenario("converged", "", converged),
    Scenario("collapse", "no-signal", collapse),
    Scenario("hidden collapse", "no-signal", hidden_collapse),
    Scenario("KL explosion", "kl", kl_explosion),
    Scenario("stuck with variance", "stuck", stuck_with_variance),
    Scenario("stuck at zero", "no-signal", stuck_at_zero),
    Scenario("hacking", "component-divergence", hacking),
    Scenario("length blow-up", "length", length_blow_up),
    Scenario("NaN gradients", "non-finite", nan_gradients),
    Scenario("all truncated", "truncation", all_truncated),
    Scenario("90 % dead groups", "no-signal", dead_groups),
    Scenario("entropy collapse", "entropy", entropy_collapse),
    Scenario("format ignored", "format-ignored:format", format_ignored),
    Scenario("slow step", "slow-step", plain),
)
SLOW_PARTS = ("rewards", "generation", "update")


@dataclass(frozen=True)
class Run:
    """One drawn run: what is known beforehand, its metrics at each step, and the diagnosis it should get."""

    facts: Facts
    lines: list[dict[str, float]]
    expected: str


def draw(scenario: Scenario, seed: int) -> Run:
    """The run of a scenario that belongs to `seed`."""
    rng = np.random.default_rng([seed, sum(scenario.name.encode())])
    onset = rng.uniform(0.25, 0.45)
    moments, expected = scenario.moments, scenario.expected
    if scenario.name == "slow step":
        part = SLOW_PARTS[seed % 3]
        moments, expected = slow(part), f"slow-step:{part}"
    moment = moments(onset, rng)
    lines = [_line(step, moment(step / STEPS), scenario, rng) for step in range(1, STEPS + 1)]
    facts = Facts(
        total_steps=STEPS,
        weights={"correctness": 1.0, "format": 1.0},
        kinds={"correctness": "correctness", "format": "format"},
        ranges={"correctness": (0.0, 1.0), "format": (0.0, 1.0)},
        group_size=GROUP,
        max_completion_length=CAP,
        beta=scenario.beta,
    )
    return Run(facts, lines, expected)


def _line(step: int, m: Moment, scenario: Scenario, rng: np.random.Generator) -> dict[str, float]:
    difficulty = rng.normal(0, 1.0, PROMPTS)
    chance = 1 / (1 + np.exp(-(_logit(m.right) * 1.15 + difficulty)))
    right = (rng.random((PROMPTS, GROUP)) < chance[:, None]).astype(float)
    formatted = (rng.random((PROMPTS, GROUP)) < m.formatted).astype(float)
    tied = rng.random(PROMPTS) < m.tied
    right[tied], formatted[tied] = right[tied, :1], formatted[tied, :1]
    total = right + formatted
    spread = total.std(axis=1, ddof=1)
    same = rng.beta(1, 30, PROMPTS) * (1 - m.same) + m.same
    usual = m.gradient * (0.02 + np.sqrt((spread > 1e-8).mean()))
    gradient = usual * rng.lognormal(0, 0.35) if (spread > 1e-8).any() else 1e-4 * scenario.beta
    line = {
        "step": step,
        "reward": total.mean(),
        "reward_std": total.std(ddof=1),
        "rewards/correctness/mean": right.mean(),
        "rewards/correctness/std": right.std(ddof=1),
        "rewards/format/mean": formatted.mean(),
        "rewards/format/std": formatted.std(ddof=1),
        "frac_reward_zero_std": float((spread <= 1e-8).mean()),
        "groups/zero_spread": float((spread <= 1e-8).mean()),
        "groups/spread": spread.mean(),
        "completions/duplicates": same.mean(),
        "completions/mean_length": min(CAP, m.length * rng.normal(1, 0.06)),
        "completions/clipped_ratio": rng.binomial(PROMPTS * GROUP, min(1, m.cut + 0.004)) / (PROMPTS * GROUP),
        "entropy": m.entropy * rng.lognormal(0, 0.06),
        "grad_norm": math.nan if rng.random() < m.nan else gradient,
        "rows/failed": 0.0,
        "rows/scored": float(PROMPTS * GROUP),
        "loss": rng.normal(0, 0.02),
    }
    if scenario.beta:
        line["kl"] = m.kl * rng.lognormal(0, 0.25)
    parts = {name: getattr(m, f"{name}_s") * rng.lognormal(0, 0.12) for name in SLOW_PARTS}
    line |= {f"step/{name}_seconds": value for name, value in parts.items()}
    line["step/seconds"] = sum(parts.values())
    return {key: float(value) for key, value in line.items()}


def _logit(p: float) -> float:
    p = min(max(p, 1e-4), 1 - 1e-4)
    return math.log(p / (1 - p))


def logged(run: Run, every: int) -> Iterator[dict[str, float]]:
    """The run as it is logged at every `every`-th step: means of the window, but the last step's gradient."""
    for end in range(every, len(run.lines) + 1, every):
        window = run.lines[end - every : end]
        line = {key: float(np.mean([one[key] for one in window])) for key in window[0]}
        spoilt = any(math.isnan(one["grad_norm"]) for one in window)
        yield {
            **line,
            "step": end,
            "grad_norm": window[-1]["grad_norm"],
            "step/grad_norm": math.nan if spoilt else line["grad_norm"],
        }
