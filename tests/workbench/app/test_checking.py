from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from workbench.app import check_child
from workbench.app.bench import Bench
from workbench.app.checking import Checking, _checked
from workbench.app.child import Child
from workbench.app.desk import Desk
from workbench.app.routes import routes
from workbench.checks.finding import Cost, Finding

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
    named = {"check": card["check"], "reward": "shaped"}
    assert post(client, "finding-waive", **named, reason="").status_code == 400
    assert post(client, "finding-waive", **named, reason="meant so").status_code == 200
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


def test_a_finding_that_speaks_for_others_is_waived_with_them(desk: Desk, project: Path) -> None:
    also = [{"check": "RW305", "message": "m"}]
    told = {"check": "RW301", "reward": "shaped", "severity": "error", "also": also}
    desk.checking._recalled = {"fail_on": "error", "verdict": "fail", "findings": [told]}
    desk.checking.waived(["RW301"], "shaped", "half of it")
    assert "waived" not in told
    desk.waive("RW301", "shaped", "meant so")
    written = (project / "rewardset.toml").read_text()
    assert all(
        f'check = "{code}", reward = "shaped", reason = "meant so"' in written for code in ("RW301", "RW305")
    )
    assert (told["waived"], desk.checking.result["verdict"]) == ("meant so", "pass")


def test_what_is_sealed_is_waived_by_the_rule_of_the_checks(tmp_path: Path) -> None:
    (tmp_path / "r.py").write_text("def r(completions, **kwargs):\n    return [1.0] * len(completions)\n")

    def finding(check: str, also: tuple[Finding, ...] = ()) -> Finding:
        return Finding(check, "n", "error", "m", "a", check, Cost.TEACHES_WRONG, reward="r", also=also)

    @dataclass(frozen=True)
    class Part:
        findings: tuple[Finding, ...]
        rewards: tuple[Any, ...] = ()

    def waived(*codes: str) -> str | None:
        each = ", ".join(f'{{ check = "{code}", reason = "known" }}' for code in codes)
        manifest = f'[[reward]]\nfunction = "r.py::r"\n[check]\nwaive = [{each}]\n'
        (tmp_path / "rewardset.toml").write_text(manifest)
        joined = finding("RW301", (finding("RW302"),))
        report = check_child._with_waivers(Part((), (Part((joined,)),)), str(tmp_path))
        reason: str | None = report.rewards[0].findings[0].waived
        return reason

    assert waived("RW301") is None
    assert waived("RW302") is None
    assert waived("RW301", "RW302") == "known"


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Checks that run until the gate is opened: what they found at the end is not heard before."""
    opened = threading.Event()

    def held(lines: IO[str]) -> Iterator[str]:
        with lines:
            for line in lines:
                if line.startswith('{"result"'):
                    opened.wait(120)
                yield line

    class Held(Child):
        def _read(self) -> None:
            stdout = self._process.stdout
            assert stdout is not None
            self._process.stdout = held(stdout)  # type: ignore[assignment]
            super()._read()

    monkeypatch.setattr("workbench.app.checking.Child", Held)
    yield opened
    opened.set()


def test_a_finding_is_waived_while_the_checks_still_run(
    client: TestClient, desk: Desk, project: Path, wait_for: Wait, gate: threading.Event
) -> None:
    manifest = project / "rewardset.toml"
    manifest.write_text(
        manifest.read_text().replace("range = [0.0, 1.0]\nweight", "range = [0.0, 0.5]\nweight")
    )
    desk.look_at_disk()
    post(client, "check-run", select=["RW1"], quick=True)
    wait_for(lambda: any(found["name"] == "out-of-range" for found in desk.checking.findings), 120)
    card = next(found for found in page(client)["found"] if found["name"] == "out-of-range")
    before = page(client)
    waived = post(client, "finding-waive", check=card["check"], reward=card["reward"], reason="meant so")
    assert waived.status_code == 200
    assert before["state"] == "running"
    during = page(client)
    assert during["state"] == "running"
    assert [found["waived"] for found in during["found"] if found["name"] == "out-of-range"] == ["meant so"]
    gate.set()
    wait_for(lambda: desk.checking.state == "done", 120)
    said = {found["name"]: found["waived"] for found in page(client)["result"]["findings"]}
    assert said["out-of-range"] == "meant so"
    assert 'reason = "meant so"' in manifest.read_text()


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
        ("finding-waive", {"check": "RW101", "reward": None, "reason": "x"}),
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
