"""Every page under axe, the rules of WCAG 2.2 and of good practice: nothing serious is found."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser

READY = {
    "write": "#rw-detail[data-shown]",
    "distributions": "#rw-page-distributions[data-edition]",
    "check": "#rw-seal",
    "compare": "text=Nothing compared yet",
    "label": "#rw-label-place[data-row]",
    "train": "#rw-train-start",
    "result": "text=No run has finished yet",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_fault_of_accessibility(
    open_page: Any, server: Any, as_bench: Any, scheme: str, serious: Any
) -> None:
    page = as_bench(open_page(server, color_scheme=scheme)).page
    for name, ready in READY.items() if scheme == "light" else list(READY.items())[:1]:
        page.click(f"#rw-tab-{name}")
        page.wait_for_selector(ready)
        assert serious(page) == [], name
    page.click("#rw-project")
    page.wait_for_selector("#rw-hand-add")
    assert serious(page) == [], "samples"
