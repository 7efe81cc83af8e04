"""The Result page in a real browser."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.workbench.app.runs import write_result, write_run

pytestmark = pytest.mark.browser


@pytest.fixture
def no_runs(server: Any) -> Any:
    """The shared server without runs before and after."""
    for name in ("runs", ".workbench"):
        shutil.rmtree(server.project / name, ignore_errors=True)
    yield server
    shutil.rmtree(server.project / "runs", ignore_errors=True)


def test_a_finished_run_is_shown_with_proof_comparison_card_and_files(
    no_runs: Any, open_page: Any, as_bench: Any, tmp_path: Path, serious: Any
) -> None:
    page = as_bench(open_page(no_runs)).page
    page.click("#rw-tab-result")
    page.wait_for_selector("text=No run has finished yet")
    run = write_run(no_runs.project)
    write_result(run)
    (run / "report.html").write_text(
        "<title>a</title><p>the report</p><script>document.title = 'ran'</script>"
    )
    page.click("#rw-tab-train")
    page.click("#rw-train-result")
    page.wait_for_selector("#rw-the-result[data-state=compared]")
    assert page.locator("#rw-proof li").count() == 13
    assert page.get_attribute("#rw-proof [data-check='11'] i", "title") == "does not apply"
    assert "+0.250 to +1.000" in page.inner_text("[data-line=total]")
    assert page.locator(".rw-regression pre >> text=<b>two</b>").count() == 1
    assert page.locator("#rw-card img").count() == 0  # what looks like HTML in a card stays text
    assert page.input_value("#rw-ask-prompt") == "What is 0 + 1?"
    assert "answer 1" in page.inner_text("#rw-ask-told")
    page.fill("#rw-ask-prompt", "What is 3 + 4?")
    assert "cannot score a typed prompt" in page.inner_text("#rw-ask-told")
    with page.expect_download() as download:
        page.click("[data-file=comparison]")
    assert Path(download.value.path()).read_bytes() == (run / "comparison.json").read_bytes()
    with page.context.expect_page() as report:
        page.click("#rw-report-show")
    assert report.value.inner_text("p") == "the report"
    assert report.value.title() == "a"  # no script of a report runs
    report.value.close()
    assert page.inner_text("#rw-merged-path") == str(run / "merged")
    assert serious(page) == []
    page.set_viewport_size({"width": 800, "height": 900})
    assert page.evaluate("document.querySelector('#rw-page-result').scrollWidth") <= 800
