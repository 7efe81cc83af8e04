"""A score table as text, JSONL, CSV, Parquet or a page."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Callable
from dataclasses import dataclass

from rewards.contract import completion_text
from workbench.distributions import Distributions, distributions
from workbench.features import features_of
from workbench.reports.score_html import page
from workbench.reports.score_text import summary
from workbench.samples import Samples
from workbench.scoring import ScoreTable


@dataclass(frozen=True)
class Scored:
    """What a report is made of: the table, the samples, and the group size of training where it is known."""

    table: ScoreTable
    samples: Samples
    group_size: int | None = None

    @functools.cached_property
    def distributions(self) -> Distributions:
        """The table's distributions, computed when a report needs them."""
        features = features_of(self.samples.completions, self.samples.groups)
        return distributions(self.table, features, group_size=self.group_size)


def to_jsonl(scored: Scored) -> str:
    """One strict JSON object a line; the format is fixed in the documentation of `score`."""
    rows = scored.table.rows()
    return "".join(json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n" for row in rows)


def to_csv(scored: Scored) -> str:
    """A line a completion, the text last; empty where a reward gave no number."""
    frame = scored.table.to_pandas()
    frame["completion"] = [completion_text(completion) for completion in scored.samples.completions]
    return frame.to_csv(index=False)


def to_parquet(scored: Scored) -> bytes:
    """The same columns as `to_csv`, as a Parquet file."""
    buffer = io.BytesIO()
    frame = scored.table.to_pandas()
    frame["completion"] = [completion_text(completion) for completion in scored.samples.completions]
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def to_text(scored: Scored) -> str:
    """A summary for a terminal."""
    return summary(scored.table, scored.samples, scored.distributions)


def to_html(scored: Scored) -> str:
    """A page with pictures that needs nothing beside itself."""
    return page(scored.table, scored.samples, scored.distributions)


def notes_of(table: ScoreTable) -> list[str]:
    """What a reader of the scores has to know, in whatever format they come."""
    return [*table.notes, *isolation_notes(table), *printing_notes(table)]


def printing_notes(table: ScoreTable) -> list[str]:
    """A note for each reward that printed something, with its first line."""
    notes = []
    for name, text in table.printed.items():
        lines = text.splitlines()
        if lines:
            rows = sorted(row for row, reward in table.printed_rows if reward == name)
            where = (
                f" (rows {', '.join(map(str, rows[:5]))}{', ...' if len(rows) > 5 else ''})" if rows else ""
            )
            notes.append(
                f"reward '{name}' printed {len(lines)} line{'s' * (len(lines) > 1)}{where}, the first: {lines[0][:120]}"
            )
    return notes


def isolation_notes(table: ScoreTable) -> list[str]:
    """A note that says how model-written code was shut in, where a reward ran any."""
    levels = sorted({str(level) for level in table.extra.get("sandbox", ()) if level})
    return [f"model-written code ran at the isolation level {', '.join(levels)}"] if levels else []


FORMATS: dict[str, Callable[[Scored], str | bytes]] = {
    "text": to_text,
    "jsonl": to_jsonl,
    "csv": to_csv,
    "parquet": to_parquet,
    "html": to_html,
}
"""Every format of `score`, by its name on the command line."""
