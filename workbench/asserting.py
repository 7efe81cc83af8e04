"""Rewards in plain tests: that checks find nothing, what a completion is paid, that better ones are paid more.

Every call runs in a process of its own with a deadline, like everywhere else, and an assertion that fails shows the
completion, what it got, what was expected and the line that paid it. Functions are taken as they are, also lambdas and
closures; a target (`"rewards.py::right"`, a project folder) will do too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewards.contract import completion_text
from workbench.api import Checked, check, explain, score
from workbench.inline import Functions
from workbench.reports.check_text import completion_lines, finding_text, safe

if TYPE_CHECKING:
    from workbench.checks.finding import Finding

TOLERANCE = 1e-9
_WIDTH = 90


def check_reward(
    function: Functions | str,
    samples: Any = None,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    quick: bool = True,
    fail_on: str = "error",
    waive: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Checked:
    """Check rewards and fail if something is found.

    Args:
        function: a function, several, or a target.
        samples: completions with columns and labels (a list of rows, a data frame, a file); None: those of the target.
        select, ignore: starts of check codes, `["RW1"]`.
        quick: leave out the checks that take long.
        fail_on: the lowest severity that fails: "error", "warning" or "info".
        waive: reasons by check code, `{"RW122": "prints, for now"}`; a finding of several checks needs one for each.
        columns: names to change in the samples, source = target.

    Returns:
        What was found, for tests of their own.

    Raises:
        AssertionError: something was found; the text is that of `reward-workbench check`.
        UsageError, SamplesError, LoadError: as `workbench.check`.
    """
    __tracebackhide__ = True
    checked = check(function, samples, select=select, ignore=ignore, quick=quick, columns=columns)
    accepted = waive or {}
    standing = [
        finding
        for finding in checked.findings
        if not finding.accepted
        and any(one.at_least(fail_on) and not accepted.get(one.check) for one in (finding, *finding.also))
    ]
    if standing:
        texts = [_told(finding, checked) for finding in standing]
        raise AssertionError("\n".join([f"{len(standing)} finding{'s' * (len(standing) != 1)}", *texts]))
    return checked


def _told(finding: Finding, checked: Checked) -> str:
    described = checked.report.description.reward(finding.reward) if finding.reward else None
    return finding_text(finding, described)


def assert_pays(
    function: Functions | str,
    completion: Any,
    score_wanted: float | None = None,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    prompt: Any = "",
    tolerance: float = TOLERANCE,
    **columns: Any,
) -> None:
    """Fail unless a reward gives a completion this score (the weighted total, where there are several).

    Args:
        function: a function, several, or a target.
        completion: a text, or chat messages.
        score_wanted: the score; None with no bound: the reward is to abstain.
        at_least, at_most: bounds instead of a score.
        prompt: a text, or chat messages.
        tolerance: by how much a score may differ from the one wanted.
        columns: the row's columns, `answer="4"`.

    Raises:
        AssertionError: with completion, got, expected and the line that paid it; also where the reward fails.

    Example:
        >>> def short(completions, **kwargs):
        ...     return [1.0 if len(text) < 4 else 0.0 for text in completions]
        >>> assert_pays(short, "yes", 1.0)
        >>> assert_pays(short, "certainly", at_most=0.5)
    """
    __tracebackhide__ = True
    row = _row(completion, prompt, columns)
    [got] = _totals(function, [row])
    named = (("at least", at_least), ("at most", at_most))
    bounds = [f"{words} {bound:g}" for words, bound in named if bound is not None]
    if bounds:
        low, high = _or(at_least, -math.inf), _or(at_most, math.inf)
        fine = isinstance(got, float) and low - tolerance <= got <= high + tolerance
        expected = " and ".join(bounds)
    elif score_wanted is None:
        fine, expected = got is None, "no score (None)"
    else:
        fine = isinstance(got, float) and abs(got - score_wanted) <= tolerance
        expected = f"{score_wanted:g}"
    if not fine:
        raise AssertionError("\n".join(_shown(function, row, got, expected)))


def assert_ranks(
    function: Functions | str, completions: Sequence[Any], *, prompt: Any = "", **columns: Any
) -> None:
    """Fail unless a reward pays completions of one prompt in falling order, each more than the next.

    Args:
        function, prompt, columns: as in `assert_pays`; one value of each column for all completions.
        completions: the best first.

    Raises:
        AssertionError: the first two that are not in order, with what each got and the lines that paid them.
        ValueError: fewer than two completions.

    Example:
        >>> def tags(completions, **kwargs):
        ...     return [text.count("<") / 2 for text in completions]
        >>> assert_ranks(tags, ["<a></a>", "<a>", "a"])
    """
    __tracebackhide__ = True
    if len(completions) < 2:
        raise ValueError(
            f"assert_ranks needs two completions or more, the best first, not {len(completions)}"
        )
    rows = [_row(completion, prompt, columns) for completion in completions]
    totals = _totals(function, rows)
    for place, (better, worse) in enumerate(itertools.pairwise(totals)):
        in_order = isinstance(better, float) and isinstance(worse, float) and better > worse
        if not in_order:
            first = _shown(function, rows[place], better, f"more than that of number {place + 2}")
            second = _shown(function, rows[place + 1], worse, f"less than that of number {place + 1}")
            raise AssertionError(
                "\n".join(
                    [f"number {place + 1} of {len(rows)} is not paid more than the next", *first, *second]
                )
            )


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


def _row(completion: Any, prompt: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(completion, list) and isinstance(prompt, str):
        prompt = [{"role": "user", "content": prompt}]
    return {"prompt": prompt, "completion": completion, **columns}


def _totals(function: Functions | str, rows: list[dict[str, Any]]) -> list[float | str | None]:
    """The total of each row; None where every reward abstained, a sentence where one failed."""
    scores = score(function, rows, jobs=1)
    table = scores.table
    totals: list[float | str | None] = []
    for number, row in enumerate(table.rows()):
        failed = next(iter(row["errors"].values()), None)
        value = float(table.totals[number])
        totals.append(failed if failed is not None else None if math.isnan(value) else value)
    return totals


def _shown(function: Functions | str, row: Mapping[str, Any], got: Any, expected: str) -> list[str]:
    """Completion, got, expected, and what paid it."""
    lines = list(completion_lines(row["completion"], _WIDTH)) or ["(no message)"]
    shown = [f"completion  {lines[0]}", *(f"            {line}" for line in lines[1:])]
    extra = {name: value for name, value in row.items() if name not in ("prompt", "completion")}
    if extra:
        shown.append(
            "columns     " + ", ".join(f"{name} = {safe(repr(value))}" for name, value in extra.items())
        )
    shown.append(
        f"got         {'None' if got is None else f'{got:g}' if isinstance(got, float) else safe(str(got))}"
    )
    shown.append(f"expected    {expected}")
    if isinstance(got, float):
        shown += _paid(function, row)
    return shown


def _paid(function: Functions | str, row: Mapping[str, Any]) -> list[str]:
    """The credits of the row, with their lines."""
    text = completion_text(row["completion"])
    lines = []
    for reward in explain(function, [dict(row)])[0].rewards:
        for credit in (*reward.credits, *reward.missed):
            where = f"line {credit.line}" if credit.line is not None else reward.name
            words = " … ".join(text[start:end] for start, end in credit.spans)[:60]
            most = f" of {credit.of:g}" if credit in reward.missed and credit.of is not None else ""
            told = f"{where:<12}{credit.points:+g}{most}  {safe(credit.condition or credit.name)[:80]}"
            lines.append(f"{told}  ({safe(words)})" if words else told)
    return lines


__all__ = ["assert_pays", "assert_ranks", "check_reward"]
