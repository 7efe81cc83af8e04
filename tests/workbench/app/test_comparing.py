from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.routes import routes

Wait = Callable[..., None]
KEY = {"desk": "desk0000"}


@pytest.fixture
def client(bench: Bench, desk: Desk) -> TestClient:
    return TestClient(Starlette(routes=routes(bench)))


def compare(client: TestClient, desk: Desk, wait_for: Wait, old: str, new: str) -> Any:
    client.post("/rw/compare-run", json={**KEY, "old": old, "new": new})
    wait_for(lambda: desk.comparing.state != "running")
    return client.get("/rw/compare", params=KEY).json()


def test_a_draft_is_compared_with_the_saved_file(client: TestClient, desk: Desk, wait_for: Wait) -> None:
    desk.edit("rewards.py", desk.sheets["rewards.py"].text + "#\n")
    found = compare(client, desk, wait_for, "saved", "draft")
    assert (found["state"], found["unsaved"]) == ("done", True)
    assert (found["result"]["old"], found["result"]["new"]) == ("the saved file", "the text in the editor")
    assert ["more", "+#"] in found["result"]["code"][0]["lines"]
    window = client.get("/rw/compare-rows", params={**KEY, "count": 2}).json()
    assert len(window["rows"]) == min(2, window["total"])
    both = client.post("/rw/compare-explain", json={**KEY, "row": 0}).json()
    assert [side["rewards"][0]["name"] for side in both["sides"]] == ["shaped", "shaped"]


def test_what_was_saved_before_is_kept_as_a_version_to_compare_with(
    client: TestClient, desk: Desk, wait_for: Wait
) -> None:
    wait_for(lambda: len(client.get("/rw/compare", params=KEY).json()["versions"]) == 1)
    first = client.get("/rw/compare", params=KEY).json()["versions"][0]["id"]
    desk.save("rewards.py", desk.sheets["rewards.py"].text + "# more\n")
    wait_for(lambda: len(client.get("/rw/compare", params=KEY).json()["versions"]) == 2)
    found = compare(client, desk, wait_for, first, "saved")
    assert ["more", "+# more"] in found["result"]["code"][0]["lines"]


@pytest.mark.parametrize(
    ("old", "why"), [("@ffff", "is not kept"), ("nowhere.py", "nowhere.py"), ("", "choose what to compare")]
)
def test_a_side_that_is_none_is_one_sentence(
    client: TestClient, desk: Desk, wait_for: Wait, old: str, why: str
) -> None:
    found = compare(client, desk, wait_for, old, "saved")
    assert found["state"] == "failed"
    assert why in found["error"]


def test_code_that_breaks_names_no_temporary_folder(client: TestClient, desk: Desk, wait_for: Wait) -> None:
    desk.edit("rewards.py", "\nBROKEN")
    found = compare(client, desk, wait_for, "saved", "draft")
    assert found["error"] == "rewards.py, line 2: no such word"


def test_a_comparison_that_hangs_is_stopped_and_leaves_nothing(
    client: TestClient, desk: Desk, engine: Any, wait_for: Wait
) -> None:
    desk.edit("rewards.py", "SLOW", run=False)
    client.post("/rw/compare-run", json={**KEY, "old": "saved", "new": "draft"})
    assert engine.running.wait(10)
    assert client.post("/rw/compare-stop", json=KEY).json()["state"] == "stopped"
    assert [path.name for path in desk.shelf.scratch.iterdir() if "compare" in path.name] == []


def test_rows_of_no_comparison_are_one_sentence(client: TestClient, project: Path) -> None:
    assert client.get("/rw/compare-rows", params=KEY).json() == {"error": "nothing has been compared yet"}
    assert client.get("/rw/compare-rows", params={**KEY, "order": "x"}).status_code == 400
