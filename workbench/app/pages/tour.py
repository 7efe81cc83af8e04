"""The tour: starting it anew."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from rewards.errors import UsageError
from workbench.app.bench import Bench
from workbench.app.door import Table, body_of, text_of
from workbench.app.tour import is_tour


async def _start(bench: Bench, request: Request) -> Any:
    """Forget what a tour's desk did: the next look at it is at a fresh copy."""
    key = text_of(await body_of(request), "tour")
    if not is_tour(key):
        raise UsageError("that is not the desk of a tour")
    await run_in_threadpool(bench.forget, key)
    return {"tour": key}


ROUTES: Table = {"tour-start": ("POST", _start)}
