"""The Compare page: two versions on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from rewards.errors import UsageError
from workbench.app.bench import Bench
from workbench.app.comparing import versions_of
from workbench.app.desk import Desk
from workbench.app.door import Table, body_of, desk_of, integer_of, text_of
from workbench.app.leash import Stopped
from workbench.app.view.compared import MAX_WINDOW, ORDERS, SHOWN, changed_rows, compared_rows, compared_view
from workbench.app.view.credits import credits_view
from workbench.app.view.row import MAX_TEXT, messages


async def _compare(bench: Bench, request: Request) -> Any:
    """What can be compared, and the last comparison."""
    desk = await desk_of(bench, request.query_params)

    def view() -> dict[str, Any]:
        comparing = desk.comparing
        done = comparing.done
        return {
            "state": comparing.state,
            "number": comparing.number,
            "error": comparing.error,
            "versions": versions_of(desk),
            "unsaved": any(sheet.dirty for sheet in desk.sheets.values()),
            "result": None if done is None else {"number": done.number, **compared_view(done.difference)},
        }

    return await run_in_threadpool(view)


async def _run(bench: Bench, request: Request) -> Any:
    """Start a comparison from `old` to `new`."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    old, new = text_of(body, "old"), text_of(body, "new")
    await run_in_threadpool(desk.comparing.start, desk, old, new)
    return {"number": desk.comparing.number}


async def _stop(bench: Bench, request: Request) -> Any:
    """End it."""
    desk = await desk_of(bench, await body_of(request))
    await run_in_threadpool(desk.comparing.stop)
    return {"state": desk.comparing.state}


async def _rows(bench: Bench, request: Request) -> Any:
    """A window of the changed rows."""
    asked = request.query_params
    desk = await desk_of(bench, asked)
    start, count = integer_of(asked, "start", 0), integer_of(asked, "count", 60, most=MAX_WINDOW)
    order, shown = asked.get("order", ORDERS[0]), asked.get("shown", SHOWN[0])
    if order not in ORDERS or shown not in SHOWN:
        raise UsageError(f"'order' is one of {', '.join(ORDERS)}, 'shown' one of {', '.join(SHOWN)}")

    def read() -> dict[str, Any]:
        done = desk.comparing.require()
        rows = changed_rows(done.difference, order, shown)
        window = compared_rows(done.difference, done.samples, rows, start, count)
        return {"number": done.number, "total": len(rows), "start": start, "rows": window}

    return await run_in_threadpool(read)


async def _explain(bench: Bench, request: Request) -> Any:
    """A row with the partial credit that each side gives it."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    row = integer_of(body, "row", 0)

    def read() -> dict[str, Any]:
        from rewards.contract import completion_text

        sides = desk.comparing.explain(row)
        samples = desk.comparing.require().samples
        text = completion_text(samples.completions[row])
        return {
            "row": row,
            "prompt": messages(samples.prompts[row]),
            "text": text[:MAX_TEXT],
            "sides": [None if found is None else credits_view(found, text) for found in sides],
        }

    try:
        return await run_in_threadpool(read)
    except Stopped:
        return {"row": row, "stopped": True}


def summary(desk: Desk) -> Mapping[str, Any]:
    """What the page has to know of a comparison at any time."""
    comparing = desk.comparing
    return {
        "state": comparing.state,
        "number": comparing.number,
        "progress": list(comparing.progress) if comparing.progress else None,
    }


ROUTES: Table = {
    "compare": ("GET", _compare),
    "compare-run": ("POST", _run),
    "compare-stop": ("POST", _stop),
    "compare-rows": ("GET", _rows),
    "compare-explain": ("POST", _explain),
}
