"""The Label page: the rows whose label tells most, one after another."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from rewards.errors import UsageError
from workbench.app.bench import Bench
from workbench.app.door import Table, desk_of
from workbench.app.view.queue import queue_view
from workbench.labels import row_digest

MAX_SKIPPED = 500


async def _queue(bench: Bench, request: Request) -> Any:
    """The next rows; `skipped` names rows that come last, as numbers with commas."""
    desk = await desk_of(bench, request.query_params)
    skipped = [part for part in request.query_params.get("skipped", "").split(",") if part]
    if len(skipped) > MAX_SKIPPED or not all(part.isdecimal() and len(part) < 10 for part in skipped):
        raise UsageError(f"'skipped' is a list of up to {MAX_SKIPPED} row numbers with commas")
    shown = desk.require_shown()
    view = await run_in_threadpool(queue_view, shown.board, {int(part) for part in skipped})
    rows = [{**each, "of": row_digest(shown.rows.samples, each["row"])} for each in view["next"]]
    return {"edition": shown.edition, **view, "next": rows}


ROUTES: Table = {"queue": ("GET", _queue)}
