from __future__ import annotations

import itertools
import json
import re
from html import unescape

import numpy as np

from tests.workbench.tables import table
from workbench.app.view.distributions import distributions_view
from workbench.distributions import distributions

HOSTILE = "<img src=x>"


def test_every_bar_says_which_scores_are_in_it() -> None:
    made = table({"a": [0.0, 1.0, 1.0, 0.0], "b": [0.5, 0.5, 0.5, 1.0]}, ["g", "g", "h", "h"])
    cards = distributions_view(made, distributions(made))["cards"]
    bars = [json.loads(unescape(bar)) for bar in re.findall(r'data-bar="([^"]*)"', cards[1])]
    assert bars == [["b", 0.5, 0.5, True], ["b", 1.0, 1.0, True]]
    assert len(cards) == 3


def test_bars_of_many_values_meet_without_overlapping() -> None:
    made = table({"a": [float(value) for value in np.linspace(0, 1, 49)]}, ["g"] * 49)
    card = distributions_view(made, distributions(made))["cards"][0]
    bars = [json.loads(unescape(bar)) for bar in re.findall(r'data-bar="([^"]*)"', card)]
    assert [bar[3] for bar in bars] == [False] * 23 + [True]
    assert all(low[2] == high[1] for low, high in itertools.pairwise(bars))


def test_names_are_escaped_and_facts_are_plain() -> None:
    made = table({HOSTILE: [0.0, 1.0, 1.0, 1.0], "b": [1.0, 0.0, 0.0, 0.0]}, ["g", "g", "h", "h"])
    found = distributions_view(made, distributions(made))
    assert HOSTILE not in json.dumps(found)
    assert found["facts"][0] == ["groups that teach nothing", "100%", "2 of 2"]


def test_the_page_does_not_grow_with_the_rows() -> None:
    def size(rows: int) -> int:
        scores = np.random.default_rng(0).random(rows).tolist()
        made = table({"a": scores}, [f"g{row // 4}" for row in range(rows)])
        return len(json.dumps(distributions_view(made, distributions(made))))

    assert size(20_000) < 1.2 * size(2_000) + 2_000


def test_a_bar_that_is_there_is_not_said_to_be_nothing() -> None:
    rare = [0.0] * 400 + [1.0]
    made = table({"a": rare}, [f"g{row // 4}" for row in range(401)])
    card = distributions_view(made, distributions(made))["cards"][0]
    assert "&lt;1%" in card
    assert ">0%<" not in card
