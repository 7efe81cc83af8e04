"""The page of `check --format html`: findings with what shows them, in one file that needs nothing else.

No script and nothing from elsewhere; light and dark follow the reader's system. Every word of a completion, a prompt
or a name is escaped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from workbench.checks.check import FAMILIES
from workbench.checks.finding import SEVERITIES, Finding
from workbench.checks.report import Report
from workbench.reports import svg
from workbench.reports.check_text import sealed_words, value_words

SET = "the set"
_KEPT = 4_000
"""Characters shown of a completion."""
_AROUND = 2
"""Lines of code shown before and after that of a finding."""
_SLOWEST = 12


def check_html(report: Report) -> str:
    """The whole page as HTML text."""
    folder = Path(__file__).parent
    style = "".join((folder / name).read_text(encoding="utf-8") for name in ("score.css", "check.css"))
    sections = [_head(report), _map(report)]
    sections += [_of_reward(report, reward.name, reward.findings) for reward in report.rewards]
    sections += [_of_reward(report, SET, report.findings), _durations(report), _skipped(report)]
    foot = "".join(f"<p>{escape(note)}</p>" for note in report.notes)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{_text(report.description.name)}: checks</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(section for section in sections if section)
        + f"\n<footer>{foot}</footer>\n</main>\n</body>\n</html>\n"
    )


def _text(value: Any) -> str:
    """Any text as HTML that can be encoded: broken emoji as escapes."""
    return escape(str(value).encode("utf-8", "backslashreplace").decode("utf-8"))


def _section(title: str, about: str, body: str, aside: str = "") -> str:
    told = f"<p class=about>{_text(about)}</p>" if about else ""
    return f"<section><h2>{_text(title)}{aside}</h2>{told}{body}</section>" if body else ""


# --------------------------------------------------------------------------------------------------- parts


def _head(report: Report) -> str:
    live = [finding for finding in report.all_findings if not finding.accepted]
    counts = {level: sum(finding.severity == level for finding in live) for level in reversed(SEVERITIES)}
    accepted = len(report.all_findings) - len(live)
    weak = "weak: no samples labelled right and wrong"
    labels = f"{report.right} right and {report.wrong} wrong among {report.rows} samples"
    about = [labels if report.right or report.wrong else f"{report.rows} samples"]
    about += [sealed_words(report.proved)] if report.proved is not None else []
    about += ["quick: what takes long was left out"] if report.quick else []
    tiles = [
        (report.verdict, f"fails on {report.fail_on}", f"tile-{report.verdict}"),
        *((str(counts[level]), level + "s" * (level != "info"), level) for level in counts),
        *([(str(accepted), "accepted", "")] if accepted else []),
        (str(len(report.ran)), "checks", ""),
        (report.strength, "evidence" if report.strength == "strong" else f"evidence, {weak}", ""),
        (f"{report.seconds:.1f} s", "all together", ""),
    ]
    cells = "".join(
        f"<div class='tile {kind}'><b>{_text(value)}</b><span>{_text(what)}</span></div>"
        for value, what, kind in tiles
    )
    held = "".join(f"<p>{_text(sentence)}</p>" for sentence in report.held_back)
    return (
        f"<header><h1>{_text(report.description.name)}</h1><p>{_text(' · '.join(about))}</p>"
        f"<div class=tiles>{cells}</div>{held}</header>"
    )


def _map(report: Report) -> str:
    """Rewards by families: the worst of each, so that one look says where to begin."""
    families = [family for family in FAMILIES if any(code.startswith(family) for code, _ in report.ran)]
    rows = [*((reward.name, reward.findings) for reward in report.rewards), (SET, report.findings)]
    cell, left, top, tall = 76.0, 190.0, 26.0, 34.0
    titles = [FAMILIES[family].partition(":")[0].partition(",")[0] for family in families]
    parts = [
        svg.text(left + at * cell + cell / 2, 15, title, anchor="middle", kind="small")
        for at, title in enumerate(titles)
    ]
    for row, (name, findings) in enumerate(rows):
        y = top + row * tall
        parts.append(svg.text(left - 12, y + tall / 2 + 4, name[:26], anchor="end"))
        for at, family in enumerate(families):
            live = [f for f in findings if f.check.startswith(family) and not f.accepted]
            worst = max((f.severity for f in live), key=SEVERITIES.__getitem__, default=None)
            fill = f"var(--{worst})" if worst else "var(--soft)"
            hint = f"{name}, {FAMILIES[family].partition(':')[0]}: " + (
                ", ".join(f"{f.check} {f.name}" for f in live) or "nothing found"
            )
            parts.append(svg.rectangle(left + at * cell + 2, y + 2, cell - 4, tall - 4, fill, hint))
            if live:
                middle = left + at * cell + cell / 2
                parts.append(
                    svg.text(middle, y + tall / 2 + 4, str(len(live)), anchor="middle", kind="on-bar")
                )
    picture = svg.picture(
        left + len(families) * cell,
        top + len(rows) * tall,
        "Findings of each reward by family of checks",
        parts,
    )
    legend = "".join(f"<i style='background:var(--{level})'></i>{level} " for level in reversed(SEVERITIES))
    return _section(
        "Where", "Findings of each reward by family of checks; the colour is the worst of them.",
        picture + f"<p class=legend>{legend}<i style='background:var(--soft)'></i>nothing found</p>",
    )  # fmt: skip


def _of_reward(report: Report, name: str, findings: Sequence[Finding]) -> str:
    if name == SET and not findings:
        return ""
    about = ""
    if name != SET:
        entry = report.description.reward(name).entry
        about = f" <small>{_text(entry.kind + ', ' if entry.kind else '')}weight {entry.weight:g}</small>"
    first = _first_of_matter(report)
    body = (
        "".join(_finding(report, finding, open=id(finding) in first) for finding in findings)
        or "<p class=fine>Nothing found.</p>"
    )
    return _section(name, "", body, about)


def _first_of_matter(report: Report) -> set[int]:
    """Findings to show at once: what fails or warns; the same matter in a further reward is folded."""
    first: dict[tuple[str, str, str], int] = {}
    for finding in [*(finding for reward in report.rewards for finding in reward.findings), *report.findings]:
        if not finding.accepted and finding.severity != "info":
            first.setdefault((finding.check, finding.cause, finding.advice), id(finding))
    return set(first.values())


def _finding(report: Report, finding: Finding, *, open: bool) -> str:
    level = "waived" if finding.waived is not None else "known" if finding.known else finding.severity
    count = f"<small>{finding.count} samples</small>" if finding.count > 1 else ""
    reason = f"<p class=reason>Waived: {_text(finding.waived)}</p>" if finding.waived is not None else ""
    shown = " open" if open else ""
    return (
        f"<details class=finding{shown}><summary><b class='level {level}'>{level}</b> "
        f"<b>{finding.check} {_text(finding.name)}</b>{count}<p>{_text(finding.message)}</p></summary>"
        f"{reason}{_evidence(report, finding)}{_code(report, finding)}"
        f"<p class=advice>{_text(finding.advice)}</p></details>"
    )


def _evidence(report: Report, finding: Finding) -> str:
    evidence = finding.evidence
    parts = []
    if evidence.completion is not None:
        if evidence.prompt is not None:
            parts.append(("prompt", f"<pre>{_cut(_plain(evidence.prompt))}</pre>"))
        empty = "<pre class=empty>empty</pre>"
        text = _plain(evidence.completion)
        parts.append(("completion", f"<pre>{_cut(text)}</pre>" if text else empty))
        columns = _columns(report, finding)
        if columns:
            parts.append(("columns", f"<code>{_text(columns)}</code>"))
    pair = [
        (name, value)
        for name, value in (("got", evidence.got), ("expected", evidence.expected))
        if value is not None
    ]
    comparable = len(pair) == 2 and all(_is_number(value) for _, value in pair)
    most = max(abs(value) for _, value in pair) if comparable else 0.0
    parts += [(name, _value(value, most, name)) for name, value in pair]
    listed = "".join(f"<dt>{name}</dt><dd>{content}</dd>" for name, content in parts)
    return f"<dl class=evidence>{listed}</dl>" if listed else ""


def _plain(value: Any) -> str:
    """A text as it is; messages with their roles, the only one without."""
    if isinstance(value, list) and all(isinstance(message, Mapping) for message in value):
        if len(value) == 1 and isinstance(value[0].get("content"), str):
            return str(value[0]["content"])
        calls = [" with a tool call" if message.get("tool_calls") else "" for message in value]
        return "\n".join(
            f"[{message.get('role')}{call}] {message.get('content')}"
            for message, call in zip(value, calls, strict=True)
        )
    return str(value)


def _cut(text: str) -> str:
    shown = text if len(text) <= _KEPT else text[:_KEPT] + f"\n[… {len(text) - _KEPT} more characters …]"
    return _text(shown)


def _columns(report: Report, finding: Finding) -> str:
    columns = finding.evidence.columns
    if not columns or finding.reward is None:
        return ""
    signature = report.description.reward(finding.reward).signature
    read = [name for name in columns if name in (*signature.required, *signature.optional)]
    return ", ".join(f"{name} = {json.dumps(columns[name], default=repr)[:200]}" for name in read)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _value(value: Any, most: float, name: str) -> str:
    if not _is_number(value):
        return f"<code>{_text(value_words(value)[:400])}</code>"
    if not most:
        return f"<code>{value:.6g}</code>"
    wide = 160.0 * abs(value) / most
    fill = "var(--info)" if name == "expected" else "var(--ink-3)"
    bar = svg.picture(164, 10, f"{name} {value:g}", [svg.rectangle(0, 1, max(wide, 1.0), 8, fill)])
    return f"<span class=number><code>{value:.6g}</code>{bar}</span>"


def _code(report: Report, finding: Finding) -> str:
    if finding.line is None or finding.reward is None:
        return ""
    file = report.description.reward(finding.reward).file
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").split("\n") if file else []
    except OSError:
        lines = []
    if not file or not 0 < finding.line <= len(lines):
        return ""
    first = max(1, finding.line - _AROUND)
    shown = "".join(  # a block each: no new lines between them
        f"<span class='{'here' if number == finding.line else 'near'}'><i>{number:>4}</i> "
        f"{_text(lines[number - 1])}</span>"
        for number in range(first, min(len(lines), finding.line + _AROUND) + 1)
    )
    return f"<p class=file>{_text(Path(file).name)}, line {finding.line}</p><pre class=code>{shown}</pre>"


def _durations(report: Report) -> str:
    slowest = sorted(report.durations.items(), key=lambda item: -item[1])[:_SLOWEST]
    slowest = [(code, seconds) for code, seconds in slowest if seconds >= 0.01]
    if not slowest:
        return ""
    left, width, line = 70.0, 720.0, 20.0
    parts = []
    for at, (code, seconds) in enumerate(slowest):
        wide = seconds / slowest[0][1] * (width - left - 70)
        parts.append(svg.text(left - 10, at * line + 14, code, anchor="end"))
        parts.append(
            svg.rectangle(left, at * line + 3, wide, line - 6, "var(--s0)", f"{code}: {seconds:.3f} s")
        )
        parts.append(svg.text(left + wide + 6, at * line + 14, f"{seconds:.2f} s", kind="small"))
    return _section(
        "Time",
        "The checks that took longest.",
        svg.picture(width, len(slowest) * line, "Seconds a check", parts),
    )


def _skipped(report: Report) -> str:
    reasons: dict[str, list[str]] = {}
    for item in report.skipped:
        reasons.setdefault(item.to_json()["why"], []).append(item.check)
    listed = "".join(
        f"<li>{_text(why)}: {', '.join(sorted(set(codes)))}</li>" for why, codes in reasons.items()
    )
    return _section("Not run", "", f"<ul>{listed}</ul>") if listed else ""


__all__ = ["check_html"]
