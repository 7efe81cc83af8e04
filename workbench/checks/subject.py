"""What a check looks at: one reward (or the set) with its samples, and the answers most checks need, asked once.

A `RewardSubject` calls the reward over the boundary only when a check asks, and keeps the answer: the base
call over the samples, the observation of one call, the scores of odd completions. A check that finds a failed
answer has nothing to say, unless failures are its matter.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.contract import Batch, CallResult, Status, completion_text, failed_result, merge_results
from rewards.errors import WorkerDied, WorkerTimeout
from workbench.checks.finding import Evidence
from workbench.checks.odd import Odd, odd_completions
from workbench.checks.source import Source, reason_of
from workbench.checks.steadiness import Steadiness, read_steadiness
from workbench.checks.task import Task, columns_read, read_task
from workbench.samples.form import speech

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from rewards.rewardset import RewardDescription, SetDescription
    from workbench.checks.bench import Bench
    from workbench.samples.records import Samples

ROWS = 1000
"""Rows of the samples the checks call a reward with, at most (whole groups, spread over the file)."""
QUICK_ROWS = 200
FEW = 32
"""Rows of a closer look."""
BASE_S = 2.0
"""Seconds the base call may take."""
BUDGET_S = 0.5
"""Seconds one further call may take, going by the time of the base call."""
FIRST_LOOK_S = 2.0
"""Seconds a completion may take in the very first call, which may also import; a longer one is looked at again."""
GLANCE_S = 0.5
"""Seconds a completion of a quick reward may take in the base call; what takes longer is looked at again."""
LOOKS = 4
"""How many times a glance a row has that may hang as another does, or may only be slow."""

OBSERVING = "workbench.checks.observing:"


@dataclass(frozen=True)
class Options:
    """How thorough a run of the checks is: `quick`, the `seed` of what is drawn, `examples` of each property.

    With `assume_kinds`, what a reward's name or columns suggest counts as its declared kind. `memory` is the folder
    in which found examples are kept; None: nowhere.
    """

    quick: bool = False
    seed: int = 0
    examples: int = 100
    assume_kinds: bool = False
    memory: Path | None = None


@dataclass(frozen=True)
class OddScores:
    """The odd completions tried under the prompt of `row`, after its own one, and what one call over all gave."""

    row: int | None
    items: list[Odd]
    result: CallResult | None

    def shortest_first(self) -> Iterator[tuple[Odd, float, int]]:
        """(odd completion, score, status), the shortest text first."""
        if self.result is None:
            return
        for place in sorted(range(len(self.items)), key=lambda place: len(self.items[place].text)):
            yield self.items[place], float(self.result.scores[place]), int(self.result.status[place])

    def error_of(self, item: Odd) -> str:
        """The error sentence of one odd completion, "" where there was none."""
        return self.result.errors.get(self.items.index(item), "") if self.result else ""


@dataclass
class RewardSubject:
    """One reward of the target as the checks see it."""

    description: RewardDescription
    bench: Bench
    samples: Samples | None
    batch: Batch | None
    options: Options = field(default_factory=Options)
    alone: bool = True
    """Whether it is the only reward of the target; labels then judge it."""
    tried: dict[tuple[int, str], float] = field(default_factory=dict)
    """Scores of made-up completions by row and text; see `workbench.checks.trials`."""
    hangs: int = 0
    """How many made-up completions hung."""
    trial_seconds: float = 0.0
    """Seconds spent on made-up completions so far."""
    hung_s: float | None = None
    """Seconds that each row had which did not come back in the base call, where that is less than all patience."""
    looked_s: float | None = None
    """Seconds such rows had when they were looked at once more; `stuck` had all patience."""
    stuck: list[int] = field(default_factory=list)
    """The rows that hang for certain where not all had all patience: those that had it."""
    exploited: bool = False
    """Whether a check already showed a made-up completion that is paid like a right one."""

    @property
    def name(self) -> str:
        """The reward's name in the set."""
        return self.description.name

    @property
    def timeout_s(self) -> float:
        """Seconds one completion may take, by the reward's own declaration."""
        return self.description.timeout_s

    @property
    def patience_s(self) -> float:
        """Seconds after which a call of one completion is taken for hung: as declared, else at most 10."""
        return self.timeout_s if "timeout_s" in self.description.declared else min(self.timeout_s, 10.0)

    @property
    def declared_range(self) -> tuple[float, float] | None:
        """What the reward promises to return, where it says so."""
        return self.description.entry.range

    @property
    def judged(self) -> bool:
        """Whether the samples' labels judge this reward by itself."""
        return self.alone or self.description.entry.kind == "correctness"

    @property
    def compares(self) -> bool:
        """Whether the reward compares the rows of a prompt, as declared or as seen, or equal rows of a call.

        What a made-up completion earns is then only told by a call with it alone.
        """
        return self.description.entry.scope == "group" or self.steadiness.cause in ("group", "copies")

    @functools.cached_property
    def reads(self) -> list[str]:
        """The columns of the samples that the reward reads, as far as its signature and code tell."""
        if self.batch is None:
            return []
        described = self.description
        names = [*described.signature.names, *described.entry.params]
        lines = self.source.lines_used(described.line) if described.file else set()
        return columns_read(self.source.tree, lines, names, self.batch.columns)

    @functools.cached_property
    def reads_prompts(self) -> bool:
        """Whether the reward's code uses the prompts it is called with."""
        used = self.source.lines_used(self.description.line)
        loaded = (
            node.id
            for node in ast.walk(self.source.tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno in used
        )
        return "prompts" in self.description.signature.names and "prompts" in loaded

    @functools.cached_property
    def task(self) -> Task:
        """What the samples say about the reward's task; see `workbench.checks.task`."""
        return read_task(self, assume=self.options.assume_kinds)

    @functools.cached_property
    def steadiness(self) -> Steadiness:
        """Whether the same rows earn the same in another call, process, order or company."""
        return read_steadiness(self)

    @functools.cached_property
    def source(self) -> Source:
        """The file the reward is written in."""
        return Source.read(self.description.file)

    # -- answers -----------------------------------------------------------------------------------------------

    @functools.cached_property
    def concerned(self) -> list[int]:
        """The rows on which the reward's `when` holds; all without one, none without samples.

        It is not called for others.
        """
        if self.batch is None:
            return []
        columns, wanted = self.batch.columns, self.description.entry.when
        return [
            row
            for row in range(len(self.batch))
            if all(name in columns and columns[name][row] == value for name, value in wanted.items())
        ]

    @functools.cached_property
    def pace_s(self) -> float:
        """Seconds a row takes, going by a first call with two of them; a slow one is repeated, it may have imported."""
        if self.batch is None or len(self.concerned) <= 4:
            return 0.0
        if self._waits:
            return self._pace(self.concerned[:2], self.patience_s)
        seconds = self._pace(self.concerned[:2], min(FIRST_LOOK_S, self.patience_s))
        return seconds if seconds < self.patience_s else self._pace(self.concerned[:1], self.patience_s)

    def _pace(self, rows: Sequence[int], patience_s: float) -> float:
        """Seconds each of some rows takes; the whole patience where one has not come back."""
        assert self.batch is not None
        batch = self.batch.rows(rows)
        first = self.bench.call(self.name, batch, timeout_s=patience_s)
        if (first.status == Status.TIMEOUT).any():
            return self.patience_s
        seconds = first.seconds
        if 0.05 < seconds < self.patience_s:
            seconds = min(seconds, self.bench.call(self.name, batch, timeout_s=patience_s).seconds)
        return seconds / len(rows)

    @property
    def _waits(self) -> bool:
        """Whether long waits are its way: it says how long, waits for others, or costs money."""
        described = self.description
        return (
            "timeout_s" in described.declared
            or described.signature.is_async
            or described.entry.cost == "paid"
            or described.entry.runs == "warm"
        )

    @functools.cached_property
    def rows(self) -> list[int]:
        """The rows of the samples used: all, or whole groups spread over them; fewer where the reward is slow."""
        if self.batch is None:
            return []
        limit = QUICK_ROWS if self.options.quick else ROWS
        affordable = int(BASE_S * self._haste / max(1e-6, self.pace_s))
        groups = [self.batch.groups[row] for row in self.concerned]
        return [self.concerned[place] for place in spread_rows(groups, max(4, min(limit, affordable)))]

    def affordable(self, seconds: float = BUDGET_S) -> int:
        """How many rows a further call of about that long may have; at least two."""
        return max(2, int(seconds * self._haste / max(1e-6, self.base.seconds / max(1, len(self.rows)))))

    @property
    def _haste(self) -> float:
        """The share of the usual time budgets that a quick run has."""
        return 0.4 if self.options.quick else 1.0

    @functools.cached_property
    def base(self) -> CallResult:
        """The reward over `rows`, in one call as TRL makes it; arrays run along `rows`.

        A row that takes far longer than others is not waited for (`hung_s` is what each had): the shortest of them is
        looked at with all patience. If it comes back, the call is made again, with patience. If not, it hangs
        (`stuck`), and the others, which may only be slow, are looked at once more, in one call with more time
        (`looked_s`); where some come back, the call is made again without those that did not.
        """
        assert self.batch is not None
        batch, glance = self.batch.rows(self.rows), self._glance_s
        result = self.bench.call(self.name, batch, timeout_s=glance)
        late = [place for place, state in enumerate(result.status) if state == Status.TIMEOUT]
        if not late or glance >= self.patience_s:
            return result
        rows = [self.rows[place] for place in late]
        known = self.pace_s >= self.patience_s and self.concerned[0] in rows
        stuck = self.concerned[0] if known else self.smallest(rows)
        if not known and self._pace([stuck], self.patience_s) < self.patience_s:
            return self.bench.call(self.name, batch, timeout_s=self.patience_s)
        self.stuck, self.hung_s, self.looked_s = [stuck], glance, min(self.patience_s, LOOKS * glance)
        return self._without_the_stuck([row for row in rows if row != stuck]) or result

    def _without_the_stuck(self, late: list[int]) -> CallResult | None:
        """The base call once more with those of the late rows that are only slow; None where none is."""
        assert self.batch is not None
        assert self.looked_s is not None
        if not late:
            return None
        looked = self.bench.call(self.name, self.batch.rows(late), timeout_s=self.looked_s)
        gone = {
            late[place]: why for place, why in looked.errors.items() if looked.status[place] == Status.TIMEOUT
        }
        if self.looked_s >= self.patience_s:
            self.stuck += [row for row, why in gone.items() if not why.startswith("not run")]
        if len(gone) == len(late):
            return None
        gone.update(dict.fromkeys(self.stuck, ""))
        self.hung_s = self.looked_s
        places = [place for place, row in enumerate(self.rows) if row not in gone]
        good = self.batch.rows([self.rows[place] for place in places])
        again = self.bench.call(self.name, good, timeout_s=self.patience_s)
        rest = [place for place, row in enumerate(self.rows) if row in gone]
        spent = self.hung_s * len(rest)
        ended = failed_result(len(rest), Status.TIMEOUT, f"took over {self.hung_s:g} s", seconds=spent)
        return merge_results(len(self.rows), [(places, again), (rest, ended)])

    @property
    def _glance_s(self) -> float:
        """Seconds a row may take in the base call before it is looked at by itself."""
        stuck = self.pace_s >= self.patience_s
        usual = GLANCE_S if stuck else max(GLANCE_S, 20.0 * self.pace_s)
        return self.patience_s if self._waits else min(self.patience_s, usual)

    @functools.cached_property
    def usable(self) -> list[int]:
        """Rows of the samples on which the base call did not fail."""
        status = self.base.status
        return [row for row, state in zip(self.rows, status, strict=True) if not Status(int(state)).failed]

    @functools.cached_property
    def scores(self) -> dict[int, float]:
        """The score of each row of the samples that got a number."""
        return {
            row: float(score)
            for row, score, state in zip(self.rows, self.base.scores, self.base.status, strict=True)
            if state in (Status.NUMBER, Status.INFINITE)
        }

    def column(self, rows: Sequence[int]) -> npt.NDArray[np.float64]:
        """The scores of these rows; NaN where there is no number, or the reward is not concerned."""
        import numpy as np

        places = {row: place for place, row in enumerate(self.rows)}
        return np.array(
            [self.base.scores[places[row]] if row in places else np.nan for row in rows], dtype=float
        )

    def few(self, limit: int = FEW) -> list[int]:
        """Some usable rows of different scores that fit the time budget of one further call."""
        count = min(limit, self.affordable())
        if len(self.usable) <= count:
            return list(self.usable)
        varied = list({self.scores.get(row): row for row in reversed(self.usable)}.values())
        chosen = set(varied[: max(2, count // 2)])
        chosen.update(self.usable[: count - len(chosen)])
        return sorted(chosen)

    @functools.cached_property
    def odd(self) -> OddScores:
        """How the reward takes odd completions, under the prompt and columns of its best row; empty without one."""
        row = self.best_row()
        if row is None:
            row = self.usable[0] if self.usable else None
        if row is None or self.description.entry.cost == "paid":
            return OddScores(None, [], None)
        examples = [self.text(row)]
        examples += [text for text in map(self.text, self.few(6)) if text not in examples][:2]
        items = [Odd(examples[0], "a sample"), *odd_completions(examples)]
        items = items[: self.affordable(4 * BUDGET_S)]
        result = self.call([row] * len(items), [self.shaped(item.text) for item in items])
        return OddScores(row, items, result)

    def deadline(self, rows: int) -> float:
        """Seconds a probe over `rows` rows may take: generous beside the base call, never beyond the declaration."""
        if self.batch is None:
            return 5.0 + self.patience_s
        usual = self.base.seconds / max(1, len(self.rows))
        return min(5.0 + 20.0 * usual * max(1, rows), 5.0 + self.timeout_s * max(1, rows))

    @functools.cached_property
    def observation(self) -> dict[str, Any] | None:
        """What one call over a few rows did besides scoring; None where it did not come back.

        Made in a new process: what the base call changed (a folder, a seed) would not change again.
        """
        rows = self.few()
        if not rows:
            return None
        self.bench.renew()
        seen: dict[str, Any] | None = self.probe("observe", len(rows), rows=rows)
        return seen

    def probe(self, function: str, rows_called: int, **arguments: Any) -> Any:
        """The value of `workbench.checks.observing.FUNCTION` for this reward; None where the worker was lost."""
        name = function if ":" in function else OBSERVING + function
        try:
            return self.bench.probe(name, timeout_s=self.deadline(rows_called), reward=self.name, **arguments)
        except (WorkerTimeout, WorkerDied):
            return None

    def call(
        self,
        rows: Sequence[int],
        completions: Sequence[Any] | None = None,
        columns: dict[str, list[Any]] | None = None,
    ) -> CallResult:
        """One call with the prompts and columns of `rows`, and these completions instead of theirs."""
        batch = self.variant(rows, completions, columns)
        return self.bench.call(self.name, batch, timeout_s=self._later_s)

    @functools.cached_property
    def _later_s(self) -> float:
        """Patience with further calls: less where the base call already hung, which is told once."""
        hung = int((self.base.status == Status.TIMEOUT).sum())
        if not hung:
            return self.patience_s
        spent = hung * (self.hung_s or self.patience_s)
        usual = max(0.0, self.base.seconds - spent) / max(1, len(self.usable))
        return min(self.patience_s, (self.hung_s or 1.0) + 20.0 * usual)

    def other_shape(self, rows: Sequence[int], texts: Sequence[str]) -> CallResult:
        """One call with these texts as plain text where the samples are chat, as chat where they are plain."""
        batch = self.variant(
            rows, texts if self.chat else [[{"role": "assistant", "content": text}] for text in texts]
        )
        if self.chat:
            prompts: list[Any] = [speech(prompt, "text", "user") for prompt in batch.prompts]
        else:
            prompts = [[{"role": "user", "content": prompt}] for prompt in batch.prompts]
        batch = Batch(prompts, batch.completions, batch.completion_ids, batch.columns, batch.groups)
        return self.bench.call(self.name, batch, timeout_s=self._later_s)

    def variant(
        self,
        rows: Sequence[int],
        completions: Sequence[Any] | None = None,
        columns: dict[str, list[Any]] | None = None,
    ) -> Batch:
        """The batch of `rows` with completions or columns replaced; token ids, where there are any, follow."""
        assert self.batch is not None
        batch = self.batch.rows(rows)
        taken = list(completions) if completions is not None else batch.completions
        ids = batch.completion_ids
        if completions is not None and ids:
            pairs = zip(batch.completion_ids, batch.completions, taken, strict=True)
            ids = [_ids(own, completion_text(old), completion_text(new)) for own, old, new in pairs]
        return Batch(
            batch.prompts, copy.deepcopy(taken), ids, {**batch.columns, **(columns or {})}, batch.groups
        )

    # -- rows --------------------------------------------------------------------------------------------------

    @property
    def chat(self) -> bool:
        """Whether the samples are chat message lists."""
        return bool(self.samples and self.samples.chat)

    def shaped(self, text: str) -> Any:
        """`text` as a completion in the samples' own shape."""
        return [{"role": "assistant", "content": text}] if self.chat else text

    def text(self, row: int) -> str:
        """The text of a row's completion."""
        assert self.batch is not None
        return completion_text(self.batch.completions[row])

    def labelled(self, *labels: str) -> list[int]:
        """Usable rows with one of these labels."""
        if self.samples is None:
            return []
        return [row for row in self.usable if self.samples.labels[row] in labels]

    def best_row(self) -> int | None:
        """The shortest row with the highest score, a right one where there are labels that judge this reward."""
        rows = [row for row in (self.labelled("right") if self.judged else []) if row in self.scores]
        rows = rows or list(self.scores)
        if not rows:
            return None
        return max(rows, key=lambda row: (self.scores[row], -len(self.text(row))))

    def evidence(
        self, row: int | None, *, got: Any = None, expected: Any = None, completion: Any = None
    ) -> Evidence:
        """Evidence made of a row of the samples, with its completion replaced where one is given."""
        if row is None or self.batch is None:
            return Evidence(completion=completion, got=got, expected=expected)
        columns = {name: values[row] for name, values in self.batch.columns.items()}
        own = self.batch.completions[row]
        return Evidence(
            prompt=self.batch.prompts[row],
            completion=own if completion is None else completion,
            columns=columns,
            got=got,
            expected=expected,
        )

    def smallest(self, rows: Sequence[int]) -> int:
        """The row with the shortest completion."""
        return min(rows, key=lambda row: (len(self.text(row)), row))


@dataclass
class SetSubject:
    """The whole target: every member's subject, and the samples."""

    description: SetDescription
    members: list[RewardSubject]
    samples: Samples | None
    batch: Batch | None
    options: Options = field(default_factory=Options)


def _ids(own: list[int], old: str, new: str) -> list[int]:
    """A row's token ids where its text is the same in another shape, else the text's bytes."""
    return own if new == old else list(new.encode("utf-8", "surrogatepass"))


def spread_rows(groups: Sequence[str], limit: int) -> list[int]:
    """At most about `limit` rows, whole groups evenly spread; at least one group."""
    if len(groups) <= limit:
        return list(range(len(groups)))
    members: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        members.setdefault(group, []).append(row)
    names = list(members)
    wanted = max(1, min(len(names), limit * len(names) // len(groups)))
    chosen = [names[index * len(names) // wanted] for index in range(wanted)]
    return sorted(row for name in chosen for row in members[name])[: max(limit, len(members[names[0]]))]


__all__ = ["FEW", "Options", "RewardSubject", "SetSubject", "Source", "reason_of", "spread_rows"]
