"""What the app needs done in processes of their own: scoring a target and explaining a row of it.

`Engine` is all a desk knows of it. `ProcessEngine` does it with `rewards.running`, on a leash.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from rewards.contract import Batch
from rewards.manifest import read_manifest
from rewards.running import Runner
from rewards.targets import parse_target
from workbench.app.explainer import Explainer
from workbench.app.leash import Leash
from workbench.app.view.board import Board, Column, bounds
from workbench.recent import Recent
from workbench.samples import Samples
from workbench.tokenizing import Tokenizer, tokenizer_for

if TYPE_CHECKING:
    from workbench.scoring import ScoreTable


class Step(NamedTuple):
    """How far a scoring is: `done` of `of` rewards, and of the one called `name` this share of its rows.

    A share of 0 says nothing: a reward that is called once with all rows tells nothing before it is done.
    """

    done: int
    of: int
    name: str
    share: float


Progress = Callable[[Step], None]
"""Called with every step of a scoring; what it raises ends the scoring."""

JOBS = min(4, os.cpu_count() or 1)
PRELOAD = ("numpy", "math_verify", "rewards.tracing.explaining")
"""What many rewards import: loaded once in the template process, so that a run does not pay for it."""


class Engine(Protocol):
    """Scores and explanations, with the user's code kept out of this process."""

    def score(self, target: str, samples: Samples, progress: Progress) -> Board:
        """Score all rows.

        Raises:
            RewardWorkbenchError: the target cannot be loaded or called; one sentence for the page.
            Stopped: `stop` was called meanwhile.
        """

    def explain(self, target: str, samples: Samples, row: int) -> Mapping[str, Any]:
        """The partial credit of one row, as `explain --format json` gives it; raises as `score` does."""

    def stop(self) -> None:
        """End scoring, now, from any thread; a `score` under way raises Stopped."""

    def close(self) -> None:
        """End all processes of this engine."""


class ProcessEngine:
    """The engine that runs rewards in workers of `runner`, which several engines may share."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._explainer = Explainer(runner)
        self._scoring: Leash | None = None
        self._recent = Recent()

    def score(self, target: str, samples: Samples, progress: Progress) -> Board:
        """See `Engine`."""
        from workbench.scoring import score

        shares: dict[str, float] = {}

        def step(name: str, done: int, calls: int) -> None:
            shares[name] = done / calls if calls else 1.0
            unfinished = [name for name, share in shares.items() if share < 1]
            if unfinished:
                first = unfinished[0]
                progress(Step(len(shares) - len(unfinished), len(shares), first, shares[first]))

        leash = self._scoring = Leash(self._runner)
        with leash.watched():
            tokenizer = _tokenizer(target)
            table = score(
                target,
                samples,
                runner=leash,
                tokenizer=tokenizer,
                cache=self._recent,
                jobs=JOBS,
                progress=step,
            )
        return board_of(table, samples)

    def explain(self, target: str, samples: Samples, row: int) -> Mapping[str, Any]:
        """See `Engine`."""
        return self._explainer.explain(target, samples, row, _tokenizer(target))

    def stop(self) -> None:
        """See `Engine`."""
        leash = self._scoring
        if leash is not None:
            leash.cut()

    def close(self) -> None:
        """See `Engine`."""
        self.stop()
        self._explainer.close()


def _tokenizer(target: str) -> Tokenizer | None:
    place = parse_target(target)
    return tokenizer_for(read_manifest(place.path) if place.kind == "project" else None)


class HeldSamples(Samples):
    """Samples that make their batch once, so that the template process is sent the rows once a file, not once a run."""

    def batch(self, tokenizer: Callable[[str], Sequence[int]] | None = None) -> Batch:
        """As `Samples.batch`; the tokenizer of a project does not change while its samples are open."""
        kept = self.__dict__.get("_batch")
        if kept is None or kept[0] != (tokenizer is None):
            kept = (tokenizer is None, super().batch(tokenizer))
            self.__dict__["_batch"] = kept
        batch: Batch = kept[1]
        return batch


def held(samples: Samples) -> HeldSamples:
    """The same samples with a batch that is made once."""
    return HeldSamples(**{each.name: getattr(samples, each.name) for each in fields(samples)})


def board_of(table: ScoreTable, samples: Samples) -> Board:
    """The page's form of a score table."""
    columns = []
    for index, reward in enumerate(table.description.rewards):
        low, high = bounds(table.scores[:, index], reward.entry.range)
        declared = reward.entry.range is not None
        seconds = table.seconds.get(reward.name)
        file = _inside(reward.file, table.description.root)
        columns.append(Column(reward.name, table.weights[index], low, high, declared, seconds, file))
    printed = [f"{name}:\n{printed_by_row(table, name)}" for name, text in table.printed.items() if text]
    return Board(
        columns=columns,
        scores=table.scores,
        status=table.status,
        errors=table.errors,
        totals=table.totals,
        advantages=table.advantages,
        groups=table.groups,
        labels=table.labels,
        ids=table.ids,
        prompts=samples.prompts,
        completions=samples.completions,
        values=samples.columns,
        aggregation=table.description.aggregation,
        scale_rewards=table.description.scale_rewards,
        printed="\n".join(printed),
        notes=tuple(table.notes),
        table=table,
        expected=samples.expected,
    )


def printed_by_row(table: ScoreTable, name: str) -> str:
    """What a reward printed, under the row it was printed for where that is known of all of it."""
    rows = {row: text for (row, reward), text in table.printed_rows.items() if reward == name}
    if sum(map(len, rows.values())) != len(table.printed[name]):
        return table.printed[name]
    return "".join(f"row {row}: {rows[row].rstrip()}\n" for row in sorted(rows))


def _inside(file: str | None, root: Path) -> str | None:
    """A reward's file as the project names it, None where it lies elsewhere."""
    if file is None or not Path(file).is_relative_to(root):
        return None
    return Path(file).relative_to(root).as_posix()
