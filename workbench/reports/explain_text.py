"""Explanations for a terminal: the completion with its matches marked, and a table of credits a reward."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from rewards.tracing.explanation import Credit, RewardExplanation
from workbench.explanation import RowExplanation
from workbench.reports.plain import visible
from workbench.standing import Standing

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

_WIDTH = 110
"""Columns where the output is no terminal."""

_KEPT = 2_400
"""Characters of a completion shown; the middle of a longer one is left out, but never a marked place."""

_AROUND = 60

_QUOTED = 40
"""Characters of a place that are quoted in a table."""

_WORDS = 3
"""Places that are quoted in a table."""


def printer(format: str) -> Callable[[RowExplanation], None]:
    """A function that prints explained rows one by one: `json` for an object a line, else `text`."""
    if format == "json":
        return _print_json
    from rich.console import Console

    console = Console() if sys.stdout.isatty() else Console(width=_WIDTH, color_system=None)
    return lambda explained: console.print(*rendered(explained), sep="\n")


def _print_json(explained: RowExplanation) -> None:
    sys.stdout.write(json.dumps(explained.to_json(), allow_nan=False, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def to_text(explained: RowExplanation, width: int = _WIDTH) -> str:
    """The explanation as plain text."""
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), width=width, color_system=None)
    _print(console, explained)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def _print(console: Console, explained: RowExplanation) -> None:
    console.print(*rendered(explained), sep="\n")


def rendered(explained: RowExplanation) -> list[RenderableType]:
    """What is printed for a row: a heading, the marked text, a table a reward."""
    from rich.rule import Rule
    from rich.text import Text

    heading = Text(f"row {explained.row}", style="bold")
    heading.append(f"  {explained.id}" * (explained.id != str(explained.row)), style="dim")
    if explained.total is not None:
        heading.append(f"  total {number(explained.total)}")
    parts: list[RenderableType] = [Rule(heading, align="left", style="dim"), marked(explained), Text()]
    known = explained.ceilings or (None,) * len(explained.rewards)
    for reward, weight, most in zip(explained.rewards, explained.weights, known, strict=True):
        parts += [_title(reward, weight, most), *_table(reward, explained.text), *_remarks(reward), Text()]
    if explained.standing is not None and explained.standing.rows > 1:
        parts += [_standing(explained.standing), Text()]
    return parts


def _standing(standing: Standing) -> Text:
    """The row's place in its group, and what would overtake the next better row."""
    from rich.text import Text

    words = f"rank {standing.rank} of {standing.rows} in its group, advantage {standing.advantage:+.2f}"
    words += f" (total {number(standing.total)}, the group's mean {number(standing.mean)})"
    if standing.next_row is not None:
        words += f"; row {standing.next_row} is {number(standing.gap)} ahead"
        gains = " and ".join(f"{gain.name} (+{number(gain.points)})" for gain in standing.gains)
        words += f", {gains} would overtake it" if gains else ""
    return Text(words, style="dim")


def _title(reward: RewardExplanation, weight: float, most: float | None = None) -> Text:
    from rich.text import Text

    title = Text(reward.name, style="bold cyan")
    if isinstance(reward.score, float):
        title.append(f"  {number(reward.score)}", style="bold")
        title.append(f" of {number(most)}" if most is not None and most != reward.score else "")
        title.append(f"  x weight {weight:g} = {number(weight * reward.score)}", style="dim")
    else:
        title.append(f"  {'failed' if reward.error else reward.score or 'no opinion'}", style="bold yellow")
    if isinstance(reward.score, float) and not reward.exact:
        some = "the credits below do not explain all of it"
        title.append(f"  {some if reward.credits else 'its parts are not known'}", style="yellow")
    return title


def _ran(reward: RewardExplanation) -> str:
    """The lines that ran, neighbours as a range."""
    ranges: list[list[int]] = []
    for one in reward.lines:
        if ranges and one.line == ranges[-1][-1] + 1:
            ranges[-1][1:] = [one.line]
        else:
            ranges.append([one.line])
    return ", ".join("-".join(map(str, each)) for each in ranges)


def _table(reward: RewardExplanation, text: str) -> list[Table]:
    from rich import box
    from rich.table import Table

    if not reward.credits and not reward.missed:
        return []
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("of", justify="right", no_wrap=True, style="dim")
    table.add_column("line", justify="right", no_wrap=True, style="dim")
    table.add_column("for", ratio=2, overflow="fold")
    table.add_column("because", ratio=4, overflow="fold")
    for credit in reward.credits:
        table.add_row(*_cells(credit, text), style=None if credit.points else "dim")
    for credit in reward.missed:
        table.add_row(*_cells(credit, text), style="dim")
    return [table]


def _cells(credit: Credit, text: str) -> tuple[Text, str, str, Text, Text]:
    from rich.text import Text

    style = "green" if credit.points > 0 else "red" if credit.points < 0 else ""
    named = paid_for(credit, text)
    because = Text(credit.condition or (credit.name if named != credit.name else ""))
    if credit.condition is not None and credit.value is not None:  # None: a test that was not made
        because.append(f"  {_value(credit)}", style="dim")
    if credit.compared is not None:
        because.append(f"  {credit.compared[0]} with {credit.compared[1]}", style="dim")
    if credit.place is not None:
        because.append(f"  ({credit.place})", style="dim")
    if credit.note is not None:
        because.append(f"  {credit.note}", style="italic")
    return (
        Text(f"{credit.points:+.4g}" if credit.points else "0", style=style),
        "" if credit.of is None else number(credit.of),
        "" if credit.line is None else str(credit.line),
        Text(named),
        because,
    )


def paid_for(credit: Credit, text: str) -> str:
    """What a credit was given for: its name, or where that is code, which `because` has, the words that matched."""
    words = list(dict.fromkeys(" ".join(text[start:end].split()) for start, end in credit.spans))
    words = [visible(one) for one in words if one]
    code = not credit.name.isidentifier() if credit.condition is None else _repeats(credit)
    if not words or not code or words == [credit.name]:
        return credit.name
    shown = [f'"{_shortened(one)}"' for one in words[:_WORDS]]
    return ", ".join([*shown, "…"] if len(words) > _WORDS else shown)


def _repeats(credit: Credit) -> bool:
    """Whether the name of a credit is the code of its condition, or the beginning of it."""
    code = " ".join((credit.condition or "").split())
    name = credit.name.removesuffix("…")
    if name != credit.name:
        return code.startswith(name)
    return re.search(rf"(?<![\w'\"]){re.escape(name)}(?![\w'\"])", code) is not None


def _shortened(text: str) -> str:
    """The beginning of a text, cut behind a word; one long word is cut inside."""
    if len(text) <= _QUOTED:
        return text
    head, space, _ = text[:_QUOTED].rpartition(" ")
    return f"{head if space else text[: _QUOTED - 1]}…"


def _value(credit: Credit) -> str:
    if isinstance(credit.value, bool):
        return "yes" if credit.value else "no"
    return f"= {credit.value}"


def _remarks(reward: RewardExplanation) -> list[Text]:
    from rich.text import Text

    remarks = [Text(f"  {visible(reward.error)}", style="yellow")] if reward.error else []
    if reward.lines and not reward.credits and not reward.exact:
        remarks.append(Text(f"  lines that ran: {_ran(reward)}"))
    return remarks + [Text(f"  note: {note}", style="dim italic") for note in reward.notes]


def number(value: float) -> str:
    """A score for reading: at most four decimals, no trailing zeros."""
    return f"{value:.4f}".rstrip("0").rstrip(".") if value == value else "nan"


def marked(explained: RowExplanation) -> Text:
    """The completion with every place that a credit rests on marked: paid green, cost red, neither underlined."""
    from rich.text import Text

    text = Text()
    styles: list[tuple[int, int, str]] = []
    for reward in explained.rewards:
        for credit in reward.credits:
            style = (
                "black on green"
                if credit.points > 0
                else "white on red"
                if credit.points < 0
                else "underline"
            )
            styles += [(start, end, style) for start, end in credit.spans]
    kept = _kept(len(explained.text), [(start, end) for start, end, _ in styles])
    at = 0
    for start, end in kept:
        if start > at:
            text.append(f" [… {start - at} characters …] ", style="dim italic")
        piece = Text(visible(explained.text[start:end]))
        for first, last, style in styles:
            piece.stylize(style, max(0, first - start), max(0, last - start))
        text.append_text(piece)
        at = end
    if at < len(explained.text):
        text.append(f" [… {len(explained.text) - at} characters …] ", style="dim italic")
    return text


def _kept(length: int, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pieces of a text that are shown: its ends and what stands around marked places."""
    if length <= _KEPT:
        return [(0, length)]
    half = _KEPT // 3
    pieces = [(0, half), (length - half, length)]
    for start, end in spans:
        end = min(end, start + _KEPT // 2)
        pieces.append((max(0, start - _AROUND), min(length, end + _AROUND)))
    joined: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
