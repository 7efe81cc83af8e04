"""Completions from an endpoint and from a model of this machine, as new rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.workbench.app.endpoint import Endpoint
from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.generating import prompts_of, write_new
from workbench.app.routes import routes
from workbench.samples.in_memory import samples_from

Wait = Callable[..., None]


@pytest.fixture
def client(bench: Bench, desk: Desk) -> Iterator[TestClient]:
    yield TestClient(Starlette(routes=routes(bench)))
    desk.generating.close()


def generate(client: TestClient, **values: Any) -> Any:
    asked = {"desk": "desk0000", "model": "m", "url": "", "key_env": "", **values}
    return client.post("/rw/generate", json=asked)


def test_an_endpoint_answers_the_open_prompts_into_a_new_file(
    client: TestClient,
    desk: Desk,
    endpoint: Endpoint,
    project: Path,
    wait_for: Wait,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STUB_KEY", "secret")
    before = (project / "samples.jsonl").read_text()
    generate(client, url=endpoint.url, key_env="STUB_KEY", prompts=5, each=3, temperature=0.5)
    wait_for(lambda: desk.generating.state == "done", 30)
    told = desk.generating.to_json()
    assert (told["done"], told["of"], told["file"], told["error"]) == (6, 6, "generated-m-1.jsonl", None)
    rows = [json.loads(line) for line in (project / "generated-m-1.jsonl").read_text().splitlines()]
    assert [row["prompt"] for row in rows] == ["1 + 1"] * 3 + ["2 + 2"] * 3
    assert rows[0] == {"prompt": "1 + 1", "completion": "<answer>2", "answer": "2"}
    assert endpoint.asked[0]["temperature"] == 0.5
    assert set(endpoint.keys) == {"Bearer secret"}
    assert (project / "samples.jsonl").read_text() == before


def test_a_stop_ends_the_process_and_keeps_what_came(
    client: TestClient, desk: Desk, endpoint: Endpoint, project: Path, wait_for: Wait
) -> None:
    endpoint.gate.clear()
    generate(client, url=endpoint.url, each=4)
    wait_for(lambda: desk.generating.to_json()["done"] == 1, 30)
    child = desk.generating._child
    assert child is not None
    told = client.post("/rw/generate-stop", json={"desk": "desk0000"}).json()
    assert (told["state"], told["done"], child.listens) == ("stopped", 1, False)
    assert len((project / told["file"]).read_text().splitlines()) == 1


def test_what_had_come_is_written_when_another_generation_is_started(
    client: TestClient, desk: Desk, endpoint: Endpoint, project: Path, wait_for: Wait
) -> None:
    endpoint.gate.clear()
    generate(client, url=endpoint.url, each=4)
    wait_for(lambda: desk.generating.to_json()["done"] == 1, 30)
    generate(client, url=endpoint.url, each=1)
    assert len((project / "generated-m-1.jsonl").read_text().splitlines()) == 1
    assert desk.generating.to_json()["file"] is None


def test_two_generations_draw_from_other_random_numbers(
    client: TestClient, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks: list[dict[str, Any]] = []

    class Asked:
        state, said, gathered = "done", {}, ()

        def __init__(self, module: str, task: dict[str, Any], *_: Any, **__: Any) -> None:
            tasks.append(task)

        def close(self) -> None: ...

    monkeypatch.setattr("workbench.app.generating.Child", Asked)
    for _ in range(2):
        desk.generating.number = 0  # as after a restart
        generate(client, url="http://localhost:1/v1")
    assert tasks[0]["seed"] != tasks[1]["seed"]


def test_an_endpoint_that_refuses_is_one_sentence_and_no_file(
    client: TestClient, desk: Desk, endpoint: Endpoint, project: Path, wait_for: Wait
) -> None:
    endpoint.status = 401
    generate(client, url=endpoint.url)
    wait_for(lambda: desk.generating.state == "failed", 30)
    assert desk.generating.to_json()["error"] == "no completion came: HTTP 401: no such key"
    assert not list(project.glob("generated-*"))


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"model": " "}, "name a model"),
        ({"each": 65}, "from 1 to 64"),
        ({"temperature": 9}, "temperature 9"),
        ({"temperature": "warm"}, "must be a number"),
        ({"url": "localhost:8000"}, "must be an address"),
        ({"url": "http://localhost:1/v1", "key_env": "NO_SUCH_KEY_HERE"}, "NO_SUCH_KEY_HERE is not set"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(
    client: TestClient, desk: Desk, asked: dict[str, Any], word: str
) -> None:
    answer = generate(client, **asked)
    assert (answer.status_code, desk.generating.state) == (400, "none")
    assert word in answer.json()["error"]


def test_prompts_are_asked_once_with_the_columns_that_all_their_rows_share() -> None:
    rows = [
        {"prompt": "p", "completion": "a", "answer": "1", "model": "x"},
        {"prompt": "p", "completion": "b", "answer": "1", "model": "y"},
        {"prompt": "q", "completion": "c", "answer": "2", "model": "x"},
    ]
    asked = prompts_of(samples_from(rows))
    assert [(each.prompt, dict(each.columns)) for each in asked] == [
        ("p", {"answer": "1"}),
        ("q", {"answer": "2"}),
    ]


def test_a_file_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    names = [
        write_new(tmp_path, "/models/Qwen 3", [{"prompt": "p", "completion": str(n)}]).name for n in range(2)
    ]
    assert names == ["generated-Qwen-3-1.jsonl", "generated-Qwen-3-2.jsonl"]
    assert json.loads((tmp_path / names[0]).read_text())["completion"] == "0"


def test_a_number_that_json_lacks_costs_no_answer(tmp_path: Path) -> None:
    row = {"prompt": "p", "completion": "c", "facts": {"odds": [1.0, float("nan")]}, "far": float("inf")}
    written = json.loads(write_new(tmp_path, "m", [row]).read_text())
    assert (written["completion"], written["facts"], written["far"]) == ("c", {"odds": [1.0, None]}, None)


def test_a_full_disk_leaves_no_half_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.whole_files.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_new(tmp_path, "m", [{"prompt": "p", "completion": "c"}])
    assert list(tmp_path.iterdir()) == []
