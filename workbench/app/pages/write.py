"""The Write page: state, text, rows, one row; edits, explanations, weights, what is said of a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from rewards.errors import UsageError, WorkerError
from workbench.app.bench import Bench
from workbench.app.door import Table, body_of, desk_of, integer_of, text_of, view_of
from workbench.app.leash import Stopped
from workbench.app.state import desk_state
from workbench.app.view.credits import credits_view
from workbench.app.view.row import row_detail
from workbench.app.view.rows import MAX_WINDOW, window
from workbench.app.weighing import weighing_of

WAIT_SECONDS = 20


# ---------------------------------------------------------------- reading


async def _state(bench: Bench, request: Request) -> Any:
    """The desk's state; with `after`, waits until it is another version than that."""
    desk = await desk_of(bench, request.query_params)
    after = integer_of(request.query_params, "after", 0)
    for _ in range(WAIT_SECONDS):
        if after == 0 or await desk.changed(after, 1.0) or await request.is_disconnected():
            break
        await run_in_threadpool(desk.look_at_disk)
    return {**await run_in_threadpool(desk_state, desk), "read_only": bench.read_only}


async def _text(bench: Bench, request: Request) -> Any:
    """The text that belongs into the editor."""
    desk = await desk_of(bench, request.query_params)
    sheet = desk.sheets[desk.file]
    return {"file": desk.file, "text": sheet.text, "placed": sheet.placed}


async def _rows(bench: Bench, request: Request) -> Any:
    """A window of the table; `find` asks where a row stands in the order."""
    asked = request.query_params
    desk = await desk_of(bench, asked)
    view = view_of(asked)
    start, count = integer_of(asked, "start", 0), integer_of(asked, "count", 60, most=MAX_WINDOW)
    find = integer_of(asked, "find", -1, least=-1)

    def read() -> Any:
        shown, rows = desk.rows(view)
        places = np.flatnonzero(rows == find) if find >= 0 else rows[:0]
        return {
            "run": shown.run,
            "edition": shown.edition,
            "total": len(rows),
            "start": start,
            "at": int(places[0]) if len(places) else None,
            "rows": window(shown.board, view, rows, start, count),
        }

    return await run_in_threadpool(read)


async def _row(bench: Bench, request: Request) -> Any:
    """One row in full."""
    desk = await desk_of(bench, request.query_params)
    row = integer_of(request.query_params, "row", 0)
    shown = desk.require_shown()
    if row >= len(shown.board):
        raise UsageError(f"there is no row {row}")
    return {"run": shown.run, **await run_in_threadpool(row_detail, shown.board, row)}


# ---------------------------------------------------------------- changing


async def _edit(bench: Bench, request: Request) -> Any:
    """Take the editor's text: keep it as a draft and score it."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    file, text = text_of(body, "file"), text_of(body, "text")
    base = text_of(body, "base") if body.get("base") is not None else None
    score, force = body.get("run") is not False, body.get("force") is True
    run = await run_in_threadpool(desk.edit, file, text, run=score, force=force, base=base)
    return {"run": run, "notice": desk.notice}


async def _explain(bench: Bench, request: Request) -> Any:
    """The partial credit of one row; `why` says why there is none, `stopped` that the text moved on."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    row = integer_of(body, "row", 0)
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
    body = await body_of(request)
    desk = await desk_of(bench, body)
    file, text = text_of(body, "file"), text_of(body, "text")
    why = await run_in_threadpool(desk.save, file, text, force=body.get("force") is True)
    return {"saved": why is None, "error": why, "conflict": desk.sheets[file].conflict}


async def _settle(bench: Bench, request: Request) -> Any:
    """Settle a conflict between draft and file: `keep` is "draft" or "file"."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    file, keep = text_of(body, "file"), text_of(body, "keep")
    if keep not in ("draft", "file"):
        raise UsageError("'keep' is draft or file")
    await run_in_threadpool(desk.keep_draft if keep == "draft" else desk.take_file, file)
    return {"kept": keep}


async def _open(bench: Bench, request: Request) -> Any:
    """Put another file of the project under the editor."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    await run_in_threadpool(desk.open, text_of(body, "file"))
    return {"file": desk.file}


async def _weigh(bench: Bench, request: Request) -> Any:
    """Listen with other weights: `typed`, `muted`, `solo`."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    await run_in_threadpool(desk.weigh, weighing_of(body))
    return desk.weighing.to_json()


async def _keep_weights(bench: Bench, request: Request) -> Any:
    """Write the typed weights into the manifest."""
    desk = await desk_of(bench, await body_of(request))
    return {"kept": await run_in_threadpool(desk.keep_weights)}


async def _say(bench: Bench, request: Request) -> Any:
    """Keep a label or an expected score of a row; with `forget` drop what was said of it."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    row = integer_of(body, "row", 0)
    if body.get("forget") is True:
        await run_in_threadpool(desk.unsay, row)
        return {"row": row}
    label = text_of(body, "label") if body.get("label") is not None else None
    await run_in_threadpool(lambda: desk.say(row, label=label, expected=_expected(body.get("expected"))))
    return {"row": row}


def _expected(given: Any) -> dict[str, float | None] | None:
    if given is None:
        return None
    if not isinstance(given, dict):
        raise UsageError("'expected' maps rewards to scores")
    for name, value in given.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise UsageError(
                f"the expected score of {name} must be a number, or null for None, not {value!r}"
            )
    return {str(name): None if value is None else float(value) for name, value in given.items()}


ROUTES: Table = {
    "state": ("GET", _state),
    "text": ("GET", _text),
    "rows": ("GET", _rows),
    "row": ("GET", _row),
    "edit": ("POST", _edit),
    "explain": ("POST", _explain),
    "save": ("POST", _save),
    "settle": ("POST", _settle),
    "open": ("POST", _open),
    "weigh": ("POST", _weigh),
    "keep-weights": ("POST", _keep_weights),
    "say": ("POST", _say),
}
