"""The app as an exhibit: everybody may look, nothing can be edited or run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from tests.workbench.app.conftest import FakeEngine
from tests.workbench.app.runs import write_result, write_run
from workbench.app.bench import Bench
from workbench.app.checking import _checked, _kept
from workbench.app.desk import Desk
from workbench.app.door import LOOKING, placeless
from workbench.app.guard import Guard, policy
from workbench.app.project_files import open_project
from workbench.app.routes import PAGES, routes

CHANGING = sorted(
    name for page in PAGES for name, (method, _) in page.items() if method == "POST" and name not in LOOKING
)


@pytest.fixture
def exhibit(project: Path, engine: FakeEngine, tmp_path: Path) -> Iterator[TestClient]:
    bench = Bench(open_project(project), lambda: engine, tmp_path / "drafts", read_only=True)
    yield TestClient(Starlette(routes=routes(bench)))
    bench.close()


@pytest.mark.parametrize("name", CHANGING)
def test_what_changes_or_runs_something_is_refused_in_one_sentence(exhibit: TestClient, name: str) -> None:
    answer = exhibit.post(f"/rw/{name}", json={"desk": "desk0000", "file": "rewards.py", "text": "x"})
    assert answer.status_code == 400
    assert "nothing can be edited or run here" in answer.json()["error"]


def test_scores_are_shown_and_the_page_says_that_it_only_shows(exhibit: TestClient, project: Path) -> None:
    before = (project / "rewards.py").read_text()
    state = exhibit.get("/rw/state", params={"desk": "desk0000"}).json()
    assert state["read_only"] is True
    assert exhibit.get("/rw/text", params={"desk": "desk0000"}).json()["text"] == before
    assert exhibit.post("/rw/weigh", json={"desk": "desk0000"}).status_code == 200


def test_neither_paths_nor_what_programs_printed_are_shown(exhibit: TestClient, project: Path) -> None:
    run = write_run(project)
    write_result(run)
    folder = project / ".workbench" / "programs"
    folder.mkdir(parents=True)
    for name in ("sums-1", "sums-1.merge", "preflight"):
        (folder / f"{name}.log").write_text("key is in /home/somebody/.secret\n")
        (folder / f"{name}.json").write_text("{}")
    asked = {"desk": "desk0000", "name": "sums-1"}
    for name in ("state", "train", "train-run", "result", "result-run"):
        answer = exhibit.get(f"/rw/{name}", params=asked)
        assert answer.status_code == 200
        assert str(project) not in answer.text, name
        assert "somebody" not in answer.text, name
    assert exhibit.get("/rw/result-run", params=asked).json()["merged"] == "merged"
    assert exhibit.get("/rw/result-file", params={**asked, "what": "report"}).status_code == 400


def test_what_rewards_printed_and_the_paths_of_their_failures_are_not_shown(
    exhibit: TestClient, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = (
        "FileNotFoundError: [Errno 2] No such file: '/home/somebody/keys/key.txt' "
        "(/usr/lib/python3/somebody/reader.py:12)"
    )
    real = engine.score

    def failing(*given: Any) -> Any:
        board = real(*given)
        return replace(
            board, printed="shaped:\nsomebody was here", errors={(0, "shaped"): said}, notes=(said,)
        )

    monkeypatch.setattr(engine, "score", failing)
    asked = {"desk": "desk0000"}
    after = 1
    while (state := exhibit.get("/rw/state", params={**asked, "after": after}).json())["shown"] is None:
        after = state["version"]
    assert state["shown"]["printed"] == ""
    row = exhibit.get("/rw/row", params={**asked, "row": 0}).json()
    for told in (*(problem["text"] for problem in state["problems"]), row["scores"][0]["error"]):
        assert "FileNotFoundError" in told
        assert "\u2026/key.txt" in told
        assert "somebody" not in told
    completion = row["text"]
    assert completion.startswith("<think>")


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("directory:/home/me/k", "directory:\u2026/k"),
        ("file:///home/me/x.py", "\u2026/x.py"),
        ("file://localhost/home/me/x.py, line 3", "\u2026/x.py, line 3"),
        ("git+file:///home/me/x", "git+\u2026/x"),
        ("sqlite:////home/me/x.db", "sqlite:\u2026/x.db"),
        ("//home/me//x", "\u2026/x"),
        ("</home/me/x>", "<\u2026/x>"),
        ("</home/my name/x>", "<\u2026/x>"),
        ("PATH=/usr/lib:/home/me/x", "PATH=\u2026/lib:\u2026/x"),
        ("'/home/my name/k'", "'\u2026/k'"),
        ("'/home/my (own) name/k' and '/x/y z/w'", "'\u2026/k' and '\u2026/w'"),
        ('"/home/o\'neill/k"', '"\u2026/k"'),
        ("'directory:/home/my name/k'", "'directory:\u2026/k'"),
        ("'file:///home/my name/k'", "'\u2026/k'"),
        ("'/home/my name/and so on\u2026", "'\u2026/and so on\u2026"),
        ("'/home/my name/x.py:12: 1/2 is no score'", "'\u2026/x.py:12: 1/2 is no score'"),
        ("http://host/?of=/home/me/x", "http://host/?of=\u2026/x"),
    ],
)
def test_of_an_absolute_path_the_last_name_alone_is_told(told: str, shown: str) -> None:
    assert placeless(told) == shown


@pytest.mark.parametrize(
    "told",
    [
        "http://host/path/to/x",
        "'https://x.org:8000/a/b'",
        "(http://[::1]/a/b)",
        "s3://bucket/a/b",
        "1/2",
        "1/2/3",
        "a/b",
        "./a/b/c and ../a/b",
        "'a/b/c'",
        "<think>1/2</think><answer>3/4</answer>",
        "'</think>' / 2 / 3",
        "/ a / b",
    ],
)
def test_what_is_no_absolute_path_is_told_as_it_is(told: str) -> None:
    assert placeless(told) == told


def test_no_visitor_makes_a_copy_of_the_tours_project(exhibit: TestClient, project: Path) -> None:
    found = exhibit.get("/rw/text", params={"desk": "tour" + "a1b2c3d4e5f6a7b8"}).json()
    assert found["text"] == (project / "rewards.py").read_text()


def test_everybody_may_look_under_the_names_that_are_allowed() -> None:
    async def nothing(*_: object) -> None: ...

    guard = Guard(nothing, secret="", session="s", allow_hosts=["me-bench.hf.space"], public=True)
    assert guard.refusal("GET", {"host": "me-bench.hf.space"}) is None
    assert guard.refusal("GET", {"host": "10.0.0.7:7860"}) is None
    assert guard.refusal("GET", {"host": "elsewhere.example"}) is not None
    assert (
        guard.refusal("POST", {"host": "me-bench.hf.space", "origin": "https://huggingface.co"}) is not None
    )
    assert "frame-ancestors https://huggingface.co" in policy("n", framed=True)
    assert "frame-ancestors 'none'" in policy("n")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/?token=", 200),
        ("POST", "/gradio_api/upload", 403),
        ("POST", "/login", 403),
        ("POST", "/rw/login", 200),
        ("POST", "/rw/weigh", 200),
    ],
)
def test_nobody_is_admitted_to_more_than_looking_and_no_file_is_taken(
    method: str, path: str, status: int
) -> None:
    guard = Guard(
        Starlette(routes=[Route("/{rest:path}", _passed, methods=["GET", "POST"])]),
        secret="",
        session="of another server too",
        public=True,
    )
    answer = TestClient(guard, base_url="http://localhost", follow_redirects=False).request(method, path)
    assert answer.status_code == status
    assert "set-cookie" not in answer.headers


async def _passed(request: Request) -> Response:
    return Response("passed on")


def test_what_the_checks_found_of_these_files_is_shown_again_and_of_others_not(
    desk: Desk, project: Path
) -> None:
    place = _kept(desk)
    place.parent.mkdir(exist_ok=True)
    found = {"findings": [], "verdict": "pass"}
    place.write_text(json.dumps({"of": _checked(desk), "result": found}))
    assert desk.checking.recall(desk) == found
    assert (desk.checking.state, desk.checking.result) == ("done", found)
    assert "run the checks again" in str(desk.checking.why_no_seal())
    other = type(desk.checking)(desk.touch)
    with (project / "samples.jsonl").open("a") as file:
        file.write("\n")
    assert other.recall(desk) is None


def test_the_space_starts_answers_under_its_name_and_refuses_an_edit(
    repository: Path, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "PORT": "0",
        "SPACE_HOST": "me-bench.hf.space",
        "XDG_STATE_HOME": str(tmp_path),
    }
    said = tmp_path / "said"
    before = set(Path(tempfile.gettempdir()).glob("reward-workbench-space-*"))
    with said.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(repository / "app.py")], stderr=log, env=environment, cwd=tmp_path
        )
    try:
        deadline = time.monotonic() + 90
        while (found := re.search(r"http://localhost:(\d+)/", said.read_text())) is None:
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"the Space did not start: {said.read_text()}")
            time.sleep(0.05)
        address = f"http://127.0.0.1:{found[1]}"
        page = urllib.request.Request(f"{address}/", headers={"host": "me-bench.hf.space"})
        with urllib.request.urlopen(page, timeout=60) as answer:
            assert (answer.status, b"rw-editor" in answer.read()) == (200, True)
        edit = urllib.request.Request(f"{address}/rw/edit", json.dumps({"desk": "desk0000"}).encode())
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(edit, timeout=60)
        with refused.value as answer:
            assert b"nothing can be edited" in answer.read()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert set(Path(tempfile.gettempdir()).glob("reward-workbench-space-*")) <= before


def test_a_space_installs_what_the_package_needs(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    wanted = [line for line in (repository / "requirements.txt").read_text().splitlines() if line[:1] != "#"]
    assert wanted == project["dependencies"]
    head = (repository / "README.md").read_text().split("---\n")[1]
    version = re.search(r"sdk_version: (\S+)", head)
    assert version is not None
    assert f"gradio=={version[1]}\n" in (repository / "constraints.txt").read_text()
