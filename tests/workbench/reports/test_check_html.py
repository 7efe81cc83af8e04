import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from workbench.reports.check_html import check_html


class Tags(HTMLParser):
    """Collects the tags of a page and what its attributes refer to."""

    def __init__(self):
        super().__init__()
        self.tags, self.references, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.references += [value for name, value in attrs if name in ("src", "href", "action", "data")]
        if tag in ("section", "details", "pre", "dl", "svg"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in ("section", "details", "pre", "dl", "svg"):
            assert self.open.pop() == tag


def tags_of(page):
    parser = Tags()
    parser.feed(page)
    assert parser.open == []
    return parser


def test_page_shows_verdict_completion_got_expected_and_the_line(full_report):
    page = check_html(full_report)
    assert "<b>fail</b>" in page
    assert "<pre class=empty>empty</pre>" in page
    assert "<span class='here'><i>   3</i>     return [float(c.split()" in page
    assert "Waived: prints, for now" in page
    assert re.search(r"<li>left out by --quick: RW120</li>", page)


def test_page_needs_nothing_beside_itself_and_runs_nothing(full_report):
    parser = tags_of(check_html(full_report))
    assert "script" not in parser.tags
    assert parser.references == []
    assert "svg" in parser.tags


def test_text_of_models_is_escaped_and_can_be_encoded(full_report):
    page = check_html(full_report)
    page.encode("utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_same_matter_in_a_further_reward_is_folded(full_report):
    [failing] = full_report.rewards[0].findings
    again = replace(full_report.rewards[2], findings=(replace(failing, reward="same"),))
    report = replace(full_report, rewards=(*full_report.rewards[:2], again))
    assert check_html(report).count("<details class=finding open>") == check_html(full_report).count(
        "<details class=finding open>"
    )
    assert check_html(report).count("RW110 raises</b>") == 2


def test_numbers_that_compare_have_bars(full_report):
    assert 'aria-label="got 2"' in check_html(full_report)
    assert 'aria-label="expected 1"' in check_html(full_report)


@pytest.mark.browser
def test_page_fits_a_narrow_and_a_wide_window_in_both_schemes(full_report, tmp_path, chromium):
    from playwright.sync_api import sync_playwright

    (tmp_path / "page.html").write_text(check_html(full_report))
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        grounds = set()
        for scheme, width in (("light", 1200), ("dark", 400)):
            page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
            page.goto(f"file://{tmp_path}/page.html")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        browser.close()
    assert len(grounds) == 2
