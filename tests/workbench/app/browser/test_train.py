"""The Train page in a real browser."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.workbench.app.runs import write_run, write_step

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
    page.click("#rw-train-start")  # no model is named anywhere
    page.wait_for_function("() => document.activeElement?.id === 'rw-set-model'")
    assert page.locator("text=name a model in the field above").count() == 1
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


def test_completions_are_read_step_by_step_suspects_first_and_opened_in_write(
    no_runs: Any, open_page: Any, as_bench: Any, serious: Any
) -> None:
    run = write_run(no_runs.project, "first")
    write_run(no_runs.project, "second", steps=3)
    write_step(run, 1, ["a", "b"], [0.0, 1.0], [0.0, 1.0])
    texts = ["Sure! 9", "Sure! 8", "Sure! 7", "<answer>2</answer>", "no <img src=x> idea"]
    write_step(run, 2, texts, [0.75, 0.75, 0.75, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0])
    page = as_bench(open_page(no_runs)).page
    page.click("#rw-tab-train")
    page.click("[data-run=first]")
    page.wait_for_selector("#rw-record-rows[data-step='2']")
    assert page.locator("#rw-record-rows tbody tr").first.inner_text().split("\t")[1] == "Sure! 9"
    page.wait_for_selector("#rw-record-words[data-shown^='first:2:']")
    assert "sure !" in page.inner_text("#rw-record-words")
    page.click("#rw-record-rows tr[data-row='3']")
    page.wait_for_selector("#rw-record-detail[data-explained='3'] mark")
    assert page.locator("#rw-record-detail mark").all_inner_texts() == ["<answer>", "2", "</answer>"]
    page.click("#rw-record-rows tr[data-row='0']")  # by the process that is warm, of rows that are the same
    page.wait_for_selector("#rw-record-detail[data-explained='0'] .rw-credit")
    page.fill("#rw-record-step", "0")
    page.wait_for_selector("#rw-record-rows[data-step='1'] tr[data-row='1']")
    page.click("[aria-label='Next step']")
    page.wait_for_selector("#rw-record-rows[data-step='2']")
    page.check("[data-overlay=second]")
    page.wait_for_selector("#rw-the-run .rw-legend >> text=second")
    assert page.locator("[data-chart=reward] polyline").count() == 2
    assert serious(page) == []
    page.set_viewport_size({"width": 800, "height": 900})
    assert page.evaluate("document.querySelector('#rw-page-train').scrollWidth") <= 800
    page.click("#rw-record-open")
    page.wait_for_function("() => RW.state.status === 'scored' && RW.state.shown.rows === 5")
    assert page.is_visible("#rw-main")


def test_held_out_completions_are_a_stop_of_the_slider_and_marked(
    no_runs: Any, open_page: Any, as_bench: Any
) -> None:
    run = write_run(no_runs.project, "first")
    for step in (1, 2):
        write_step(run, step, [f"trained {step}", "b"], [1.0, 0.0], [0.0, 1.0])
    write_step(run, 1, ["asked apart", "d"], [1.0, 0.0], [1.0, 0.0], held_out=1)
    page = as_bench(open_page(no_runs)).page
    page.click("#rw-tab-train")
    page.click("[data-run=first]")
    page.wait_for_selector("#rw-record-rows[data-step='2']")
    assert page.locator(".rw-held").count() == 0
    page.click("[aria-label='Step before']")
    page.wait_for_selector("#rw-record-rows[data-step='1'][data-held='1'] >> text=asked apart")
    page.wait_for_selector(".rw-held >> text=held-out")
    assert "Held-out prompts, which the run does not train on" in page.inner_text("#rw-record-rows")
    assert page.get_attribute("#rw-record-step", "aria-valuetext") == "step 1, held-out prompts"
    assert not page.is_visible("#rw-record-words")
    page.click("[aria-label='Step before']")
    page.wait_for_selector("#rw-record-rows[data-step='1'][data-held='0'] >> text=trained 1")
    page.wait_for_selector("#rw-record-words:visible")


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
    page.click("#rw-record-open-all")
    page.wait_for_function(
        "() => RW.state.project.samples[0] === 'completions' && RW.state.status === 'scored'"
    )
