"""The Distributions page."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.door import Table, desk_of


async def _distributions(bench: Bench, request: Request) -> Any:
    """Pictures of the shown scores under the weights in force."""
    desk = await desk_of(bench, request.query_params)
    return await run_in_threadpool(_view, desk)


def _view(desk: Desk) -> dict[str, Any]:
    from rewards.errors import UsageError
    from workbench.app.view.distributions import distributions_view
    from workbench.distributions import distributions
    from workbench.features import features_of

    shown = desk.require_shown()
    board = shown.board
    if board.table is None:
        raise UsageError("there is no score table to draw")
    kept = shown.kept
    if "features" not in kept:
        kept["features"] = features_of(board.completions, board.groups)
    before = kept.get("distributions")  # of the same scores under other weights; labels may be others by now
    labels = tuple(board.labels)
    before = before[1] if before is not None and before[0] == labels else None
    found = distributions(board.table, kept["features"], group_size=desk.group_size(), before=before)
    kept["distributions"] = labels, found
    return {"edition": shown.edition, **distributions_view(board.table, found)}


ROUTES: Table = {"distributions": ("GET", _distributions)}
