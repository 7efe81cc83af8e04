"""The page of `score --format html`: whole, safe, and drawn in a real browser."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.workbench.tables import samples, table
from workbench.distributions import distributions
from workbench.features import features_of
from workbench.reports.score_html import page

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>"
TEXTS = ["a", HOSTILE, "ccc", "dddd"]
GROUPS = ["x", "x", "y", "y"]


def made() -> str:
    scores = table(
        {"correctness": [1, 0, 1, 0], "f<b>": [0, 1, 0.5, 0.25]},
        GROUPS,
        labels=["right", "wrong", "right", "wrong"],
    )
    scores.errors[1, "correctness"] = "ValueError: <i>no</i> (rewards.py:3)"
    return page(
        scores, samples(TEXTS, GROUPS), distributions(scores, features_of(TEXTS, GROUPS), group_size=2)
    )


class Tags(HTMLParser):
    """Collects the start tags of a page, and checks that those which need it are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag in {"section", "svg", "table", "details", "article", "main"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.open and tag == self.open[-1]:
            self.open.pop()


def test_the_page_has_a_picture_for_every_part_and_is_whole() -> None:
    text = made()
    tags = Tags()
    tags.feed(text)
    titles = re.findall(r"<h2>(.*?)</h2>", text)
    assert titles == [
        "Rewards", "Inside groups", "Correlation inside groups", "Groups", "Where training pushes",
        "Best of n by total",
        "Against length", "By label", "Failed", "Rows by total",
    ]  # fmt: skip
    assert (tags.open, tags.seen.count("svg")) == ([], 9)


def test_nothing_in_it_runs_and_nothing_is_fetched() -> None:
    text = made()
    tags = Tags()
    tags.feed(text)
    assert {"script", "img", "link", "i-frame", "b-script"}.isdisjoint(tags.seen)
    assert re.findall(r"(?:src|href)=", text.replace("img src=x", "")) == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "f&lt;b&gt;" in text


def test_the_same_scores_give_the_same_page() -> None:
    assert made() == made()


@pytest.mark.browser
def test_a_browser_draws_it_without_complaint_in_light_and_dark(tmp_path: Path, chromium: str) -> None:
    from playwright.sync_api import sync_playwright

    file = tmp_path / "page.html"
    file.write_text(made(), encoding="utf-8")
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            tab = browser.new_page(viewport={"width": 420, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
            told: list[str] = []
            tab.on("console", lambda message, told=told: told.append(message.text))  # type: ignore[misc]
            tab.goto(file.as_uri())
            assert (told, tab.evaluate("document.documentElement.scrollWidth")) == ([], 420)
        browser.close()


def test_rows_without_a_total_are_counted_and_not_shown_as_the_worst() -> None:
    scores = table({"r": [1, 0, math.nan, math.nan]}, GROUPS)
    text = page(scores, samples(TEXTS, GROUPS), distributions(scores))
    assert re.findall(r"<b>row (\d)</b>", text) == ["0", "1"]
    assert "2 rows have no total: every reward abstained or failed there." in text


def test_rewards_that_cancel_have_no_bar_of_shares() -> None:
    scores = table({"one": [0.1, 0.3, 0.7, 0.2], "other": [0.9, 0.7, 0.3, 0.8]}, GROUPS)
    text = page(scores, samples(TEXTS, GROUPS), distributions(scores))
    assert "The rewards cancel out" in text
    assert "Shares of the variance" not in text
