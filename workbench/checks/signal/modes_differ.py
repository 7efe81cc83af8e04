"""RW610: the two aggregation modes rank the completions of a group differently."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from workbench.checks.check import SetCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.signal.table import Floats, Table, read_table
from workbench.checks.subject import SetSubject

SHARE = 0.1
GROUPS = 8


class ModesDiffer(SetCheck):
    """Under the other aggregation mode another completion of the group would be the better one.

    TRL adds the weighted rewards and then compares within the group (`sum_then_normalize`), or compares each reward
    by itself and then adds (`normalize_then_sum`). Where members have different scales the two disagree. Told as
    information where over a tenth of the pairs in groups would change places, from eight groups on, so that the mode
    is chosen and not met by chance.

    Example:
        correctness 0 or 1, and a length reward between 0.90 and 0.92: normalised, both count alike

    Remedy:
        Decide: `[set] aggregation`. Adding first keeps the scales you gave; normalising first lets weights alone
        count.
    """

    code = "RW610"
    name = "modes-differ"
    severity = "info"
    summary = "the aggregation modes rank completions differently"
    cost = Cost.HAMPERS

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """At most one finding, with the pair that changes places most."""
        table = read_table(subject)
        if table is None or len(table.members) < 2 or table.several < GROUPS:
            return
        first, second = table.advantages("sum_then_normalize"), table.advantages("normalize_then_sum")
        changed, pairs, worst = _changed(table, first, second)
        if not pairs or changed / pairs < SHARE or worst is None:
            return
        one, other = worst
        member = table.members[0]
        now = table.aggregation
        rest = "normalize_then_sum" if now == "sum_then_normalize" else "sum_then_normalize"
        own, away = (first, second) if now == "sum_then_normalize" else (second, first)
        yield self.finding(
            f"Under {rest} {changed / pairs:.0%} of the pairs in groups would change places against {now}: the "
            f"completion shown has the advantage {number(own[one])} now and {number(away[one])} then, another one of "
            f"its group {number(own[other])} and {number(away[other])}.",
            advice="Choose on purpose: [set] aggregation. Adding first keeps the scales, normalising first makes "
            "weights alone count.",
            cause="modes",
            evidence=member.evidence(
                table.rows[one], got=float(own[one]), expected=f"{number(away[one])} under {rest}"
            ),
        )


def _changed(table: Table, first: Floats, second: Floats) -> tuple[int, int, tuple[int, int] | None]:
    """Pairs that change places, pairs in all, and the one that changes most."""
    changed, pairs, most, worst = 0, 0, 0.0, None
    for group in np.flatnonzero(table.sizes > 1):
        places = np.flatnonzero((table.groups == group) & ~np.isnan(table.totals))
        one = first[places][:, None] - first[places][None, :]
        other = second[places][:, None] - second[places][None, :]
        turned = (one > 1e-3) & (other < -1e-3)
        changed += int(turned.sum())
        pairs += len(places) * (len(places) - 1) // 2
        size = np.where(turned, np.minimum(one, -other), 0.0)
        if size.size and size.max() > most:
            most = float(size.max())
            at = np.unravel_index(int(size.argmax()), size.shape)
            worst = (int(places[at[0]]), int(places[at[1]]))
    return changed, pairs, worst
