"""The Check page in a real browser."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytestmark = pytest.mark.browser
PATIENCE_MS = 180_000


def test_from_a_finding_to_a_waiver_and_a_seal(bench_page: Any, server: Any, serious: Any) -> None:
    page = bench_page.page
    manifest = server.project / "rewardset.toml"
    manifest.write_text(
        manifest.read_text().replace("range = [0.0, 1.0]\nweight = 0.5", "range = [0.0, 0.5]\nweight = 0.5")
    )
    page.click("#rw-tab-check")
    page.wait_for_selector("text=Not checked yet")
    page.wait_for_selector("text=run all checks first")
    page.check("#rw-quick")
    page.click("#rw-check-run")
    page.wait_for_selector("#rw-check-stop:visible")
    page.wait_for_selector(".rw-verdict", timeout=PATIENCE_MS)
    card = page.locator("[data-check] >> text=out-of-range").locator("xpath=ancestor::article")
    assert card.locator(".rw-shot").inner_text()
    assert page.is_disabled("#rw-seal")
    assert serious(page) == []
    card.locator("text=Open in Write").click()
    page.wait_for_selector("#rw-main:visible")
    page.wait_for_selector(
        "#rw-margin li >> text=above its declared range"
    )  # stands under the code, with its line
    assert page.locator("#rw-margin li button").first.inner_text() == "line 4"
    page.keyboard.press("Escape")
    page.click("#rw-tab-check")
    while page.locator("#rw-findings > .rw-is-error").count():
        before = page.locator("#rw-findings > .rw-is-error").count()
        first = page.locator("#rw-findings > .rw-is-error").first
        first.locator("text=Waive…").click()
        first.locator(".rw-more input").fill("meant so")
        first.locator(".rw-more form button").click()
        page.wait_for_function(
            "(n) => document.querySelectorAll('#rw-findings > .rw-is-error').length < n", arg=before
        )
    assert "meant so" in manifest.read_text()
    page.click("#rw-seal")
    page.wait_for_selector(".rw-seal[data-state=holds]")
    page.wait_for_selector("#rw-seal:not(.rw-primary) >> text=Seal anew")
    assert "6 rows in 2 groups" in page.inner_text(".rw-seal")
    assert json.loads((server.project / "rewardset.seal.json").read_text())["quick"] is True
    (server.project / "rewardset.seal.json").unlink()


def test_a_run_is_stopped(bench_page: Any) -> None:
    page = bench_page.page
    page.click("#rw-tab-check")
    page.click("#rw-check-run")
    page.click("#rw-check-stop")
    page.wait_for_selector("#rw-findings >> text=Stopped")
    page.wait_for_selector("#rw-check-run:visible")
