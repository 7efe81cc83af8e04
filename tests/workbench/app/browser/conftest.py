"""A real server in a process of its own and a real Chromium; any console error or foreign request fails a test."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
FIRST_LOAD_MS = 60_000
PATIENCE_MS = 30_000
START_SECONDS = 90
ON_SCREEN = """[...document.querySelectorAll('.rw-fill .rw-row[data-row]')]
    .sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((node) => Number(node.dataset.row))"""


@dataclass
class Server:
    """A running `reward-workbench serve` and the project it serves."""

    process: subprocess.Popen[bytes]
    url: str
    project: Path
    state: Path

    @property
    def origin(self) -> str:
        return self.url.partition("/?")[0]

    def stop(self) -> int:
        """End it as Ctrl+C does; its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


Start = Callable[..., Server]


def start_server(project: Path, state: Path, port: int = 0) -> Server:
    """Start the server and wait until it has printed its address."""
    environment = {**os.environ, "XDG_STATE_HOME": str(state)}
    command = [sys.executable, "-P", "-m", "workbench.cli.main", "serve", str(project), "--port", str(port)]
    state.mkdir(parents=True, exist_ok=True)
    said = state / f"server-{time.monotonic_ns()}.log"
    with said.open("wb") as file:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=file, env=environment)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r"(http://\S+)\n", said.read_text())
        if found:
            return Server(process, found.group(1), project, state)
        time.sleep(0.05)
    process.kill()
    process.wait()
    raise AssertionError("the server did not start: " + said.read_text())


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that do not end it; `server` gives it a fresh project."""
    folder = tmp_path_factory.mktemp("browser")
    (folder / "project").mkdir()
    (folder / "project" / "rewards.py").write_text("def r(completions, **kwargs):\n    return [0.0]\n")
    (folder / "project" / "rewardset.toml").write_text(
        '[set]\nsamples = "samples.jsonl"\n[[reward]]\nfunction = "rewards.py::r"\n'
    )
    (folder / "project" / "samples.jsonl").write_text('{"prompt": "p", "completion": "c"}\n')
    server = start_server(folder / "project", folder / "state")
    yield server
    server.stop()


@pytest.fixture
def server(shared_server: Server, project: Path) -> Server:
    """The shared server on the project of `project`, without anybody's drafts."""
    shutil.rmtree(shared_server.state / "reward-workbench" / "drafts", ignore_errors=True)
    (shared_server.project / "labels.jsonl").unlink(missing_ok=True)
    for path in project.iterdir():
        shutil.copy(path, shared_server.project / path.name)
    return shared_server


@pytest.fixture(scope="module")  # while Playwright runs, this thread has a running event loop
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS.split())
        yield browser
        browser.close()


OpenPage = Callable[..., Any]


@pytest.fixture
def open_page(browser: Any) -> Iterator[OpenPage]:
    """Opens a page on a server in a context of its own; at the end looks for what must not have happened."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def open_it(server: Server, *, wait: bool = True, **context: Any) -> Any:
        options = {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light", **context}
        made = browser.new_context(**options)
        contexts.append(made)
        page = made.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on(
            "console", lambda said: wrong.append(f"console: {said.text}") if said.type == "error" else None
        )
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on(
            "request", lambda request: wrong.append(request.url) if foreign(request.url, server) else None
        )
        page.goto(server.url, timeout=FIRST_LOAD_MS)
        if wait:
            ready(page)
        return page

    open_it.wrong = wrong  # type: ignore[attr-defined]
    yield open_it
    for context in contexts:
        for page in context.pages:
            let_it_be_kept(page)
        context.close()
    assert wrong == []


def let_it_be_kept(page: Any) -> None:
    """Wait until the server has what was typed: sent while the page closes, it would be the next test's draft."""
    from playwright.sync_api import Error

    with contextlib.suppress(Error):  # a page without the app, or a server that was ended
        page.wait_for_function("() => !window.RW?.text || RW.text === RW.sent", timeout=2_000)


def foreign(url: str, server: Server) -> bool:
    """Whether a request leaves the server."""
    return not url.startswith((server.origin, "data:", "blob:"))


def ready(page: Any) -> None:
    """Wait for the first scores with the first row's detail."""
    page.wait_for_selector("body[data-ready]", timeout=FIRST_LOAD_MS)
    page.wait_for_selector("#rw-results-in[data-status=scored]", timeout=FIRST_LOAD_MS)
    page.wait_for_selector("#rw-detail[data-shown]")


def serious_faults(page: Any) -> list[str]:
    """What axe finds of serious or critical impact, a line each."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"resultTypes": ["violations"], "preload": False}  # else it asks for style sheets a second time
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{each['id']}: {node['html'][:160]} {' '.join(c['message'] for c in node['any'])[:160]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


class Bench:
    """What tests do on a page, said once."""

    def __init__(self, page: Any) -> None:
        self.page = page

    @property
    def run(self) -> int:
        return int(self.page.get_attribute("#rw-results-in", "data-run"))

    @property
    def text(self) -> str:
        """The editor's whole document, which the page shows only in part."""
        return str(
            self.page.evaluate(
                "document.querySelector('#rw-editor .cm-content').cmTile.view.state.doc.toString()"
            )
        )

    def shows_text(self, text: str) -> None:
        """Wait until the editor holds exactly this text."""
        self.page.wait_for_function(
            "(text) => document.querySelector('#rw-editor .cm-content').cmTile.view.state.doc.toString() === text",
            arg=text,
        )

    def replace(self, old: str, new: str) -> None:
        """Select `old` in the editor and type `new` over it."""
        self.page.evaluate(
            """(old) => { const view = document.querySelector('#rw-editor .cm-content').cmTile.view;
            const at = view.state.doc.toString().indexOf(old);
            if (at < 0) throw new Error('not in the editor: ' + old);
            view.focus(); view.dispatch({selection: {anchor: at, head: at + old.length}, scrollIntoView: true}) }""",
            old,
        )
        self.page.keyboard.insert_text(new) if new else self.page.keyboard.press("Delete")

    def after_run(self, run: int, ends: str = "scored") -> None:
        """Wait until a later run than `run` has ended so; a failure tells what the page says of it."""
        self.page.wait_for_function(
            "(run) => Number(document.querySelector('#rw-results-in').dataset.run) > run", arg=run
        )
        self.page.wait_for_function(  # what is on screen belongs to the run
            """() => { const {status, run, table} = document.querySelector('#rw-results-in').dataset;
            return status === 'broken' || (status === 'scored' && table.startsWith(`${run}:`)) }"""
        )
        ended = self.page.get_attribute("#rw-results-in", "data-status")
        assert ended == ends, f"{self.page.inner_text('#rw-problems')}\n{self.text}"

    def edit(self, old: str, new: str, ends: str = "scored") -> None:
        """Replace text and wait for its run, which ends so."""
        run = self.run
        self.replace(old, new)
        self.after_run(run, ends)

    def cells(self, row: int) -> list[str]:
        """The texts of a row's cells."""
        self.page.wait_for_selector(f".rw-fill .rw-row[data-row='{row}']")
        return list(
            self.page.locator(f".rw-fill .rw-row[data-row='{row}'] [role=gridcell]").all_inner_texts()
        )

    def rows(self) -> list[int]:
        """The row numbers on screen, from top to bottom."""
        return list(self.page.evaluate(ON_SCREEN))

    def shows(self, rows: list[int]) -> None:
        """Wait until the table shows exactly these rows, in this order."""
        self.page.wait_for_function(
            f"(rows) => JSON.stringify({ON_SCREEN}) === JSON.stringify(rows)",
            arg=rows,
        )

    def select(self, row: int) -> None:
        """Click a row and wait for its detail."""
        self.page.click(f".rw-fill .rw-row[data-row='{row}'] .rw-c-text")
        self.page.wait_for_selector(f"#rw-detail[data-shown$=':{row}']")


@pytest.fixture
def bench_page(open_page: OpenPage, server: Server) -> Bench:
    """The page on the shared server, scored."""
    return Bench(open_page(server))


@pytest.fixture
def as_bench() -> Callable[[Any], Bench]:
    return Bench


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server of the test's own."""
    started: list[Server] = []

    def start_it(project: Path, port: int = 0) -> Server:
        started.append(start_server(project, tmp_path / "state", port))
        return started[-1]

    yield start_it
    for server in started:
        if server.process.poll() is None:
            server.stop()


@pytest.fixture
def serious() -> Callable[[Any], list[str]]:
    return serious_faults
