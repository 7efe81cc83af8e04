"""Factors that move while a model trains: by the step, or by how often the reward is earned.

Both are worked out anew in each call from what the trainer passes (`trainer_state`), never kept in the object: a
resumed run goes on where it was, every process has the same factor, and evaluation does not move it. They are offered
by `rewards.library.shaping`, which says what holds for all composed rewards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewards.contract import Reward, trl_name
from rewards.library.composition import (
    NEAR,
    Answer,
    Ask,
    Bounds,
    Call,
    Shaped,
    Steps,
    Term,
    Terms,
    abstains,
    compose,
    declared_range,
    finite,
    like,
    range_of,
)


def scheduled(reward: Reward, points: Mapping[int, float], *, name: str | None = None) -> Shaped:
    """`reward` times a factor that follows the training step.

    Between the steps of `points` the factor moves in a straight line, before the first and after the last it
    stays. It depends on the step alone, so that a resumed run goes on where it was. Where this is the only reward,
    TRL's scaling by the group's spread undoes any factor but 0.

    Args:
        reward: the reward.
        points: factor (at least 0) by finished training step.
        name: default `REWARD_scheduled`.

    Returns:
        A reward: None, NaN and infinities as they come.

    Raises:
        ValueError: no points, a negative step or factor.

    >>> from rewards.contract import TrainerState
    >>> from rewards.library import min_length
    >>> fading = scheduled(min_length, {100: 1.0, 200: 0.0})
    >>> [fading(["one"], shortest=1, trainer_state=TrainerState(step))[0] for step in (0, 150, 300)]
    [1.0, 0.5, 0.0]
    """
    marks = tuple(
        sorted((int(step), finite("scheduled", "points", factor)) for step, factor in points.items())
    )
    if not marks or marks[0][0] < 0 or min(factor for _, factor in marks) < 0:
        raise ValueError(
            f"scheduled: points={dict(points)!r} must give factors of at least 0 to steps from 0 on"
        )
    return compose(
        name or f"{trl_name(reward)}_scheduled",
        (reward,),
        _Scheduled(marks),
        **like(reward),
        range=_times(declared_range(reward), [factor for _, factor in marks]),
        abstains=abstains(reward),
    )


@dataclass(frozen=True)
class _Scheduled:
    points: tuple[tuple[int, float], ...]

    def steps(self, call: Call) -> Steps:
        factor = self.factor(int(getattr(call.state, "global_step", 0)))
        (answer,) = yield [Ask(0)]
        return _all_times(factor, answer)

    def factor(self, step: int) -> float:
        before = [point for point in self.points if point[0] <= step]
        after = [point for point in self.points if point[0] > step]
        if not before or not after:
            return (after or before[-1:])[0][1]
        (start, low), (stop, high) = before[-1], after[0]
        return low + (high - low) * (step - start) / (stop - start)


def adaptive(
    reward: Reward,
    *,
    low: float = 0.3,
    high: float = 0.8,
    up: float = 1.2,
    down: float = 0.9,
    least: float = 0.1,
    most: float = 10.0,
    patience: int = 1,
    name: str | None = None,
) -> Shaped:
    """`reward` times a factor that rises while it is seldom earned and falls once it mostly is.

    A completion succeeds where it reaches the top of the declared range. Each call logs the share that does as
    `NAME/success`; after each of the trainer's logs with a share below `low` the factor is multiplied by `up`, above
    `high` by `down`, and in between it rests. The factor is worked out anew from the trainer's own log each time,
    never kept in the object: it survives a resume, is the same in every process, and evaluation does not move it.

    A run of ours does this with `adaptive = {...}` in the manifest, on TRL's weights instead of the scores; use
    one or the other. This form is for plain TRL, where it needs `log_metric`.

    Args:
        reward: a reward with a declared range.
        low, high: shares, low below high.
        up, down: what the factor is multiplied by, up at least 1, down in (0, 1].
        least, most: what it stays between; it begins at 1.
        patience: logs in a row on the same side that it takes to move it.
        name: default `REWARD_adaptive`; a run's log is read under it.

    Returns:
        A reward: None, NaN and infinities as they come.

    Raises:
        ValueError: no declared range, or a setting out of its bounds.

    >>> from rewards.contract import TrainerState
    >>> from rewards.library import exact_match
    >>> rising = adaptive(exact_match)
    >>> state = TrainerState(1)
    >>> state.log_history = [{"exact_match_adaptive/success": 0.1}]
    >>> rising(["7"], answer=["7"], trainer_state=state)
    [1.2]
    """
    top = range_of("adaptive", reward, None)[1]
    sound = 0 <= low < high <= 1 and up >= 1 and 0 < down <= 1 and 0 < least <= 1 <= most and patience >= 1
    if not sound or not math.isfinite(up * most):
        raise ValueError(
            f"adaptive: low={low!r}, high={high!r}, up={up!r}, down={down!r}, least={least!r}, most={most!r}, "
            f"patience={patience!r} must keep 0 <= low < high <= 1, up >= 1, 0 < down <= 1, 0 < least <= 1 <= most "
            "and patience >= 1"
        )
    own = name or f"{trl_name(reward)}_adaptive"
    return compose(
        own,
        (reward,),
        _Adaptive(f"{own}/success", top, low, high, up, down, least, most, patience),
        **like(reward),
        range=_times(declared_range(reward), [least, most]),
        abstains=abstains(reward),
    )


@dataclass(frozen=True)
class _Adaptive:
    metric: str
    top: float
    low: float
    high: float
    up: float
    down: float
    least: float
    most: float
    patience: int

    def steps(self, call: Call) -> Steps:
        factor = self.factor(getattr(call.state, "log_history", ()))
        (answer,) = yield [Ask(0)]
        known = [score for score in map(answer.known, range(len(call))) if score is not None]
        if known:
            call.log_metric(self.metric, sum(score >= self.top - NEAR for score in known) / len(known))
        return _all_times(factor, answer)

    def factor(self, log: Sequence[Mapping[str, Any]]) -> float:
        factor, side, seen = 1.0, 0, 0
        for line in log:
            share = line.get(self.metric)
            if not isinstance(share, (int, float)) or share != share:
                continue
            now = -1 if share < self.low else 1 if share > self.high else 0
            side, seen = now, seen + 1 if now == side else 1
            if now and seen >= self.patience:
                moved = factor * (self.up if now < 0 else self.down)
                factor, seen = min(self.most, max(self.least, moved)), 0
        return factor


def _all_times(factor: float, answer: Answer) -> list[Terms]:
    return [None if score is None else [Term(factor, answer)] for score in answer.scores]


def _times(span: Bounds | None, factors: Sequence[float]) -> Bounds | None:
    if span is None:
        return None
    ends = [end * factor for end in span for factor in factors]
    return (min(ends), max(ends)) if min(ends) < max(ends) else None
