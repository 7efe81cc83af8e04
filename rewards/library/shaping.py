"""Making a reward out of rewards: gates, priorities, bounds, progress, and weights that move.

Each function here takes rewards and returns one, to be written in the file of rewards:

    from rewards.library import max_length
    from rewards.library.shaping import gate

    brief_if_right = gate(max_length, by=correctness_reward)

    gate                bonus only where another reward is satisfied
    lexicographic       the first reward decides, later ones only between equals
    weighted_sum        several as one, each with its share
    clip                within bounds
    scale               from one range to another
    potential_shaping   how far a completion got from where it started
    scheduled           a factor that follows the training step
    adaptive            a factor that follows how often the reward is earned

What comes out is a plain TRL reward: it takes and passes on columns, may be awaited, can be pickled, has its own name
(`name=` where two would be equal), keeps the named credits of the inner rewards, and is declared from their marks. It
is written in Python and not in a manifest, because a seal covers the code of the file: the parts are part of it.

None, NaN and infinities. A row is None where the deciding reward (the gate's `by`, the first of a `lexicographic`,
the only one elsewhere) is None. What is no number passes through unchanged, so that a fault of an inner reward is
seen as one; nothing here turns an infinity into a bound or NaN into 0.

What shaping can and cannot do: Ng, Harada and Russell (1999) showed that only `gamma * phi(s') - phi(s)` leaves the
best policy where it was. Over a whole completion that sum telescopes to a term in the prompt, which GRPO's group mean
takes away again. So whatever depends on the completion and is added does move what is best; the safe forms are a
gate, an order of priority, or a trade-off that is stated by its weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewards.contract import Reward, completion_text, trl_name
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
    bounds,
    compose,
    declared_range,
    finite,
    like,
    range_of,
)
from rewards.library.moving_weights import adaptive, scheduled
from rewards.marks import mark_of

# ------------------------------------------------------------------------------------------- gate


def gate(
    bonus: Reward,
    by: Reward,
    *,
    at_least: float | None = None,
    closed: float | None = None,
    name: str | None = None,
) -> Shaped:
    """`bonus` where `by` is satisfied, `closed` where it is not.

    `bonus` is asked about the rows that pass and no others (unless it compares the completions of a group), so that a
    judge that costs money is asked about right answers only.

    Args:
        bonus: what is paid.
        by: what has to be earned first.
        at_least: the score of `by` that opens the gate; default: the top of its declared range, else 1.0.
        closed: what a completion that does not pass gets; default: 0.0, or the low end of the bonus's declared
            range where that is below 0, so that failing never pays better than passing.
        name: default `BONUS_if_BY`.

    Returns:
        A reward: None where `by` is None or NaN, and where the gate is open and `bonus` is None.

    >>> from rewards.library import exact_match, max_length
    >>> brief_if_right = gate(max_length, by=exact_match)
    >>> brief_if_right(["Paris", "Rome", "?"], answer=["Paris", "Paris", None])
    [0.0, -1.0, None]
    """
    span = declared_range(bonus)
    top = declared_range(by)
    needed = at_least if at_least is not None else top[1] if top else 1.0
    shut = closed if closed is not None else min(0.0, span[0]) if span else 0.0
    rule = _Gate(finite("gate", "at_least", needed), finite("gate", "closed", shut))
    return compose(
        name or f"{trl_name(bonus)}_if_{trl_name(by)}",
        (bonus, by),
        rule,
        **like(bonus),
        range=(min(span[0], shut), max(span[1], shut)) if span else None,
        abstains=abstains(bonus, by),
    )


@dataclass(frozen=True)
class _Gate:
    at_least: float
    closed: float

    def steps(self, call: Call) -> Steps:
        (by,) = yield [Ask(1)]
        known = [by.known(row) for row in range(len(call))]
        passed = [score is not None and score >= self.at_least - NEAR for score in known]
        (bonus,) = yield [Ask(0, tuple(row for row, open_ in enumerate(passed) if open_))]
        return [self._row(passed[row], known[row], bonus, by) for row in range(len(call))]

    def _row(self, passed: bool, score: float | None, bonus: Answer, by: Answer) -> Terms:
        if score is None:
            return None
        return (
            [Term(1.0, bonus)]
            if passed
            else [Term(rest=self.closed, label=f"{by.name} not earned", about=by)]
        )


# --------------------------------------------------------------------------------- order of priority


def lexicographic(
    first: Reward,
    *others: Reward,
    steps: float | Sequence[float] = 1.0,
    ranges: Sequence[Bounds | None] = (),
    name: str | None = None,
) -> Shaped:
    """The first reward decides; each later one only between completions that are equal in all before it.

    Scores are read as shares of their declared ranges and, all but the last reward's, rounded down to whole steps.
    The whole lies in [0, 1], and a step more in one reward is worth twice what all the later ones can add together:
    a right completion beats a wrong one whatever else they do.

    Args:
        first: usually correctness.
        others: in order of priority.
        steps: the smallest difference that decides, as a share of a reward's range: 1.0 for right or wrong, 0.25 for
            quarters; one for all, or one for each but the last.
        ranges: of rewards that declare none, in order; None where the declared one holds.
        name: default `FIRST_then_SECOND...`.

    Returns:
        A reward: None where the first is None. A later one that is None adds nothing.

    Raises:
        ValueError: a range is not known, or a step is not in (0, 1].

    >>> from rewards.library import exact_match, incremental_format
    >>> order = lexicographic(exact_match, incremental_format)
    >>> scores = order(["<reasoning>1</reasoning><answer>8</answer>", "7"], answer=["7", "7"])
    >>> [round(score, 3) for score in scores]
    [0.333, 0.667]
    """
    rewards = (first, *others)
    if not others:
        raise ValueError("lexicographic: one reward has nothing to be ordered with; name at least two")
    listed = tuple(steps) if isinstance(steps, Sequence) else (steps,) * len(others)
    if len(listed) != len(others) or not all(0 < step <= 1 for step in listed):
        raise ValueError(
            f"lexicographic: steps={steps!r} must be in (0, 1], one for all or one for each of the first "
            f"{len(others)} rewards"
        )
    given = [*ranges, *[None] * (len(rewards) - len(ranges))]
    spans = tuple(range_of("lexicographic", one, span) for one, span in zip(rewards, given, strict=True))
    return compose(
        name or "_then_".join(trl_name(one) for one in rewards),
        rewards,
        _Lexicographic(spans, (*map(float, listed), 0.0)),
        **like(first),
        range=(0.0, 1.0),
        abstains=abstains(first),
    )


@dataclass(frozen=True)
class _Lexicographic:
    ranges: tuple[Bounds, ...]
    sizes: tuple[float, ...]  # smallest difference that counts; 0 for the last: any

    def steps(self, call: Call) -> Steps:
        answers = yield [Ask(part) for part in range(len(self.ranges))]
        shares = self._shares()
        return [self._row(row, answers, shares) for row in range(len(call))]

    def _shares(self) -> list[float]:
        """What full marks in each reward are worth: all the later ones together, half a step of this one."""
        shares, left = [], 1.0
        for size in self.sizes:
            shares.append(left / (1 + size / 2))
            left -= shares[-1]
        return shares

    def _row(self, row: int, answers: list[Answer], shares: list[float]) -> Terms:
        if answers[0].known(row) is None:
            return [Term(1.0, answers[0])] if answers[0].scores[row] is not None else None
        terms: list[Term] = []
        for answer, span, size, share in zip(answers, self.ranges, self.sizes, shares, strict=True):
            score = answer.known(row)
            if score is None:
                continue
            if math.isinf(score):
                return [Term(1.0, answer)]
            low, high = span
            part = min(1.0, max(0.0, (score - low) / (high - low)))
            counted = math.floor(part / size + NEAR) * size if size else part
            factor = share / (high - low)
            rest = share * counted - factor * score
            terms.append(
                Term(factor, answer, rest if abs(rest) > NEAR else 0.0, f"{answer.name}: whole steps")
            )
        return terms


# ------------------------------------------------------------------------------------- several as one


def weighted_sum(*rewards: Reward, shares: Sequence[float], name: str | None = None) -> Shaped:
    """Several rewards as one, each times its share.

    TRL adds rewards up by itself; this is for a sum that is to be gated, scaled or named as one reward.

    Args:
        rewards: at least two; the first is the one that the whole is about.
        shares: what each is multiplied by.
        name: default `FIRST_and_SECOND...`.

    Returns:
        A reward: None where the first is None. A later one that is None adds nothing.

    Raises:
        ValueError: there are not as many shares as rewards, or fewer than two.

    >>> from rewards.library import exact_match, soft_xml_format
    >>> both = weighted_sum(exact_match, soft_xml_format, shares=(0.75, 0.25))
    >>> both(["<reasoning>1</reasoning><answer>8</answer>", "7"], answer=["7", "7"])
    [0.25, 0.75]
    """
    factors = tuple(finite("weighted_sum", "shares", share) for share in shares)
    if len(rewards) < 2 or len(factors) != len(rewards):
        raise ValueError(
            f"weighted_sum: {len(rewards)} rewards with {len(factors)} shares; two or more, and as many"
        )
    return compose(
        name or "_and_".join(trl_name(one) for one in rewards),
        rewards,
        _WeightedSum(factors),
        **like(rewards[0]),
        range=_range_of_sum(rewards, factors),
        abstains=abstains(rewards[0]),
    )


@dataclass(frozen=True)
class _WeightedSum:
    shares: tuple[float, ...]

    def steps(self, call: Call) -> Steps:
        answers = yield [Ask(part) for part in range(len(self.shares))]
        return [self._row(answers, row) for row in range(len(call))]

    def _row(self, answers: list[Answer], row: int) -> Terms:
        if answers[0].scores[row] is None:
            return None
        return [
            Term(share, answer)
            for share, answer in zip(self.shares, answers, strict=True)
            if answer.scores[row] is not None
        ]


def _range_of_sum(rewards: Sequence[Reward], shares: Sequence[float]) -> Bounds | None:
    low, high = 0.0, 0.0
    for one, share in zip(rewards, shares, strict=True):
        span = declared_range(one)
        if span is None:
            return None
        low += min(share * span[0], share * span[1])
        high += max(share * span[0], share * span[1])
    return (round(low, 12), round(high, 12)) if low < high else None


# ----------------------------------------------------------------------------------- bounds and scales


def clip(reward: Reward, low: float, high: float, *, name: str | None = None) -> Shaped:
    """`reward` within [low, high].

    Args:
        reward: the reward.
        low, high: the bounds, low below high.
        name: default `REWARD_clipped`.

    Returns:
        A reward: None and NaN as they come; an infinity stays one, because it is a fault and no large score.

    Raises:
        ValueError: low is not below high.

    >>> def words(completions, **columns):
    ...     return [float(len(text.split())) for text in completions]
    >>> clip(words, 0, 2)(["a b c", "a", ""])
    [2.0, 1.0, 0.0]
    """
    span = bounds("clip", "low, high", (low, high))
    return compose(
        name or f"{trl_name(reward)}_clipped",
        (reward,),
        _Clip(*span),
        **like(reward),
        range=span,
        abstains=abstains(reward),
    )


@dataclass(frozen=True)
class _Clip:
    low: float
    high: float

    def steps(self, call: Call) -> Steps:
        (answer,) = yield [Ask(0)]
        return [self._row(answer, row) for row in range(len(call))]

    def _row(self, answer: Answer, row: int) -> Terms:
        score = answer.known(row)
        if score is None or math.isinf(score):
            return [Term(1.0, answer)]
        kept = min(self.high, max(self.low, score))
        return [Term(1.0, answer, kept - score, "over the bound" if kept < score else "under the bound")]


def scale(
    reward: Reward,
    to: Bounds = (0.0, 1.0),
    *,
    of: Bounds | None = None,
    name: str | None = None,
) -> Shaped:
    """`reward` mapped in a straight line from one range to another.

    Args:
        reward: the reward.
        to: the new range; high before low turns it round.
        of: the range it has; default: the declared one. A score outside is mapped to outside.
        name: default `REWARD_scaled`.

    Returns:
        A reward: None, NaN and infinities as they come.

    Raises:
        ValueError: the range of the reward is not known, or a range has no width.

    >>> from rewards.library import max_length
    >>> scale(max_length)(["one", "one two three"], longest=2)
    [1.0, 0.5]
    """
    low, high = range_of("scale", reward, of)
    bottom, top = (finite("scale", "to", end) for end in to)
    if bottom == top:
        raise ValueError(f"scale: to={to!r} has no width")
    factor = (top - bottom) / (high - low)
    return compose(
        name or f"{trl_name(reward)}_scaled",
        (reward,),
        _Scale(factor, bottom - low * factor),
        **like(reward),
        range=(min(bottom, top), max(bottom, top)),
        abstains=abstains(reward),
    )


@dataclass(frozen=True)
class _Scale:
    factor: float
    offset: float

    def steps(self, call: Call) -> Steps:
        (answer,) = yield [Ask(0)]
        return [
            None if score is None else [Term(self.factor, answer, self.offset, "where the scale begins")]
            for score in answer.scores
        ]


# ------------------------------------------------------------------------------------------- progress


def potential_shaping(
    potential: Reward,
    *,
    start: str = "prompts",
    gamma: float = 1.0,
    end: float | None = None,
    name: str | None = None,
) -> Shaped:
    """Pay progress: `gamma * potential(completion) - potential(start)`.

    For a task that starts from something (a draft to improve, code to repair) the score says how far the
    completion got from there. It does *not* make shaping free: within the completions of one prompt
    `potential(start)` is the same, the group mean takes it away, and what trains is `gamma * potential` like any
    other bonus. With `end=0.0`, the final state's potential as the theorem about unchanged optima wants it for
    episodes that end, every completion of a prompt gets the same and GRPO learns nothing from it. To keep what is
    best where it was, use `gate` or `lexicographic`.

    Args:
        potential: judges a text, wherever it comes from.
        start: the column with the text to start from; "prompts": what the user said last.
        gamma: discount in (0, 1].
        end: the potential of the final state; default: that of the completion.
        name: default `POTENTIAL_progress`.

    Returns:
        A reward: None where either potential is None.

    Raises:
        ValueError: gamma is not in (0, 1], or the potential compares the completions of a group.

    >>> from rewards.library import min_length
    >>> grown = potential_shaping(min_length, start="draft")
    >>> grown(["one two three four"], draft=["one"], shortest=4)
    [0.75]
    """
    if not 0 < gamma <= 1:
        raise ValueError(f"potential_shaping: gamma={gamma!r} must be in (0, 1]")
    if mark_of(potential).get("scope") == "group":
        raise ValueError(
            f"potential_shaping: '{trl_name(potential)}' compares completions; a potential judges one"
        )
    final = None if end is None else finite("potential_shaping", "end", end)
    span = declared_range(potential)
    reach = None if span is None else span if final is None else (final, final)
    return compose(
        name or f"{trl_name(potential)}_progress",
        (potential,),
        _Progress(start, float(gamma), final, () if start == "prompts" else (start,)),
        **like(potential),
        range=(gamma * reach[0] - span[1], gamma * reach[1] - span[0]) if span and reach else None,
        abstains=abstains(potential),
    )


@dataclass(frozen=True)
class _Progress:
    start: str
    gamma: float
    end: float | None
    columns: tuple[str, ...]

    def steps(self, call: Call) -> Steps:
        before = call.keywords.get(self.start)
        if before is None:
            raise TypeError(f"potential_shaping needs the column '{self.start}', which was not passed")
        starts = Ask(0, completions=tuple(_said_last(one) for one in before))
        if self.end is None:
            begun, ended = yield [starts, Ask(0)]
            return [self._row(begun, ended, row) for row in range(len(call))]
        (begun,) = yield [starts]
        return [self._fixed(begun, row, self.gamma * self.end) for row in range(len(call))]

    def _row(self, begun: Answer, ended: Answer, row: int) -> Terms:
        if begun.scores[row] is None or ended.scores[row] is None:
            return None
        return [Term(self.gamma, ended), _minus(begun, row)]

    def _fixed(self, begun: Answer, row: int, final: float) -> Terms:
        if begun.scores[row] is None:
            return None
        return [Term(rest=final, label="where every completion ends", about=begun), _minus(begun, row)]


def _minus(begun: Answer, row: int) -> Term:
    """The start's potential taken off; as one credit, because its spans are places in another text."""
    return Term(-1.0, Answer("where it started", begun.scores, begun.place))


def _said_last(start: Any) -> Any:
    """The text a prompt starts from: the user's last message, or the text itself."""
    if isinstance(start, (list, tuple)):
        for message in reversed(start):
            if isinstance(message, Mapping) and message.get("role") == "user":
                return completion_text([{**message, "role": "assistant"}])
    return start if start is not None else ""


__all__ = [
    "adaptive",
    "clip",
    "gate",
    "lexicographic",
    "potential_shaping",
    "scale",
    "scheduled",
    "weighted_sum",
]
