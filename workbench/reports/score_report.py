"""A score table as text, JSONL, CSV or Parquet."""

from __future__ import annotations

import io
import json
import math
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rewards.contract import Status, completion_text
from rewards.groups import group_statistics
from workbench.samples import Samples
from workbench.scoring import ScoreTable

_BARS = " ▁▂▃▄▅▆▇█"
_BINS = 12


def to_jsonl(table: ScoreTable, samples: Samples) -> str:
    """One strict JSON object a line; the format is fixed in the documentation of `score`."""
    return "".join(json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n" for row in table.rows())


def to_csv(table: ScoreTable, samples: Samples) -> str:
    """A line a completion, the text last; empty where a reward gave no number."""
    frame = table.to_pandas()
    frame["completion"] = [completion_text(completion) for completion in samples.completions]
    return frame.to_csv(index=False)


def to_parquet(table: ScoreTable, samples: Samples) -> bytes:
    """The same columns as `to_csv`, as a Parquet file."""
    buffer = io.BytesIO()
    frame = table.to_pandas()
    frame["completion"] = [completion_text(completion) for completion in samples.completions]
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def printing_notes(table: ScoreTable) -> list[str]:
    """A note for each reward that printed something, with its first line."""
    notes = []
    for name, text in table.printed.items():
        lines = text.splitlines()
        if lines:
            notes.append(
                f"reward '{name}' printed {len(lines)} line{'s' * (len(lines) > 1)}, the first: {lines[0][:120]}"
            )
    return notes


def to_text(table: ScoreTable, samples: Samples) -> str:
    """A summary for a terminal: a line a reward with its distribution, groups, failures, best and worst rows."""
    groups = len(set(table.groups))
    sources = ", ".join(path.name for path in samples.sources)
    lines = [f"{table.description.name}  {len(table)} completions in {groups} groups  {sources}", ""]
    lines += _rewards(table)
    lines += ["", _groups_line(table)]
    lines += _failures(table)
    lines += _labels(table)
    lines += ["", *_extremes(table, samples)]
    return "\n".join(lines) + "\n"


def _rewards(table: ScoreTable) -> list[str]:
    width = max(len(name) for name in [*table.names, "reward", "total"])
    header = (
        f"{'reward':<{width}}  weight     mean      std      min      max   none  failed   ms  distribution"
    )
    lines = [header]
    for column, name in enumerate(table.names):
        scores, status = table.scores[:, column], table.status[:, column]
        none = int(np.isin(status, [Status.ABSTAINED, Status.NAN]).sum())
        failed = int((status >= Status.WRONG_TYPE).sum())
        declared = table.description.rewards[column].entry.range
        lines.append(
            f"{name:<{width}}  {table.weights[column]:>6g} {_numbers(scores)} {none:>6} {failed:>7} "
            f"{table.seconds.get(name, 0.0) * 1000:>4.0f}  {histogram(scores, declared)}"
        )
    lines.append(
        f"{'total':<{width}}  {'':>6} {_numbers(table.totals)} {'':>6} {'':>7} {'':>4}  {histogram(table.totals)}"
    )
    return lines


def _numbers(values: NDArray[np.float64]) -> str:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return " ".join(["       -"] * 4)
    spread = finite.std(ddof=1) if len(finite) > 1 else 0.0
    return " ".join(f"{number:>8.3f}" for number in (finite.mean(), spread, finite.min(), finite.max()))


def histogram(values: NDArray[np.float64], bounds: tuple[float, float] | None = None) -> str:
    """The distribution as twelve bars between `bounds` (default: smallest to largest), labelled at both ends."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return ""
    low, high = (float(finite.min()), float(finite.max())) if bounds is None else bounds
    low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    if low == high:
        return f"all {low:g}"
    counts, _ = np.histogram(finite, bins=_BINS, range=(low, high))
    scale = (len(_BARS) - 1) / counts.max()
    bars = "".join(_BARS[math.ceil(count * scale)] for count in counts)
    return f"{low:.3g} {bars} {high:.3g}"


def _groups_line(table: ScoreTable) -> str:
    statistics = group_statistics(table.scores, list(table.weights), table.groups)
    dead, count = int(statistics.zero_spread.sum()), len(statistics)
    sizes = Counter(int(size) for size in statistics.size)
    size = "/".join(str(size) for size, _ in sizes.most_common(3))
    mean = float(np.abs(table.advantages).mean()) if len(table) else 0.0
    share = f"{dead / count:.0%}" if count else "-"
    verdict = f"{dead} of {count} ({share}) have no spread and teach nothing"
    return f"groups of {size}: {verdict}; mean |advantage| {mean:.2f}"


def _failures(table: ScoreTable) -> list[str]:
    counts = Counter((name, _without_row(why)) for (_, name), why in table.errors.items())
    first: dict[tuple[str, str], int] = {}
    for (row, name), why in table.errors.items():
        first.setdefault((name, _without_row(why)), row)
    lines = [
        f"  {name}: {count} row{'s' * (count > 1)}, first row {first[name, why]}: {why}"
        for (name, why), count in counts.most_common(10)
    ]
    return ["", "failed", *lines] if lines else []


def _without_row(why: str) -> str:
    return why if len(why) <= 200 else why[:197] + "..."


def _labels(table: ScoreTable) -> list[str]:
    known = [label for label in ("right", "partial", "wrong", "hack") if label in table.labels]
    if not known:
        return []
    width = max(len(name) for name in [*table.names, "total"])
    lines = [
        "",
        f"{'mean by label':<{max(width, 13)}}  "
        + " ".join(f"{f'{label} ({table.labels.count(label)})':>14}" for label in known),
    ]
    columns = [
        *((name, table.scores[:, index]) for index, name in enumerate(table.names)),
        ("total", table.totals),
    ]
    for name, values in columns:
        cells = []
        for label in known:
            chosen = values[[row for row, own in enumerate(table.labels) if own == label]]
            chosen = chosen[np.isfinite(chosen)]
            cells.append(f"{chosen.mean():>14.3f}" if len(chosen) else f"{'-':>14}")
        lines.append(f"{name:<{max(width, 13)}}  " + " ".join(cells))
    return lines


def _extremes(table: ScoreTable, samples: Samples) -> list[str]:
    order = [int(row) for row in np.argsort(-np.nan_to_num(table.totals, nan=-np.inf), kind="stable")]
    chosen = order if len(order) <= 6 else [*order[:3], *order[-3:]]
    lines = ["best and worst rows" if len(order) > 6 else "rows by total"]
    for row in chosen:
        text = " ".join(completion_text(samples.completions[row]).split())
        shown = text if len(text) <= 70 else "..." + text[-67:]
        total = f"{table.totals[row]:.3f}" if not math.isnan(table.totals[row]) else "none"
        lines.append(f"  row {row:<6} total {total:>8}  advantage {table.advantages[row]:>+6.2f}  {shown}")
    return lines


FORMATS: dict[str, Callable[[ScoreTable, Samples], str | bytes]] = {
    "text": to_text,
    "jsonl": to_jsonl,
    "csv": to_csv,
    "parquet": to_parquet,
}
"""Every format of `score`, by its name on the command line."""
