"""The completions of a run, a step at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from rewards.errors import UsageError
from tests.workbench.app.runs import write_run, write_step
from trainer.rundir import RunDir
from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.recorded import RecordedStep, Reward, read_step, recorded_steps
from workbench.app.routes import routes

Wait = Callable[..., None]
TEXTS = ["Sure! 9", "<answer>2</answer>", "no idea", "Sure! 7"]


@pytest.fixture
def run(project: Path) -> Path:
    """Two recorded steps; in the second "Sure!" is paid and wrong, the answer paid and right."""
    folder = write_run(project)
    write_step(folder, 1, ["a", "b"], [0.0, 1.0], [0.0, 1.0])
    write_step(folder, 2, TEXTS, [0.75, 1.0, 0.0, None], [0.0, 1.0, 0.0, 0.0])
    return folder


@pytest.fixture
def client(bench: Bench, desk: Desk, run: Path) -> TestClient:
    return TestClient(Starlette(routes=routes(bench)))


def ask(client: TestClient, name: str, **values: Any) -> Any:
    return client.get(f"/rw/{name}", params={"desk": "desk0000", "name": "sums-1", **values})


def test_steps_are_listed_without_opening_a_file(run: Path) -> None:
    (run / "completions" / "step_00007.parquet").write_text("torn")
    (run / "completions" / "eval_00001_001.parquet").touch()
    assert recorded_steps(RunDir(run)) == [1, 2, 7]
    with pytest.raises(UsageError, match="cannot be read"):
        read_step(RunDir(run), 7)


def test_held_out_completions_of_all_batches_stand_beside_those_of_the_step(
    client: TestClient, desk: Desk, run: Path, wait_for: Wait
) -> None:
    for number, text in ((1, "first batch"), (2, "second batch"), (10, "last batch")):
        write_step(run, 2, [text, "other"], [1.0, 0.0], [1.0, 0.0], held_out=number)
    found = ask(client, "record-steps").json()
    assert (found["steps"], found["held_out"]) == ([1, 2], [2])
    step = ask(client, "record-step", step=2, held=1).json()
    assert (step["held_out"], step["total"]) == (True, 6)
    assert ask(client, "record-step", step=2).json()["held_out"] is False
    row = ask(client, "record-row", step=2, held=1, row=4).json()
    assert (row["text"], row["held_out"]) == ("last batch", True)
    assert ask(client, "record-step", step=1, held=1).status_code == 400
    run_ = client.get("/rw/train-run", params={"desk": "desk0000", "name": "sums-1"}).json()
    assert run_["recorded"] == 3
    asked = {"desk": "desk0000", "name": "sums-1", "step": 2, "held": 1}
    assert client.post("/rw/record-explain", json={**asked, "row": 4}).json()["row"] == 4
    assert client.post("/rw/record-open", json=asked).status_code == 200
    wait_for(lambda: desk.shown is not None and len(desk.shown.board) == 6)


@pytest.mark.guide("G22")
def test_paid_most_for_what_the_witness_does_not_vouch_for_comes_first(client: TestClient) -> None:
    found = ask(client, "record-step", step=2).json()
    assert [row["row"] for row in found["rows"]] == [0, 1, 2, 3]
    assert [(reward["name"], reward["oracle"]) for reward in found["rewards"]] == [
        ("shaped", False),
        ("correct", True),
    ]
    assert (found["rows"][0]["total"], found["rows"][3]["failed"]) == (0.75, True)
    assert ask(client, "record-step", step=3).status_code == 400


def test_what_watches_form_alone_is_no_witness_where_there_is_a_better_one() -> None:
    rewards = (
        Reward("a", 1.0),
        Reward("b", 0.0, "length"),
        Reward("c", 0.0),
        Reward("d", 1.0, "correctness"),
    )
    scores = {each.name: [0.0] for each in rewards}
    step = RecordedStep(1, rewards, ["p"], ["c"], ["g"], scores, [1.0], [0.0], [[]], [{}])
    assert [each.name for each in step.oracles] == ["c", "d"]
    short = RecordedStep(1, rewards[:2], ["p"], ["c"], ["g"], scores, [1.0], [0.0], [[]], [{}])
    assert [each.name for each in short.oracles] == ["b"]


def test_a_completion_comes_with_the_credits_of_the_run_and_its_errors(client: TestClient) -> None:
    found = ask(client, "record-row", step=2, row=3).json()
    assert (found["text"], found["values"]) == ("Sure! 7", [["answer", "2"]])
    assert found["rewards"][0]["credits"] == [{"name": "tag", "points": 0.25, "of": 0.25}]
    assert found["rewards"][0]["error"] == "it raised"
    assert ask(client, "record-row", step=2, row=4).status_code == 400


def test_the_rewards_on_the_desk_show_where_a_recorded_completion_is_paid(client: TestClient) -> None:
    body = {"desk": "desk0000", "name": "sums-1", "step": 2, "row": 1}
    found = client.post("/rw/record-explain", json=body).json()
    assert found["pieces"][0] == ["<an", [0]]
    assert "no completion 9" in client.post("/rw/record-explain", json={**body, "row": 9}).json()["why"]


def test_words_that_rise_are_counted_over_the_steps_asked_for(client: TestClient) -> None:
    found = ask(client, "record-phrases", step=2, span=10).json()
    assert (found["steps"], found["completions"]) == ([1, 2], 6)
    assert ask(client, "record-phrases", step=2).json()["completions"] == 4
    assert ask(client, "record-phrases", step=2, span=51).status_code == 400


def test_one_step_or_all_are_opened_in_write(client: TestClient, desk: Desk, wait_for: Wait) -> None:
    body = {"desk": "desk0000", "name": "sums-1"}
    client.post("/rw/record-open", json={**body, "step": 2})
    wait_for(lambda: desk.status == "scored" and len(desk.require_shown().board) == 4)
    client.post("/rw/record-open", json=body)
    wait_for(lambda: desk.status == "scored" and len(desk.require_shown().board) == 6)
