"""The server as a program: started, killed, attacked."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.mark.browser
def test_what_was_typed_survives_a_killed_server(
    start: Any, project: Path, open_page: Any, as_bench: Any
) -> None:
    first = start(project)
    port = int(first.origin.rpartition(":")[2])
    bench = as_bench(open_page(first))
    bench.edit("score += 0.25", "score += 0.125")
    first.process.send_signal(signal.SIGKILL)
    first.process.wait(20)
    bench.page.set_default_timeout(120_000)  # a second server has to load
    bench.page.wait_for_selector("text=The server does not answer")
    bench.replace("score += 0.125", "score += 0.0625")
    bench.page.click("#rw-save")
    bench.page.wait_for_selector("#rw-banner >> text=Not saved. The server does not answer")
    start(project, port)
    bench.page.wait_for_selector("#rw-banner", state="hidden")
    bench.page.wait_for_selector("#rw-results-in[data-status=scored]")
    bench.page.wait_for_function(
        "() => document.querySelector(\".rw-fill .rw-row[data-row='0']\")?.innerText.includes('0.25')"
    )
    assert "score += 0.0625" in bench.text
    open_page.wrong[:] = [
        said
        for said in open_page.wrong
        if "ERR_CONNECTION" not in said and "ERR_EMPTY" not in said and "ERR_INCOMPLETE" not in said
    ]


@pytest.mark.slow
@pytest.mark.browser
def test_a_text_that_was_given_up_while_the_tab_was_cut_off_is_not_shown_on(
    start: Any, project: Path, open_page: Any, as_bench: Any
) -> None:
    first = start(project)
    port = int(first.origin.rpartition(":")[2])
    bench = as_bench(open_page(first))
    before = bench.text
    bench.edit("score += 0.25", "score += 0.125")
    first.process.send_signal(signal.SIGKILL)
    first.process.wait(20)
    bench.page.set_default_timeout(120_000)  # a second server has to load
    bench.page.wait_for_selector("text=The server does not answer")
    for draft in (first.state / "reward-workbench" / "drafts").glob("*.json"):
        draft.unlink()  # as another tab does that takes the file
    start(project, port)
    bench.shows_text(before)
    open_page.wrong[:] = [
        said
        for said in open_page.wrong
        if "ERR_CONNECTION" not in said and "ERR_EMPTY" not in said and "ERR_INCOMPLETE" not in said
    ]


def test_ctrl_c_ends_the_server_and_its_processes(start: Any, project: Path) -> None:
    server = start(project)
    assert server.stop() == 0


@pytest.fixture
def visitor(shared_server: Any) -> Any:
    """A client that has shown the token."""
    client = httpx.Client(base_url=shared_server.origin, timeout=30)
    assert client.get(shared_server.url).status_code == 303
    yield client
    client.close()


def test_a_visitor_without_the_token_gets_nothing(shared_server: Any) -> None:
    for path in (
        "/",
        "/config",
        "/gradio_api/info",
        "/rw/state?desk=desk0000",
        "/theme.css",
        "/gradio_api/file=/etc/passwd",
    ):
        answer = httpx.get(shared_server.origin + path)
        assert answer.status_code == 403, path


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/gradio_api/call/predict", '{"data": []}'),
        ("POST", "/gradio_api/run/predict", '{"data": []}'),
        ("POST", "/gradio_api/queue/join", '{"data": [], "fn_index": 0, "session_hash": "x"}'),
        (
            "POST",
            "/gradio_api/component_server",
            '{"data": [], "fn_name": "x", "component_id": 1, "session_hash": "x"}',
        ),
        ("POST", "/gradio_api/upload", ""),
        ("POST", "/rw/edit", '{"desk": "desk0000", "file": "rewards.py", "text": "evil"}'),
        ("POST", "/rw/save", '{"desk": "desk0000", "file": "rewards.py", "text": "evil"}'),
        ("POST", "/rw/explain", '{"desk": "desk0000", "row": 0}'),
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_another_sites_page_executes_nothing(
    visitor: Any, shared_server: Any, method: str, path: str, body: str, kind: str
) -> None:
    before = (shared_server.project / "rewards.py").read_text()
    foreign = visitor.request(
        method, path, content=body, headers={"origin": "http://evil.example", "content-type": kind}
    )
    rebound = visitor.request(
        method, path, content=body, headers={"host": "evil.example:7860", "content-type": kind}
    )
    sibling = visitor.request(
        method, path, content=body, headers={"sec-fetch-site": "same-site", "content-type": kind}
    )
    assert (foreign.status_code, rebound.status_code, sibling.status_code) == (403, 421, 403)
    assert (shared_server.project / "rewards.py").read_text() == before


def test_gradio_itself_has_nothing_to_call(visitor: Any) -> None:
    config = visitor.get("/config").json()
    assert [entry for entry in config["dependencies"] if entry["backend_fn"]] == []


def test_pages_may_not_be_framed_nor_load_from_elsewhere(visitor: Any) -> None:
    answer = visitor.get("/")
    assert answer.headers["x-frame-options"] == "DENY"
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert "access-control-allow-origin" not in answer.headers


def test_a_missing_target_is_one_line_and_code_2(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "workbench.cli.main", "serve", str(tmp_path / "nowhere")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert re.fullmatch(r"error: there is no file or folder '.*nowhere'.*\n", done.stderr)
