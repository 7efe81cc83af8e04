from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.workbench.app.runs import write_run
from trainer.rundir import RunDir
from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.routes import routes
from workbench.app.view.run import where_it_stands

Wait = Callable[..., None]
KEY = {"desk": "desk0000"}


@pytest.fixture
def client(bench: Bench, desk: Desk) -> TestClient:
    return TestClient(Starlette(routes=routes(bench)))


@pytest.fixture
def started(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """What would have been started; nothing is."""
    found: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(
        desk.shelf.programs, "start", lambda name, arguments: found.append((name, list(arguments)))
    )
    monkeypatch.setattr("workbench.app.training.missing_extra", lambda: None)
    return found


def test_runs_are_listed_with_where_they_stand(client: TestClient, project: Path) -> None:
    write_run(project, "sums-1")
    write_run(project, "sums-2", status="running", step=2)
    (project / "runs" / "torn").mkdir()
    (project / "runs" / "torn" / "stages.json").write_text("{")
    runs = {run["name"]: run["status"] for run in client.get("/rw/train", params=KEY).json()["runs"]}
    assert runs == {"sums-1": "done", "sums-2": "gone", "torn": "unreadable"}


def test_a_run_has_curves_and_what_the_monitor_told(client: TestClient, project: Path) -> None:
    write_run(project)
    found = client.get("/rw/train-run", params={**KEY, "name": "sums-1"}).json()
    assert (found["status"], found["done"], found["steps"], found["model"]) == ("done", 4, 4, "toy")
    assert [chart["key"] for chart in found["charts"]] == ["reward", "rewards", "dead"]
    assert found["diagnoses"][0]["advice"] == "harder prompts"
    again = client.get("/rw/train-run", params={**KEY, "name": "sums-1", "seen": found["seen"]}).json()
    assert again == {"seen": found["seen"], "same": True}


def test_the_settings_a_run_was_started_under_are_shown_whole(client: TestClient, project: Path) -> None:
    write_run(project)
    found = client.get("/rw/train-run", params={**KEY, "name": "sums-1"}).json()
    assert found["settings"] == [["model", "toy"], ["max_steps", "4"], ["lora.r", "2"]]


def test_other_runs_are_drawn_into_the_curves_as_far_as_they_can_be_told_apart(
    client: TestClient, project: Path
) -> None:
    write_run(project)
    write_run(project, "sums-2", steps=9)
    asked = {**KEY, "name": "sums-1", "beside": "sums-2"}
    found = client.get("/rw/train-run", params=asked).json()
    assert [run["name"] for run in found["legend"]] == ["sums-1", "sums-2"]
    assert found["charts"][0]["svg"].count("<polyline") == 2
    (project / "runs" / "sums-2" / "metrics.jsonl").write_text('{"step": 1, "reward": 0.1}\n')
    assert not client.get("/rw/train-run", params={**asked, "seen": found["seen"]}).json()["same"]
    many = ",".join(f"run-{number}" for number in range(6))
    assert client.get("/rw/train-run", params={**asked, "beside": many}).status_code == 400


def test_a_run_that_is_not_done_stands_at_the_last_step_it_told(project: Path) -> None:
    run = RunDir(write_run(project, status="running", step=0, steps=4))
    with run.metrics_path.open("a") as file:
        file.write('{"step": 5, "rew')
    assert (where_it_stands(run)["done"], where_it_stands(run)["status"]) == (4, "gone")


@pytest.mark.parametrize("name", ["nothing", "../..", "", ".hidden"])
def test_a_name_that_is_no_run_is_one_sentence(client: TestClient, name: str) -> None:
    answer = client.get("/rw/train-run", params={**KEY, "name": name})
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]


def test_settings_are_resolved_with_where_they_come_from(client: TestClient, project: Path) -> None:
    with (project / "rewardset.toml").open("a") as file:
        file.write('\n[train]\nmodel = "toy"\nmax_steps = 9\n')
    found = client.post("/rw/train-resolve", json={**KEY, "sets": ["temperature=0.5"]}).json()
    settings = {setting["name"]: (setting["value"], setting["from"]) for setting in found["settings"]}
    assert settings["max_steps"] == (9, "rewardset.toml")
    assert settings["temperature"][0] == 0.5
    wrong = client.post("/rw/train-resolve", json={**KEY, "sets": ["num_generations=7"]}).json()
    assert wrong["settings"] == []
    assert "num_generations" in wrong["why"]


def test_a_run_is_started_and_resumed_by_the_trainers_own_commands(
    client: TestClient, project: Path, started: list[tuple[str, list[str]]]
) -> None:
    folder = write_run(project)
    asked: dict[str, Any] = {**KEY, "sets": ["model=toy"], "allow_unsealed": True}
    assert client.post("/rw/train-start", json=asked).json() == {"name": "sums-2"}
    name, arguments = started[0]
    assert (name, arguments[:2], arguments[-1]) == ("sums-2", ["train", str(project)], "--allow-unsealed")
    assert arguments[arguments.index("--set") + 1] == "model=toy"
    client.post("/rw/train-start", json={**KEY, "resume": "sums-1"})
    assert started[1] == ("sums-1", ["train", str(project), "--run", str(folder), "--resume"])
    assert client.post("/rw/train-start", json={**KEY, "sets": ["preset=x"]}).status_code == 400


def test_a_run_that_could_not_begin_shows_what_it_said(client: TestClient, desk: Desk) -> None:
    folder = desk.shelf.programs.folder
    folder.mkdir(parents=True)
    (folder / "sums-1.log").write_text("error: no model is named\n")
    found = client.get("/rw/train-run", params={**KEY, "name": "sums-1"}).json()
    assert (found["status"], found["log"]) == ("failed", "error: no model is named\n")


def test_without_a_model_one_sentence_points_at_the_field_and_the_other_settings_stand(
    client: TestClient, project: Path, started: list[Any]
) -> None:
    found = client.get("/rw/train", params=KEY).json()
    assert found["why"].startswith("name a model in the field above")
    settings = {setting["name"]: setting["value"] for setting in found["settings"]}
    assert "model" not in settings
    assert settings["preset"] in ("cpu", "small-gpu")
    answer = client.post("/rw/train-start", json={**KEY, "sets": []})
    assert (answer.status_code, answer.json()["error"], started) == (400, found["why"], [])
    named = client.post("/rw/train-resolve", json={**KEY, "sets": ["model=toy"]}).json()
    assert (named["why"], named["settings"][0]["value"]) == (None, "toy")
