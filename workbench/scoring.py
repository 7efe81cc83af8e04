"""A reward set over samples: the score table.

The rewards run in a worker process (`rewards.running`); totals and advantages are TRL's own arithmetic
(`rewards.groups`). A row that fails is a row with an error in the table, never an exception.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import operator
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rewards.contract import Batch, CallResult, Status
from rewards.groups import advantages, number, ranked_by, totals
from rewards.rewardset import SetDescription
from rewards.running import Runner, Worker
from rewards.targets import parse_target
from workbench.other_form import other_form_note
from workbench.parallel import Progress, run_calls
from workbench.recent import Recent
from workbench.samples import Samples
from workbench.score_cache import ScoreCache
from workbench.versions import Versions, read_code

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True)
class ScoreTable:
    """Scores of n rows by k rewards, with what TRL would make of them.

    `scores` is (n, k) float64, NaN where there is no number; `status` (n, k) uint8 of `Status`; `errors` maps
    (row, reward name) to a sentence; `totals` and `advantages` are (n,), a total is NaN where every reward
    abstained; `seconds` is the time of each reward's calls; `printed` what each wrote, `printed_rows` what it wrote
    for (row, reward name), where that can be told; `notes` what a reader of the scores has to know; `reused` how many
    rows of each reward were known from an earlier scoring. `numbered` is `group_codes` where that was counted already.
    `prompts` and `completions` are what was scored, None where that is not known; they are only looked at where two
    tables are compared.
    """

    description: SetDescription
    weights: tuple[float, ...]
    scores: NDArray[np.float64]
    status: NDArray[np.uint8]
    errors: dict[tuple[int, str], str]
    totals: NDArray[np.float64]
    advantages: NDArray[np.float64]
    groups: list[str]
    ids: list[str]
    labels: list[str | None]
    calls: list[list[int]]
    seconds: dict[str, float] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)
    printed_rows: dict[tuple[int, str], str] = field(default_factory=dict)
    extra: dict[str, list[Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    reused: dict[str, int] = field(default_factory=dict)
    numbered: NDArray[np.intp] | None = field(default=None, repr=False, compare=False)
    prompts: Sequence[Any] | None = field(default=None, repr=False, compare=False)
    completions: Sequence[Any] | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.totals)

    @property
    def names(self) -> list[str]:
        """The rewards' names, in the order of the columns."""
        return self.description.names

    @cached_property
    def group_codes(self) -> NDArray[np.intp]:
        """(n,) the group of each row as a number, in the order of first appearance."""
        return self.numbered if self.numbered is not None else number(self.groups)[0]

    @cached_property
    def ranked(self) -> NDArray[np.float64]:
        """(n,) what the rows of a group are ranked by (`rewards.groups.ranked_by`): the total, in one mode not."""
        mode = self.description.aggregation
        return ranked_by(self.scores, list(self.weights), self.group_codes, aggregation=mode)

    def reordered(self, order: Sequence[int]) -> ScoreTable:
        """The same rows in another order: row i is what `order[i]` was."""
        at = np.array(order, dtype=np.intp)
        place = {int(row): new for new, row in enumerate(at)}

        def some(values: Sequence[Any]) -> list[Any]:
            return [values[row] for row in order]

        return replace(
            self,
            scores=self.scores[at],
            status=self.status[at],
            errors={(place[row], name): why for (row, name), why in self.errors.items()},
            totals=self.totals[at],
            advantages=self.advantages[at],
            groups=some(self.groups),
            ids=some(self.ids),
            labels=some(self.labels),
            calls=[[place[row] for row in rows] for rows in self.calls],
            printed_rows={(place[row], name): text for (row, name), text in self.printed_rows.items()},
            extra={name: some(values) for name, values in self.extra.items()},
            numbered=None,
            prompts=some(self.prompts) if self.prompts is not None else None,
            completions=some(self.completions) if self.completions is not None else None,
        )

    def reweighted(self, weights: Mapping[str, float]) -> ScoreTable:
        """The same scores under other weights; nothing is scored again.

        Raises:
            TargetError: a name that is no reward of the set.
        """
        for name in weights:
            self.description.reward(name)
        new = tuple(weights.get(name, old) for name, old in zip(self.names, self.weights, strict=True))
        codes = self.group_codes
        total, advantage = _aggregate(self.description, self.scores, new, codes, self.calls)
        return replace(self, weights=new, totals=total, advantages=advantage, numbered=codes)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One JSON-ready object a row, as `score --format jsonl` prints it."""
        for row in range(len(self)):
            yield {
                "row": row,
                "id": self.ids[row],
                "group": self.groups[row],
                "scores": {name: self.cell(row, column) for column, name in enumerate(self.names)},
                "total": json_number(float(self.totals[row]), nan=None),
                "advantage": json_number(float(self.advantages[row]), nan=None),
                "errors": {name: self.errors[row, name] for name in self.names if (row, name) in self.errors},
            }

    def cell(self, row: int, column: int) -> float | str | None:
        """One score as JSON: a number, None where the reward abstained or failed, "nan", "inf" or "-inf"."""
        if self.status[row, column] == Status.NAN:
            return "nan"
        return json_number(float(self.scores[row, column]), nan=None)

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row a completion: id, group, label, a column a reward, total, advantage, errors.

        A reward called like one of these, or "completion", has the column `NAME (reward)`.
        """
        import pandas as pd

        frame = pd.DataFrame({"id": self.ids, "group": self.groups, "label": self.labels})
        for column, name in enumerate(_columns_of(self.names)):
            frame[name] = self.scores[:, column]
        frame["total"], frame["advantage"] = self.totals, self.advantages
        frame["errors"] = [
            "; ".join(
                f"{name}: {self.errors[row, name]}" for name in self.names if (row, name) in self.errors
            )
            for row in range(len(self))
        ]
        return frame


_OWN_COLUMNS = ("id", "group", "label", "total", "advantage", "errors", "completion")
"""Columns of a table of scores that belong to no reward."""


def _columns_of(names: Sequence[str]) -> list[str]:
    """The columns of rewards: their names, with an addition where the table has a column of that name."""
    taken = {*_OWN_COLUMNS, *names}
    columns = []
    for name in names:
        column = name
        while column in _OWN_COLUMNS or (column != name and column in taken):
            column += " (reward)"
        taken.add(column)
        columns.append(column)
    return columns


def json_number(value: float, *, nan: str | None = "nan") -> float | str | None:
    """A float as strict JSON: "inf" and "-inf" as text, NaN as `nan`."""
    if math.isnan(value):
        return nan
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def score(
    target: str | Path,
    samples: Samples,
    *,
    runner: Runner | None = None,
    only: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    tokenizer: Callable[[str], Sequence[int]] | None = None,
    batch: Batch | None = None,
    keep: bool = False,
    cache: ScoreCache | Recent | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> ScoreTable:
    """Score samples with the rewards of a target.

    Args:
        target: a project, file or function.
        samples: the rows; each reward is called once with all of them (once a step where they have steps).
        runner: where to run the rewards; None: a runner of its own.
        only: score only these rewards.
        weights: replace the declared weights of these rewards.
        tokenizer: gives `completion_ids`; None: bytes stand in, and rewards that read them are noted.
        batch: what `samples.batch(tokenizer)` gave, where `runner` holds it already.
        keep: keep the code that ran as a version (`workbench.versions`), where its folder can be written.
        cache: scores kept from earlier scorings; what is in it is not scored again.
        jobs: processes that score at the same time; see `workbench.parallel`.

    Raises:
        LoadError, TargetError, ManifestError: the target cannot be loaded.
        MissingColumnError: the samples lack a column that a reward requires.
    """
    began = time.time_ns()
    batch = batch if batch is not None else samples.batch(tokenizer)
    code = read_code(parse_target(target)) if keep else None
    with contextlib.ExitStack() as stack:
        if runner is None:
            runner = stack.enter_context(Runner(batch=batch))
        worker = stack.enter_context(runner.worker(target, batch))
        description = worker.description.only(list(only)) if only else worker.description
        description.require_columns(samples.columns)
        calls = samples.step_rows()
        memory = (
            cache.memory(description, batch, calls, worker.description, began) if cache is not None else None
        )
        results = run_calls(
            runner,
            worker,
            description,
            calls,
            left=memory.left if memory else None,
            apart=memory.apart if memory else (),
            jobs=jobs,
            progress=progress,
        )
        if memory is not None:
            results = {
                reward.name: memory.whole(reward, results[reward.name]) for reward in description.rewards
            }
        misread = _misread(worker, description, samples, calls, results)
    if code is not None and code.unchanged():
        Versions(code.root).keep(code)
    notes = [*misread, *([] if tokenizer else _byte_notes(description))]
    notes += _gaps(description, samples)
    notes += [cache.note] if cache is not None and cache.note else []
    table = _table(description, samples, calls, results, notes)
    table = replace(table, reused=memory.reused) if memory is not None else table
    return table.reweighted(weights) if weights else table


def _misread(
    worker: Worker,
    description: SetDescription,
    samples: Samples,
    calls: list[list[int]],
    results: Mapping[str, list[CallResult]],
) -> list[str]:
    """A note for each reward that raises on every row because it reads chat messages as text, or text as those."""
    found = []
    for reward in description.rewards:
        status = np.concatenate([np.zeros(0, np.uint8), *(result.status for result in results[reward.name])])
        if len(status) and (status[status != Status.ABSTAINED] == Status.RAISED).all() and status.any():
            failed = [
                rows[at]
                for rows, result in zip(calls, results[reward.name], strict=True)
                for at in np.flatnonzero(result.status == Status.RAISED)
            ]
            note = other_form_note(worker, reward, samples, failed)
            found += [note] if note else []
    return found


def _byte_notes(description: SetDescription) -> list[str]:
    return [
        f"reward '{reward.name}' reads completion_ids, but no tokenizer is known: the text's UTF-8 bytes stand in, "
        'so its scores are not those of training; name one with [set] tokenizer = "FOLDER"'
        for reward in description.rewards
        if reward.reads_token_ids
    ]


def _gaps(description: SetDescription, samples: Samples) -> list[str]:
    """A note for each column that a reward cannot do without and that some rows lack."""
    readers: dict[str, list[str]] = {}
    for reward in description.rewards:
        for name in reward.signature.required:
            if name in samples.columns:
                readers.setdefault(name, []).append(reward.name)
    lacking = {
        name: sum(map(operator.is_, samples.columns[name], itertools.repeat(None))) for name in readers
    }
    return [
        f"{lacking[name]} of {len(samples)} rows have no '{name}', which {' and '.join(names)} "
        f"{'read' if len(names) > 1 else 'reads'}: it is None there"
        for name, names in readers.items()
        if lacking[name]
    ]


def _table(
    description: SetDescription,
    samples: Samples,
    calls: list[list[int]],
    results: dict[str, list[CallResult]],
    notes: list[str],
) -> ScoreTable:
    shape = (len(samples), len(description.rewards))
    scores, status = np.full(shape, np.nan), np.zeros(shape, dtype=np.uint8)
    errors: dict[tuple[int, str], str] = {}
    printed: dict[tuple[int, str], str] = {}
    extra: dict[str, list[Any]] = {}
    for column, name in enumerate(description.names):
        for rows, result in zip(calls, results[name], strict=True):
            at = _places(rows, len(samples))
            scores[at, column], status[at, column] = result.scores, result.status
            errors.update({(rows[row], name): why for row, why in result.errors.items()})
            printed.update({(rows[row], name): text for row, text in result.printed_rows.items()})
            notes = [*notes, *(f"reward '{name}': {note}" for note in result.notes)]
            for label, values in result.extra.items():
                if len(values) == len(rows):
                    target = extra.setdefault(label, [None] * len(samples))
                    for row, value in zip(rows, values, strict=True):
                        target[row] = value
    weights = tuple(description.weights)
    codes, _ = number(samples.groups)
    total, advantage = _aggregate(description, scores, weights, codes, calls)
    return ScoreTable(
        description=description,
        weights=weights,
        scores=scores,
        status=status,
        errors=errors,
        totals=total,
        advantages=advantage,
        groups=list(samples.groups),
        ids=list(samples.ids),
        labels=list(samples.labels),
        calls=calls,
        seconds={name: sum(result.seconds for result in results[name]) for name in description.names},
        printed={name: "".join(result.printed for result in results[name]) for name in description.names},
        printed_rows=printed,
        extra=extra,
        notes=notes,
        numbered=codes,
        prompts=samples.prompts,
        completions=samples.completions,
    )


def _places(rows: list[int], count: int) -> slice | NDArray[np.intp]:
    """The rows of a call for indexing arrays: a slice where they are all of them, which copies nothing."""
    return slice(None) if len(rows) == count and rows == list(range(count)) else np.array(rows, dtype=np.intp)


def _aggregate(
    description: SetDescription,
    scores: NDArray[np.float64],
    weights: Sequence[float],
    codes: NDArray[np.intp],
    calls: list[list[int]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Totals and advantages; a call is the batch of TRL's batch-wide modes."""
    advantage = np.zeros(len(scores))
    for rows in calls:
        at = _places(rows, len(scores))
        advantage[at] = advantages(
            scores[at],
            list(weights),
            codes if len(rows) == len(codes) else [int(code) for code in codes[at]],
            aggregation=description.aggregation,
            scale_rewards=description.scale_rewards,
        )
    return totals(scores, list(weights)), advantage
