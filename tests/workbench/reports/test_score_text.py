"""The summary of `score` on a terminal."""

from __future__ import annotations

import math
import re

from tests.workbench.tables import samples, table
from workbench.distributions import Histogram, distributions
from workbench.features import features_of
from workbench.reports.score_text import histogram, percent, summary
from workbench.scoring import ScoreTable

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


def _of(scores: ScoreTable) -> str:
    rows = samples(["x"] * len(scores), scores.groups)
    return summary(scores, rows, distributions(scores, features_of(rows.completions, rows.groups)))


def test_a_half_bar_stands_in_the_cell_of_its_middle() -> None:
    for at in range(24):
        bars = histogram(Histogram(0.2, 0.4, tuple(int(at == other) for other in range(24))))
        assert bars.removeprefix("0.2 ").removesuffix(" 0.4").index("█") == at // 2


def test_prompts_that_do_not_count_are_told() -> None:
    groups = [str(row // 4) for row in range(12)] + ["few"] * 2
    text = _of(table({"r": [0.0, 1.0] * 6 + [1.0] * 2}, groups))
    assert "best of 4 by total: total 0.5 to 1, r 0.5 to 1 (3 of 4 prompts have as many)" in text
    assert "pass@4 is 0.50 above pass@1 (3 of 4 prompts have as many)" in text


def test_counts_of_totals_are_plain_numbers() -> None:
    assert "256 different totals a group" in _of(table({"r": list(range(256))}, ["g"] * 256))
    assert "1 different total a group" in _of(table({"r": [1, 1]}, ["g"] * 2))


def test_rewards_that_cancel_are_told_and_have_no_share() -> None:
    text = _of(table({"one": [0.1, 0.3, 0.7], "other": [0.9, 0.7, 0.3]}, ["g"] * 3))
    assert "the rewards cancel out" in text
    assert (
        next(line for line in text.splitlines() if line.startswith("one ") and "%" in line).split()[1] == "-"
    )


def test_a_reward_called_total_keeps_its_own_mean() -> None:
    text = _of(table({"total": [1, 0], "b": [5, 5]}, ["g"] * 2, labels=["right", "wrong"]))
    lines = [line.split() for line in text.split("mean by label")[1].splitlines() if line.startswith("total")]
    assert lines == [["total", "1", "0"], ["total", "6", "5"]]


def test_only_rows_with_a_total_are_best_or_worst() -> None:
    text = _of(table({"r": [*range(8), math.nan, math.nan]}, ["g"] * 10))
    assert [line.split()[1] for line in text.splitlines() if line.startswith("  row")] == [
        "7",
        "6",
        "5",
        "2",
        "1",
        "0",
    ]
    assert text.rstrip().endswith("2 rows have no total: every reward abstained or failed there")


def test_huge_numbers_stay_short() -> None:
    text = _of(table({"r": [3e38, -3e38, 1e308, 1]}, ["g"] * 4))
    assert max(map(len, text.split())) < 16
