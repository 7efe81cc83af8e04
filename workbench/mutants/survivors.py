"""Whether the samples pin a reward down: small changes of its code, and which of them nothing notices.

A change is *noticed* where a sample gets another score, where it makes the reward hang, die or fail, where a law of
the project is broken, or where a check would tell (an empty completion paid, a score outside the declared range). One
that nothing notices *survives* if a made-up completion shows that it matters; that completion, with the two scores, is
what is missing among the samples. A change that makes no difference anywhere is left out of the count: nobody could
notice it. Code that no sample runs is told by line.

The reward's code runs in worker processes only, each change in a child of its own (`workbench.mutants.running`).
"""

from __future__ import annotations

import ast
import contextlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rewards.contract import Status
from rewards.errors import UsageError
from workbench.checks.odd import PLAIN
from workbench.mutants.code_changes import CodeChange, code_changes, spread
from workbench.mutants.trial_texts import affordable_texts, trial_texts

if TYPE_CHECKING:
    from rewards.running import Runner
    from workbench.checks.subject import RewardSubject
    from workbench.samples.records import Samples

MOST = 90
"""Changes tried of one reward, at most; spread over lines and sorts."""
SECONDS = 60.0
"""Seconds by the clock after which no further change of a reward is tried: what a machine that stands still ends at."""
TEXTS = 140
ROWS = 200
NO_NUMBER = {Status.ABSTAINED: "None (no opinion)", Status.NAN: "NaN"}
"""What a reward gave that gave no number, in words."""
SLOWEST_S = 0.25
"""Seconds a call over a few rows may take for the code to be tried at all."""

How = Literal[
    "label", "expected", "score", "failure", "law", "check", "no difference", "survived", "same code"
]
"""What became of a change: what noticed it (a label's order, an expected score, another score of a sample, a failure,
a law, a check), or that it made no difference, survived, or compiles to the same code."""


@dataclass(frozen=True)
class Witness:
    """A completion on which a change shows: under the prompt of `row`, the score of the code and of the changed one.

    A score is NaN where there was none; `status` and `changed_status` say whether that is None or a computed NaN.
    """

    row: int
    text: str
    score: float
    changed: float
    status: Status = Status.NUMBER
    changed_status: Status = Status.NUMBER

    @property
    def got(self) -> float | str:
        """The score of the code as it is; in words where it is no number."""
        return NO_NUMBER.get(self.status, self.score)


@dataclass(frozen=True)
class Survivor:
    """A change that nothing notices, and the made-up completion that shows it; `reached`: some sample runs its line."""

    change: CodeChange
    reached: bool
    witness: Witness

    @property
    def line(self) -> int:
        """The line of the change."""
        return self.change.line

    @property
    def suggestion(self) -> str:
        """The sample that would notice it, as a sentence."""
        text = self.witness.text
        shown = repr(text if len(text) <= 120 else f"{text[:80]} ... {text[-30:]}")
        return (
            f"add {shown} to the samples of that prompt: it scores {self.scores[0]}, and {self.scores[1]} with "
            f"{self.change}"
        )

    @property
    def scores(self) -> tuple[str, str]:
        """The score of the witness and its score under the change, with as many digits as tell them apart."""
        witness = self.witness
        one, other = told_apart(witness.score, witness.changed)
        return NO_NUMBER.get(witness.status, one), NO_NUMBER.get(witness.changed_status, other)


@dataclass(frozen=True)
class Survival:
    """What became of the changes of one reward's code.

    `possible` changes there are, `chosen` were to be tried, `tried` were; `ends` counts what became of them;
    `survivors` stand in the order of the code; `unreached` are lines with such changes that no sample runs.
    """

    reward: str
    file: str
    possible: int
    chosen: int
    tried: int
    ends: Mapping[str, int]
    survivors: tuple[Survivor, ...]
    unreached: tuple[int, ...]

    @property
    def cut_short(self) -> str:
        """That not all chosen changes were tried, in words; "" where they were."""
        return f"stopped after {self.tried} of {self.chosen} changes: out of time" * (
            self.tried < self.chosen
        )

    @property
    def noticed(self) -> int:
        """How many changes something notices."""
        return sum(self.ends.get(how, 0) for how in ("label", "expected", "score", "failure", "law", "check"))

    @property
    def by_line(self) -> dict[int, list[Survivor]]:
        """The survivors of each line, for the margin of the code."""
        lines: dict[int, list[Survivor]] = {}
        for survivor in self.survivors:
            lines.setdefault(survivor.line, []).append(survivor)
        return lines


def find_survivors(
    target: str | Path,
    samples: Samples,
    *,
    names: Sequence[str] = (),
    most: int = MOST,
    seconds: float = SECONDS,
    seed: int = 0,
    runner: Runner | None = None,
) -> dict[str, Survival]:
    """The survivors of each reward of a target whose own file can be changed.

    Args:
        target: see `rewards.targets`.
        samples: completions with columns, labels and expected scores.
        names: only these rewards; none: all.
        most: changes of each reward to try, at most; which ones depends on the code alone.
        seconds: by the clock, after which no further change of a reward is tried; `Survival.cut_short` tells it.
        seed: of the made-up completions.
        runner: starts the workers; None: one of its own.

    Raises:
        UsageError: there are no samples.
        TargetError, ManifestError, LoadError: the target cannot be loaded.
    """
    from rewards.running import Runner as NewRunner
    from workbench.checks.bench import Bench
    from workbench.checks.subject import Options, RewardSubject

    if not len(samples):
        raise UsageError("there are no samples to try the changes of the code on")
    batch = samples.batch()
    with contextlib.ExitStack() as stack:
        own = runner or stack.enter_context(NewRunner(batch=batch))
        bench = Bench(own, str(target), batch)
        stack.callback(bench.close)
        described = bench.description
        alone, found = len(described.rewards) == 1, {}
        for reward in described.rewards if not names else [described.reward(name) for name in names]:
            subject = RewardSubject(reward, bench, samples, batch, Options(seed=seed), alone)
            survival = survival_of(subject, most=most, seconds=seconds)
            if survival is not None:
                found[reward.name] = survival
        return found


def survival_of(subject: RewardSubject, *, most: int = MOST, seconds: float = SECONDS) -> Survival | None:
    """The same for one reward that the checks look at.

    Returns:
        None where there is nothing to change or to compare: no file of the user's, a reward that gives other scores
        each time, that is too slow, or that no sample can be scored with.
    """
    described = subject.description
    if described.file is None or not _of_the_user(described.file) or described.entry.runs == "warm":
        return None
    if not subject.usable or not subject.steadiness.reliable or not subject.source.text:
        return None
    few = subject.few()
    if subject.call(few).seconds > SLOWEST_S:
        return None
    lines = subject.source.lines_used(described.line)
    possible = code_changes(subject.source.text, lines)
    chosen = spread(possible, most)
    rows = subject.usable[: affordable_texts(subject, ROWS, 0.1)]
    texts = _texts(subject, lines)
    subject.bench.renew()
    answer: dict[str, Any] | None = subject.bench.probe(
        "workbench.mutants.running:try_changes",
        timeout_s=2 * seconds + 60.0,
        reward=subject.name,
        file=described.file,
        changes=[(change.start, change.end, change.text) for change in chosen],
        rows=rows,
        texts=texts,
        chat=subject.chat,
        seconds=seconds,
    )
    if answer is None or answer["first"] is None or not chosen:
        return None
    return _Judge(subject, rows, texts, answer).survival(possible, chosen)


def _of_the_user(file: str) -> bool:
    from rewards.fingerprint import LIBRARY

    path = Path(file)
    return "site-packages" not in path.parts and not path.is_relative_to(LIBRARY)


def _texts(subject: RewardSubject, lines: Iterable[int]) -> list[tuple[int, str]]:
    """(row, text): made-up completions under the prompts of a few samples; none where a call compares its rows."""
    if subject.compares:
        return []
    best = subject.best_row()
    rows = list(dict.fromkeys([*([best] if best is not None else []), *subject.few(6)]))[:5]
    most = affordable_texts(subject, TEXTS, 0.1)
    answers = [str(option) for option in subject.task.options][:10]
    made = trial_texts(
        [subject.text(row) for row in rows],
        subject.source.text,
        set(lines),
        answers=answers,
        seed=subject.options.seed,
        most=most,
    )
    return [(rows[place], text) for place, text in made]


class _Judge:
    """Reads what the worker saw: which changes were noticed, and by what."""

    def __init__(
        self,
        subject: RewardSubject,
        rows: Sequence[int],
        texts: Sequence[tuple[int, str]],
        answer: Mapping[str, Any],
    ) -> None:
        self.subject = subject
        self.rows = rows
        self.texts = texts
        self.tried: list[dict[str, Any]] = answer["tried"]
        self.run = set(answer["lines"])
        self.scores: list[float] = answer["first"]["rows"][0]
        self.text_scores: list[float] = answer["first"]["texts"][0]
        self.text_status: list[int] = answer["first"]["texts"][1]
        self.pairs = self._pairs()
        self.inversions = self._inversions(self.scores)
        self.expected = self._expected()
        self.empty = {odd.text for odd in PLAIN}

    def survival(self, possible: Sequence[CodeChange], chosen: Sequence[CodeChange]) -> Survival:
        """The record of all changes that were tried."""
        ends: Counter[str] = Counter()
        survivors: list[Survivor] = []
        unreached: set[int] = set()
        ranges = _line_ranges(self.subject.source.tree)
        for change, seen in zip(chosen, self.tried, strict=False):
            how = self._how(seen)
            reached = change.line not in ranges or bool(self.run & set(ranges[change.line]))
            ends[how] += 1
            if not reached:
                unreached.add(change.line)
            if how == "survived":
                survivors.append(Survivor(change, reached, self._witness(seen)))
        return Survival(
            reward=self.subject.name,
            file=self.subject.description.file or "",
            possible=len(possible),
            chosen=len(chosen),
            tried=len(self.tried),
            ends=dict(ends),
            survivors=tuple(sorted(survivors, key=lambda survivor: survivor.change.start)),
            unreached=tuple(sorted(unreached)),
        )

    def _how(self, seen: Mapping[str, Any]) -> How:
        if seen["end"] == "same code":
            return "same code"
        if seen["end"] != "scored":
            return "failure"
        if seen["rows"]:
            return self._by_samples(seen["rows"])
        if seen["law"]:
            return "law"
        if not seen["texts"]:
            return "no difference"
        return "check" if any(self._tells(*item) for item in seen["texts"]) else "survived"

    def _by_samples(self, moved: Sequence[Sequence[Any]]) -> How:
        if any(Status(int(status)).failed for _, _, status in moved):
            return "failure"
        scores = list(self.scores)
        for place, score, _ in moved:
            scores[place] = score
        if self._inversions(scores) > self.inversions:
            return "label"
        met = any(not math.isclose(scores[place], wanted, abs_tol=1e-6) for place, wanted in self.expected)
        return "expected" if met else "score"

    def _tells(self, place: int, score: float, status: int) -> bool:
        """Whether one of the checks would tell of what a made-up completion now gets."""
        state, bounds = Status(int(status)), self.subject.declared_range
        if state.failed or state in (Status.NAN, Status.INFINITE):
            return not Status(self.text_status[place]).failed
        if (
            state == Status.NUMBER
            and bounds is not None
            and not bounds[0] - 1e-9 <= score <= bounds[1] + 1e-9
        ):
            return True
        row, text = self.texts[place]
        full = {case.row: case.full for case in self.subject.task.cases}
        return text in self.empty and row in full and score >= full[row] - 1e-9 > self.text_scores[place]

    def _witness(self, seen: Mapping[str, Any]) -> Witness:
        place, changed, status = min(seen["texts"], key=lambda item: (len(self.texts[item[0]][1]), item[0]))
        row, text = self.texts[place]
        was = Status(int(self.text_status[place]))
        return Witness(row, text, float(self.text_scores[place]), float(changed), was, Status(int(status)))

    def _pairs(self) -> list[tuple[int, int]]:
        """Places of a right and of a wrong row of the same prompt, of any prompts where no prompt has both."""
        subject = self.subject
        if not subject.judged or subject.samples is None or subject.batch is None:
            return []
        labels, groups = subject.samples.labels, subject.batch.groups
        right = [place for place, row in enumerate(self.rows) if labels[row] == "right"]
        wrong = [place for place, row in enumerate(self.rows) if labels[row] in ("wrong", "hack")]
        pairs = [(r, w) for r in right for w in wrong if groups[self.rows[r]] == groups[self.rows[w]]]
        return (pairs or [(r, w) for r in right for w in wrong])[:5000]

    def _inversions(self, scores: Sequence[float]) -> int:
        return sum(scores[right] <= scores[wrong] for right, wrong in self.pairs)

    def _expected(self) -> list[tuple[int, float]]:
        """Places with an expected score that the code as it is meets."""
        assert self.subject.samples is not None
        found = []
        for place, row in enumerate(self.rows):
            wanted = (self.subject.samples.expected[row] or {}).get(self.subject.name)
            if wanted is not None and math.isclose(self.scores[place], wanted, abs_tol=1e-6):
                found.append((place, float(wanted)))
        return found


def _line_ranges(tree: ast.Module) -> dict[int, range]:
    """For each line inside a function: the lines of its statement, of which one is run whenever it is."""
    inside: dict[int, range] = {}
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    statements = [
        part for function in functions for body in function.body
        for part in ast.walk(body) if isinstance(part, ast.stmt)
    ]  # fmt: skip
    for statement in sorted(statements, key=lambda part: part.lineno):  # inner ones come later and win
        within = getattr(statement, "body", None)
        last = within[0].lineno - 1 if within else statement.end_lineno or statement.lineno
        lines = range(statement.lineno, max(statement.lineno, last) + 1)
        inside.update(dict.fromkeys(lines, lines))
    return inside


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Two scores in four digits, or in as many more as they differ in; "no score" for NaN.

    >>> told_apart(0.5, 0.25), told_apart(0.123456, 0.123457)
    (('0.5', '0.25'), ('0.123456', '0.123457'))
    """
    texts = ("", "")
    for digits in range(4, 18):
        first, second = ("no score" if math.isnan(value) else f"{value:.{digits}g}" for value in (one, other))
        texts = (first, second)
        if first != second:
            break
    return texts


__all__ = ["How", "Survival", "Survivor", "Witness", "find_survivors", "survival_of"]
