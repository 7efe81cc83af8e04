"""How scores are distributed: each reward and the total, inside groups, between rewards, against length and labels.

`distributions` turns a score table into one frozen record; every face (the summary of `score`, its page, the
app, notebooks) only shows it. What GRPO learns from are differences inside groups, so whatever can be said
inside groups is said there; formulas are those of `rewards.signal`. Nothing is scored here: other weights are
`distributions(table.reweighted(...), features)` again, a matter of milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from rewards import signal
from rewards.contract import Status
from rewards.grouped import of_large_groups
from rewards.groups import added, beyond_float32, group_statistics, normalised, number
from workbench.kinds import suggested_kind
from workbench.samples.records import LABELS
from workbench.slices import Slice, length_bins, slices

if TYPE_CHECKING:
    from workbench.features import Features
    from workbench.scoring import ScoreTable

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
SEVERAL = 12
"""Up to so many different values each is a bar of its own."""

BINS = 24
SIZES = (2, 4, 8, 16, 32)
"""Group sizes that are foretold where most prompts have enough completions."""

EXACTLY = 1e-9


@dataclass(frozen=True)
class Histogram:
    """Bars of equal width over [low, high], or one for each of `values` where there are few."""

    low: float
    high: float
    counts: tuple[int, ...]
    values: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Distribution:
    """One reward, or the total, over all rows and inside groups.

    `numbers` of `rows` are finite; the others abstained (`none`), were `nan`, `infinite` (to TRL, which has float32)
    or `failed`. `quantiles` belong to `QUANTILES`; `distinct` counts different values, `commonest` has the share
    `commonest_share`; `at_low` and `at_high` are the shares at the declared `bounds`. Inside groups: `dead` is the
    share of groups (of two or more) without spread, `ties` the share of pairs with the same value, `spread` the mean
    standard deviation, all of what is added to the total, to which an abstention adds 0 (not in
    "normalize_then_sum"); `with_length` the correlation of scores with the completion's length. `dead` and `ties` of
    the total are those of what the trainer ranks by. NaN where a quantity has nothing to be computed from.
    """

    name: str
    weight: float | None
    rows: int
    numbers: int
    none: int
    nan: int
    infinite: int
    failed: int
    mean: float
    deviation: float
    quantiles: tuple[float, ...]
    distinct: int
    commonest: float
    commonest_share: float
    histogram: Histogram | None
    bounds: tuple[float, float] | None
    at_low: float
    at_high: float
    dead: float
    ties: float
    spread: float
    with_length: float


@dataclass(frozen=True)
class Between:
    """How the rewards stand to each other inside groups, in what the trainer adds up.

    `correlation` (k, k) inside groups, `across` (k, k) of the groups' means; for each reward its `share` of the
    variance of the total inside groups (they add up to 1), its `loudness` (weight times spread, as a share) and
    its `influence` (covariance with the advantage). NaN where something never varies; `cancel`: the rewards vary and
    their weighted sum does not, so that there are no shares.
    """

    names: tuple[str, ...]
    correlation: tuple[tuple[float, ...], ...]
    across: tuple[tuple[float, ...], ...]
    share: tuple[float, ...]
    loudness: tuple[float, ...]
    influence: tuple[float, ...]
    cancel: bool = False


@dataclass(frozen=True)
class Margin:
    """Whether the other rewards together can outweigh one step of the primary one; an abstention gives 0.

    `reward` is the primary one, `declared` if its kind was declared and not read from its name; `step` is the
    smallest difference between two of its values. At or below 0 a worse answer can outrank a better one.
    """

    reward: str
    declared: bool
    step: float
    margin: float


@dataclass(frozen=True)
class Signal:
    """What training could learn from groups like these.

    `dead` of `groups` (of two or more completions) have no spread; `dead_at` maps a group size to the share that
    would have none; `planned` is the group size of training and `planned_dead` its share, NaN where the samples
    have too few completions a prompt. `advantage` is the mean |advantage|, `distinct` the mean number of different
    totals in a group. `pushes` says for each reward and feature where training would push it, in standard
    deviations. `best_of` has for each n the expected total and rewards (of those that score it) of the best of n.
    `support` is pass@k - pass@1 of the reward `passes`, where a completion passes that it pays `passing`; NaN and ""
    where the primary reward has no such bound. Sizes go up to the largest that most prompts have scored, and all of
    `dead_at` and `best_of` (and both ends of `support`) come from those prompts; `foretold`, `support_from` and
    `planned_from` say how many they are. `by` is what the trainer ranks by: best, different and dead are told by that.
    """

    groups: int
    sizes: tuple[int, ...]
    dead: int
    dead_at: dict[int, float]
    planned: int | None
    planned_dead: float
    advantage: float
    distinct: float
    pushes: dict[str, float]
    best_of: tuple[Best, ...]
    support: float
    support_k: int
    foretold: signal.Counted
    support_from: signal.Counted
    planned_from: signal.Counted
    passes: str = ""
    passing: float = math.nan
    by: str = "total"


@dataclass(frozen=True)
class Best:
    """Expected values of the best of `n` completions; `kl` is its distance from the policy in nats, NaN: unknown."""

    n: int
    kl: float
    total: float
    others: dict[str, float]


class Group(NamedTuple):
    """One group: its rows, the mean and spread of its totals, and whether it teaches nothing."""

    name: str
    rows: int
    mean: float
    spread: float
    dead: bool


@dataclass(frozen=True, eq=False)
class Groups(Sequence[Group]):
    """All groups in columns, which is how they are counted; a `Group` is made when one is looked at."""

    names: tuple[str, ...]
    rows: npt.NDArray[np.int64]
    mean: Floats
    spread: Floats
    dead: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Groups) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as for every value that holds arrays

    @overload
    def __getitem__(self, at: int) -> Group: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Group, ...]: ...

    def __getitem__(self, at: int | slice) -> Group | tuple[Group, ...]:
        if isinstance(at, slice):
            return tuple(self[one] for one in range(*at.indices(len(self))))
        return Group(
            str(self.names[at]),
            int(self.rows[at]),
            float(self.mean[at]),
            float(self.spread[at]),
            bool(self.dead[at]),
        )


@dataclass(frozen=True)
class Distributions:
    """Everything `score` shows of a table beside its rows. See the parts."""

    rewards: tuple[Distribution, ...]
    total: Distribution
    groups: Groups
    between: Between
    signal: Signal
    margin: Margin | None
    labels: tuple[Slice, ...]
    lengths: tuple[Slice, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def columns(self) -> tuple[Distribution, ...]:
        """The rewards and the total."""
        return (*self.rewards, self.total)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready: NaN is null, infinities are "inf" and "-inf"."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        parts["groups"] = [group._asdict() for group in self.groups]
        plain = _strict(parts)
        assert isinstance(plain, dict)
        return plain


def distributions(
    table: ScoreTable,
    features: Features | None = None,
    *,
    group_size: int | None = None,
    before: Distributions | None = None,
) -> Distributions:
    """The distributions of a score table.

    Args:
        table: the scores, under the weights they have.
        features: what is known of the completions' texts; None: nothing about lengths and features.
        group_size: completions of a prompt in training, where that is known.
        before: the distributions of the same scores under other weights; what does not depend on weights is
            taken over from them.
    """
    names = tuple(table.names)
    codes = table.group_codes
    scores = beyond_float32(table.scores)
    finite, total, ranked = _finite(scores), _finite(table.totals), _finite(table.ranked)
    mode = table.description.aggregation
    given = finite if mode == "normalize_then_sum" else _finite(added(scores))
    lengths = features.values.get("length") if features is not None else None
    if before is None:
        with_length = _with_length(finite, lengths, codes)
        rewards = tuple(
            _distribution(
                name, table.weights[at], scores[:, at], table.status[:, at],
                table.description.rewards[at].entry.range, signal.inside_groups(given[:, at], codes), with_length[at],
            )
            for at, name in enumerate(names)
        )  # fmt: skip
    else:
        rewards = tuple(
            replace(reward, weight=weight)
            for reward, weight in zip(before.rewards, table.weights, strict=True)
        )
    total_with_length = _with_length(total[:, None], lengths, codes)[0]
    statistics = group_statistics(table.scores, list(table.weights), codes, aggregation=mode)
    dead = statistics.zero_spread & (statistics.size > 1)
    groups = Groups(
        tuple(dict.fromkeys(table.groups)), statistics.size, statistics.mean, statistics.spread, dead
    )
    inside = signal.inside_groups(ranked, codes)
    if (statistics.size > 1).any():
        inside = replace(inside, dead=float(dead[statistics.size > 1].mean()))
    if mode == "normalize_then_sum":
        inside = replace(inside, spread=signal.inside_groups(total, codes).spread)
    of_total = _distribution("total", None, table.totals, None, None, inside, total_with_length)
    primary, declared = _primary(table)
    return Distributions(
        rewards=rewards,
        total=of_total,
        groups=groups,
        between=_between(table, finite, given, codes, before.between if before else None),
        signal=_signal(table, finite, given, codes, groups, features, primary, group_size),
        margin=_margin(table, finite, given, rewards, primary, declared),
        labels=tuple(slices(table, table.labels, LABELS)),
        lengths=tuple(length_bins(table, lengths)) if lengths is not None else (),
        notes=features.notes if features is not None else (),
    )


# ------------------------------------------------------------------------------------------- one column


def _distribution(
    name: str,
    weight: float | None,
    values: Floats,
    status: npt.NDArray[np.uint8] | None,
    bounds: tuple[float, float] | None,
    inside: signal.Inside,
    with_length: float,
) -> Distribution:
    finite = np.sort(values[np.isfinite(values)])
    starts = np.flatnonzero(np.append(len(finite) > 0, finite[1:] != finite[:-1]))
    different, counts = finite[starts], np.diff(np.append(starts, len(finite)))
    most = int(counts.argmax()) if len(counts) else -1
    infinite = int(np.isinf(values).sum())
    abstained, nan, failed = _without_number(values, status)
    at_low, at_high = signal.at_bounds(finite, *bounds) if bounds else (math.nan, math.nan)
    return Distribution(
        name=name,
        weight=weight,
        rows=len(values),
        numbers=len(finite),
        none=abstained,
        nan=nan,
        infinite=infinite,
        failed=failed,
        mean=float(finite.mean()) if len(finite) else math.nan,
        deviation=float(finite.std(ddof=1)) if len(finite) > 1 else math.nan,
        quantiles=_quantiles(finite),
        distinct=len(different),
        commonest=float(different[most]) if most >= 0 else math.nan,
        commonest_share=float(counts[most]) / len(finite) if most >= 0 else math.nan,
        histogram=_histogram(finite, different, counts, bounds),
        bounds=bounds,
        at_low=at_low,
        at_high=at_high,
        dead=inside.dead,
        ties=inside.ties,
        spread=inside.spread,
        with_length=with_length,
    )


def _quantiles(ordered: Floats) -> tuple[float, ...]:
    """Those of `QUANTILES`, between neighbours on a straight line as in `numpy.quantile`; () for no values."""
    if not len(ordered):
        return ()
    places = np.array(QUANTILES) * (len(ordered) - 1)
    below = np.floor(places).astype(np.intp)
    above = np.minimum(below + 1, len(ordered) - 1)
    return _floats(ordered[below] + (places - below) * (ordered[above] - ordered[below]))


def _with_length(table: Floats, lengths: Floats | None, codes: Codes) -> list[float]:
    """The correlation of each column with the length of the completion, inside groups."""
    if lengths is None:
        return [math.nan] * table.shape[1]
    both = np.column_stack([table, lengths])
    return [float(value) for value in signal.within_group_correlation(both, codes)[-1, :-1]]


def _without_number(values: Floats, status: npt.NDArray[np.uint8] | None) -> tuple[int, int, int]:
    if status is None:
        return int(np.isnan(values).sum()), 0, 0
    return (
        int((status == Status.ABSTAINED).sum()),
        int((status == Status.NAN).sum()),
        int((status >= Status.WRONG_TYPE).sum()),
    )


def _histogram(
    finite: Floats,
    different: Floats,
    counts: npt.NDArray[np.int64],
    bounds: tuple[float, float] | None,
) -> Histogram | None:
    if not len(finite):
        return None
    low, high = float(different[0]), float(different[-1])
    if bounds is not None:
        low, high = min(low, bounds[0]), max(high, bounds[1])
    if len(different) <= SEVERAL:
        values = tuple(float(value) for value in different)
        return Histogram(low, high, tuple(int(count) for count in counts), values)
    bars, _ = np.histogram(different, bins=BINS, range=(low, high), weights=counts)
    return Histogram(low, high, tuple(int(bar) for bar in bars))


# ------------------------------------------------------------------------------------------ all together


def _between(
    table: ScoreTable, finite: Floats, given: Floats, codes: Codes, before: Between | None
) -> Between:
    advantages = np.where(np.isfinite(table.advantages), table.advantages, np.nan)
    if table.description.aggregation == "normalize_then_sum":
        finite = normalised(finite, codes)
        given = added(finite)
    shares = signal.signal_shares(given, table.weights, advantages, codes)
    return Between(
        names=tuple(table.names),
        correlation=before.correlation if before else _rows(signal.within_group_correlation(finite, codes)),
        across=before.across if before else _rows(signal.between_group_correlation(finite, codes)),
        share=_floats(shares.share),
        loudness=_floats(signal.scale_dominance(shares.covariance, table.weights)),
        influence=_floats(shares.influence),
        cancel=shares.cancel,
    )


def _signal(
    table: ScoreTable,
    finite: Floats,
    given: Floats,
    codes: Codes,
    groups: Groups,
    features: Features | None,
    primary: int | None,
    planned: int | None,
) -> Signal:
    ranked = _finite(table.ranked)
    k = signal.usual_size(ranked, codes, SIZES)
    sizes = [size for size in SIZES if size <= k]
    same = of_large_groups(ranked, codes, k)
    support, support_k, support_from = math.nan, 0, signal.Counted(0, 0)
    oracle = _oracle(table.labels)
    passing = _passing(table, finite, primary) if primary is not None else math.nan
    if primary is not None and not math.isnan(passing):
        values = finite[:, primary]
        support_k = signal.usual_size(values, codes, SIZES)
        passed = np.where(np.isnan(values), np.nan, values >= passing - EXACTLY)
        support = signal.support(passed, codes, support_k) if support_k else math.nan
        support_from = signal.counted(values, codes, support_k)
    return Signal(
        groups=int((groups.rows > 1).sum()),
        sizes=tuple(int(size) for size in np.unique(groups.rows)),
        dead=int((groups.dead & (groups.rows > 1)).sum()),
        dead_at=signal.dead_probabilities(same, codes, sizes),
        planned=planned,
        planned_dead=signal.dead_probability(ranked, codes, planned) if planned and planned > 1 else math.nan,
        advantage=float(np.abs(table.advantages).mean()) if len(table) else math.nan,
        distinct=signal.distinct_values(ranked, codes),
        pushes=_pushes(table, given, codes, features, oracle),
        best_of=_best(table, finite, same, codes, oracle, (1, *sizes)) if sizes else (),
        support=support,
        support_k=support_k,
        passes=table.names[primary] if primary is not None and support_k else "",
        passing=passing if support_k else math.nan,
        foretold=signal.counted(ranked, codes, k),
        support_from=support_from,
        planned_from=signal.counted(ranked, codes, planned or 0),
        by="normalised sum" if table.description.aggregation == "normalize_then_sum" else "total",
    )


def _pushes(
    table: ScoreTable,
    given: Floats,
    codes: Codes,
    features: Features | None,
    oracle: Floats | None,
) -> dict[str, float]:
    columns: dict[str, Floats] = {name: given[:, at] for at, name in enumerate(table.names)}
    if features is not None:
        columns |= {name: values for name, values in features.values.items() if name not in columns}
    if oracle is not None:
        columns.setdefault("labelled right", oracle)
    return {
        name: signal.selection_differential(values, table.advantages, codes)
        for name, values in columns.items()
    }


def _oracle(labels: Sequence[str | None]) -> Floats | None:
    """1 for rows labelled right, 0 for wrong and hack, NaN for others; None where nothing is known."""
    if not labels or labels.count(None) == len(labels):
        return None
    worth = {"right": 1.0, "wrong": 0.0, "hack": 0.0}
    codes, found = number(labels)
    values = np.array([worth.get(str(label), math.nan) for label in found])[codes]
    return values if (values == 1).any() and (values == 0).any() else None


def _best(
    table: ScoreTable,
    finite: Floats,
    ranked: Floats,
    codes: Codes,
    oracle: Floats | None,
    sizes: Sequence[int],
) -> tuple[Best, ...]:
    names = list(table.names)
    columns = [_finite(table.totals), *finite.T]
    if oracle is not None and "labelled right" not in names:
        names, columns = [*names, "labelled right"], [*columns, oracle]
    values = np.column_stack(columns)
    known = ~np.isnan(values)
    plain = np.where(known, values, 0.0)
    found = []
    for n in sizes:
        chance = signal.winning_chance(ranked, codes, n)
        with np.errstate(invalid="ignore"):  # nothing known of any that could win
            own, *others = _floats((chance @ plain) / (chance @ known))
        found.append(Best(n, math.log(n) - (n - 1) / n, own, dict(zip(names, others, strict=True))))
    return tuple(found)


def _primary(table: ScoreTable) -> tuple[int | None, bool]:
    """The reward that says whether an answer is right: by declared kind, else by name, else the only one."""
    kinds = [reward.entry.kind for reward in table.description.rewards]
    for at, kind in enumerate(kinds):
        if kind == "correctness":
            return at, True
    likely = [
        at
        for at, name in enumerate(table.names)
        if kinds[at] is None and suggested_kind(name) == "correctness"
    ]
    if likely:
        return max(likely, key=lambda at: table.weights[at]), False
    return (0, False) if len(kinds) == 1 else (None, False)


def _passing(table: ScoreTable, finite: Floats, at: int) -> float:
    """The score that counts as passed: the declared upper bound where it is reached, or the higher of two values.

    NaN for other rewards: the best score of some samples is no success by itself. Two values are two only where
    one of them occurs again.
    """
    declared = table.description.rewards[at].entry.range
    values = finite[:, at]
    known = values[~np.isnan(values)]
    if not len(known):
        return math.nan
    most = float(known.max())
    if declared is not None and most >= declared[1] - EXACTLY:
        return float(declared[1])
    return most if len(np.unique(known)) == 2 < len(known) else math.nan


def _margin(
    table: ScoreTable,
    finite: Floats,
    given: Floats,
    rewards: tuple[Distribution, ...],
    primary: int | None,
    declared: bool,
) -> Margin | None:
    """None also under "normalize_then_sum", where a step is worth another number of points in every group."""
    if primary is None or len(rewards) < 2 or table.description.aggregation == "normalize_then_sum":
        return None
    step = signal.smallest_step(finite[:, primary])
    others = []
    for at, reward in enumerate(rewards):
        if at == primary or not (reward.bounds or reward.quantiles):
            continue
        low, high = reward.bounds or (reward.quantiles[0], reward.quantiles[-1])
        abstains = table.description.rewards[at].entry.abstains
        if abstains or (np.isnan(table.scores[:, at]) & ~np.isnan(given[:, at])).any():
            low, high = min(low, 0.0), max(high, 0.0)
        others.append((table.weights[at], (low, high)))
    margin = signal.lexicographic_margin(step, table.weights[primary], others)
    return Margin(table.names[primary], declared, step, margin)


# --------------------------------------------------------------------------------------------- plain values


def _finite(values: Floats) -> Floats:
    """The values, NaN where they are not finite."""
    return np.where(np.isfinite(values), values, np.nan)


def _floats(values: Floats) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _rows(values: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(_floats(row) for row in values)


def _strict(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    return value
