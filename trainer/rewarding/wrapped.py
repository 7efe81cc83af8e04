"""The rewards as TRL gets them: wrapped, so that one bad row cannot end a run or pass for a bad score.

TRL calls its reward functions one after another with the same batch. The first of our wrappers scores the batch with
*all* rewards; the others hand over their column. Only so can a row that one reward fails on be left out of all of them:
TRL counts a missing score as 0 as long as another reward has one, and a failure must never look like a judgement.

The rewards themselves run in processes of their own, all at the same time (`rewards.running.Crew`): a step's rewards
take as long as the slowest of them, and a reward that hangs or ends its process costs its row and nothing else.

A row fails where a weighted reward raises, hangs, dies, returns something that is no number, or NaN or infinity (which
would poison the weights). Such a row gets no advantage and stays out of its group's mean; the record keeps the error.
The run stops when more than a set share of the last rows failed. A reward of weight 0 only watches: its failures are
recorded and blank nothing.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from rewards.contract import Batch, CallResult, Reward, Status
from rewards.errors import ShortfallError
from rewards.groups import advantages, totals
from rewards.manifest import RewardEntry
from trainer.ranks import ALONE, Ranks
from trainer.rewarding.completions import ScoredBatch
from trainer.rewarding.gathering import gather_parts
from trainer.rundir import RESERVED
from trainer.tools import plain_environments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rewards.rewardset import SetDescription

LARGEST = 3.4028234663852886e38
"""The largest number TRL's float32 holds; anything beyond is infinite to it."""


@dataclass(frozen=True)
class Bound:
    """A reward of the run: its declaration and the name TRL and the record know it by."""

    name: str
    entry: RewardEntry


@dataclass
class Tally:
    """Sums over the batches since the last log: what our part of a metrics line is made of."""

    batches: int = 0
    rows: int = 0
    failed: int = 0
    abstained: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    zero_spread: float = 0.0
    spread: float = 0.0
    duplicates: float = 0.0

    def to_metrics(self, names: Sequence[str]) -> dict[str, float]:
        """Metric names and values; {} where nothing was generated."""
        if not self.batches:
            return {}
        metrics = {
            "groups/zero_spread": self.zero_spread / self.batches,
            "groups/spread": self.spread / self.batches,
            "completions/duplicates": self.duplicates / self.batches,
            "rows/scored": float(self.rows - self.failed),
            "rows/failed": float(self.failed),
        }
        for name in names:
            metrics[f"rewards/{name}/seconds"] = self.seconds[name]
            metrics[f"rewards/{name}/abstained"] = self.abstained[name] / max(self.rows, 1)
        return metrics


class TooManyFailures(ShortfallError):
    """The rewards could not score too many of the last completions; the run stopped."""


class Audience(Protocol):
    """Hears of each training batch; a `trainer.watching.listener.Listener` is one."""

    def scoring_begins(self) -> None:
        """Completions are generated and about to be scored."""

    def scored(self, batch: ScoredBatch, completion_ids: Sequence[Sequence[int]]) -> None:
        """They are scored."""


Caller = Callable[[Batch, Any], list[CallResult]]
"""Calls every reward with a batch and the trainer's state; results in the order of the rewards (`Crew.call_all`)."""


def bind(
    description: SetDescription, names: Sequence[str] = (), weights: Mapping[str, float] | None = None
) -> list[Bound]:
    """The rewards of a set (or those called `names`, in that order) under names that are unique in TRL's sense.

    A name TRL or the record uses for a column of its own gets a suffix, and so does the second of two equal ones.
    `weights` replace declared ones.
    """
    taken = {*RESERVED}
    bound = []
    for name in names or description.names:
        entry = description.reward(name).entry
        if weights and name in weights:
            entry = entry.model_copy(update={"weight": weights[name]})
        unique = distinct(entry.name, taken)
        taken.add(unique)
        bound.append(Bound(unique, entry))
    return bound


class DeadlineWatch:
    """Warns, once for each reward, when its deadline dropped more than 1 % of its rows.

    A row that takes too long is left out of its group. Where that happens to more than a few, training no longer
    sees the completions that are slow to judge, which changes what is learnt.
    """

    SHARE = 0.01
    LEAST_ROWS = 64

    def __init__(self, names: Sequence[str], warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._rows, self._dropped = Counter[str](), Counter[str]()
        self._quiet = dict.fromkeys(names, True)

    def count(self, results: Sequence[CallResult]) -> None:
        """Take one batch's results into account."""
        for name, result in zip(self._quiet, results, strict=True):
            self._rows[name] += len(result.status)
            self._dropped[name] += int((result.status == Status.TIMEOUT).sum())
            rows, dropped = self._rows[name], self._dropped[name]
            if self._quiet[name] and rows >= self.LEAST_ROWS and dropped > self.SHARE * rows:
                self._quiet[name] = False
                self._warn(
                    f"warning: the deadline of reward '{name}' dropped {dropped} of {rows} rows; training does not see "
                    "completions that are slow to judge. Make the reward quicker, or raise its timeout_s"
                )


def distinct(name: str, taken: set[str]) -> str:
    """`name` as an identifier that is not in `taken`: a suffix `_reward` or a number is added where needed."""
    plain = re.sub(r"\W", "_", name) or "reward"
    candidates = [plain, *([f"{plain}_reward"] if plain in RESERVED else [])]
    number = 2
    while candidates[-1] in taken:
        candidates.append(f"{candidates[-1] if plain in RESERVED and number == 2 else plain}_{number}")
        number += 1
    return candidates[-1]


class Scoring:
    """Scores every generation batch of a run once, records it, and gives TRL one function for each reward.

    Args:
        bound: the rewards.
        call_all: calls them.
        group: completions of a prompt in training; `eval_group`: in evaluation.
        aggregation, scale_rewards: TRL's modes, for the advantages in the record.
        record: takes each scored batch.
        is_training: tells whether the batch at hand is for training.
        printed: takes what rewards print.
        warn: takes what a person should know: a reward whose deadline drops rows.
        offset: steps made before the trainer's own first one, by earlier stages.
        ranks: the processes that train together; each scores its own rows, all see the whole batch.
        failure_share, failure_window: see the module docstring.
    """

    def __init__(
        self,
        bound: Sequence[Bound],
        call_all: Caller,
        *,
        group: int,
        eval_group: int | None = None,
        aggregation: str = "sum_then_normalize",
        scale_rewards: str = "group",
        record: Callable[[ScoredBatch], None],
        is_training: Callable[[], bool] = lambda: True,
        printed: Callable[[str], None] = lambda text: None,
        warn: Callable[[str], None] = lambda text: None,
        failure_share: float = 0.2,
        failure_window: int = 64,
        offset: int = 0,
        ranks: Ranks = ALONE,
    ) -> None:
        self.ranks = ranks
        self.audience: list[Audience] = []
        self._offset = offset
        self.bound = list(bound)
        self.names = tuple(reward.name for reward in bound)
        self.weights = [reward.entry.weight for reward in bound]
        self.tally = Tally()
        self.is_training = is_training
        self._group, self._eval_group = group, eval_group or group
        self._modes = {"aggregation": aggregation, "scale_rewards": scale_rewards}
        self._call_all = call_all
        self._record, self._printed = record, printed
        self._noted: set[str] = set()
        self._deadlines = DeadlineWatch(self.names, warn)
        self._share = failure_share
        self._recent: deque[str | None] = deque(maxlen=failure_window)
        self._columns: NDArray[np.float64] | None = None

    def use_groups(self, group: int, eval_group: int, *, aggregation: str, scale_rewards: str) -> None:
        """Change the sizes of groups and TRL's modes; for a trainer that is built after its rewards."""
        self._group, self._eval_group = group, eval_group
        self._modes = {"aggregation": aggregation, "scale_rewards": scale_rewards}

    def functions(self) -> list[Reward]:
        """One function per reward for GRPOTrainer, in order, each with a unique `__name__`."""
        return [self._wrapper(index, name) for index, name in enumerate(self.names)]

    def drain(self) -> dict[str, float]:
        """Our metrics since the last call."""
        metrics = self.tally.to_metrics(self.names)
        self.tally = Tally()
        return metrics

    def _wrapper(self, index: int, name: str) -> Reward:
        def reward(**keywords: Any) -> list[float | None]:
            if index == 0:
                self._columns = self._score_call(keywords)
            if self._columns is None:
                raise RuntimeError(f"reward '{name}' was called before '{self.names[0]}'")
            return [None if value != value else float(value) for value in self._columns[:, index]]

        reward.__name__ = reward.__qualname__ = name
        return reward

    def _score_call(self, keywords: dict[str, Any]) -> NDArray[np.float64]:
        """Score one call of TRL's: rewards, record, tally; returns (n, k), NaN where there is no score."""
        training = self.is_training()
        size = self._group if training else self._eval_group
        state = keywords.pop("trainer_state")
        log_extra, log_metric = keywords.pop("log_extra"), keywords.pop("log_metric")
        completions = keywords.pop("completions")
        if "environments" in keywords:
            keywords["environments"] = plain_environments(keywords["environments"])
        step = self._offset + int(state.global_step) + (1 if training else 0)
        first = self.ranks.rank * len(completions)
        batch = Batch(
            prompts=keywords.pop("prompts"),
            completions=[_copy(completion) for completion in completions],  # what rewards edit stays theirs
            completion_ids=keywords.pop("completion_ids"),
            columns=keywords,
            groups=[f"{step}-{(first + row) // size}" for row in range(len(completions))],
        )
        hearers = self.audience if training else []
        for hearer in hearers:
            hearer.scoring_begins()
        results = self._call_all(batch, state)
        for result in results:
            for column, values in result.extra.items():
                if len(values) == len(batch):
                    log_extra(column, values)
            for name, numbers in result.metrics.items():
                for number in numbers:
                    log_metric(name, number)
        rows = slice(first, first + len(batch))
        batch, results = gather_parts(self.ranks, batch, results)
        self._deadlines.count(results)
        scored = self.read(batch, results, step=step, split="train" if training else "eval")
        self._record(scored)
        if training:
            self._count(scored)
            for hearer in hearers:
                hearer.scored(scored, batch.completion_ids)
            self._stop_if_hopeless(step)
        return scored.scores[rows]

    def score(self, batch: Batch, *, step: int, split: str, trainer_state: Any = None) -> ScoredBatch:
        """The scored batch, outside a training run."""
        return self.read(batch, self._call_all(batch, trainer_state), step=step, split=split)

    def read(self, batch: Batch, results: list[CallResult], *, step: int, split: str) -> ScoredBatch:
        """The batch with what every reward gave, failing rows blanked, totals and advantages computed."""
        scores, errors = self._read_scores(results, len(batch))
        extra: dict[str, list[Any]] = {}
        for name, result in zip(self.names, results, strict=True):
            extra.update(result.extra)
            if result.printed:
                self._printed(result.printed)
            if (
                result.notes and name not in self._noted
            ):  # once a reward: it would come with every failing row
                self._noted.add(name)
                self._printed("".join(f"reward '{name}': {note}\n" for note in result.notes))
        return ScoredBatch(
            step=step,
            split=split,
            prompts=batch.prompts,
            completions=batch.completions,
            groups=batch.groups,
            names=self.names,
            scores=scores,
            totals=totals(scores, self.weights),
            advantages=advantages(scores, self.weights, batch.groups, **self._modes),
            weights=tuple(self.weights),
            errors=errors,
            credits=_join_credits(self.names, results, len(batch)),
            seconds={name: result.seconds for name, result in zip(self.names, results, strict=True)},
            columns={**batch.columns, **extra},
            aggregation=self._modes["aggregation"],
        )

    def _read_scores(
        self, results: list[CallResult], rows: int
    ) -> tuple[NDArray[np.float64], dict[int, dict[str, str]]]:
        import numpy as np

        scores = np.stack([result.scores for result in results], axis=1)
        errors: dict[int, dict[str, str]] = {}
        blank = np.zeros(rows, dtype=bool)
        for index, (reward, result) in enumerate(zip(self.bound, results, strict=True)):
            for row in np.flatnonzero(faults(result)):
                errors.setdefault(int(row), {})[reward.name] = describe_fault(result, int(row))
                scores[row, index] = np.nan
                blank[row] |= reward.entry.weight != 0
        scores[blank] = np.nan
        return scores, errors

    def _count(self, scored: ScoredBatch) -> None:
        import numpy as np

        statistics = scored.statistics
        failed = [fatal(scored, row) for row in range(len(scored))]
        self._recent.extend(failed)
        tally = self.tally
        tally.batches += 1
        tally.rows += len(scored)
        tally.failed += sum(sentence is not None for sentence in failed)
        tally.zero_spread += statistics.zero_spread_share
        spreads = statistics.spread[~np.isnan(statistics.spread)]
        tally.spread += float(spreads.mean()) if len(spreads) else 0.0
        tally.duplicates += scored.duplicates
        for index, name in enumerate(self.names):
            tally.abstained[name] += int(np.isnan(scored.scores[:, index]).sum())
            tally.seconds[name] += scored.seconds[name]  # type: ignore[assignment]

    def _stop_if_hopeless(self, step: int) -> None:
        failures = [sentence for sentence in self._recent if sentence is not None]
        if len(failures) <= self._share * (self._recent.maxlen or 1):
            return
        most, times = Counter(failures).most_common(1)[0]
        raise TooManyFailures(
            f"stopped at step {step}: {len(failures)} of the last {len(self._recent)} completions could not be scored, "
            f"more than failure_share={self._share:g} of {self._recent.maxlen} allows; most often ({times}) {most}"
        )


def faults(result: CallResult) -> NDArray[np.bool_]:
    """Per row: whether there is no score because something is wrong (an abstention is not)."""
    import numpy as np

    beyond = np.abs(np.nan_to_num(result.scores, nan=0.0)) > LARGEST
    legal = np.isin(result.status, (int(Status.NUMBER), int(Status.ABSTAINED)))
    return np.asarray(~legal | beyond)


def describe_fault(result: CallResult, row: int) -> str:
    """Why a row has no score."""
    if row in result.errors:
        return result.errors[row]
    if result.status[row] == Status.NAN:
        return "returned NaN; return None where there is no opinion"
    return f"returned {result.scores[row]:g}, which is beyond what TRL's numbers hold"


def fatal(scored: ScoredBatch, row: int) -> str | None:
    """Why a row is left out of its group: what went wrong in a reward that pulls; None where nothing did."""
    errors = scored.errors.get(row, {})
    weighted = {name for name, weight in zip(scored.names, scored.weights, strict=True) if weight}
    return next((f"reward '{name}': {why}" for name, why in errors.items() if name in weighted), None)


def batch_metrics(scored: ScoredBatch) -> dict[str, float]:
    """One training batch as metrics: TRL's names where TRL has them, and ours.

    `groups/highest` and `groups/lowest` are the best and the worst total of a completion.
    """
    import numpy as np

    statistics = scored.statistics
    failed = sum(fatal(scored, row) is not None for row in scored.errors)
    metrics = {
        "groups/zero_spread": statistics.zero_spread_share,
        "completions/duplicates": scored.duplicates,
        "rows/failed": float(failed),
        "rows/scored": float(len(scored) - failed),
    }
    spreads = statistics.spread[~np.isnan(statistics.spread)]
    metrics["groups/spread"] = float(spreads.mean()) if len(spreads) else 0.0
    for name, values in [("", scored.totals), *zip(scored.names, scored.scores.T, strict=True)]:
        known = values[~np.isnan(values)]
        mean, spread = (f"rewards/{name}/mean", f"rewards/{name}/std") if name else ("reward", "reward_std")
        if len(known):
            metrics[mean] = float(known.mean())
            metrics[spread] = float(known.std(ddof=1)) if len(known) > 1 else 0.0
    if "reward" in metrics:
        metrics["groups/highest"] = float(np.nanmax(scored.totals))
        metrics["groups/lowest"] = float(np.nanmin(scored.totals))
    return metrics


def _copy(completion: Any) -> Any:
    return completion if isinstance(completion, str) else [dict(message) for message in completion]


def _join_credits(names: Sequence[str], results: list[CallResult], rows: int) -> list[list[dict[str, Any]]]:
    joined: list[list[dict[str, Any]]] = [[] for _ in range(rows)]
    for name, result in zip(names, results, strict=True):
        for row, credits in enumerate(result.credits or []):
            joined[row] += [{**credit, "reward": name} for credit in credits]
    return joined
