"""RW616: a reward that is meant to vary drowns what it says in its own noise."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from rewards.grouped import TIE, without_nan
from rewards.signal import noise_share
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject

SHARE = 0.2
"""Noise share from which it is told, as the lower end of its interval."""

TIMES = 3
"""Times each completion is scored, the call that every check shares included."""

ROWS = 20
"""Rows beyond one a group that are needed."""

RESAMPLES = 400
PERCENT = 2.5
"""Bootstrap over groups: samples drawn, and the percentile that is the lower end of a 95 % interval."""


class Noisy(RewardCheck):
    """The same completion gets other scores when it is scored again, and much of what a group is told apart by is that.

    Only for rewards that declare `deterministic = false` (a sampled judge): others must not vary at all, which is
    RW201's matter. Each completion is scored three times. The noise share is the mean variance of one completion's
    scores over the mean variance of scores inside a group; the rest is what the reward says. At 0.5 half of each
    advantage is chance. Told where the 95 % interval, bootstrapped over groups, begins at 0.2 or above, on at least 20
    rows beyond one a group. A reward that costs money is not called again for this.

    Example:
        return [judge(text, temperature=1.0) ...]      # 7, then 4, then 9 of 10 for the same text

    Remedy:
        Ask the judge several times and take the mean (the noise share falls with the number of times), lower its
        temperature, or give it a finer question.
    """

    code = "RW616"
    name = "noisy"
    severity = "warning"
    summary = "much of what a group is told apart by is the reward's own noise"
    cost = Cost.HAMPERS
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """At most one finding."""
        entry = subject.description.entry
        if entry.deterministic or entry.cost == "paid" or subject.batch is None:
            return
        rows = subject.usable
        groups = [subject.batch.groups[row] for row in rows]
        if len(rows) - len(set(groups)) < ROWS or subject.affordable() < len(rows):
            return
        again = [subject.call(rows).scores for _ in range(TIMES - 1)]
        repeats = np.column_stack([subject.column(rows), *again])
        share, low = noise_with_bound(repeats, groups, seed=subject.options.seed)
        if not low >= SHARE:
            return
        spreads = np.nan_to_num(np.ptp(repeats, axis=1), nan=-1.0)
        place = int(spreads.argmax())
        seen = [round(float(score), 6) for score in repeats[place]]
        yield self.finding(
            f"{share:.0%} of what {subject.name} tells a group's completions apart by is its own noise (at least "
            f"{low:.0%}): one completion gets {', '.join(number(score) for score in seen)} when it is scored "
            f"{TIMES} times.",
            advice="Take the mean of several askings, lower the judge's temperature, or ask it a finer question.",
            cause="noise",
            reward=subject.name,
            evidence=subject.evidence(rows[place], got=seen, expected="nearly the same score each time"),
            line=subject.description.line,
            count=len(rows),
        )


def noise_with_bound(
    repeats: npt.NDArray[np.float64], groups: list[str], *, seed: int
) -> tuple[float, float]:
    """The noise share of `rewards.signal.noise_share`, and the lower end of its 95 % interval.

    Args:
        repeats: (rows, times) scores of the same completions; rows with a NaN are left out.
        groups: the prompt of each row.
        seed: of the bootstrap, which draws whole groups.

    Returns:
        Two numbers in [0, inf); NaN and -inf where groups have no variance or there are fewer than two of them.
    """
    known = without_nan(repeats)
    kept, names = repeats[known], [name for name, one in zip(groups, known, strict=True) if one]
    parts = _parts(kept, names)
    share = noise_share(kept, names) if len(kept) else math.nan
    if len(parts) < 2 or math.isnan(share):
        return math.nan, -math.inf
    drawn = np.random.default_rng(seed).integers(len(parts), size=(RESAMPLES, len(parts)))
    within, whole = parts[drawn].sum(axis=1).T
    shares = within[whole > TIE**2] / whole[whole > TIE**2]
    return share, float(np.percentile(shares, PERCENT)) if len(shares) else -math.inf


def _parts(repeats: npt.NDArray[np.float64], groups: list[str]) -> npt.NDArray[np.float64]:
    """(groups, 2) for each group of two rows or more: the variance of a completion, and of a score in the group."""
    members: dict[str, list[int]] = {}
    for row, name in enumerate(groups):
        members.setdefault(name, []).append(row)
    return np.array(
        [
            [repeats[rows].var(axis=1, ddof=1).mean(), repeats[rows].var(axis=0, ddof=1).mean()]
            for rows in members.values()
            if len(rows) > 1
        ]
    ).reshape(-1, 2)
