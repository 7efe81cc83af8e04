"""One generation batch out of the parts that lie on several processes.

TRL cuts a batch into equal stretches, one for each rank, without regard for groups: half a group may lie on one rank
and half on the next. The record, the totals and the advantages need whole groups, so the parts are put together again
in the order of the ranks, which is the order of the prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from rewards.contract import Batch, CallResult
from trainer.ranks import Ranks

T = TypeVar("T")
Part = tuple[Batch, list[CallResult]]


def gather_parts(ranks: Ranks, batch: Batch, results: list[CallResult]) -> Part:
    """The whole batch with what every reward gave for it, from this rank's part and the others'; on all ranks."""
    if ranks.count == 1:
        return batch, results
    parts: list[Part] = ranks.gather((batch, results))
    whole = join_batches([part for part, _ in parts])
    lengths = [len(part) for part, _ in parts]
    columns = zip(*(given for _, given in parts), strict=True)
    return whole, [join_results(list(one), lengths) for one in columns]


def join_batches(parts: Sequence[Batch]) -> Batch:
    """The rows of all parts, one after another; a column that a part lacks is None there."""
    names = list(dict.fromkeys(name for part in parts for name in part.columns))
    return Batch(
        prompts=_chain([part.prompts for part in parts]),
        completions=_chain([part.completions for part in parts]),
        completion_ids=_chain([part.completion_ids for part in parts]),
        columns={
            name: _chain([part.columns.get(name) or [None] * len(part) for part in parts]) for name in names
        },
        groups=_chain([part.groups for part in parts]),
    )


def join_results(parts: Sequence[CallResult], lengths: Sequence[int]) -> CallResult:
    """One reward's results for all rows; the call took as long as its slowest part."""
    import numpy as np

    starts = [sum(lengths[:at]) for at in range(len(lengths))]
    names = list(dict.fromkeys(name for part in parts for name in part.extra))
    recorded = any(part.credits is not None for part in parts)
    return CallResult(
        scores=np.concatenate([part.scores for part in parts]),
        status=np.concatenate([part.status for part in parts]),
        errors=_shifted([part.errors for part in parts], starts),
        extra={
            name: _chain(
                [
                    part.extra[name] if len(part.extra.get(name, ())) == length else [None] * length
                    for part, length in zip(parts, lengths, strict=True)
                ]
            )
            for name in names
        },
        metrics={
            name: _chain([part.metrics.get(name, []) for part in parts])
            for name in dict.fromkeys(name for part in parts for name in part.metrics)
        },
        seconds=max(part.seconds for part in parts),
        printed="".join(part.printed for part in parts),
        credits=_chain(
            [
                part.credits if part.credits is not None else [[] for _ in range(length)]
                for part, length in zip(parts, lengths, strict=True)
            ]
        )
        if recorded
        else None,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        printed_rows=_shifted([part.printed_rows for part in parts], starts),
    )


def _chain(lists: Sequence[Sequence[Any]]) -> list[Any]:
    return [value for values in lists for value in values]


def _shifted(parts: Sequence[dict[int, T]], starts: Sequence[int]) -> dict[int, T]:
    return {
        start + row: value for part, start in zip(parts, starts, strict=True) for row, value in part.items()
    }
