"""What came of a run: proof, comparison, answers, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.workbench.app.runs import write_result, write_run
from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.results import answers_file
from workbench.app.routes import routes

KEY = {"desk": "desk0000", "name": "sums-1"}


@pytest.fixture
def run(project: Path) -> Path:
    folder = write_run(project)
    write_result(folder)
    return folder


@pytest.fixture
def client(bench: Bench, desk: Desk, run: Path) -> TestClient:
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


def test_only_runs_that_left_a_model_are_listed(client: TestClient, project: Path) -> None:
    write_run(project, "sums-2", status="running", step=2)
    runs = client.get("/rw/result", params=KEY).json()["runs"]
    assert [(run["name"], run["merged"], run["compared"]) for run in runs] == [("sums-1", True, True)]


@pytest.mark.guide("G23")
def test_the_proof_and_the_comparison_are_shown_line_by_line(client: TestClient) -> None:
    found = client.get("/rw/result-run", params=KEY).json()
    assert (found["proof"]["proved"], len(found["proof"]["lines"])) == (True, 13)
    total, correct = found["comparison"]["lines"]
    assert (total["difference"], total["low"], total["high"]) == (0.5, 0.25, 1.0)
    assert total["places"] == [0.625, 1.0, 0.75]  # on one scale, from -1 to 1, of which 0.5 is no difference
    assert (correct["difference"], correct["places"]) == ("nan", None)
    assert found["comparison"]["worst"][0]["totals"] == [1.0, 0.5]
    assert [one["asks"] for one in found["held_out"]] == ["What is 0 + 1?", "What is 1 + 1?"]
    again = client.get("/rw/result-run", params={**KEY, "seen": found["seen"]}).json()
    assert again == {"seen": found["seen"], "same": True}


def test_merging_comparing_and_asking_are_the_trainers_own_commands(
    client: TestClient, run: Path, desk: Desk, started: list[tuple[str, list[str]]]
) -> None:
    client.post("/rw/result-start", json={**KEY, "what": "merge"})
    assert started[-1] == ("sums-1.merge", ["merge", str(run)])
    assert client.post("/rw/result-start", json={**KEY, "what": "rm"}).status_code == 400
    asked = {**KEY, "held_out": 2, "answers": 3, "temperature": 0.5, "seed": 4}
    assert client.post("/rw/result-ask", json=asked).status_code == 200
    name, arguments = started[-1]
    assert (name, arguments[:4]) == ("sums-1.sample", ["sample", str(run), "--held-out", "2"])
    assert arguments[4:-2] == [
        "--temperature",
        "0.5",
        "--top-p",
        "0.9",
        "--answers",
        "3",
        "--seed",
        "4",
        "--score",
    ]
    assert arguments[-2:] == ["--out", str(answers_file(desk.shelf, "sums-1"))]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"prompt": " "},
        {"prompt": "a", "held_out": 1},
        {"prompt": "a\0b"},
        {"prompt": "x" * 20_001},
        {"prompt": "a", "answers": 9},
        {"prompt": "a", "temperature": -1},
        {"prompt": "a", "temperature": "hot"},
        {"prompt": "a", "top_p": 0},
        {"held_out": 0},
    ],
)
def test_what_cannot_be_asked_is_one_sentence_and_starts_nothing(
    client: TestClient, started: list[tuple[str, list[str]]], asked: dict[str, Any]
) -> None:
    answer = client.post("/rw/result-ask", json={**KEY, **asked})
    assert (answer.status_code, list(answer.json()), started) == (400, ["error"], [])


@pytest.mark.guide("G20")
def test_answers_stand_side_by_side_under_their_prompt(client: TestClient, desk: Desk) -> None:
    one = {
        "prompt": [{"role": "user", "content": "1 + 1?"}],
        "held_out": 1,
        "texts": {"base": "3", "trained": "2"},
        "ended": {"base": False, "trained": True},
        "scores": {"base": {"a": None}, "trained": {"a": 1.0}},
        "totals": {"base": None, "trained": 1.0},
    }
    file = answers_file(desk.shelf, "sums-1")
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"answered": [one, one], "sampling": {}, "unscored": {"b": "no column"}}))
    found = client.get("/rw/result-run", params=KEY).json()["answers"]
    (prompt,) = found["prompts"]
    assert [[answer["text"] for answer in both] for both in prompt["answers"]] == [["3", "2"], ["3", "2"]]
    assert prompt["answers"][0][1]["scores"] == [["a", 1.0]]
    assert found["unscored"] == [["b", "no column"]]


def test_a_comparison_that_was_changed_by_hand_is_one_sentence(client: TestClient, run: Path) -> None:
    (run / "comparison.json").write_text('{"lines": [{"name": "total"}]}')
    answer = client.get("/rw/result-run", params=KEY)
    assert (answer.status_code, "comparison.json" in answer.json()["error"]) == (400, True)
    (run / "comparison.json").write_text("{torn")
    assert client.get("/rw/result-run", params=KEY).json()["comparison"] is None


def test_files_are_taken_away_and_no_others(client: TestClient, run: Path, tmp_path: Path) -> None:
    answer = client.get("/rw/result-file", params={**KEY, "what": "card"})
    assert answer.headers["content-disposition"] == 'attachment; filename="sums-1-README.md"'
    assert answer.content == (run / "README.md").read_bytes()
    for what in ("report", "manifest.toml", "../manifest"):
        assert client.get("/rw/result-file", params={**KEY, "what": what}).status_code == 400
    (run / "report.html").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_text("secret")
    assert client.get("/rw/result-file", params={**KEY, "what": "report"}).status_code == 400


def test_a_report_is_shown_without_its_scripts(client: TestClient, run: Path) -> None:
    (run / "report.html").write_text("<script>alert(1)</script>")
    answer = client.get("/rw/result-file", params={**KEY, "what": "report", "show": "1"})
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
