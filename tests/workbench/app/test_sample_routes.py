from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.pages import samples as page
from workbench.app.routes import routes

KEY = "desk0000"
Wait = Callable[..., None]


@pytest.fixture
def client(bench: Bench, desk: Desk) -> TestClient:
    return TestClient(Starlette(routes=routes(bench)))


def post(client: TestClient, name: str, **values: Any) -> Any:
    return client.post(f"/rw/{name}", json={"desk": KEY, **values})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text("question,output,answer\n1+1?,2,2\n1+1?,3,2\n")
    return tmp_path / "rows.csv"


def test_what_is_open_is_told(client: TestClient) -> None:
    found = client.get("/rw/samples", params={"desk": KEY}).json()
    assert (found["rows"], found["groups"], found["own"], found["labels"]) == (
        6, 2, True, {"right": 3, "partial": 1, "wrong": 1},
    )  # fmt: skip


def test_a_file_is_looked_at_and_then_used_by_this_tab_alone(
    client: TestClient, bench: Bench, desk: Desk, table: Path, wait_for: Wait
) -> None:
    look = post(client, "samples-look", path=str(table), columns=None).json()
    assert look["columns"] == {"question": "prompt", "output": "completion"}
    assert post(client, "samples-use", path=str(table), columns=look["columns"]).status_code == 200
    wait_for(lambda: desk.status == "scored" and desk.shown is not None and len(desk.shown.board) == 2)
    other = bench.desk("another0")
    wait_for(lambda: other.status == "scored")
    assert other.shown is not None
    assert len(other.shown.board) == 6
    post(client, "samples-use", path=str(table), columns=look["columns"], beside=True)
    assert post(client, "samples-use").json() == {"used": "project"}
    wait_for(lambda: desk.status == "scored" and desk.shown is not None and len(desk.shown.board) == 6)


def test_an_upload_is_kept_for_the_tab_under_a_harmless_name(
    client: TestClient, bench: Bench, table: Path
) -> None:
    answer = client.post(
        "/rw/upload", params={"desk": KEY, "name": "../../x/rows.csv"}, content=table.read_bytes()
    )
    assert answer.json() == {"path": "upload:rows.csv"}
    assert [file.name for file in bench.shelf.uploads(KEY).iterdir()] == ["rows.csv"]
    assert post(client, "samples-look", path="upload:rows.csv", columns=None).json()["samples"]["rows"] == 2
    bench.desk("another0")
    other = client.post(
        "/rw/samples-look", json={"desk": "another0", "path": "upload:rows.csv", "columns": None}
    )
    assert other.status_code == 400


def test_an_upload_is_bounded(client: TestClient, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MAX_UPLOAD", 10)
    answer = client.post("/rw/upload", params={"desk": KEY, "name": "big"}, content=b"x" * 11)
    assert answer.status_code == 400
    assert list(bench.shelf.uploads(KEY).iterdir()) == []


@pytest.mark.parametrize(
    "asked",
    [
        {"path": ""},
        {"path": "nowhere.jsonl"},
        {"path": "\0"},
        {"path": "samples.jsonl", "columns": {"a": "prompt", "b": "prompt"}},
        {"path": "samples.jsonl", "columns": ["a"]},
        {},
    ],
)
def test_what_cannot_be_looked_at_is_one_sentence(client: TestClient, asked: dict[str, Any]) -> None:
    answer = post(client, "samples-look", **asked)
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]


def test_a_file_that_cannot_be_read_leaves_the_open_rows_alone(client: TestClient, desk: Desk) -> None:
    run = desk.run
    assert post(client, "samples-use", path="nowhere.jsonl").status_code == 400
    assert (desk.run, len(desk.shelf.rows(desk.source).samples)) == (run, 6)


def test_a_completion_by_hand_has_the_columns_of_a_row_and_its_own(
    client: TestClient, desk: Desk, project: Path, wait_for: Wait
) -> None:
    said = {"prompt": "5 + 5", "completion": "ten", "row": 0, "columns": {"answer": "10"}, "label": "right"}
    assert post(client, "row-add", **said).status_code == 200
    wait_for(lambda: desk.status == "scored" and desk.shown is not None and len(desk.shown.board) == 7)
    kept = json.loads((project / "labels.jsonl").read_text())
    assert kept == {"prompt": "5 + 5", "completion": "ten", "answer": "10", "label": "right"}
    assert post(client, "row-add", prompt="p", completion="c", label="fine").status_code == 400
