"""From an edit to a model beside its base, in one browser: edit, explain, check, seal, train, merge, compare, ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.project import create_from_template

pytestmark = pytest.mark.browser
PATIENCE_MS = 300_000


@pytest.fixture
def sums(tmp_path: Path) -> Path:
    """The template of sums, to be trained for two steps with the toy model, eight prompts held out."""
    folder = tmp_path / "sums"
    create_from_template(folder, "arithmetic")
    manifest = folder / "rewardset.toml"
    text = manifest.read_text().replace('model = "smollm2"', 'model = "toy"')
    manifest.write_text(
        text.replace("max_steps = 48", "max_steps = 2").replace("save_steps = 24", "save_steps = 2")
    )
    rows = (folder / "train.jsonl").read_text().splitlines(keepends=True)
    (folder / "train.jsonl").write_text("".join(rows[:40]))
    return folder


def to_a_sealed_set(bench: Any, folder: Path) -> Any:
    """Edit a reward, read a row's partial credit, save, check quickly and seal; the Train page, opened."""
    page = bench.page
    page.wait_for_selector("#rw-detail[data-shown]")
    bench.edit("(60 - length) / 40", "(80 - length) / 60")
    bench.select(0)
    page.wait_for_selector("[data-reward=format] .rw-credit")
    page.keyboard.press("Control+s")
    page.wait_for_selector("#rw-results-in[data-status=scored]")
    page.wait_for_function("() => !RW.state.file.unsaved.length")
    assert "(80 - length) / 60" in (folder / "rewards.py").read_text()
    page.click("#rw-tab-check")
    page.check("#rw-quick")
    page.click("#rw-check-run")
    page.wait_for_selector(".rw-verdict.rw-pass", timeout=PATIENCE_MS)
    page.click("#rw-seal")
    page.wait_for_selector(".rw-seal[data-state=holds]")
    page.click("#rw-tab-train")
    page.wait_for_selector("text=The set is sealed.")
    return page


@pytest.mark.slow
@pytest.mark.guide("G24")
def test_from_an_edit_to_a_model_beside_its_base(
    start: Any, sums: Path, open_page: Any, as_bench: Any
) -> None:
    page = to_a_sealed_set(as_bench(open_page(start(sums))), sums)
    page.click("#rw-train-start")
    page.wait_for_selector("#rw-record-rows[data-step]", timeout=PATIENCE_MS)
    page.click("#rw-train-result", timeout=PATIENCE_MS)
    page.click("#rw-merge")
    page.wait_for_selector("#rw-proof li >> nth=12", timeout=PATIENCE_MS)
    assert "Proved" in page.inner_text("#rw-part-merge .rw-verdict")
    page.click("#rw-compare-base:enabled")
    page.wait_for_selector("#rw-compared-sentence", timeout=PATIENCE_MS)
    page.click("#rw-ask:enabled")
    page.wait_for_selector("#rw-answers [data-side=trained] .rw-answer >> nth=1", timeout=PATIENCE_MS)
    assert "correctness" in page.inner_text("#rw-answers [data-side=base]")
    page.wait_for_selector("#rw-ask:enabled")


def test_from_an_edit_to_a_run_of_a_sealed_set(start: Any, sums: Path, open_page: Any, as_bench: Any) -> None:
    page = to_a_sealed_set(as_bench(open_page(start(sums))), sums)
    page.click("#rw-train-start")
    page.wait_for_selector("text=is starting")
    page.click("text=Kill")
    page.wait_for_selector("text=did not start")
