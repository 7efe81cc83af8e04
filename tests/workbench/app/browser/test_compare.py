"""The Compare page in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_the_editor_is_compared_with_the_saved_file(bench_page: Any) -> None:
    page = bench_page.page
    page.click("#rw-tab-compare")
    page.wait_for_selector("text=Nothing compared yet")
    page.click("#rw-tab-write")
    bench_page.edit('("<think>", "</think>", "<answer>", "</answer>")', '("<think>", "</think>")')
    page.click("#rw-tab-compare")
    page.wait_for_function("() => document.querySelector('#rw-side-new').value === 'draft'")
    page.click("#rw-compare-run")
    page.wait_for_selector("#rw-compared-rows[data-shown]")
    assert '"</answer>")' in page.inner_text("#rw-compared .rw-diff-less")
    page.select_option("#rw-compare-order", "fell")
    page.click("#rw-compared-rows [data-row='3'] button")
    page.wait_for_selector("#rw-compared-detail[data-row='3']")
    assert page.locator("#rw-compared-detail .rw-both .rw-figure:has-text('0.500')").count() == 1
    page.click("#rw-compared-detail >> text=Open in Write")
    page.wait_for_selector("#rw-detail[data-shown$=':3']")
