"""RW127: a column of the data takes the place of a setting."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import numpy as np

from rewards.contract import Batch
from workbench.checks.check import RewardCheck, number
from workbench.checks.contract.unfilled_default import in_order, labelled_rows
from workbench.checks.finding import Cost, Finding
from workbench.checks.steadiness import plain_scores
from workbench.checks.subject import RewardSubject


class ColumnSetting(RewardCheck):
    """A column has the name of an argument that was meant as a setting.

    TRL passes every column of the data by its name. One called `tags` replaces `tags=["reasoning", "answer"]`, with a
    list of one value a row; nothing raises. Shown by a call without the column, in which labelled right samples score
    above wrong ones as they do not with it.

    Example:
        def layout(completions, tags=["think", "answer"], **kwargs):     # the data have a column `tags`

    Remedy:
        Bind settings where the trainer cannot reach them: `functools.partial`, a keyword with another name, `params`.
    """

    code = "RW127"
    name = "column-setting"
    severity = "warning"
    summary = "a column of the samples takes the place of a setting"
    cost = Cost.TEACHES_WRONG

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each column that spoils a setting."""
        assert subject.batch is not None
        names = [name for name in subject.description.signature.optional if name in subject.batch.columns]
        rows = labelled_rows(subject)
        if not rows or not subject.judged:
            return
        for name in set_by_default(subject, names):
            with_it = subject.variant(rows)
            columns = {key: values for key, values in with_it.columns.items() if key != name}
            without = Batch(
                with_it.prompts, with_it.completions, with_it.completion_ids, columns, with_it.groups
            )
            now = plain_scores(subject.bench.call(subject.name, with_it, timeout_s=subject.patience_s))
            then = plain_scores(subject.bench.call(subject.name, without, timeout_s=subject.patience_s))
            if np.isnan(then).any() or in_order(subject, rows, then) <= in_order(subject, rows, now):
                continue
            place = int(np.nanargmax(np.abs(then - np.nan_to_num(now))))
            yield self.finding(
                f"The column '{name}' takes the place of the setting '{name}' of {subject.name}: a sample scores "
                f"{number(float(now[place]))} with it and {number(float(then[place]))} without.",
                advice="Call one of the two otherwise, or bind the setting with functools.partial or params.",
                cause=name,
                reward=subject.name,
                evidence=subject.evidence(rows[place], got=float(now[place]), expected=float(then[place])),
                line=subject.description.line,
                count=len(rows),
            )


def set_by_default(subject: RewardSubject, names: list[str]) -> list[str]:
    """Those arguments whose default, as it is written, is a setting: neither None nor empty."""
    line = subject.description.line
    for node in ast.walk(subject.source.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno == line:
            plain = [*node.args.posonlyargs, *node.args.args]
            pairs = [
                *zip(plain[::-1], node.args.defaults[::-1], strict=False),
                *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
            ]
            written = {argument.arg: ast.unparse(value) for argument, value in pairs if value is not None}
            return [name for name in names if written.get(name, "None") not in ("None", "''", "()", "[]")]
    return []
