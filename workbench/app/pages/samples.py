"""The samples drawer: what is open, a look at another file, an upload, a completion written by hand."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from rewards.errors import UsageError
from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.door import Table, body_of, desk_of, integer_of, text_of
from workbench.app.generating import Wanted
from workbench.app.shelf import Source
from workbench.app.view.opened import look_view, safe_name, samples_view
from workbench.samples.looking import look_at

UPLOADED = "upload:"
MAX_UPLOAD = 200_000_000
MAX_TEXT = 1_000_000
TARGETS = ("prompt", "completion", "group", "label", "expected", "id")


async def _samples(bench: Bench, request: Request) -> Any:
    """What is open."""
    desk = await desk_of(bench, request.query_params)
    rows = await run_in_threadpool(desk.shelf.rows, desk.source)
    return {
        **await run_in_threadpool(samples_view, rows.samples),
        "own": replace(desk.source, guests=()) == desk.shelf.source(),
        "guests": len(desk.source.guests),
        "pinned": len(rows.pinned),
        "root": str(desk.shelf.project.root),
    }


async def _look(bench: Bench, request: Request) -> Any:
    """A file or folder as it would be read; `columns` null lets it be guessed."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    path = _path(desk, text_of(body, "path"))
    columns = None if body.get("columns") is None else _columns(body["columns"])
    return look_view(await run_in_threadpool(look_at, path, columns))


async def _use(bench: Bench, request: Request) -> Any:
    """Take the rows of a file instead of the present ones, or beside them; without `path` those of the project."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    if body.get("path") is None:
        await run_in_threadpool(desk.use, desk.shelf.source())
        return {"used": "project"}
    path = _path(desk, text_of(body, "path"))
    columns = tuple(_columns(body.get("columns") or {}).items())
    source = Source((path,), columns)
    if body.get("beside") is True:
        paths = (*(kept for kept in desk.source.paths if kept != path), path)
        source = Source(
            paths, tuple({**dict(desk.source.columns), **dict(columns)}.items()), desk.source.guests
        )
    await run_in_threadpool(
        desk.shelf.rows, source
    )  # what cannot be read is said before anything is given up
    await run_in_threadpool(desk.use, source)
    return {"used": path.name}


async def _upload(bench: Bench, request: Request) -> Any:
    """Keep an uploaded file for this tab until the server ends; its name for `samples-look`.

    It replaces no earlier one, which may be open, and is there whole or not at all.
    """
    desk = await desk_of(bench, request.query_params)
    name = safe_name(text_of(request.query_params, "name"))
    folder = desk.shelf.uploads(desk.key)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".")  # which no upload is called
    try:
        with open(handle, "wb") as file:
            await _receive(request, name, file)
        return {"path": f"{UPLOADED}{_put(Path(temporary), folder, name)}"}
    except OSError as error:
        raise UsageError(f"{name} cannot be kept: {error.strerror}") from error
    finally:
        Path(temporary).unlink(missing_ok=True)


async def _receive(request: Request, name: str, file: BinaryIO) -> None:
    """Write what comes into `file`.

    Raises:
        UsageError: it is too much.
    """
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_UPLOAD:
            raise UsageError(
                f"{name} is larger than {MAX_UPLOAD // 1_000_000} MB; open it by its path instead"
            )
        await run_in_threadpool(file.write, part)


def _put(temporary: Path, folder: Path, name: str) -> str:
    """Give a file the name, or where that is taken the first free one like "2-rows.csv"; which it is."""
    free, number = name, 1
    while True:
        try:
            (folder / free).open("x").close()  # the name is ours
        except FileExistsError:
            number += 1
            free = f"{number}-{name[-100:]}"
        else:
            return temporary.replace(folder / free).name


async def _add_row(bench: Bench, request: Request) -> Any:
    """Keep a completion written by hand in `labels.jsonl`; the shown `row` has the columns not given here."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    prompt, completion = text_of(body, "prompt"), text_of(body, "completion")
    label = text_of(body, "label") if body.get("label") else None
    columns = body.get("columns") or {}
    if not isinstance(columns, Mapping):
        raise UsageError("'columns' maps columns to values")
    if len(prompt) + len(completion) > MAX_TEXT:
        raise UsageError(f"prompt and completion are longer than {MAX_TEXT} characters")
    row = integer_of(body, "row", -1, least=-1)
    of = text_of(body, "of") if body.get("of") is not None else None
    values = dict(await run_in_threadpool(_columns_of, desk, row, of))
    for name, text in columns.items():
        values[str(name)] = _typed(str(text), values.get(str(name)))
    await run_in_threadpool(desk.keep_row, prompt, completion, values, label)
    return {"kept": desk.shelf.labels.name}


async def _generate(bench: Bench, request: Request) -> Any:
    """Ask a model for completions of the open prompts; progress is part of the desk's state."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    temperature = body.get("temperature", 1.0)
    if isinstance(temperature, bool) or not isinstance(temperature, (int, float)):
        raise UsageError("'temperature' must be a number")
    wanted = Wanted(
        model=text_of(body, "model"),
        url=text_of(body, "url").strip(),
        key_env=text_of(body, "key_env").strip(),
        prompts=integer_of(body, "prompts", 8),
        each=integer_of(body, "each", 4),
        temperature=float(temperature),
        max_tokens=integer_of(body, "max_tokens", 256),
    )
    await run_in_threadpool(desk.generating.start, desk, wanted)
    return {"number": desk.generating.number}


async def _generate_stop(bench: Bench, request: Request) -> Any:
    """End it now; what has come is kept."""
    desk = await desk_of(bench, await body_of(request))
    await run_in_threadpool(desk.generating.stop)
    return desk.generating.to_json()


def _columns_of(desk: Desk, row: int, of: str | None) -> Mapping[str, Any]:
    """The columns of a row that is shown, {} for none; `of` as for `Desk.shown_with`."""
    if row < 0 or desk.shown is None:
        return {}
    samples = desk.shown_with(row, of).rows.samples
    return {} if row >= len(samples) else {name: values[row] for name, values in samples.columns.items()}


def _typed(text: str, like: Any) -> Any:
    """A typed text as a value: where the column holds something else than texts, as JSON if it is any."""
    if not text:
        return None
    if like is None or isinstance(like, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _path(desk: Desk, text: str) -> Path:
    """A path as typed, relative to the project, or an upload of this tab.

    Raises:
        UsageError: nothing was typed.
    """
    if text.startswith(UPLOADED):
        return desk.shelf.uploads(desk.key) / safe_name(text.removeprefix(UPLOADED))
    if not text.strip():
        raise UsageError("type the path of a file or folder of completions")
    try:
        return (desk.shelf.project.root / Path(text.strip()).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{text!r} is no path: {error}") from error


def _columns(given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise UsageError("'columns' maps names of the file to names of a row")
    found = {str(source): str(target) for source, target in given.items() if target}
    twice = next((target for target in found.values() if list(found.values()).count(target) > 1), None)
    if twice is not None:
        raise UsageError(f"two columns are both to be the {twice}: choose one")
    return found


ROUTES: Table = {
    "samples": ("GET", _samples),
    "samples-look": ("POST", _look),
    "samples-use": ("POST", _use),
    "upload": ("POST", _upload),
    "row-add": ("POST", _add_row),
    "generate": ("POST", _generate),
    "generate-stop": ("POST", _generate_stop),
}
