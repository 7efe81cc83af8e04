"""The app's own routes, all under `rw/`: JSON in, strict JSON out.

GET routes only read. What changes the desk or runs code is a POST, which the guard lets through from the app's own
page alone. Every number is checked at the door; a wrong request is answered with one sentence and status 400.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from rewards.errors import RewardWorkbenchError, UsageError, WorkerError
from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.leash import Stopped
from workbench.app.state import desk_state
from workbench.app.view.credits import credits_view
from workbench.app.view.row import row_detail
from workbench.app.view.rows import MAX_WINDOW, View, window

ASSETS = Path(__file__).parent / "assets"
ASSET_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
WAIT_SECONDS = 20
MAX_BODY = 4_000_000
MAX_SEARCH = 200
PREVIEWS = ("tail", "head")

Handler = Callable[[Request], Awaitable[Any]]


def routes(bench: Bench) -> list[BaseRoute]:
    """The routes of an app on `bench`."""
    table: dict[str, tuple[str, Callable[[Bench, Request], Awaitable[Any]]]] = {
        "state": ("GET", _state),
        "text": ("GET", _text),
        "rows": ("GET", _rows),
        "row": ("GET", _row),
        "edit": ("POST", _edit),
        "explain": ("POST", _explain),
        "save": ("POST", _save),
        "settle": ("POST", _settle),
        "open": ("POST", _open),
    }
    found: list[BaseRoute] = [Route("/rw/assets/{name}", _asset, methods=["GET"])]
    for name, (method, answer) in table.items():
        found.append(Route(f"/rw/{name}", _endpoint(bench, answer), methods=[method]))
    return found


def _endpoint(bench: Bench, answer: Callable[[Bench, Request], Awaitable[Any]]) -> Handler:
    async def endpoint(request: Request) -> Response:
        try:
            return _json(await answer(bench, request))
        except RewardWorkbenchError as error:
            return _json({"error": str(error)}, 400)

    return endpoint


def _json(value: Any, status: int = 200) -> Response:
    body = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return Response(body, status, {"cache-control": "no-store"}, "application/json")


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    place = ASSETS / name
    if place.suffix not in ASSET_KINDS or place.parent != ASSETS or not place.is_file():
        return _json({"error": f"there is no asset {name!r}"}, 404)
    headers = {"cache-control": "no-cache"}
    return FileResponse(place, media_type=ASSET_KINDS[place.suffix], headers=headers)


# ---------------------------------------------------------------- reading


async def _state(bench: Bench, request: Request) -> Any:
    """The desk's state; with `after`, waits until it is another version than that."""
    desk = await _desk(bench, request.query_params)
    after = _integer(request.query_params, "after", 0)
    for _ in range(WAIT_SECONDS):
        if after == 0 or await desk.changed(after, 1.0) or await request.is_disconnected():
            break
        await run_in_threadpool(desk.look_at_disk)
    return await run_in_threadpool(desk_state, desk)


async def _text(bench: Bench, request: Request) -> Any:
    """The text that belongs into the editor."""
    desk = await _desk(bench, request.query_params)
    sheet = desk.sheets[desk.file]
    return {"file": desk.file, "text": sheet.text, "placed": sheet.placed}


async def _rows(bench: Bench, request: Request) -> Any:
    """A window of the table; `find` asks where a row stands in the order."""
    asked = request.query_params
    desk = await _desk(bench, asked)
    view = _view(asked)
    start, count = _integer(asked, "start", 0), _integer(asked, "count", 60, most=MAX_WINDOW)
    find = _integer(asked, "find", -1, least=-1)

    def read() -> Any:
        shown, rows = desk.rows(view)
        places = np.flatnonzero(rows == find) if find >= 0 else rows[:0]
        return {
            "run": shown.run,
            "total": len(rows),
            "start": start,
            "at": int(places[0]) if len(places) else None,
            "rows": window(shown.board, view, rows, start, count),
        }

    return await run_in_threadpool(read)


async def _row(bench: Bench, request: Request) -> Any:
    """One row in full."""
    desk = await _desk(bench, request.query_params)
    row = _integer(request.query_params, "row", 0)
    shown = desk.require_shown()
    if row >= len(shown.board):
        raise UsageError(f"there is no row {row}")
    return {"run": shown.run, **await run_in_threadpool(row_detail, shown.board, row)}


# ---------------------------------------------------------------- changing


async def _edit(bench: Bench, request: Request) -> Any:
    """Take the editor's text: keep it as a draft and score it."""
    body = await _body(request)
    desk = await _desk(bench, body)
    file, text = _string(body, "file"), _string(body, "text")
    base = _string(body, "base") if body.get("base") is not None else None
    score, force = body.get("run") is not False, body.get("force") is True
    run = await run_in_threadpool(desk.edit, file, text, run=score, force=force, base=base)
    return {"run": run, "notice": desk.notice}


async def _explain(bench: Bench, request: Request) -> Any:
    """The partial credit of one row; `why` says why there is none, `stopped` that the text moved on."""
    body = await _body(request)
    desk = await _desk(bench, body)
    row = _integer(body, "row", 0)
    try:
        shown, explanation = await run_in_threadpool(desk.explain, row)
    except Stopped:
        return {"row": row, "stopped": True}
    except WorkerError as error:
        return {"row": row, "why": str(error)}
    files = {column.name: column.file for column in shown.board.columns}
    return {"run": shown.run, **credits_view(explanation, shown.board.texts[row], shown.sources, files)}


async def _save(bench: Bench, request: Request) -> Any:
    """Write the user's file."""
    body = await _body(request)
    desk = await _desk(bench, body)
    file, text = _string(body, "file"), _string(body, "text")
    why = await run_in_threadpool(desk.save, file, text, force=body.get("force") is True)
    return {"saved": why is None, "error": why, "conflict": desk.sheets[file].conflict}


async def _settle(bench: Bench, request: Request) -> Any:
    """Settle a conflict between draft and file: `keep` is "draft" or "file"."""
    body = await _body(request)
    desk = await _desk(bench, body)
    file, keep = _string(body, "file"), _string(body, "keep")
    if keep not in ("draft", "file"):
        raise UsageError("'keep' is draft or file")
    await run_in_threadpool(desk.keep_draft if keep == "draft" else desk.take_file, file)
    return {"kept": keep}


async def _open(bench: Bench, request: Request) -> Any:
    """Put another file of the project under the editor."""
    body = await _body(request)
    desk = await _desk(bench, body)
    await run_in_threadpool(desk.open, _string(body, "file"))
    return {"file": desk.file}


# ---------------------------------------------------------------- the door


async def _desk(bench: Bench, asked: Mapping[str, Any]) -> Desk:
    return await run_in_threadpool(bench.desk, _string(asked, "desk"))


async def _body(request: Request) -> Mapping[str, Any]:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise UsageError(f"a request of more than {MAX_BODY // 1_000_000} MB is not taken")
    try:
        found = json.loads(body)
    except ValueError as error:
        raise UsageError("the request is not JSON") from error
    if not isinstance(found, dict):
        raise UsageError("the request is not a JSON object")
    return found


def _view(asked: Mapping[str, str]) -> View:
    preview = asked.get("preview", "tail")
    return View(
        sort=asked.get("sort", "row")[:MAX_SEARCH],
        down=asked.get("down") == "1",
        chip=asked.get("chip", "all")[:MAX_SEARCH],
        search=asked.get("q", "")[:MAX_SEARCH],
        preview=preview if preview in PREVIEWS else "tail",
    )


def _string(asked: Mapping[str, Any], name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str):
        raise UsageError(f"'{name}' is missing or no text")
    return value


def _integer(asked: Mapping[str, Any], name: str, default: int, *, least: int = 0, most: int = 10**9) -> int:
    value = asked.get(name, default)
    try:
        number = int(value) if not isinstance(value, (bool, float)) else None
    except (TypeError, ValueError):
        number = None
    if number is None or not least <= number <= most:
        raise UsageError(f"'{name}' must be a whole number from {least} to {most}")
    return number
