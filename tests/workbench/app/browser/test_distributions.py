"""The Distributions page in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_a_bar_leads_to_its_rows_and_back(bench_page: Any) -> None:
    page = bench_page.page
    assert page.locator("#rw-page-distributions").count() == 0  # a page never opened is not made
    page.click("#rw-tab-distributions")
    page.wait_for_selector("#rw-page-distributions[data-edition] .rw-panels section")
    assert page.locator("#rw-page-distributions h2").first.inner_text() == "Distributions"
    page.focus("[data-bar^='[\"shaped\", 0.5']")
    page.keyboard.press("Enter")
    bench_page.shows([3])
    page.click("#rw-bar-chip")
    bench_page.shows([0, 1, 2, 3, 4, 5])
    page.focus("#rw-grid")
    page.keyboard.press("]")
    page.wait_for_selector("#rw-page-distributions:visible")
    assert page.get_attribute("#rw-tab-distributions", "aria-selected") == "true"
