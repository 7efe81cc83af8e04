"""How results show themselves in a notebook."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

import workbench

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
    ],
    ids=["score", "explain", "check", "diff"],
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
