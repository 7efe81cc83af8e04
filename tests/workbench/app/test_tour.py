from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.testclient import TestClient

from workbench.app.bench import Bench
from workbench.app.routes import ASSETS, routes
from workbench.app.tour import SOURCE, is_tour
from workbench.project import template_names

KEY = "tour" + "a1b2c3d4e5f6a7b8"


def test_the_tour_has_a_copy_of_its_own_and_begins_anew_when_asked(
    bench: Bench, project: Path, tmp_path: Path
) -> None:
    desk = bench.desk(KEY)
    assert desk.shelf.project.root != project
    desk.edit("rewards.py", "typed in the tour")
    assert desk.save("rewards.py", "typed in the tour") is None
    assert (desk.shelf.project.root / "rewards.py").read_text() == "typed in the tour"
    assert "typed" not in (SOURCE / "rewards.py").read_text() + (project / "rewards.py").read_text()
    assert not list((tmp_path / "drafts").glob("*"))
    client = TestClient(Starlette(routes=routes(bench)))
    assert client.post("/rw/tour-start", json={"tour": KEY}).status_code == 200
    assert bench.desk(KEY).sheets["rewards.py"].text == (SOURCE / "rewards.py").read_text()


def test_only_a_desk_of_a_tour_can_be_begun_anew(bench: Bench) -> None:
    client = TestClient(Starlette(routes=routes(bench)))
    assert client.post("/rw/tour-start", json={"tour": "desk0000"}).status_code == 400
    assert not is_tour("tourdesk")


def test_the_tour_is_no_template_of_init() -> None:
    assert "_tour" not in template_names()


def test_the_fault_stands_where_the_tour_types_its_repair() -> None:
    line = next(line for line in (SOURCE / "rewards.py").read_text().splitlines() if "LAYOUT = " in line)
    script = (ASSETS / "tour.js").read_text()
    assert line.endswith(r'\s*")')
    assert r"const OLD = '\\s*\")';".replace('\\"', '"') in script
