"""The Train page in a real browser."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.workbench.app.runs import write_run

pytestmark = pytest.mark.browser
PATIENCE_MS = 300_000


@pytest.fixture
def no_runs(server: Any) -> Any:
    """The shared server without runs before and after."""
    for name in ("runs", ".workbench"):
        shutil.rmtree(server.project / name, ignore_errors=True)
    yield server
    shutil.rmtree(server.project / "runs", ignore_errors=True)


def test_a_run_is_read_and_settings_are_judged_while_they_are_typed(
    no_runs: Any, open_page: Any, as_bench: Any
) -> None:
    page = as_bench(open_page(no_runs)).page
    page.click("#rw-tab-train")
    page.wait_for_selector("text=No run yet")
    write_run(no_runs.project, "first")
    page.click("#rw-tab-write")
    page.click("#rw-tab-train")
    page.wait_for_selector("#rw-the-run[data-run=first] [data-chart=reward] svg polyline")
    assert "harder prompts" in page.inner_text("#rw-the-run")
    page.fill("#rw-set-model", "toy")
    page.fill("#rw-set-num_generations", "7")
    page.wait_for_selector("#rw-set-why:visible >> text=num_generations")
    page.fill("#rw-set-num_generations", "8")
    page.wait_for_selector("#rw-set-why", state="hidden")


@pytest.mark.slow
def test_a_toy_model_is_trained_and_its_completions_opened(
    no_runs: Any, open_page: Any, as_bench: Any
) -> None:
    rows = "".join(f'{{"prompt": "What is {n} + 1?", "answer": "{n + 1}"}}\n' for n in range(20))
    (no_runs.project / "train.jsonl").write_text(rows)
    manifest = no_runs.project / "rewardset.toml"
    manifest.write_text(manifest.read_text() + '\n[data]\ntrain = "train.jsonl"\n')
    page = as_bench(open_page(no_runs)).page
    page.click("#rw-tab-train")
    page.fill("#rw-set-model", "toy")
    page.fill("#rw-set-max_steps", "2")
    page.check("#rw-unsealed")
    page.click("#rw-train-start")
    page.wait_for_selector("#rw-the-run[data-status=done]", timeout=PATIENCE_MS)
    page.click("#rw-train-open")
    page.wait_for_function(
        "() => RW.state.project.samples[0] === 'completions' && RW.state.status === 'scored'"
    )
