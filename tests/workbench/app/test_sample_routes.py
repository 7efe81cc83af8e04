from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.testclient import TestClient

from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.pages import samples as page
from workbench.app.routes import routes
from workbench.app.view.opened import safe_name

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


def test_an_upload_of_the_same_name_leaves_the_open_rows_until_it_is_used(
    client: TestClient, bench: Bench, desk: Desk, table: Path, wait_for: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    def upload(content: bytes, name: str = "rows.jsonl") -> Any:
        return client.post("/rw/upload", params={"desk": KEY, "name": name}, content=content)

    line = b'{"prompt": "p", "completion": "c", "answer": "2"}\n'
    assert upload(line).json() == {"path": "upload:rows.jsonl"}
    post(client, "samples-use", path="upload:rows.jsonl")
    wait_for(lambda: desk.status == "scored" and desk.shown is not None and len(desk.shown.board) == 1)
    run = desk.run
    assert upload(2 * line).json() == {"path": "upload:2-rows.jsonl"}
    monkeypatch.setattr(page, "MAX_UPLOAD", 10)
    assert upload(line).status_code == 400
    desk.look_at_disk()
    assert (desk.run, len(desk.shelf.rows(desk.source).samples)) == (run, 1)
    assert post(client, "samples-look", path="upload:2-rows.jsonl").json()["samples"]["rows"] == 2
    assert sorted(file.name for file in bench.shelf.uploads(KEY).iterdir()) == ["2-rows.jsonl", "rows.jsonl"]


def test_the_name_of_an_upload_stays_one_that_can_be_asked_for(client: TestClient, bench: Bench) -> None:
    for _ in range(2):
        answer = client.post("/rw/upload", params={"desk": KEY, "name": f"{'x' * 130}.txt"}, content=b"x")
        name = answer.json()["path"].removeprefix("upload:")
        assert name == safe_name(name)
    assert len(list(bench.shelf.uploads(KEY).iterdir())) == 2


def test_an_upload_that_breaks_off_leaves_nothing(client: TestClient, bench: Bench) -> None:
    def breaks_off() -> Iterator[bytes]:
        yield b'{"prompt": '
        raise ClientDisconnect

    with pytest.raises(ClientDisconnect):
        client.post("/rw/upload", params={"desk": KEY, "name": "rows.jsonl"}, content=breaks_off())
    assert list(bench.shelf.uploads(KEY).iterdir()) == []


def test_an_upload_for_which_there_is_no_space_is_one_sentence(
    client: TestClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(page, "_receive", full)
    answer = client.post("/rw/upload", params={"desk": KEY, "name": "rows.jsonl"}, content=b"x")
    assert answer.json() == {"error": "rows.jsonl cannot be kept: No space left on device"}
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


def test_a_completion_by_hand_has_the_columns_of_the_row_on_screen(
    client: TestClient, desk: Desk, project: Path, tmp_path: Path, wait_for: Wait
) -> None:
    post(client, "edit", file="rewards.py", text="BROKEN")
    other = tmp_path / "other.jsonl"
    other.write_text('{"prompt": "3 + 3", "completion": "six", "answer": "6"}\n')
    post(client, "samples-use", path=str(other))
    wait_for(lambda: desk.status == "broken")  # so the rows on screen are still the others
    detail = client.get("/rw/row", params={"desk": KEY, "row": 0}).json()
    said = {"prompt": "1 + 1", "completion": "ten", "of": detail["of"]}
    assert post(client, "row-add", **said, row=0).status_code == 200
    assert json.loads((project / "labels.jsonl").read_text())["answer"] == "2"
    assert "another completion by now" in post(client, "row-add", **said, row=1).json()["error"]
