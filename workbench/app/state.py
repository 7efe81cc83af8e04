"""The one message a tab waits for: everything on the page but the table's rows and the detail."""

from __future__ import annotations

from typing import Any

from workbench.app.desk import Desk
from workbench.app.drafts import digest
from workbench.app.pages import check, compare
from workbench.app.shown import Shown
from workbench.app.view.rows import chips
from workbench.app.view.tiles import tiles

MAX_PRINTED = 4_000


def desk_state(desk: Desk) -> dict[str, Any]:
    """JSON of the desk as it stands; its size does not depend on the number of rows."""
    with desk.lock:
        return _state(desk)


def _state(desk: Desk) -> dict[str, Any]:
    shown, sheet = desk.shown, desk.sheets[desk.file]
    state: dict[str, Any] = {
        "version": desk.version,
        "run": desk.run,
        "status": desk.status,
        "progress": desk.progress._asdict() if desk.progress else None,
        "elapsed": round(desk.elapsed, 2) if desk.status == "running" else None,
        "problems": desk.problems(),
        "notice": desk.notice,
        "file": {
            "name": desk.file,
            "files": list(desk.sheets),
            "unsaved": [name for name, each in desk.sheets.items() if each.dirty],
            "conflict": sheet.conflict,
            "changed_by": desk.changed_by(desk.file) if sheet.conflict else None,
            "other": sheet.other is not None,
            "aside": sheet.aside is not None,
            "disk": sheet.disk,
            "placed": sheet.placed,
        },
        "project": {
            "name": desk.shelf.project.name,
            "place": str(desk.shelf.project.root),
            "key": digest(str(desk.shelf.project.root)),
            "samples": [path.name for path in desk.source.paths],
            "guests": len(desk.source.guests),
            "manifest": desk.shelf.project.target.kind == "project",
        },
        "check": check.summary(desk),
        "compare": compare.summary(desk),
        "generate": desk.generating.to_json(),
        "shown": None,
    }
    if shown is not None:
        board = shown.board
        state["shown"] = {
            "run": shown.run,
            "edition": shown.edition,
            "stale": desk.stale,
            "rows": len(board),
            "groups": len(board.members),
            "labelled": any(label is not None for label in board.labels),
            "seconds": round(shown.seconds, 4),
            "columns": [column.to_json() for column in board.columns],
            "total": list(board.total_bounds),
            **_of_board(shown),
            "aggregation": board.aggregation,
            "scale": board.scale_rewards,
            "weighing": desk.weighing.to_json(),
            "printed": board.printed[-MAX_PRINTED:],
        }
    return state


def _of_board(shown: Shown) -> dict[str, Any]:
    """Tiles and chips, counted once an edition: whoever waits is told of every step of a check or comparison."""
    kept = shown.kept.get("state")
    if kept is None or kept[0] != shown.edition:
        kept = shown.edition, {"tiles": tiles(shown.board), "chips": chips(shown.board)}
        shown.kept["state"] = kept
    found: dict[str, Any] = kept[1]
    return found
