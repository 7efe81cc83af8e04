from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from workbench.app.bench import Bench
from workbench.app.checking import Checking, _checked
from workbench.app.child import Child
from workbench.app.desk import Desk
from workbench.app.routes import routes

Wait = Callable[..., None]


@pytest.fixture
def client(bench: Bench, desk: Desk) -> Iterator[TestClient]:
    yield TestClient(Starlette(routes=routes(bench)))
    desk.checking.close()


def post(client: TestClient, name: str, **values: Any) -> Any:
    return client.post(f"/rw/{name}", json={"desk": "desk0000", **values})


def page(client: TestClient) -> Any:
    return client.get("/rw/check", params={"desk": "desk0000"}).json()


def test_a_family_is_run_on_the_draft_and_its_finding_is_opened_kept_and_waived(
    client: TestClient, desk: Desk, project: Path, wait_for: Wait
) -> None:
    source = (project / "rewards.py").read_text()
    desk.edit("rewards.py", source.replace("score += 0.25", "score += 2.5"))
    assert post(client, "check-run", select=["RW1"], quick=True).status_code == 200
    wait_for(lambda: desk.checking.state != "running", 120)
    found = page(client)
    assert (found["state"], found["error"], found["draft"], found["stale"]) == ("done", None, True, False)
    cards = {card["name"]: card for card in found["result"]["findings"]}
    card = cards["out-of-range"]
    assert (found["result"]["verdict"], card["reward"]) == ("fail", "shaped")
    row = post(client, "finding-open", number=card["number"]).json()["row"]
    if row is None:
        wait_for(lambda: desk.status == "scored" and desk.shown is not None and len(desk.shown.board) == 7)
    assert post(client, "finding-keep", number=card["number"], label="hack").status_code == 200
    assert json.loads((project / "labels.jsonl").read_text())["label"] == "hack"
    assert post(client, "finding-waive", number=card["number"], reason="").status_code == 400
    assert post(client, "finding-waive", number=card["number"], reason="meant so").status_code == 200
    assert 'reason = "meant so"' in (project / "rewardset.toml").read_text()
    assert page(client)["result"]["findings"][card["number"]]["waived"] == "meant so"
    assert "draft" in page(client)["why_no_seal"]


def test_a_run_that_is_stopped_leaves_no_process(client: TestClient, desk: Desk, wait_for: Wait) -> None:
    post(client, "check-run")
    child = desk.checking._child
    assert child is not None
    assert post(client, "check-stop").json() == {"state": "stopped"}
    assert not child.listens
    assert page(client)["result"] is None


def test_what_was_found_before_a_stop_is_shown_and_can_be_kept(
    client: TestClient, desk: Desk, project: Path, wait_for: Wait
) -> None:
    source = (project / "rewards.py").read_text()
    desk.edit("rewards.py", source.replace("score += 0.25", "score += 2.5"))
    post(client, "check-run")
    wait_for(lambda: desk.checking.findings, 120)
    post(client, "check-stop")
    found = page(client)
    assert (found["state"], found["result"]) == ("stopped", None)
    assert [card["number"] for card in found["found"]] == list(range(len(desk.checking.findings)))
    with_text = next(card["number"] for card in found["found"] if card["text"] is not None)
    assert post(client, "finding-keep", number=with_text, label="hack").status_code == 200
    assert client.get("/rw/check-lines", params={"desk": "desk0000"}).json()["stale"] is False


def test_code_that_cannot_be_loaded_is_one_sentence(client: TestClient, desk: Desk, wait_for: Wait) -> None:
    desk.edit("rewards.py", "import nowhere_at_all\n")
    post(client, "check-run", select=["RW1"])
    wait_for(lambda: desk.checking.state == "failed", 60)
    assert "nowhere_at_all" in page(client)["error"]


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("check-run", {"select": ["RW0"]}),
        ("check-run", {"select": "RW1"}),
        ("check-seal", {}),
        ("finding-open", {"number": 3}),
        ("finding-keep", {}),
        ("finding-waive", {"number": 0, "reason": "x"}),
    ],
)
def test_what_cannot_be_done_is_one_sentence(client: TestClient, name: str, asked: dict[str, Any]) -> None:
    answer = post(client, name, **asked)
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]


def test_a_check_has_its_manual_page(client: TestClient) -> None:
    found = client.get("/rw/check-manual", params={"code": "RW104"}).json()
    assert found["text"].startswith("RW104")
    assert client.get("/rw/check-manual", params={"code": "nothing"}).status_code == 400


def test_a_complete_check_is_kept_and_a_quick_one_does_not_take_its_place(
    client: TestClient, desk: Desk, project: Path, monkeypatch: pytest.MonkeyPatch, wait_for: Wait
) -> None:
    post(client, "check-run", quick=True)
    place = project / ".workbench" / "last-check.json"
    wait_for(place.exists, 120)
    kept = json.loads(place.read_text())
    assert kept["result"]["quick"] is True
    assert kept["result"]["ran"]
    assert kept["of"] == json.loads(json.dumps(_checked(desk)))
    assert Checking(desk.touch).recall(desk) == kept["result"]
    place.write_text(json.dumps({**kept, "result": {**kept["result"], "quick": False}}))
    tasks: list[Any] = []
    monkeypatch.setattr("workbench.app.checking.Child", lambda module, task, *_, **__: tasks.append(task))
    for quick in (True, False):
        desk.checking.start(desk, select=(), quick=quick, assume_kinds=False)
    assert ["keep" in task for task in tasks] == [False, True]
    monkeypatch.setattr("workbench.app.checking._own_version", lambda: "of another version")
    assert Checking(desk.touch).recall(desk) is None


def test_a_child_that_breaks_says_how(wait_for: Wait) -> None:
    child = Child("workbench.app.no_such_module", {}, lambda: None)
    wait_for(lambda: child.state != "running", 30)
    assert child.state == "failed"
    assert "No module named" in child.said["error"]
    child.close()


def test_a_child_ends_with_whoever_started_it(tmp_path: Path, wait_for: Wait) -> None:
    child = Child("workbench.app.check_child", {"target": str(tmp_path)}, lambda: None)
    wait_for(lambda: child.state != "running", 60)
    assert "error" in child.said
    child.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child._process.pid, 0)
