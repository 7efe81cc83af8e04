"""What every request passes: a desk, a bounded body, checked numbers and texts; a wrong one is one sentence."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from rewards.errors import RewardWorkbenchError, UsageError
from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.view.rows import Bar, View

MAX_BODY = 4_000_000
MAX_SEARCH = 200
PREVIEWS = ("tail", "head")

Answer = Callable[[Bench, Request], Awaitable[Any]]
Table = Mapping[str, tuple[str, Answer]]
"""Names of routes to their method and what answers them."""


READ_ONLY = (
    "this workbench only shows: nothing can be edited or run here; install it to do that on your own machine"
)
PRINTED = frozenset({"said", "log", "printed"})
"""What programs and rewards printed, under these names: it may tell anything of the machine."""
TOLD = frozenset(
    {"problems", "error", "errors", "why", "notice", "notes", "reason", "refused", "message", "got", "lines"}
    | {"held_back", "skipped"}
)
"""Where sentences about failures stand, and what variables held: paths in them lead nowhere for a visitor."""
PATH = re.compile(
    r"""
    (?P<address> (?<![\w+.-])(?!(?:[\w.-]+\+)?file:)[a-z][\w+.-]*://(?!/) (?:(?![:=;|&]/)[^\s'"`<>(),])+ )
    | (?P<before> (?P<mark>(?P<angle><)|['"`]) (?:(?!file:)[\w+.-]+:(?!//[^/]))? )
      (?:file:)? /+(?=[^\s/])
      (?:\\.|(?!(?(angle)>|(?P=mark))|:[\d\s])[^\\\n])* /
      (?P<whole> (?:\\.|(?!(?(angle)>|(?P=mark))|:[\d\s])[^\\\n/])* )
    | (?<![\w/.])(?:file:)? /+(?:[^\s/'"`<>(),:]+/+)+ (?P<last>[^\s/'"`<>(),:]*)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""An address of the web, which stays; a path that a quote begins, to its end or to a line number; any other path."""
LOOKING = frozenset({"explain", "weigh", "open"})
"""POSTs that change nothing but what a visitor sees, and run no code but the project's own."""


async def refused(bench: Bench, request: Request) -> Any:
    """What answers a request that a read-only app does not do."""
    raise UsageError(READ_ONLY)


def endpoint(bench: Bench, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    """A route's function: what `answer` gives as strict JSON, a known error as its sentence with status 400.

    An answer that is a response already, such as a file, is passed on.
    """

    async def answered(request: Request) -> Response:
        try:
            found, status = await answer(bench, request), 200
        except RewardWorkbenchError as error:
            found, status = {"error": str(error)}, 400
        if isinstance(found, Response):
            return found
        return json_response(veiled(found, bench.project.root) if bench.read_only else found, status)

    return answered


def veiled(value: Any, root: Path) -> Any:
    """`value` as everybody may see it: what was printed is left out, and where things lie on the machine is not said.

    A path in the project begins at its name, a model elsewhere is called by its last name; of a path in what is
    told of failures the last name is left.
    """
    if isinstance(value, str):
        return value.replace(f"{root}{os.sep}", "").replace(str(root), root.name)
    if isinstance(value, Mapping):
        return {name: _veiled_entry(name, entry, root) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        if len(value) == 2 and value[0] == "model":  # of a run's settings
            return [value[0], _veiled_entry("model", value[1], root)]
        return [veiled(entry, root) for entry in value]
    return value


def _veiled_entry(name: str, entry: Any, root: Path) -> Any:
    if name in PRINTED and isinstance(entry, str):
        return ""
    if name in TOLD:
        return placeless(veiled(entry, root))
    if name in ("model", "merged") and isinstance(entry, str) and os.path.isabs(entry):
        return Path(entry).name
    return veiled(entry, root)


def placeless(value: Any) -> Any:
    """`value` with nothing but the last name of every absolute path in its texts.

    >>> placeless(["FileNotFoundError: '/home/me/my keys/k.txt' (rewards.py:3)", "1/2/3 a/b", "https://x.org/a/b"])
    ["FileNotFoundError: '\u2026/k.txt' (rewards.py:3)", '1/2/3 a/b', 'https://x.org/a/b']
    """
    if isinstance(value, str):
        return PATH.sub(_last_name, value)
    if isinstance(value, Mapping):
        return {name: placeless(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [placeless(entry) for entry in value]
    return value


def _last_name(found: re.Match[str]) -> str:
    if found["address"]:
        return found[0]
    return f"{found['before'] or ''}\u2026/{found['whole'] or found['last'] or ''}"


def json_response(value: Any, status: int = 200) -> Response:
    """Strict JSON that nobody keeps."""
    body = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return Response(body, status, {"cache-control": "no-store"}, "application/json")


async def desk_of(bench: Bench, asked: Mapping[str, Any]) -> Desk:
    """The desk of the tab that asks."""
    seen = asked.get("hidden") != "1"
    return await run_in_threadpool(lambda: bench.desk(text_of(asked, "desk"), seen=seen))


async def body_of(request: Request) -> Mapping[str, Any]:
    """The JSON object of a request.

    Raises:
        UsageError: it is too large or none.
    """
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


def view_of(asked: Mapping[str, str]) -> View:
    """The rows asked for and their order; what is not known is left at its default."""
    preview = asked.get("preview", "tail")
    return View(
        sort=asked.get("sort", "row")[:MAX_SEARCH],
        down=asked.get("down") == "1",
        chip=asked.get("chip", "all")[:MAX_SEARCH],
        search=asked.get("q", "")[:MAX_SEARCH],
        preview=preview if preview in PREVIEWS else "tail",
        within=_bar(asked.get("bar", "")),
    )


def _bar(text: str) -> Bar | None:
    """`[name, low, high, closed]` as JSON; None for anything else."""
    try:
        name, low, high, closed = json.loads(text[: 2 * MAX_SEARCH])
        bar = Bar(str(name), float(low), float(high), closed is True)
    except (ValueError, TypeError):
        return None
    return bar if math.isfinite(bar.low) and math.isfinite(bar.high) else None


def text_of(asked: Mapping[str, Any], name: str) -> str:
    """A text that must be there.

    Raises:
        UsageError: it is missing.
    """
    value = asked.get(name)
    if not isinstance(value, str):
        raise UsageError(f"'{name}' is missing or no text")
    return value


def integer_of(
    asked: Mapping[str, Any], name: str, default: int, *, least: int = 0, most: int = 10**9
) -> int:
    """A whole number in its bounds.

    Raises:
        UsageError: it is none.
    """
    value = asked.get(name, default)
    try:
        number = int(value) if not isinstance(value, (bool, float)) else None
    except (TypeError, ValueError):
        number = None
    if number is None or not least <= number <= most:
        raise UsageError(f"'{name}' must be a whole number from {least} to {most}")
    return number
