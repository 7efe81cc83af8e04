"""A call that failed, made again so that no other row loses its score to the one at fault.

Whether rows may be called in other company than in training hangs on what the reward declares. `scope = "row"` says
that a score depends on its own row alone, `scope = "group"` that it depends on its own group alone: such units can
be called by themselves. Where nothing is declared ("call") a score may depend on every row of the call. Then the
rows at fault are found by trying, and all others are called together once more: what they get is what the reward
gives for the call without the rows at fault, and a note says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rewards.contract import Batch, CallResult, Reward, Status, call, merge_results
from rewards.copying import own_copy


def calling_scope(scope: str, declared: Collection[str]) -> str:
    """ "row" or "group" where a reward declares it (`declared` names the keys it states), else "call"."""
    return scope if "scope" in declared else "call"


def units_of(rows: int, groups: Sequence[str], scope: str) -> list[list[int]]:
    """Positions that have to stay in one call: single rows, or groups where `scope` is "group"."""
    if scope != "group" or not groups:
        return [[row] for row in range(rows)]
    units: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        units.setdefault(group, []).append(row)
    return list(units.values())


def without_the_failed(result: CallResult, good: Sequence[int]) -> CallResult:
    """The result with the note that its rows `good` were called without the others."""
    rows = len(result.status)
    if not good or len(good) == rows:
        return result
    failed = rows - len(good)
    note = (
        f"{failed} of {rows} rows failed, and the others were scored in a call without "
        f'{"it" if failed == 1 else "them"}: declare scope = "row" (in rewardset.toml, or @reward(scope="row")) '
        "if a score depends on its own row alone"
    )
    return replace(result, notes=(*result.notes, note))


def call_rows_apart(
    function: Reward,
    batch: Batch,
    *,
    scope: str = "row",
    params: Mapping[str, Any] | None = None,
    trainer_state: Any = None,
    record_credits: bool = False,
) -> CallResult:
    """Like `rewards.contract.call`, but a call that raises is repeated until only the failing rows fail.

    It is repeated in halves; with `scope="group"` they keep groups whole, so the rows of the failing group fail
    together. With `scope="call"` the halves only tell which rows fail: the others are then called together, and
    where that raises too they have failed as well. `seconds` is the time of all calls made. Each call gets a copy of
    its rows (`rewards.copying`): what it changes in place is gone afterwards, and `batch` stays as it is.
    """
    options: dict[str, Any] = {
        "params": params,
        "trainer_state": trainer_state,
        "record_credits": record_credits,
    }
    whole = call(function, own_copy(batch), **options)
    if not _all_raised(whole):
        return whole
    units = units_of(len(batch), batch.groups, scope)
    if len(units) < 2:
        return whole
    seconds = whole.seconds
    parts: list[tuple[list[int], CallResult]] = []
    pending = [units[len(units) // 2 :], units[: len(units) // 2]]
    while pending:
        half = pending.pop()
        indices = [row for unit in half for row in unit]
        result = call(function, own_copy(batch.rows(indices)), **options)
        if len(half) > 1 and _all_raised(result):
            seconds += result.seconds
            pending += [half[len(half) // 2 :], half[: len(half) // 2]]
        else:
            parts.append((indices, result))
    if scope != "call":
        return merge_results(len(batch), parts, printed=whole.printed, seconds=seconds)
    seconds += sum(part.seconds for indices, part in parts if not _all_raised(part))
    failed = [(indices, part) for indices, part in parts if _all_raised(part)]
    good = sorted(row for indices, part in parts if not _all_raised(part) for row in indices)
    if good:
        failed.append((good, call(function, own_copy(batch.rows(good)), **options)))
    merged = merge_results(len(batch), failed, printed=whole.printed, seconds=seconds)
    return without_the_failed(merged, good)


def _all_raised(result: CallResult) -> bool:
    return len(result.status) > 0 and bool((result.status == Status.RAISED).all())
