"""The app's own routes, all under `rw/`: JSON in, strict JSON out.

GET routes only read. What changes the desk or runs code is a POST, which the guard lets through from the app's own
page alone. Every number is checked at the door; a wrong request is answered with one sentence and status 400.
"""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from workbench.app.bench import Bench
from workbench.app.door import LOOKING, Table, endpoint, json_response, refused
from workbench.app.pages import (
    check,
    compare,
    distributions,
    label,
    record,
    result,
    samples,
    tour,
    train,
    write,
)

ASSETS = Path(__file__).parent / "assets"
ASSET_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
PAGES: tuple[Table, ...] = tuple(
    page.ROUTES
    for page in (write, samples, distributions, check, compare, label, train, record, result, tour)
)


def routes(bench: Bench) -> list[BaseRoute]:
    """The routes of an app on `bench`; where it only shows, those that change or run something refuse."""
    found: list[BaseRoute] = [Route("/rw/assets/{name}", _asset, methods=["GET"])]
    for table in PAGES:
        for name, (method, answer) in table.items():
            if bench.read_only and method == "POST" and name not in LOOKING:
                answer = refused
            found.append(Route(f"/rw/{name}", endpoint(bench, answer), methods=[method]))
    return found


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    place = ASSETS / name
    if place.suffix not in ASSET_KINDS or place.parent != ASSETS or not place.is_file():
        return json_response({"error": f"there is no asset {name!r}"}, 404)
    headers = {"cache-control": "no-cache"}
    return FileResponse(place, media_type=ASSET_KINDS[place.suffix], headers=headers)
