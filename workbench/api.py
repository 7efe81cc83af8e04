"""The workbench from Python: score, explain, check and compare reward functions where they stand.

    import workbench

    scores = workbench.score([correct, neat], rows, weights=[2.0, 0.5])
    scores                                  # a summary; a picture in a notebook
    scores.to_pandas()
    workbench.explain(correct, rows, row=3)
    workbench.show(correct, rows)           # scores, distributions and the credit of some rows in one view
    workbench.check(correct, rows)
    workbench.diff(correct, correct_now, rows)

`functions` is one function, several, or a mapping of names to functions, as they are in this process: no file, no
manifest, nothing to pickle. A target (a file, a project) is taken too. `samples` are rows: a list of mappings with
`prompt` and `completion` (or of texts), a pandas or polars data frame, a `datasets.Dataset`, or files. Functions run in
processes of their own, forked from this one, with the deadlines they have everywhere.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.errors import ArgumentError
from rewards.running import Runner
from rewards.targets import parse_target
from workbench.arguments import (
    check_functions,
    check_names,
    check_options,
    check_weights,
    codes_given,
    rows_given,
)
from workbench.difference import Difference, compare
from workbench.distributions import Distributions, distributions
from workbench.explanation import RowExplanation
from workbench.explanation import explain as explain_rows
from workbench.features import features_of
from workbench.inline import EXPLAINER, ForkingRunner, Functions, InlineSet
from workbench.opening import open_target
from workbench.samples import Samples, read_samples
from workbench.samples.form import read_as as in_form
from workbench.samples.in_memory import samples_from
from workbench.score_cache import ScoreCache
from workbench.scoring import ScoreTable
from workbench.scoring import score as score_table
from workbench.slices import Slice, by_column
from workbench.tokenizing import tokenizer_for

if TYPE_CHECKING:
    import pandas as pd

    from workbench.checks.finding import Finding
    from workbench.checks.report import Report

Weights = Mapping[str, float] | Sequence[float]

SHOWN_ROWS = 5
"""Rows whose partial credit `show` draws where none are named."""


@dataclass(frozen=True)
class Scores:
    """Scores of samples, as `score` gives them.

    `table` has the numbers (`workbench.scoring.ScoreTable`), `samples` the rows. Shown, it is the summary of
    `reward-workbench score`; in a notebook, a picture.
    """

    table: ScoreTable
    samples: Samples

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def distributions(self) -> Distributions:
        """Distributions, groups and signal; see `workbench.distributions`."""
        return distributions(self.table, features_of(self.samples.completions, self.samples.groups))

    def to_pandas(self) -> pd.DataFrame:
        """A row a completion: id, group, label, each reward, total, advantage, errors, the text."""
        from rewards.contract import completion_text

        frame = self.table.to_pandas()
        frame["completion"] = [completion_text(completion) for completion in self.samples.completions]
        return frame

    def reweighted(self, weights: Weights) -> Scores:
        """The same scores under other weights; nothing is scored again.

        Raises:
            ArgumentError: a name that is no reward, no number, another number of weights.
        """
        check_weights(weights)
        if not isinstance(weights, Mapping):
            weights = list(weights)
            if len(weights) != len(self.table.names):
                raise ArgumentError(f"{len(weights)} weights for {len(self.table.names)} rewards")
            weights = dict(zip(self.table.names, weights, strict=True))
        check_names(weights, self.table.names)
        return Scores(self.table.reweighted(weights), self.samples)

    def compare(self, other: Scores) -> Compared:
        """What changes from these scores to others of the same rows."""
        return Compared(compare(self.table, other.table), other.samples)

    def by(self, column: str) -> list[Slice]:
        """Means by "label", "length", "group", "step" or a column of the samples; UsageError for any other name."""
        return by_column(self.table, self.samples, column)

    def page(self) -> str:
        """The page of `reward-workbench score --format html`."""
        from workbench.reports.score_html import page

        return page(self.table, self.samples, self.distributions)

    def __repr__(self) -> str:
        from workbench.reports.score_text import summary

        notes = "".join(f"note: {note}\n" for note in self.table.notes)
        return summary(self.table, self.samples, self.distributions) + notes

    def _repr_html_(self) -> str:
        from workbench.reports.notebook import scores_html

        return scores_html(self.table, self.distributions)


@dataclass(frozen=True)
class Explained(Sequence[RowExplanation]):
    """Explanations of rows; a sequence of `workbench.explanation.RowExplanation`."""

    rows: tuple[RowExplanation, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def to_pandas(self) -> pd.DataFrame:
        """A line a credit: row, reward, score, name, points, of, line, condition, value, spans, text."""
        import pandas as pd

        lines = [
            {
                "row": row.row, "reward": reward.name, "score": reward.score, "name": credit.name,
                "points": credit.points, "of": credit.of, "line": credit.line, "condition": credit.condition,
                "value": credit.value, "spans": list(credit.spans),
                "text": " … ".join(row.text[start:end] for start, end in credit.spans),
            }
            for row in self.rows for reward in row.rewards for credit in reward.credits
        ]  # fmt: skip
        return pd.DataFrame(lines)

    def __repr__(self) -> str:
        from workbench.reports.explain_text import to_text

        return "".join(to_text(row) for row in self.rows)

    def _repr_html_(self) -> str:
        from workbench.reports.notebook import explained_html

        return explained_html(self.rows)


@dataclass(frozen=True)
class Checked:
    """What the checks found; `report` has everything (`workbench.checks.report.Report`)."""

    report: Report

    @property
    def passed(self) -> bool:
        """True where no finding stands that would fail `reward-workbench check`."""
        return self.report.verdict == "pass"

    @property
    def findings(self) -> list[Finding]:
        """All findings, what costs most to train on first."""
        return self.report.all_findings

    def to_pandas(self) -> pd.DataFrame:
        """A line a finding: check, name, severity, reward, message, advice, line, count, completion, also.

        `also` lists the checks whose findings it speaks for.
        """
        import pandas as pd

        columns = [
            "check", "name", "severity", "reward", "message", "advice", "line", "count", "completion", "also",
        ]  # fmt: skip
        lines = [
            [
                finding.check, finding.name, finding.severity, finding.reward, finding.message, finding.advice,
                finding.line, finding.count, finding.evidence.completion, list(finding.checks[1:]),
            ]
            for finding in self.findings
        ]  # fmt: skip
        return pd.DataFrame(lines, columns=columns)

    def __repr__(self) -> str:
        from workbench.reports.check_text import check_text

        return check_text(self.report, width=110)

    def _repr_html_(self) -> str:
        from workbench.reports.notebook import checked_html

        return checked_html(self.report)


@dataclass(frozen=True)
class Compared:
    """What changes between two versions; `difference` has everything (`workbench.difference.Difference`)."""

    difference: Difference
    samples: Samples

    def to_pandas(self) -> pd.DataFrame:
        """A line a changed row: id, group, each reward, total, advantage and rank before and after, flips, the text."""
        import pandas as pd

        from rewards.contract import completion_text

        lines = []
        for row in self.difference.changed():
            line: dict[str, Any] = {"row": row.row, "id": row.id, "group": row.group, "flips": row.flips}
            pairs = {**row.scores, "total": row.total, "advantage": row.advantage, "rank": row.rank}
            for name, (before, after) in pairs.items():
                line[f"{name} before"], line[f"{name} after"] = before, after
            line["completion"] = completion_text(self.samples.completions[row.row])
            lines.append(line)
        return pd.DataFrame(lines)

    def __repr__(self) -> str:
        from workbench.reports.diff_text import to_text

        return to_text(self.difference, self.samples)

    def _repr_html_(self) -> str:
        from workbench.reports.notebook import compared_html

        return compared_html(self.difference, self.samples)


@dataclass(frozen=True)
class Overview:
    """Scores, distributions, and where the scores of some rows come from, in one view that needs no server."""

    scores: Scores
    explained: Explained

    def __repr__(self) -> str:
        return f"{self.scores!r}\n{self.explained!r}"

    def _repr_html_(self) -> str:
        from workbench.reports.notebook import overview_html

        scores = self.scores
        return overview_html(scores.table, scores.samples, scores.distributions, self.explained.rows)


# ------------------------------------------------------------------------------------------------- functions


def score(
    functions: Functions | str | Path,
    samples: Any = None,
    *,
    weights: Weights | None = None,
    columns: Mapping[str, str] | None = None,
    tokenizer: Any = None,
    jobs: int | None = None,
    read_as: str = "",
) -> Scores:
    """Score samples with reward functions, and compute the totals and advantages TRL would.

    Args:
        functions: a function, several, names with functions, or a target (a file, a project).
        samples: the rows; see the module. None: those of the target's manifest.
        weights: in the order of the functions, or by name; default: those of `@reward`, else 1.
        columns: names to change in the samples, source = target: `{"question": "prompt"}`.
        tokenizer: called with a text, gives its token ids (for `completion_ids`).
        jobs: processes that score at the same time; default: one a core.
        read_as: "chat" or "text": have the samples read so, whichever they are in.

    Returns:
        Scores: with `.to_pandas()`, `.distributions`, `.reweighted(...)`, `.page()`.

    Raises:
        ArgumentError: an argument that cannot be used; a ValueError too.
        UsageError, SamplesError, MissingColumnError, LoadError: one sentence each; what fails on a row is no
            error but a row without a score, and a sentence in `errors`.

    Example:
        >>> def short(completions, **kwargs):
        ...     return [1.0 if len(text) < 4 else 0.0 for text in completions]
        >>> score(short, ["yes", "certainly"]).to_pandas()["short"].tolist()
        [1.0, 0.0]
    """
    check_options(columns=columns, tokenizer=tokenizer, jobs=jobs, read_as=read_as)
    with _opened(functions, samples, columns, weights, read_as) as opened:
        return _score(opened, tokenizer, jobs)


def _score(opened: _Opened, tokenizer: Any, jobs: int | None = None) -> Scores:
    table = score_table(
        opened.target,
        opened.samples,
        runner=opened.runner,
        batch=opened.batch(tokenizer),
        weights=opened.weights,
        tokenizer=opened.tokenizer(tokenizer),
        cache=opened.cache,
        keep=opened.cache is not None,
        jobs=jobs or os.cpu_count() or 1,
    )
    return Scores(table, opened.samples)


def explain(
    functions: Functions | str | Path,
    samples: Any = None,
    *,
    row: int | Sequence[int] | None = None,
    columns: Mapping[str, str] | None = None,
    weights: Weights | None = None,
    tokenizer: Any = None,
    read_as: str = "",
) -> Explained:
    """Say where each score comes from: the line, the condition and the words of the completion.

    Args:
        functions, samples, columns, weights, tokenizer, read_as: as in `score`.
        row: the number of the row, or of several; None: all.

    Raises:
        UsageError: a row that the samples do not have. Otherwise as `score`.

    Example:
        >>> def tagged(completions, **kwargs):
        ...     return [0.5 if "<answer>" in text else 0.0 for text in completions]
        >>> [credit.points for credit in explain(tagged, ["<answer>4"])[0].rewards[0].credits]
        [0.5]
    """
    check_options(columns=columns, tokenizer=tokenizer, read_as=read_as, row=row)
    with _opened(functions, samples, columns, weights, read_as) as opened:
        rows = rows_given(row)
        return _explain(opened, rows, tokenizer)


def _explain(opened: _Opened, rows: Sequence[int] | None, tokenizer: Any) -> Explained:
    explained = explain_rows(
        opened.target,
        opened.samples,
        rows,
        opened.runner,
        tokenizer=opened.tokenizer(tokenizer),
        **({"explainer": EXPLAINER} if opened.inline else {}),
    )
    return Explained(tuple(explained))


def show(
    functions: Functions | str | Path,
    samples: Any = None,
    *,
    row: int | Sequence[int] | None = None,
    columns: Mapping[str, str] | None = None,
    weights: Weights | None = None,
    tokenizer: Any = None,
    read_as: str = "",
) -> Overview:
    """Scores, distributions, and the partial credit of some rows, as one view in a notebook cell.

    Args:
        functions, samples, columns, weights, tokenizer, read_as: as in `score`.
        row: the number of the row, or of several, whose credit is shown; None: up to `SHOWN_ROWS` from the best paid
            to the worst.

    Returns:
        Overview: with `.scores` and `.explained`; a notebook draws it, without a server and without scripts.

    Raises:
        UsageError: a row that the samples do not have. Otherwise as `score`.

    Example:
        >>> def tagged(completions, **kwargs):
        ...     return [0.5 if "<answer>" in text else 0.0 for text in completions]
        >>> [explained.row for explained in show(tagged, ["four", "<answer>4"]).explained]
        [1, 0]
    """
    check_options(columns=columns, tokenizer=tokenizer, read_as=read_as, row=row)
    with _opened(functions, samples, columns, weights, read_as) as opened:
        scores = _score(opened, tokenizer)
        rows = rows_given(row)
        return Overview(
            scores, _explain(opened, spread_rows(scores.table) if rows is None else rows, tokenizer)
        )


def spread_rows(table: ScoreTable, most: int = SHOWN_ROWS) -> list[int]:
    """Up to `most` rows from the best total to the worst, evenly spread; rows without a total come last."""
    totals = [-math.inf if math.isnan(total) else float(total) for total in table.totals]
    ranked = sorted(range(len(totals)), key=lambda row: (-totals[row], row))
    if len(ranked) <= most:
        return ranked
    return [ranked[round(place * (len(ranked) - 1) / (most - 1))] for place in range(most)]


def check(
    functions: Functions | str | Path,
    samples: Any = None,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    quick: bool = False,
    assume_kinds: bool = False,
    columns: Mapping[str, str] | None = None,
    weights: Weights | None = None,
    tokenizer: Any = None,
    read_as: str = "",
) -> Checked:
    """Look for faults: every finding with the smallest completion that shows it.

    Args:
        functions, samples, columns, weights, tokenizer, read_as: as in `score`.
        select, ignore: starts of check codes (`"RW1"`).
        quick: leave out the checks that take longer.
        assume_kinds: take the kind that a name suggests for the declared one.

    Raises:
        As `score`.
    """
    from workbench.checks.runner import run_checks

    check_options(columns=columns, tokenizer=tokenizer, read_as=read_as)
    chosen, left_out = codes_given(select, "select"), codes_given(ignore, "ignore")
    with _opened(functions, samples, columns, weights, read_as) as opened:
        report = run_checks(
            opened.target,
            opened.samples,
            select=chosen,
            ignore=left_out,
            quick=quick,
            assume_kinds=assume_kinds,
            runner=opened.runner,
            batch=opened.batch(tokenizer),
        )
        return Checked(report.for_python())


def diff(
    old: Functions | str | Path,
    new: Functions | str | Path,
    samples: Any = None,
    *,
    columns: Mapping[str, str] | None = None,
    weights: Weights | None = None,
    tokenizer: Any = None,
    read_as: str = "",
) -> Compared:
    """Compare two versions of rewards on the same samples: rows, ranks, signs of advantages, code.

    Args:
        old, new: as `functions` of `score`; rewards are compared by name, single ones whatever their names.
        samples: the rows; None: those of the new side's manifest.
        columns, weights, tokenizer, read_as: as in `score`, for both sides.

    Raises:
        As `score`.
    """
    from workbench.sides import called, given_changes

    check_functions(old)
    options: dict[str, Any] = {"weights": weights, "tokenizer": tokenizer}
    scores_new = score(new, samples, columns=columns, read_as=read_as, **options)
    scores_old = score(old, scores_new.samples, **options)
    return Compared(
        compare(
            scores_old.table, scores_new.table, old=called(old), new=called(new), code=given_changes(old, new)
        ),
        scores_new.samples,
    )


# --------------------------------------------------------------------------------------------------- opening


@dataclass
class _Opened:
    """What a call works on while it runs."""

    target: str
    samples: Samples
    runner: Runner
    inline: bool
    weights: Mapping[str, float] | None
    cache: ScoreCache | None
    manifest: Any = None
    _batch: Any = None

    def tokenizer(self, given: Any) -> Any:
        """The tokenizer as given, else the project's."""
        return given if given is not None or self.inline else tokenizer_for(self.manifest)

    def batch(self, given: Any) -> Any:
        """The rows of the call, made once."""
        if self._batch is None:
            self._batch = self.samples.batch(self.tokenizer(given))
        return self._batch


@contextlib.contextmanager
def _opened(
    functions: Functions | str | Path,
    samples: Any,
    columns: Mapping[str, str] | None,
    weights: Weights | None,
    form: str,
) -> Iterator[_Opened]:
    check_functions(functions)
    check_weights(weights)
    with contextlib.ExitStack() as stack:
        if isinstance(functions, (str, Path)):
            target = str(functions)
            paths = _paths(samples)
            opened = (
                open_target(target, paths, form=form, columns=columns) if samples is None or paths else None
            )
            rows = opened.samples if opened is not None else in_form(_samples(samples, columns), form)
            if weights is not None and not isinstance(weights, Mapping):
                raise ArgumentError("weights of a target go by name: {'correctness': 2.0}")
            cache = stack.enter_context(ScoreCache(parse_target(target).root))
            runner = stack.enter_context(Runner())
            yield _Opened(target, rows, runner, False, weights, cache, opened.manifest if opened else None)
            return
        rows = in_form(_samples(samples, columns), form)
        weights = weights if weights is None or isinstance(weights, Mapping) else list(weights)
        inline = stack.enter_context(InlineSet(functions, weights))
        runner = stack.enter_context(ForkingRunner())
        yield _Opened(inline.target, rows, runner, True, None, None)


def _paths(samples: Any) -> list[Path]:
    """The files that samples are, [] where they are rows."""
    if isinstance(samples, (str, Path)):
        return [Path(samples)]
    if isinstance(samples, (list, tuple)) and samples and all(isinstance(item, Path) for item in samples):
        return list(samples)
    return []


def _samples(samples: Any, columns: Mapping[str, str] | None) -> Samples:
    if samples is None:
        raise ArgumentError("samples are missing: a list of rows, a data frame, a data set or a file's path")
    if isinstance(samples, Samples):
        return samples
    if paths := _paths(samples):
        return read_samples(paths, columns=columns, named=columns or ())
    return samples_from(samples, columns=columns)


__all__ = [
    "Checked",
    "Compared",
    "Explained",
    "Overview",
    "Scores",
    "check",
    "diff",
    "explain",
    "score",
    "show",
]
