"""The labelling queue in a real browser."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_keys_label_one_row_after_another_and_the_auc_follows(
    open_page: Any, server: Any, as_bench: Any
) -> None:
    rows = [json.loads(line) for line in (server.project / "samples.jsonl").read_text().splitlines()]
    for row in rows:
        row.pop("label", None)
    (server.project / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = as_bench(open_page(server)).page
    page.click("#rw-tab-label")
    page.wait_for_selector("text=6 rows left")
    page.wait_for_selector("text=at least one completion right and one wrong")
    for left, key in ((5, "1"), (4, "3")):
        page.keyboard.press(key)
        page.wait_for_selector(f"text={left} rows left")
    page.wait_for_selector("[data-auc=total]")
    labels = [
        json.loads(line)["label"] for line in (server.project / "labels.jsonl").read_text().splitlines()
    ]
    assert labels == ["right", "wrong"]
    page.keyboard.press("u")
    page.wait_for_selector("text=5 rows left")
    assert page.locator("#rw-page-label h2").inner_text() == "Label"
