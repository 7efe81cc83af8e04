"""How results show themselves in a notebook."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

import workbench
from rewards.errors import UsageError

HOSTILE = "</pre><script>alert(1)</script>"
ROWS = [
    {"prompt": "p", "completion": f"<answer>2</answer>{HOSTILE}", "answer": "2"},
    {"prompt": "p", "completion": "no", "answer": "2"},
]


def pays(completions: list[str], **_: Any) -> list[float]:
    scores = []
    for text in completions:
        score = 0.0
        if "<answer>" in text:
            score += 0.5
        if "<script>" in text:
            score -= 0.25
        scores.append(score)
    return scores


def counts(completions: list[str], **_: Any) -> list[float]:
    return [1.0]


class Tags(HTMLParser):
    """The start tags of a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)


@pytest.mark.parametrize(
    "result",
    [
        lambda: workbench.score(pays, ROWS),
        lambda: workbench.explain(pays, ROWS),
        lambda: workbench.check(counts, ROWS, quick=True),
        lambda: workbench.diff(pays, counts, ROWS),
        lambda: workbench.show(pays, ROWS),
    ],
    ids=["score", "explain", "check", "diff", "show"],
)
def test_results_are_tables_without_anything_that_runs(result: Any) -> None:
    shown = result()
    html = shown._repr_html_()
    seen = Tags(html).seen
    assert "table" in seen
    assert "script" not in seen
    assert repr(shown).strip()


def test_words_that_paid_and_that_cost_are_marked() -> None:
    html = workbench.explain(pays, ROWS, row=0)._repr_html_()
    marks = re.findall(r'<mark class="(.*?)">(.*?)</mark>', html)
    assert marks == [("rw-paid", "&lt;answer&gt;"), ("rw-cost", "&lt;script&gt;")]


def test_a_distribution_is_drawn_for_each_reward_and_the_total() -> None:
    html = workbench.score([pays, lambda completions, **_: [None] * len(completions)], ROWS)._repr_html_()
    assert (html.count("<svg"), "no number" in html) == (2, True)


def test_one_view_has_distributions_the_scores_of_rows_and_what_each_is_paid_for() -> None:
    shown = workbench.show(pays, ROWS)
    html = shown._repr_html_()
    assert [explained.row for explained in shown.explained] == [0, 1]  # best paid first
    assert (html.count("<svg"), html.count("<details"), HOSTILE in html) == (2, 2, False)
    assert '<mark class="rw-paid">&lt;answer&gt;</mark>' in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_one_view_explains_the_rows_that_are_named() -> None:
    assert [explained.row for explained in workbench.show(pays, ROWS, row=1).explained] == [1]
    with pytest.raises(UsageError, match="row 9"):
        workbench.show(pays, ROWS, row=9)


def test_rows_are_taken_from_the_best_paid_to_the_worst() -> None:
    def by_length(completions: list[str], **_: Any) -> list[float]:
        return [float(len(text)) for text in completions]

    shown = workbench.show(by_length, ["x" * (n + 1) for n in range(20)])
    assert [explained.row for explained in shown.explained] == [19, 14, 9, 5, 0]
