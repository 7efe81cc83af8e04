"""The samples drawer in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_a_file_with_other_names_is_opened_and_a_completion_written_by_hand(
    bench_page: Any, server: Any, tmp_path: Path
) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("question,output,answer\n1+1?,<answer>2</answer>,2\n1+1?,<answer>3</answer>,2\n")
    page = bench_page.page
    page.click("#rw-project")
    page.set_input_files("#rw-upload", table)
    page.wait_for_selector("#rw-use")
    assert "question is the prompt, output is the completion" in page.inner_text("#rw-look")
    page.select_option("#rw-mapping [data-source=output]", "")
    page.wait_for_selector("text=no `completion` column")
    page.select_option("#rw-mapping [data-source=output]", "completion")
    page.click("#rw-use")
    page.wait_for_function("() => document.querySelector('#rw-results-in').dataset.table?.endsWith(':2')")
    assert bench_page.cells(0)[4] == "1.00"
    page.click("#rw-project")
    page.fill("#rw-hand-completion", "<answer>4</answer>")
    page.select_option("#rw-hand-label", "wrong")
    page.click("#rw-hand-add")
    page.wait_for_selector("#rw-detail[data-shown$=':2']")
    assert json.loads((server.project / "labels.jsonl").read_text())["answer"] == "2"
    page.click("#rw-project")
    page.click("#rw-samples-own")
    page.wait_for_function("() => document.querySelector('#rw-results-in').dataset.table?.endsWith(':7')")


def test_an_endpoint_answers_the_open_prompts_and_the_answers_are_used(
    bench_page: Any, server: Any, endpoint: Any
) -> None:
    page = bench_page.page
    page.click("#rw-project")
    page.select_option("#rw-gen-where", "endpoint")
    page.fill("#rw-gen-model", "stub")
    page.fill("#rw-gen-url", endpoint.url)
    page.fill("#rw-gen-each", "2")
    page.click("#rw-gen-start")
    page.wait_for_selector("#rw-gen-line >> text=4 of 4 completions")
    page.click("#rw-gen-use")
    page.wait_for_function("() => document.querySelector('#rw-results-in').dataset.table?.endsWith(':4')")
    (server.project / "generated-stub-1.jsonl").unlink()
