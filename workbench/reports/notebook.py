"""How results show themselves in a notebook: small HTML that brings its own, fenced style.

Colours are taken from the notebook (`currentColor`) so that it is right on light and dark ground; every word of a
model or a user is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from rewards.contract import completion_text
from workbench.difference import Difference
from workbench.distributions import Distribution, Distributions
from workbench.explanation import RowExplanation
from workbench.reports import svg
from workbench.reports.diff_text import number, ranks_said
from workbench.reports.score_text import CANCEL, counted, percent, signed, unsigned
from workbench.samples import Samples
from workbench.scoring import ScoreTable

if TYPE_CHECKING:
    from workbench.checks.report import Report

_ROWS = 12
_TEXT = 160

STYLE = """<style>
.rw-out { --s0:#2f74dd; --s1:#0f9488; --s2:#9254d6; --s3:#d9489a; --s4:#7a9a1a; --s5:#c0782f; --s6:#5567cc; --s7:#3a9d62;
  --soft:color-mix(in srgb, currentColor 10%, transparent); font-variant-numeric:tabular-nums; max-width:1100px; }
.rw-out table { border-collapse:collapse; margin:.4em 0; } .rw-out p { margin:.3em 0; }
.rw-out th, .rw-out td { text-align:right; padding:3px 10px; border:0; border-top:1px solid var(--soft); vertical-align:middle;
  font-weight:400; background:none; }
.rw-out tr > :first-child, .rw-out td.rw-text { text-align:left; } .rw-out td.rw-text { overflow-wrap:anywhere; }
.rw-out thead th { opacity:.7; font-size:90%; border-top:0; } .rw-out svg { display:block; width:190px; height:auto; }
.rw-out svg text { fill:currentColor; font-size:15px; opacity:.75; } .rw-out .rule { stroke:currentColor; opacity:.25; }
.rw-out pre { white-space:pre-wrap; overflow-wrap:anywhere; padding:8px 10px; background:var(--soft); border-radius:5px; margin:.4em 0; }
.rw-out mark { background:color-mix(in srgb, #2f74dd 32%, transparent); color:inherit; border-radius:2px; }
.rw-out mark.rw-cost { background:color-mix(in srgb, #d76a10 38%, transparent); }
.rw-out mark.rw-none { background:none; text-decoration:underline; } .rw-out .rw-quiet { opacity:.65; }
</style>"""  # noqa: E501  # a style sheet


def _framed(*parts: str) -> str:
    return f'<div class="rw-out">{STYLE}{"".join(parts)}</div>'


def _table(head: Sequence[str], rows: Sequence[str]) -> str:
    cells = "".join(f"<th>{escape(word)}</th>" for word in head)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _row(*cells: str, text: bool = False) -> str:
    inside = "".join(f"<td>{cell}</td>" for cell in (cells[:-1] if text else cells))
    return f"<tr>{inside}" + (f'<td class="rw-text">{cells[-1]}</td>' if text else "") + "</tr>"


# ---------------------------------------------------------------------------------------------------- scores


def overview_html(
    table: ScoreTable, samples: Samples, found: Distributions, rows: Sequence[RowExplanation]
) -> str:
    """Distributions, a table of the explained rows' scores, and each one's text with its credits to unfold."""
    lines = [
        _row(
            str(row.row), escape(table.groups[row.row]), *(_cell(table, row.row, at) for at in range(len(table.names))),
            number(table.totals[row.row]), signed(float(table.advantages[row.row])),
            escape(_cut(completion_text(samples.completions[row.row]))),
            text=True,
        )
        for row in rows[:_ROWS]
    ]  # fmt: skip
    head = ["row", "group", *table.names, "total", "advantage", "completion"]
    shown = "".join(
        f"<details{' open' if not at else ''}><summary>row {row.row}: where it comes from</summary>"
        f"{_explained(row)}</details>"
        for at, row in enumerate(rows[:_ROWS])
    )
    return _framed(_scores(table, found), _table(head, lines) if lines else "", shown)


def _cell(table: ScoreTable, row: int, at: int) -> str:
    why = table.errors.get((row, table.names[at]))
    return escape(f"failed: {_cut(why)}") if why else escape(number(float(table.scores[row, at])))


def scores_html(table: ScoreTable, found: Distributions) -> str:
    """A line a reward with its histogram, and what training would learn."""
    return _framed(_scores(table, found))


def _scores(table: ScoreTable, found: Distributions) -> str:
    head = [
        "reward",
        "weight",
        "mean",
        "deviation",
        "none",
        "failed",
        "share",
        "no spread",
        "push",
        "distribution",
    ]
    rows = [_reward(column, at, found) for at, column in enumerate(found.columns)]
    signal = found.signal
    words = [counted(len(table), len(found.groups))]
    if signal.groups:
        words.append(
            f"{signal.dead} groups ({percent(signal.dead / signal.groups)}) have no spread and teach nothing"
        )
        words.append(f"mean |advantage| {unsigned(signal.advantage)}")
    if found.between.cancel:
        words.append(CANCEL)
    notes = "".join(f'<p class="rw-quiet">{escape(note)}</p>' for note in table.notes)
    return f"<p>{escape('; '.join(words))}</p>{_table(head, rows)}{_failed(table)}{notes}"


def _reward(column: Distribution, at: int, found: Distributions) -> str:
    bars = column.histogram
    fill = "currentColor" if column.weight is None else svg.colour(at)
    drawn = (
        svg.histogram(bars.low, bars.high, bars.counts, bars.values, f"Distribution of {column.name}", fill)
        if bars is not None
        else "no number"
    )
    of_reward = column.weight is not None
    return _row(
        escape(column.name),
        "" if column.weight is None else f"{column.weight:g}",
        number(column.mean),
        number(column.deviation),
        str(column.none + column.nan or ""),
        str(column.failed or ""),
        percent(found.between.share[at]) if of_reward else "",
        percent(column.dead),
        signed(found.signal.pushes.get(column.name, math.nan)) if of_reward else "",
        drawn,
    )


def _failed(table: ScoreTable) -> str:
    if not table.errors:
        return ""
    (row, name), why = next(iter(table.errors.items()))
    return f"<p>{len(table.errors)} failures, the first: {escape(name)}, row {row}: {escape(why)}</p>"


# ---------------------------------------------------------------------------------------------- explanations


def explained_html(rows: Sequence[RowExplanation]) -> str:
    """Each row's text with its places marked, and its credits."""
    shown = "".join(_explained(row) for row in rows[:_ROWS])
    more = f'<p class="rw-quiet">and {len(rows) - _ROWS} rows more</p>' if len(rows) > _ROWS else ""
    return _framed(shown, more)


def _explained(row: RowExplanation) -> str:
    lines = []
    for reward, weight in zip(row.rewards, row.weights, strict=True):
        title = f"<b>{escape(reward.name)}</b> {escape(_score(reward.score))}"
        title += f" <span class=rw-quiet>x weight {weight:g}</span>"
        if reward.error:
            title += f" <span class=rw-quiet>{escape(reward.error)}</span>"
        lines.append(f"<tr><td colspan=5>{title}</td></tr>")
        for credit, missed in [
            *((credit, False) for credit in reward.credits),
            *((c, True) for c in reward.missed),
        ]:
            because = escape(credit.condition or "")
            if credit.condition is not None and credit.value is not None:
                because += f" <span class=rw-quiet>{escape(str(credit.value))}</span>"
            if credit.compared is not None:
                because += escape(f"  {credit.compared[0]} with {credit.compared[1]}")
            quiet = ' class="rw-quiet"' if missed else ""
            of = "" if credit.of is None else f"{credit.of:g}"
            lines.append(
                f"<tr{quiet}><td>{credit.points:+.4g}</td><td>{of}</td><td>{credit.line or ''}</td>"
                f"<td class=rw-text>{escape(credit.name)}</td><td class=rw-text>{because}</td></tr>"
            )
    total = "" if row.total is None else f", total {number(row.total)}"
    head = ["points", "of", "line", "for", "because"]
    return f"<p><b>row {row.row}</b>{total}</p><pre>{_marked(row)}</pre>{_table(head, lines)}"


def _score(score: float | str | None) -> str:
    return "no opinion" if score is None else number(score) if isinstance(score, (int, float)) else score


def _marked(row: RowExplanation) -> str:
    """The text with the places that credits rest on; where they overlap, the first credit has it."""
    owner = [""] * len(row.text)
    for reward in row.rewards:
        for credit in reward.credits:
            kind = "rw-paid" if credit.points > 0 else "rw-cost" if credit.points < 0 else "rw-none"
            for start, end in credit.spans:
                for at in range(max(0, start), min(end, len(owner))):
                    owner[at] = owner[at] or kind
    parts, at = [], 0
    while at < len(owner):
        end = at
        while end < len(owner) and owner[end] == owner[at]:
            end += 1
        piece = escape(row.text[at:end])
        parts.append(f'<mark class="{owner[at]}">{piece}</mark>' if owner[at] else piece)
        at = end
    return "".join(parts)


# --------------------------------------------------------------------------------------- checks and comparisons


def checked_html(report: Report) -> str:
    """A line a finding, with what shows it."""
    rows = []
    for finding in report.all_findings:
        shown = (
            completion_text(finding.evidence.completion) if finding.evidence.completion is not None else ""
        )
        evidence = f"<br><code>{escape(_cut(shown))}</code>" if shown else ""
        words = f"{escape(finding.message)}<br><span class=rw-quiet>{escape(finding.advice)}</span>{evidence}"
        rows.append(
            _row(
                escape(f"{finding.check} {finding.name}"),
                finding.severity,
                escape(finding.reward or ""),
                words,
                text=True,
            )
        )
    verdict = "passed" if report.verdict == "pass" else "does not pass"
    count = len(rows)
    said = (
        f"{verdict}: {count} finding{'s' * (count != 1)}, {len(report.ran)} checks on {report.rows} samples"
    )
    held = "".join(f"<p>{escape(sentence)}</p>" for sentence in report.held_back)
    return _framed(
        f"<p><b>{escape(said)}</b></p>{held}",
        _table(["check", "severity", "reward", ""], rows) if rows else "",
    )


def compared_html(found: Difference, samples: Samples) -> str:
    """A line a reward, what would be taught, the code, and the rows that change most."""
    columns = [*found.rewards, found.total]
    changes = [
        _row(
            escape(change.both_names), *(str(count or "") for count in (change.better, change.worse, change.equal)),
            str(change.lost + change.gained or ""), f"{number(change.mean_before)} → {number(change.mean_after)}",
        )
        for change in columns
    ]  # fmt: skip
    said = (
        f"{found.flips} advantages change sign, {found.silenced} fall silent, {found.woken} wake up; "
        f"{ranks_said(found)}; groups without spread {found.dead_before} → {found.dead_after}"
    )
    rows = [
        _row(
            str(row.row), "→".join(signed(value) for value in row.advantage), "sign" if row.flips else "",
            escape(", ".join(f"{name} {number(a)} → {number(b)}" for name, (a, b) in row.scores.items() if a != b)),
            escape(_cut(completion_text(samples.completions[row.row]))),
            text=True,
        )
        for row in found.changed(_ROWS)
    ]  # fmt: skip
    code = "".join(f"<pre>{escape(change.diff)}</pre>" for change in found.code)
    return _framed(
        f"<p><b>{escape(found.old)} → {escape(found.new)}</b></p>",
        _table(["reward", "better", "worse", "equal", "lost or gained", "mean"], changes),
        f"<p>{escape(said)}</p>",
        code,
        _table(["row", "advantage", "", "scores", ""], rows) if rows else "",
    )


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _TEXT else text[: _TEXT // 2] + " … " + text[-_TEXT // 2 :]
