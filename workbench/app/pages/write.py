"""The Write page: state, text, rows, one row; edits, explanations, weights, what is said of a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from rewards.errors import UsageError, WorkerError
from workbench.app.bench import MAX_DESKS, Bench
from workbench.app.desk import Desk
from workbench.app.door import Table, body_of, desk_of, integer_of, text_of, view_of
from workbench.app.leash import Stopped
from workbench.app.shown import NothingScored
from workbench.app.state import desk_state
from workbench.app.view.credits import credits_view
from workbench.app.view.row import row_detail
from workbench.app.view.rows import MAX_WINDOW, View, window
from workbench.app.weighing import weighing_of
from workbench.labels import row_digest

WAIT_SECONDS = 20
STOPPED = {"stopped": True}
"""Answers a question about a row of a desk that has been put to rest since, or was made anew and is not scored yet.

Nobody is woken by it; the next scores bring the next question.
"""


# ---------------------------------------------------------------- reading


async def _state(bench: Bench, request: Request) -> Any:
    """The desk's state; with `after`, waits until it is another version than that.

    With `known`, the edition of the scores on screen, new ones come with the rows on screen, asked for as in `rows`.

    A desk that rests is left to rest unless it is woken by `wake`, lest tabs that only wait take turns in it.
    """
    if bench.rests(text_of(request.query_params, "desk")) and request.query_params.get("wake") != "1":
        return {"resting": True, "most": MAX_DESKS}
    desk = await desk_of(bench, request.query_params)
    after = integer_of(request.query_params, "after", 0)
    for _ in range(WAIT_SECONDS):
        if after == 0 or await desk.changed(after, 1.0) or await request.is_disconnected():
            break
        await run_in_threadpool(desk.look_at_disk)
    if desk.closed and bench.rests(desk.key):
        return {"resting": True, "most": MAX_DESKS}
    if "known" not in request.query_params:
        state = await run_in_threadpool(desk_state, desk)
    else:
        wanted, known = _Wanted.of(request.query_params), integer_of(request.query_params, "known", 0)
        state = await run_in_threadpool(_state_with_rows, desk, wanted, known)
    return {**state, "read_only": bench.read_only}


async def _text(bench: Bench, request: Request) -> Any:
    """The text that belongs into the editor."""
    desk = await desk_of(bench, request.query_params)
    sheet = desk.sheets[desk.file]
    return {"file": desk.file, "text": sheet.text, "placed": sheet.placed}


async def _rows(bench: Bench, request: Request) -> Any:
    """A window of the table; `find` asks where a row stands in the order; `stopped`: of no desk that works."""
    if bench.rests(text_of(request.query_params, "desk")):
        return STOPPED
    desk = await desk_of(bench, request.query_params)
    try:
        return await run_in_threadpool(_window, desk, _Wanted.of(request.query_params))
    except NothingScored:
        return STOPPED


@dataclass(frozen=True)
class _Wanted:
    """The part of the table that is on somebody's screen."""

    view: View
    start: int
    count: int
    find: int

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> _Wanted:
        return cls(
            view_of(asked),
            integer_of(asked, "start", 0),
            integer_of(asked, "count", 60, most=MAX_WINDOW),
            integer_of(asked, "find", -1, least=-1),
        )


def _window(desk: Desk, wanted: _Wanted) -> dict[str, Any]:
    shown, rows = desk.rows(wanted.view)
    places = np.flatnonzero(rows == wanted.find) if wanted.find >= 0 else rows[:0]
    return {
        "run": shown.run,
        "edition": shown.edition,
        "total": len(rows),
        "start": wanted.start,
        "at": int(places[0]) if len(places) else None,
        "rows": window(shown.board, wanted.view, rows, wanted.start, wanted.count),
    }


def _state_with_rows(desk: Desk, wanted: _Wanted, known: int) -> dict[str, Any]:
    """The state and, where the scores are others than those of edition `known`, the rows on screen."""
    with desk.lock:
        state = desk_state(desk)
        if state["shown"] is not None and state["shown"]["edition"] != known:
            state["table"] = _window(desk, wanted)
    return state


async def _row(bench: Bench, request: Request) -> Any:
    """One row in full."""
    if bench.rests(text_of(request.query_params, "desk")):
        return STOPPED
    desk = await desk_of(bench, request.query_params)
    row = integer_of(request.query_params, "row", 0)
    shown = desk.shown
    if shown is None:
        return STOPPED
    if row >= len(shown.board):
        raise UsageError(f"there is no row {row}")
    detail = await run_in_threadpool(row_detail, shown.board, row)
    return {"run": shown.run, "of": row_digest(shown.rows.samples, row), **detail}


# ---------------------------------------------------------------- changing


async def _edit(bench: Bench, request: Request) -> Any:
    """Take the editor's text: keep it as a draft and score it."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    file, text = text_of(body, "file"), text_of(body, "text")
    base = text_of(body, "base") if body.get("base") is not None else None
    score, force = body.get("run") is not False, body.get("force") is True
    placed = _placed(body)

    def take() -> dict[str, Any]:
        run = desk.edit(file, text, run=score, force=force, base=base, placed=placed)
        with desk.lock:
            taken = _taken(desk, file, text)
        return {"run": run, "notice": desk.notice, "placed": taken}

    return await run_in_threadpool(take)


async def _stop(bench: Bench, request: Request) -> Any:
    """End the scoring under way."""
    desk = await desk_of(bench, await body_of(request))
    await run_in_threadpool(desk.stop_run)
    return {"status": desk.status}


async def _explain(bench: Bench, request: Request) -> Any:
    """The partial credit of one row; `why` says why there is none, `stopped`: the text moved on or the desk rests."""
    body = await body_of(request)
    row = integer_of(body, "row", 0)
    if bench.rests(text_of(body, "desk")):
        return STOPPED
    desk = await desk_of(bench, body)
    try:
        shown, explanation = await run_in_threadpool(desk.explain, row)
    except (Stopped, NothingScored):
        return STOPPED
    except WorkerError as error:
        return {"row": row, "why": str(error)}
    files = {column.name: column.file for column in shown.board.columns}
    return {"run": shown.run, **credits_view(explanation, shown.board.texts[row], shown.sources, files)}


async def _save(bench: Bench, request: Request) -> Any:
    """Write the user's file."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    file, text, placed = text_of(body, "file"), text_of(body, "text"), _placed(body)
    force = body.get("force") is True

    def write() -> dict[str, Any]:
        why = desk.save(file, text, force=force, placed=placed)
        with desk.lock:
            conflict, taken = desk.sheets[file].conflict, _taken(desk, file, text)
        return {"saved": why is None, "error": why, "conflict": conflict, "placed": taken}

    return await run_in_threadpool(write)


def _placed(body: Mapping[str, Any]) -> int | None:
    return integer_of(body, "placed", 0) if body.get("placed") is not None else None


def _taken(desk: Desk, file: str, text: str) -> int | None:
    """Which text of the desk this is by `Sheet.placed`; None where another tab went on from it already."""
    sheet = desk.sheets[file]
    return sheet.placed if sheet.text == text else None


async def _settle(bench: Bench, request: Request) -> Any:
    """Settle which text is kept: `keep` is "draft" for this desk's own, "file", "other" (tab) or "aside"; or "neither"
    to forget what was put aside.
    """
    body = await body_of(request)
    desk = await desk_of(bench, body)
    file, keep = text_of(body, "file"), text_of(body, "keep")
    ways = {
        "draft": desk.keep_draft,
        "file": desk.take_file,
        "other": desk.take_other,
        "aside": desk.put_back,
        "neither": desk.drop_aside,
    }
    if keep not in ways:
        raise UsageError(f"'keep' is one of {', '.join(ways)}")
    await run_in_threadpool(ways[keep], file)
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
    """Keep a label or an expected score of a row; with `forget` drop what was said of it.

    `of` is the digest the row came with: where other rows are shown by now, nothing is written.
    """
    body = await body_of(request)
    desk = await desk_of(bench, body)
    row = integer_of(body, "row", 0)
    of = text_of(body, "of") if body.get("of") is not None else None
    if body.get("forget") is True:
        await run_in_threadpool(lambda: desk.unsay(row, of=of))
        return {"row": row}
    label = text_of(body, "label") if body.get("label") is not None else None
    expected = _expected(body.get("expected"))
    await run_in_threadpool(lambda: desk.say(row, label=label, expected=expected, of=of))
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
    "stop": ("POST", _stop),
    "explain": ("POST", _explain),
    "save": ("POST", _save),
    "settle": ("POST", _settle),
    "open": ("POST", _open),
    "weigh": ("POST", _weigh),
    "keep-weights": ("POST", _keep_weights),
    "say": ("POST", _say),
}
