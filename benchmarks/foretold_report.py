"""What the forecasts of several runs came to, as a section of docs/own-proof.md."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from foretold import LEVEL, SAMPLES, WINDOW, Forecast, Judged, judge

Named = tuple[str, Forecast]

SIZES = (0.0, 0.25, 0.5)

METHOD = (
    "## The drift foretold\n\n"
    "The selection differential of a feature says where the next updates push it: a forecast of the first order, good "
    "near the policy that made the completions, so it is taken again and again. What counts was laid down before "
    f"anything was measured. A run is cut into windows of {WINDOW} steps; a checkpoint lies at the end of each and "
    f"answers every prompt of the data {SAMPLES} times afresh. The drift of a feature (of the text, a reward, or the "
    "oracle) is the change of its mean from one checkpoint to the next, paired by prompt. Before launch it is "
    f"foretold from other completions of the untrained model, {SAMPLES} a prompt; in the run from the batches recorded "
    "in a window, for the directly following window. A forecast counts where the differential is clear beyond its own "
    "standard error over groups (Student's t), and a drift where it is so over prompts, both at a level of "
    f"{LEVEL:.0%} for all of them together (Holm)."
)


def drift_section(named: Sequence[Named]) -> list[str]:
    """The section's lines: method, counts, what was refuted, and a table."""
    first = [one for _, one in named if one.window == 0]
    later = [one for _, one in named if one.window > 0]
    runs = len({name for name, _ in named})
    forecasts = judge(later)
    lines = [
        METHOD + "\n",
        f"Over {runs} runs:\n",
        "| foretold from | held against | forecasts | clear | drift clear too | as foretold | sign agrees, all clear |",
        "|---|---|---|---|---|---|---|",
        _row("the untrained model", "the first window", first, judge(first)),
        _row("a window's batches", "the following window", later, forecasts),
        _row("the same", "the window itself", later, judge(later, lambda one: one.same)),
        _row("the untrained model", "the whole run", first, judge(first, lambda one: one.whole)),
        "\nThe first two rows are the proof: nine in ten of the clear drifts have to be as foretold. The third says "
        "what the same batches did at once; the last what becomes of a forecast that is not renewed: a feature that "
        "rises at first falls once another reward has taken over, and a positive differential of correctness promises "
        "nothing for the end. Forecasts are not independent: some features are nearly one, and so are some runs.\n",
    ]
    refuted = [*_refuted(named, judge(first)), *_refuted(named, forecasts)]
    if refuted:
        lines += ["Refuted:\n", *refuted, ""]
    lines += _by_size(first, later)
    lines += [
        "The table has, for every feature with a clear forecast, the differential before launch and a mark for each "
        "window from the second on: `+` borne out, `-` refuted, `o` foretold, but no clear drift, `.` no clear "
        "forecast.\n",
        "| set | feature | before launch | drift, first window | windows |",
        "|---|---|---|---|---|",
        *_table(named),
    ]
    return lines


def _row(source: str, against: str, forecasts: Sequence[Forecast], judged: Judged) -> str:
    return (
        f"| {source} | {against} | {len(forecasts)} | {judged.all} | {judged.moved} | "
        f"**{len(judged.borne_out)}** | {judged.same_sign} of {judged.all} |"
    )


def _refuted(named: Sequence[Named], judged: Judged) -> Iterable[str]:
    """A line for each, with the strongest differential of the same run and window beside it."""
    for name, one in named:
        if any(one is member for member in judged.refuted):
            beside = max(
                (other for run, other in named if run == name and other.window == one.window),
                key=lambda other: abs(other.differential.value),
            )
            yield (
                f"- `{name}`, {one.feature}, window {one.window + 1}: differential {one.differential.value:+.2f}, "
                f"drift {one.following.value:+.3f}; the strongest there: {beside.feature} "
                f"{beside.differential.value:+.2f}, {beside.following.value:+.3f}"
            )


def _by_size(first: Sequence[Forecast], later: Sequence[Forecast]) -> list[str]:
    """How the size of a differential and its reliability went together; told, not judged by."""
    before, run = judge(first), judge(later)
    lines = [
        "By the size of the differential (looked at afterwards; no bound rests on it):\n",
        "| differential | before launch: as foretold, of clear drifts | in the run |",
        "|---|---|---|",
    ]
    for low, high in pairwise((*SIZES, math.inf)):
        cells = []
        for judged in (before, run):
            right, wrong = (
                sum(low <= abs(one.differential.value) < high for one in part)
                for part in (judged.borne_out, judged.refuted)
            )
            cells.append(f"{right} of {right + wrong}" if right + wrong else "-")
        size = f"{low:g} to {high:g}" if high < math.inf else f"{low:g} and more"
        lines.append(f"| {size} | {cells[0]} | {cells[1]} |")
    return [
        *lines,
        "\nA small differential beside large ones is a weak forecast: what the large ones move takes the feature "
        "along, and a window of these runs is no small distance.\n",
    ]


def _table(named: Sequence[Named]) -> Iterable[str]:
    first = judge([one for _, one in named if one.window == 0])
    later = judge([one for _, one in named if one.window > 0])
    windows = max((one.window for _, one in named), default=0)
    rows: dict[tuple[str, str], dict[int, Forecast]] = {}
    for name, one in named:
        rows.setdefault((name, one.feature), {})[one.window] = one
    for (name, feature), found in rows.items():
        marks = [_mark(found.get(at), later) for at in range(1, windows + 1)]
        mark = _mark(found.get(0), first)
        if mark == "." and set(marks) <= {"."}:
            continue
        start = found.get(0)
        before = (
            f"{start.differential.value:+.2f} | {start.following.value:+.3f} `{mark}`" if start else "- | -"
        )
        yield f"| `{name}` | {feature} | {before} | `{' '.join(marks)}` |"


def _mark(one: Forecast | None, judged: Judged) -> str:
    if one is None:
        return "."
    lists = (judged.borne_out, "+"), (judged.refuted, "-"), (judged.unmoved, "o")
    return next((mark for members, mark in lists if any(one is member for member in members)), ".")
