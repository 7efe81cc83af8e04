"""The Train page: settings, preflight, runs that go on by themselves, their curves, what comes after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from rewards.errors import MissingExtraError, RewardWorkbenchError, UsageError
from trainer.rundir import RunDir
from workbench.app import training
from workbench.app.bench import Bench
from workbench.app.checking import seal_view
from workbench.app.desk import Desk
from workbench.app.door import Table, body_of, desk_of, text_of
from workbench.app.programs import Program
from workbench.app.shelf import Source
from workbench.app.view.curves import curves
from workbench.app.view.run import diagnoses_view, where_it_stands

MAX_SETS = 40


async def _train(bench: Bench, request: Request) -> Any:
    """What can be started and what was."""
    desk = await desk_of(bench, request.query_params)

    def view() -> dict[str, Any]:
        shelf = desk.shelf
        try:
            settings, why = training.resolved_settings(shelf), None
        except RewardWorkbenchError as error:
            settings, why = [], str(error)
        return {
            "runs": training.runs_of(shelf),
            "settings": settings,
            "why": why,
            "seal": seal_view(desk),
            "missing": training.missing_extra(),
            "unsaved": [name for name, sheet in desk.sheets.items() if sheet.dirty],
            "preflight": _program(shelf.programs.look("preflight")),
        }

    return await run_in_threadpool(view)


async def _run(bench: Bench, request: Request) -> Any:
    """One run; where nothing moved since `seen`, only that is said."""
    asked = request.query_params
    desk = await desk_of(bench, asked)
    return await run_in_threadpool(
        _run_view, desk, text_of(asked, "name"), asked.get("against", ""), asked.get("seen", "")
    )


def _run_view(desk: Desk, name: str, against: str, seen: str) -> dict[str, Any]:
    shelf = desk.shelf
    programs = {what: shelf.programs.look(f"{name}.{what}") for what in training.ALONE}
    program = shelf.programs.look(name)
    try:
        run = training.run_called(shelf, name)
        state = where_it_stands(run)
    except UsageError:
        if not program.running and not program.said:
            raise
        status = "starting" if program.running else "failed"
        return {"name": name, "status": status, "log": program.said, "charts": [], "diagnoses": []}
    marks = [state["status"], program.running, _size(run), len(program.said), against]
    marks += [(each.running, len(each.said)) for each in programs.values()]
    now = repr(marks)
    if now == seen:
        return {"seen": now, "same": True}
    lines = [line for line in run.metrics() if "step" in line]
    other = _metrics(desk, against)
    return {
        **state,
        "seen": now,
        "same": False,
        "done": max([state["done"], *(int(line["step"]) for line in lines[-1:])]),
        "charts": curves(lines, other),
        "diagnoses": diagnoses_view(run.diagnoses()),
        "log": program.said,
        "after": {what: _program(each) for what, each in programs.items()},
        "resumable": state["resumable"] and not program.running,  # one that was stopped takes a moment to end
        "busy": program.running,
    }


def _metrics(desk: Desk, name: str) -> list[dict[str, Any]]:
    return training.run_called(desk.shelf, name).metrics() if name else []


def _size(run: RunDir) -> tuple[int, int]:
    places = (run.metrics_path, run.diagnoses_path)
    first, second = (place.stat().st_size if place.is_file() else 0 for place in places)
    return first, second


def _program(program: Program) -> dict[str, Any]:
    return {"running": program.running, "failed": program.failed, "said": program.said}


async def _start(bench: Bench, request: Request) -> Any:
    """Start a run, or go on with the one called `resume`."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    missing = training.missing_extra()
    if missing is not None:
        raise MissingExtraError(missing, "train", "training")
    if body.get("resume") is not None:
        name = text_of(body, "resume")
        await run_in_threadpool(training.resume_run, desk.shelf, name)
        return {"name": name}
    allow = body.get("allow_unsealed") is True
    name = await run_in_threadpool(lambda: training.start_run(desk.shelf, _sets(body), allow_unsealed=allow))
    return {"name": name}


async def _resolve(bench: Bench, request: Request) -> Any:
    """The settings a run would have under `sets`, or why it cannot have them; typing is no wrong request."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    sets = _sets(body)
    try:
        settings = await run_in_threadpool(training.resolved_settings, desk.shelf, sets)
    except UsageError as error:
        return {"settings": [], "why": str(error)}
    return {"settings": settings, "why": None}


async def _preflight(bench: Bench, request: Request) -> Any:
    """Look before training."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    await run_in_threadpool(training.start_preflight, desk.shelf, _sets(body))
    return {"started": "preflight"}


async def _end(bench: Bench, request: Request) -> Any:
    """Stop a program after its step, or kill it (`how`)."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    name, how = text_of(body, "name"), text_of(body, "how")
    if how not in ("stop", "kill"):
        raise UsageError("'how' is stop or kill")
    programs = desk.shelf.programs
    await run_in_threadpool(programs.ask_to_stop if how == "stop" else programs.kill, name)
    return {"asked": how}


async def _after(bench: Bench, request: Request) -> Any:
    """Merge a run or compare what came of it."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    await run_in_threadpool(training.start_after, desk.shelf, text_of(body, "name"), text_of(body, "what"))
    return {"started": body["what"]}


async def _to_write(bench: Bench, request: Request) -> Any:
    """Open the completions of a run in the table."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    run = training.run_called(desk.shelf, text_of(body, "name"))
    source = Source((run.completions,), ())
    await run_in_threadpool(desk.shelf.rows, source)
    await run_in_threadpool(desk.use, source)
    return {"used": run.name}


def _sets(body: Mapping[str, Any]) -> list[str]:
    sets = body.get("sets") or []
    if not isinstance(sets, list) or len(sets) > MAX_SETS or not all(isinstance(text, str) for text in sets):
        raise UsageError(f"'sets' is a list of up to {MAX_SETS} texts such as max_steps=20")
    return sets


ROUTES: Table = {
    "train": ("GET", _train),
    "train-run": ("GET", _run),
    "train-start": ("POST", _start),
    "train-resolve": ("POST", _resolve),
    "train-preflight": ("POST", _preflight),
    "train-end": ("POST", _end),
    "train-after": ("POST", _after),
    "train-open": ("POST", _to_write),
}
