"""Our record of what was generated and scored: one Parquet file for each generation batch, no row lost.

TRL's own record keeps one batch for each log call and lets evaluation overwrite training. Here every batch has a
file of its own, written whole before the step goes on:

    step, prompt, completion, one column per reward (null: no score), advantage    as in TRL's record
    total, group, split ("train" | "eval")
    credits    named partial credit: a list of {reward, name, points, of}
    errors     {reward: sentence} where a reward could not score the row
    seconds    {reward: seconds}, the call's time shared by its rows
    and the data's own columns and `log_extra` columns, so that the file can be scored again
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from rewards.groups import GroupStatistics

MOST_PENDING = 16


@dataclass(frozen=True)
class ScoredBatch:
    """One generation batch with its scores; arrays have a row per completion, `scores` a column per reward."""

    step: int
    split: str
    prompts: list[Any]
    completions: list[Any]
    groups: list[str]
    names: tuple[str, ...]
    scores: NDArray[np.float64]
    totals: NDArray[np.float64]
    advantages: NDArray[np.float64]
    weights: tuple[float, ...] = ()
    errors: dict[int, dict[str, str]] = field(default_factory=dict)
    credits: list[list[dict[str, Any]]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    aggregation: str = "sum_then_normalize"

    def __len__(self) -> int:
        return len(self.completions)

    @cached_property
    def statistics(self) -> GroupStatistics:
        """Mean and spread of every group; computed once, asked for by all who listen."""
        from rewards.groups import group_statistics

        return group_statistics(self.scores, self.weights, self.groups, aggregation=self.aggregation)

    @cached_property
    def duplicates(self) -> float:
        """The share of completions that another one of their group equals."""
        seen = Counter((group, str(text)) for group, text in zip(self.groups, self.completions, strict=True))
        return sum(count for count in seen.values() if count > 1) / max(len(self), 1)


def file_name(batch: ScoredBatch, number: int) -> str:
    """`step_00001.parquet` for training; `eval_00010_001.parquet` for the n-th evaluation batch after a step."""
    if batch.split == "train":
        return f"step_{batch.step:05d}.parquet"
    return f"eval_{batch.step:05d}_{number:03d}.parquet"


def write_batch(folder: Path, batch: ScoredBatch, number: int = 1) -> Path:
    """Write one batch, whole or not at all; returns the file."""
    from pyarrow import parquet

    folder.mkdir(exist_ok=True)
    path = folder / file_name(batch, number)
    temporary = folder / f".{path.name}.tmp"
    # a file of a few rows: what dictionaries and statistics would save costs more than it is worth
    parquet.write_table(
        to_table(batch), temporary, compression="zstd", use_dictionary=False, write_statistics=False
    )
    os.replace(temporary, path)
    return path


class Recorder:
    """Writes batches into a run's `completions/` while the next step already goes on.

    One thread writes, in order. `flush` returns when everything given so far is on disk; it is called before a
    checkpoint is written, so that no checkpoint is ahead of the record. Evaluation batches of a step are numbered.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="completions")
        self._pending: list[Future[Path]] = []
        self._numbers: Counter[int] = Counter()

    def __call__(self, batch: ScoredBatch) -> None:
        """Take a batch. Raises what went wrong with an earlier one (a full disk)."""
        self._numbers[batch.step] += batch.split == "eval"
        if len(self._pending) >= MOST_PENDING:
            self.flush()
        number = max(self._numbers[batch.step], 1)
        self._pending.append(self._writer.submit(write_batch, self._folder, batch, number))

    def flush(self) -> None:
        """Wait until every batch is written; raises OSError where one could not be."""
        pending, self._pending = self._pending, []
        for write in pending:
            write.result()

    def close(self) -> None:
        """Write what is left and end the thread."""
        try:
            self.flush()
        finally:
            self._writer.shutdown()


def to_table(batch: ScoredBatch) -> pa.Table:
    """The batch as an Arrow table, columns as the module docstring lists them."""
    import pyarrow as pa

    rows = len(batch)
    table: dict[str, Any] = {
        "step": pa.array([batch.step] * rows, pa.int64()),
        "prompt": _array(batch.prompts),
        "completion": _array([_plain_calls(completion) for completion in batch.completions]),
    }
    for index, name in enumerate(batch.names):
        table[name] = pa.array(batch.scores[:, index], from_pandas=True)
    table["advantage"] = pa.array(batch.advantages)
    table["total"] = pa.array(batch.totals, from_pandas=True)
    table["group"] = pa.array(batch.groups, pa.string())
    table["split"] = pa.array([batch.split] * rows, pa.string())
    table["credits"] = pa.array(_credits(batch), _credit_type())
    table["errors"] = _by_reward(batch.names, [batch.errors.get(row, {}) for row in range(rows)], pa.string())
    table["seconds"] = _by_reward(
        batch.names,
        [{name: taken / max(rows, 1) for name, taken in batch.seconds.items()}] * rows,
        pa.float64(),
    )
    for name, values in batch.columns.items():
        if name not in table and len(values) == rows:
            table[name] = _array(list(values))
    return pa.table(table)


def _plain_calls(completion: Any) -> Any:
    """A chat completion whose tool calls have their arguments as JSON text: every tool has arguments of its own."""
    if not isinstance(completion, list) or not any(message.get("tool_calls") for message in completion):
        return completion
    return [
        {**message, "tool_calls": [_plain_call(call) for call in message["tool_calls"]]}
        if message.get("tool_calls")
        else message
        for message in completion
    ]


def _plain_call(call: Any) -> Any:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, default=str, ensure_ascii=False)
    return {**call, "function": {**function, "arguments": text}}


def _credit_type() -> Any:
    import pyarrow as pa

    fields = [("reward", pa.string()), ("name", pa.string()), ("points", pa.float64()), ("of", pa.float64())]
    return pa.list_(pa.struct(fields))


def _credits(batch: ScoredBatch) -> list[list[dict[str, Any]]]:
    keys = ("reward", "name", "points", "of")
    rows = batch.credits or [[] for _ in range(len(batch))]
    return [[{key: credit.get(key) for key in keys} for credit in row] for row in rows]


def _by_reward(names: Sequence[str], rows: list[dict[str, Any]], kind: Any) -> Any:
    import pyarrow as pa

    return pa.array(
        [{name: row.get(name) for name in names} for row in rows], pa.struct([(name, kind) for name in names])
    )


def _array(values: list[Any]) -> Any:
    """An Arrow array of any column; values no Arrow type holds together are kept as JSON text."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([json.dumps(value, default=str, ensure_ascii=False) for value in values], pa.string())
