"""What a check looks at: one reward (or the set) with its samples, and the answers most checks need, asked once.

A `RewardSubject` calls the reward over the boundary only when a check asks, and keeps the answer: the base
call over the samples, the observation of one call, the scores of odd completions. A check that finds a failed
answer has nothing to say, unless failures are its matter.
"""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.contract import Batch, CallResult, Status, completion_text
from rewards.errors import WorkerDied, WorkerTimeout
from workbench.checks.finding import Evidence
from workbench.checks.odd import Odd, odd_completions
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
        """Whether the reward compares the rows of a prompt, as declared or as seen."""
        return self.description.entry.scope == "group" or self.steadiness.cause == "group"

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
        two = self.batch.rows(self.concerned[:2])
        seconds = self.bench.call(self.name, two, timeout_s=self.patience_s).seconds
        if 0.05 < seconds < self.patience_s:
            seconds = min(seconds, self.bench.call(self.name, two, timeout_s=self.patience_s).seconds)
        return seconds / 2

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
        """The reward over `rows`, in one call as TRL makes it; arrays run along `rows`."""
        assert self.batch is not None
        return self.bench.call(self.name, self.batch.rows(self.rows), timeout_s=self.patience_s)

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
        usual = max(0.0, self.base.seconds - hung * self.patience_s) / max(1, len(self.usable))
        return min(self.patience_s, 1.0 + 20.0 * usual)

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


_PLACE = re.compile(r" \((?P<file>[^()]*?):(?P<line>\d+)\)$")


@dataclass(frozen=True)
class Source:
    """A reward's file as text, for pointing at lines; empty where there is none."""

    name: str = ""
    text: str = ""

    @classmethod
    def read(cls, file: str | None) -> Source:
        """The file, or nothing where it cannot be read."""
        if file is None:
            return cls()
        path = Path(file)
        try:
            return cls(path.name, path.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            return cls(path.name)

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; empty where the text is no Python."""
        try:
            return ast.parse(self.text)
        except (SyntaxError, ValueError):
            return ast.Module([], [])

    def lines_used(self, line: int | None) -> set[int]:
        """The lines a reward defined on `line` can run: its own and those of what it names in this file."""
        if line is None:
            return set(range(1, self.text.count("\n") + 2))
        named = _module_names(self.tree)
        pending = [node for node in named.values() if _first(node) <= line <= (node.end_lineno or 0)]
        used: dict[int, ast.stmt] = {}
        while pending:
            node = pending.pop()
            if node.lineno in used:
                continue
            used[node.lineno] = node
            names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            pending += [named[name] for name in names if name in named]
        return {
            number for node in used.values() for number in range(_first(node), (node.end_lineno or 0) + 1)
        }

    def line_of(self, error: str) -> int | None:
        """The line an error sentence ends with, if it is of this file."""
        found = _PLACE.search(error)
        return int(found["line"]) if found and found["file"] == self.name else None

    def without_place(self, error: str) -> str:
        """An error sentence without the place at its end."""
        return _PLACE.sub("", error)

    def statement(self, line: int | None) -> str:
        """The innermost simple statement on a line, in a form that layout and comments do not change."""
        best: ast.stmt | None = None
        for node in ast.walk(self.tree):
            around = (
                isinstance(node, ast.stmt)
                and line is not None
                and node.lineno <= line <= (node.end_lineno or 0)
            )
            if around and isinstance(node, ast.stmt) and (best is None or node.lineno >= best.lineno):
                best = node
        if best is None:
            return ""
        return ast.unparse(best).split("\n")[0]


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _module_names(tree: ast.Module) -> dict[str, ast.stmt]:
    """What is defined at the top of a file, by name."""
    named: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            named[node.name] = node
        elif isinstance(node, ast.Assign):
            named.update(
                (part.id, node)
                for target in node.targets
                for part in ast.walk(target)
                if isinstance(part, ast.Name)
            )
    return named


def reason_of(error: str) -> str:
    """The exception's class name of an error sentence."""
    return error.partition(":")[0].partition(" ")[0]


__all__ = ["FEW", "Options", "RewardSubject", "SetSubject", "Source", "reason_of", "spread_rows"]
