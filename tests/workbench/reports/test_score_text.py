"""The summary of `score` on a terminal."""

from __future__ import annotations

import re

from tests.workbench.tables import samples, table
from workbench.distributions import Histogram, distributions
from workbench.features import features_of
from workbench.reports.score_text import histogram, percent, summary

TEXTS = ["a", "bb", "ccc", "dddd"]
GROUPS = ["x", "x", "y", "y"]


def shown(**options: object) -> str:
    scores = table(
        {"correctness": [1, 0, 1, 1], "format": [0, 1, 0.5, 0.5]},
        GROUPS,
        weights=[0.5, 1.0],
        labels=["right", "wrong", "right", "right"],
        format={"range": (0.0, 1.0)},
    )
    rows = samples(TEXTS, GROUPS)
    return summary(scores, rows, distributions(scores, features_of(TEXTS, GROUPS), **options))  # type: ignore[arg-type]


def test_every_reward_has_a_line_with_its_distribution() -> None:
    lines = shown().splitlines()
    assert lines[0] == "made by hand  4 completions in 2 groups  made.jsonl"
    line = next(line for line in lines if line.startswith("format"))
    assert line.split()[1:] == [
        "1",
        "0.5",
        "0.408",
        "0",
        "0.5",
        "1",
        "25%",
        "25%",
        "-",
        "-",
        "0",
        "▄",
        "█",
        "▄",
        "1",
    ]


def test_the_signal_is_told_in_sentences() -> None:
    text = shown(group_size=16)
    assert "groups of 2: 1 of 2 (50%) have no spread and teach nothing" in text
    assert "in training, groups of 16: not foretold, no prompt here has 16 completions" in text
    assert "the other rewards together can outweigh one step of correctness (by 0.5)" in text


def test_no_line_is_wider_than_a_usual_terminal() -> None:
    assert max(map(len, shown().splitlines())) <= 118


def test_shares_never_round_to_nothing_or_all() -> None:
    assert [percent(value) for value in (0.0, 0.001, 0.5, 0.999, 1.0)] == ["0%", "<1%", "50%", ">99%", "100%"]


def test_bars_stand_where_the_values_are() -> None:
    assert histogram(Histogram(0.0, 1.0, (1, 8), (0.0, 1.0))) == "0 ▁          █ 1"
    assert histogram(Histogram(2.0, 2.0, (5,), (2.0,))) == "all 2"
    assert histogram(None) == ""


def _shown(values: list[float], lengths: list[int] | None = None, group_size: int = 4) -> str:
    groups = [str(row // group_size) for row in range(len(values))]
    texts = ["x" * length for length in lengths or [1] * len(values)]
    scores = table({"r": values}, groups)
    return summary(scores, samples(texts, groups), distributions(scores, features_of(texts, groups)))


def test_what_counts_as_passed_is_named_with_its_reward() -> None:
    text = _shown([0.0, 1.0, 0.0, 0.0])
    assert "r = 1 counts as passed: pass@4 is 0.75 above pass@1" in text


def test_nothing_passes_under_a_continuous_reward() -> None:
    assert "pass@" not in _shown([0.1, 0.2, 0.35, 0.5])


def test_means_by_length_are_of_all_rows() -> None:
    lengths = [(7 * row) % 48 + 10 for row in range(48)]
    lines = _shown([length / 100 for length in lengths], lengths).splitlines()
    head = next(line for line in lines if line.startswith("mean by length"))
    parts = re.findall(r"(\d+)-(\d+) chars \((\d+)\)", head)
    assert [int(low) for low, *_ in parts[1:]] == [int(high) + 1 for _, high, _ in parts[:-1]]
    assert (parts[0][0], parts[-1][1], sum(int(rows) for *_, rows in parts)) == ("10", "57", 48)
    assert len(head) <= 118


def test_one_completion_is_counted_as_one() -> None:
    assert _shown([1.0]).startswith("made by hand  1 completion in 1 group  ")
