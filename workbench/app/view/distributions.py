"""The Distributions page: what `score` computes of a table, as pictures.

The pictures are those of `score --format html`; here every bar of a histogram can be chosen, which filters the table
of the Write page. All words are escaped where the pictures are drawn.
"""

from __future__ import annotations

import math
from typing import Any

from workbench.app.view.numbers import cell
from workbench.distributions import Distributions
from workbench.reports import score_html
from workbench.reports.score_text import percent
from workbench.scoring import ScoreTable

DOTS = 250
"""Places drawn at most, so that the page does not grow with the groups."""


def distributions_view(table: ScoreTable, found: Distributions) -> dict[str, Any]:
    """JSON of the page: facts, a card a reward, panels with a picture each."""
    signal = found.signal
    panels = [
        score_html.inside_groups(found),
        score_html.by_label(found),
        score_html.correlation(found),
        score_html.group_places(found, most=DOTS),
        score_html.pushes(found),
        score_html.best_of(found),
        score_html.by_length(found),
    ]
    return {
        "facts": [
            [
                "groups that teach nothing",
                _share(signal.dead, signal.groups),
                f"{signal.dead} of {signal.groups}",
            ],
            ["mean |advantage|", _number(signal.advantage), "0: nothing is learnt"],
            ["different totals a group", _number(signal.distinct), "more of them tell completions apart"],
            *_margin(found),
        ],
        "cards": [score_html.card(column, at, table, pick=True) for at, column in enumerate(found.columns)],
        "panels": [panel for panel in panels if panel],
        "notes": [*found.notes],
    }


def _margin(found: Distributions) -> list[list[Any]]:
    margin = found.margin
    if margin is None or math.isnan(margin.margin):
        return []
    said = (
        "a worse answer can outrank a better one"
        if margin.margin <= 0
        else "the others cannot outweigh one step"
    )
    return [[f"margin of {margin.reward}", _number(margin.margin), said]]


def _share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else "–"


def _number(value: float) -> Any:
    return "–" if math.isnan(value) else cell(value)
