from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from workbench.app.bench import MAX_DESKS, Bench
from workbench.app.desk import Desk
from workbench.app.guard import Guard
from workbench.app.routes import PAGES, routes

KEY = "desk0000"
Wait = Callable[..., None]


@pytest.fixture
def client(bench: Bench, desk: Desk) -> TestClient:
    """The app without Gradio and without a socket, behind its guard, with the cookie in hand."""
    guard = Guard(Starlette(routes=routes(bench)), secret="s", session="kept", cookie="rw", login_delay=0)
    return TestClient(guard, base_url="http://127.0.0.1:7860", cookies={"rw": "kept"})


def strict(text: str) -> Any:
    """JSON without NaN or Infinity, else a failure."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def get(client: TestClient, name: str, **values: Any) -> Any:
    return client.get(f"/rw/{name}", params={"desk": KEY, **values})


def post(client: TestClient, name: str, **values: Any) -> Any:
    return client.post(f"/rw/{name}", json={"desk": KEY, **values})


def test_the_state_holds_all_but_the_rows(client: TestClient) -> None:
    state = strict(get(client, "state").text)
    assert (state["status"], state["run"], state["shown"]["rows"], state["shown"]["groups"]) == (
        "scored",
        1,
        6,
        2,
    )
    assert [column["name"] for column in state["shown"]["columns"]] == ["shaped"]
    assert state["file"]["files"] == ["rewards.py"]


def test_waiting_for_a_state_ends_with_the_next_one(client: TestClient) -> None:
    version = get(client, "state").json()["version"]
    post(client, "edit", file="rewards.py", text="BROKEN")
    state = get(client, "state", after=version).json()
    assert state["version"] > version


def test_a_window_holds_the_rows_asked_for(client: TestClient) -> None:
    found = get(client, "rows", start=1, count=2, sort="row", down=1, find=0).json()
    assert [row[0] for row in found["rows"]] == [4, 3]
    assert (found["total"], found["at"], found["run"]) == (6, 5, 1)


def test_who_waits_for_new_scores_gets_the_rows_on_screen_with_them(client: TestClient) -> None:
    screen = {"start": 1, "count": 2, "sort": "row", "down": 1, "find": 0}
    first = get(client, "state", known=0, **screen).json()
    assert first["table"] == get(client, "rows", **screen).json()
    assert first["table"]["edition"] == first["shown"]["edition"]
    known = first["shown"]["edition"]
    assert "table" not in get(client, "state", known=known, **screen).json()
    assert "table" not in get(client, "state").json()


def test_a_question_about_a_row_wakes_no_desk_and_is_no_mistake_before_the_first_scores(
    client: TestClient, bench: Bench, wait_for: Wait
) -> None:
    questions = [(get, "rows"), (get, "row"), (post, "explain")]
    for number in range(MAX_DESKS):
        bench.desk(f"crowd{number:03}")
    wait_for(lambda: bench.rests(KEY))
    assert [ask(client, name, row=0).json() for ask, name in questions] == [{"stopped": True}] * 3
    assert bench.rests(KEY)
    desk = bench.desk(KEY)
    wait_for(lambda: desk.status == "scored")
    desk.shown = None  # as before its first scores
    assert [ask(client, name, row=0).json() for ask, name in questions] == [{"stopped": True}] * 3


@pytest.mark.parametrize(
    "values",
    [
        {"start": "x"},
        {"start": -1},
        {"count": 100000},
        {"find": -2},
        {"start": "1e3"},
        {"count": ""},
        {"desk": "?"},
    ],
)
def test_a_wrong_number_is_one_sentence(client: TestClient, values: dict[str, Any]) -> None:
    answer = get(client, "rows", **values)
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]


def test_an_unknown_sort_or_filter_shows_all_rows(client: TestClient) -> None:
    found = get(client, "rows", sort="reward:__class__", chip="label:${x}", q="").json()
    assert found["total"] == 0
    assert get(client, "rows", sort="nonsense", chip="nonsense").json()["total"] == 6


def test_a_row_comes_with_its_text_and_group(client: TestClient) -> None:
    row = get(client, "row", row=3).json()
    assert row["text"] == "<answer>2</answer>"
    assert row["values"] == []
    assert {member[0] for member in row["group"]["rows"]} == {0, 1, 2, 3}
    assert get(client, "row", row=6).status_code == 400


def test_an_edit_is_scored_and_can_be_explained(client: TestClient, desk: Desk, wait_for: Wait) -> None:
    assert post(client, "edit", file="rewards.py", text="new").json()["run"] == 2
    wait_for(lambda: desk.status == "scored")
    found = post(client, "explain", row=0).json()
    assert found["run"] == 2
    assert found["pieces"][0] == ["<th", [0]]


def test_saving_answers_with_what_happened(client: TestClient, project: Path) -> None:
    assert post(client, "save", file="rewards.py", text="saved").json() == {
        "saved": True,
        "error": None,
        "conflict": False,
        "placed": 0,
    }
    assert (project / "rewards.py").read_text() == "saved"


@pytest.mark.parametrize("file", ["../project/rewards.py", "/etc/passwd", "samples.jsonl", "", None, 7])
def test_no_other_file_can_be_written(client: TestClient, file: Any) -> None:
    for name in ("save", "edit", "open"):
        assert post(client, name, file=file, text="x").status_code == 400


def test_what_is_no_request_is_refused_in_one_sentence(client: TestClient) -> None:
    assert client.post("/rw/edit", content=b"{").json() == {"error": "the request is not JSON"}
    assert client.post("/rw/edit", content=b"[]").json() == {"error": "the request is not a JSON object"}
    assert "more than 4 MB" in client.post("/rw/edit", content=b"x" * 4_000_001).json()["error"]
    assert client.get("/rw/edit").status_code == 405


def test_reading_cannot_be_done_by_post_nor_running_by_get(client: TestClient) -> None:
    assert post(client, "rows").status_code == 405
    assert get(client, "explain", row=0).status_code == 405


def test_assets_are_served_and_nothing_beside_them(client: TestClient) -> None:
    assert client.get("/rw/assets/app.css").headers["content-type"].startswith("text/css")
    for name in ("../page.py", "%2e%2e/page.py", "bar.html", "nothing.js"):
        assert client.get(f"/rw/assets/{name}").status_code == 404


def test_without_the_cookie_the_code_is_neither_read_nor_run(bench: Bench, desk: Desk) -> None:
    guard = Guard(Starlette(routes=routes(bench)), secret="s", session="kept", cookie="rw", login_delay=0)
    client = TestClient(guard, base_url="http://127.0.0.1:7860")
    assert get(client, "text").status_code == 403
    assert post(client, "edit", file="rewards.py", text="x").status_code == 403
    assert desk.run == 1


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "application/x-www-form-urlencoded"])
def test_another_sites_page_cannot_run_code_even_with_the_cookie(
    client: TestClient, desk: Desk, kind: str
) -> None:
    body = json.dumps({"desk": KEY, "file": "rewards.py", "text": "evil"})
    answer = client.post(
        "/rw/edit", content=body, headers={"origin": "http://evil.example", "content-type": kind}
    )
    assert answer.status_code == 403
    assert desk.run == 1


def test_saving_says_on_which_text_it_was_typed(client: TestClient, bench: Bench) -> None:
    bench.desk("another0").edit("rewards.py", "typed in the background")
    saved = post(client, "save", file="rewards.py", text="saved", placed=0).json()
    assert (saved["saved"], saved["placed"]) == (True, 1)
    assert bench.desk("another0").sheets["rewards.py"].text == "typed in the background"


def test_a_label_is_kept_beside_the_project_and_needs_no_run(
    client: TestClient, desk: Desk, project: Path
) -> None:
    run, queued = desk.run, get(client, "queue").json()["next"][0]
    assert post(client, "say", row=2, of=queued["of"], label="hack").status_code == 200
    assert post(client, "say", row=2, expected={"shaped": 0.5}).status_code == 200
    row = get(client, "row", row=2).json()
    assert (row["label"], row["pinned"], row["scores"][0]["expected"], desk.run) == ("hack", True, 0.5, run)
    kept = json.loads((project / "labels.jsonl").read_text())
    assert (kept["completion"], kept["label"], kept["expected"]) == ("two", "hack", {"shaped": 0.5})
    assert {c["key"]: c["count"] for c in get(client, "state").json()["shown"]["chips"]}["pinned"] == 1
    assert row["of"] == queued["of"] != get(client, "row", row=1).json()["of"]
    refused = post(client, "say", row=1, of=row["of"], label="hack")
    assert (refused.status_code, "row 1 is another completion" in refused.json()["error"]) == (400, True)
    assert post(client, "say", row=2, of=row["of"], forget=True).status_code == 200
    assert get(client, "row", row=2).json()["label"] is None


@pytest.mark.parametrize(
    "said",
    [{"label": "fine"}, {}, {"expected": {"shaped": "x"}}, {"row": 99, "label": "right"}, {"expected": [1]}],
)
def test_what_cannot_be_said_of_a_row_is_one_sentence(client: TestClient, said: dict[str, Any]) -> None:
    answer = post(client, "say", **{"row": 0, **said})
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]


def test_a_row_kept_by_another_tab_or_program_appears(
    client: TestClient, desk: Desk, project: Path, wait_for: Wait
) -> None:
    line = {"prompt": "1 + 1", "completion": "by hand", "answer": "2", "label": "wrong"}
    (project / "labels.jsonl").write_text(json.dumps(line) + "\n")
    desk.look_at_disk()
    wait_for(lambda: desk.status == "scored" and get(client, "state").json()["shown"]["rows"] == 7)
    assert get(client, "row", row=6).json()["group"]["size"] == 1


@pytest.mark.parametrize(
    ("method", "name"), sorted((method, name) for table in PAGES for name, (method, _) in table.items())
)
def test_no_route_answers_another_site_or_a_visitor_without_the_cookie(
    client: TestClient, method: str, name: str
) -> None:
    def ask(**headers: str) -> int:
        cookies = {"rw": "kept"} if headers else {"rw": "guessed"}
        client.cookies.clear()
        client.cookies.update(cookies)
        return client.request(
            method, f"/rw/{name}", content='{"desk": "desk0000"}', headers=headers
        ).status_code

    assert ask(origin="http://evil.example") == 403
    assert ask(host="evil.example:7860") == 421
    assert ask(**{"sec-fetch-site": "same-site"}) == 403
    assert ask() == 403


def test_what_one_tab_hears_and_says_of_rows_it_opened_is_its_own(
    client: TestClient, bench: Bench, wait_for: Wait
) -> None:
    other = bench.desk("another0")
    wait_for(lambda: other.status == "scored")
    assert post(client, "weigh", typed={"shaped": 3.0}).status_code == 200
    assert other.weighing.to_json() == {"typed": {}, "muted": [], "solo": []}
    assert client.get("/rw/state", params={"desk": "another0"}).json()["shown"]["columns"][0]["weight"] == 1.0
    assert get(client, "state").json()["shown"]["columns"][0]["weight"] == 3.0
    desk = bench.desk(KEY)
    desk.show_guest({"prompt": "p", "completion": "guest", "answer": "1"})
    wait_for(lambda: desk.status == "scored" and len(desk.require_shown().board) == 7)
    assert len(other.shelf.rows(other.source).samples) == 6
