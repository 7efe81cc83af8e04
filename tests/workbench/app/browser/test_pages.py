"""What holds for every page: everything is named, nothing overflows, what is not seen does not ask."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser

READY = {
    "distributions": "#rw-page-distributions[data-edition]",
    "check": "#rw-seal",
    "compare": "text=Nothing compared yet",
    "label": "#rw-label-place[data-row]",
    "train": "#rw-train-start",
    "result": "text=No run has finished yet",
}
NAMELESS = """[...document.querySelectorAll('#rw-pages :is(button,input,select,textarea,progress,[role=button])')]
    .filter((node) => node.checkVisibility())
    .filter((node) => !(node.textContent.trim() || node.ariaLabel || node.title || node.labels?.[0]?.innerText))
    .map((node) => node.outerHTML)"""
TOO_WIDE = """(width) => [...document.querySelectorAll('#rw-bar *, #rw-pages *')]
    .filter((node) => node.checkVisibility() && !node.closest('.wide, .scroll, pre, .rw-sr, h1, svg'))
    .filter((node) => node.getBoundingClientRect().right > width + 1).map((node) => node.outerHTML.slice(0, 120))"""


def test_every_page_is_named_fits_and_has_its_heading(open_page: Any, server: Any, as_bench: Any) -> None:
    page = as_bench(open_page(server)).page
    for name, ready in READY.items():
        page.click(f"#rw-tab-{name}")
        page.wait_for_selector(ready)
        assert page.locator("h1").count() == 1
        assert page.locator(f"#rw-page-{name} .rw-heading h2").count() == 1
        assert page.evaluate(NAMELESS) == []
        for width in (1440, 1024, 800):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate(TOO_WIDE, width) == [], (name, width)


def test_the_address_names_the_page_and_a_hidden_page_asks_nothing(
    open_page: Any, server: Any, as_bench: Any
) -> None:
    page = as_bench(open_page(server)).page
    page.click("#rw-tab-train")
    page.wait_for_selector("#rw-train-start")
    assert page.url.endswith("#train")
    page.click("#rw-tab-write")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(2_000)
    assert [url for url in asked if "/rw/train" in url] == []
    page.goto(page.url + "#check")
    page.reload()
    page.wait_for_selector("#rw-page-check:visible")
