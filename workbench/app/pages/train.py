"""The Train page: settings, preflight, runs that go on by themselves, their curves, what comes after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from rewards.errors import MissingExtraError, UsageError
from trainer.rundir import RunDir
from workbench.app import training
from workbench.app.bench import Bench
from workbench.app.checking import seal_view
from workbench.app.desk import Desk
from workbench.app.door import Table, body_of, desk_of, text_of
from workbench.app.programs import Program
from workbench.app.recorded import held_out_steps, recorded_steps
from workbench.app.view.curves import MOST_RUNS, curves, run_marks
from workbench.app.view.run import diagnoses_view, settings_of_run, where_it_stands

MAX_SETS = 40


async def _train(bench: Bench, request: Request) -> Any:
    """What can be started and what was."""
    desk = await desk_of(bench, request.query_params)

    def view() -> dict[str, Any]:
        shelf = desk.shelf
        settings, why = training.judged_settings(shelf)
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
        _run_view, desk, text_of(asked, "name"), _others(asked.get("beside", "")), asked.get("seen", "")
    )


def _run_view(desk: Desk, name: str, beside: list[str], seen: str) -> dict[str, Any]:
    shelf = desk.shelf
    program = shelf.programs.look(name)
    try:
        run = training.run_called(shelf, name)
        state = where_it_stands(run)
    except UsageError:
        if not program.known and not program.said:
            raise
        status = "starting" if program.running else "failed"
        return {"name": name, "status": status, "log": program.said, "charts": [], "diagnoses": []}
    others = {each: training.run_called(shelf, each) for each in beside if each != name}
    marks: list[Any] = [state["status"], program.running, len(program.said)]
    marks += [(each.name, _size(each)) for each in (run, *others.values())]
    now = repr(marks)
    if now == seen:
        return {"seen": now, "same": True}
    lines = [line for line in run.metrics() if "step" in line]
    return {
        **state,
        "seen": now,
        "same": False,
        "done": max([state["done"], *(int(line["step"]) for line in lines[-1:])]),
        "charts": curves(lines, {each: other.metrics() for each, other in others.items()}, name),
        "legend": run_marks([name, *others]) if others else [],
        "settings": settings_of_run(run.manifest()),
        "recorded": len(recorded_steps(run)) + len(held_out_steps(run)),
        "diagnoses": diagnoses_view(run.diagnoses()),
        "log": program.said,
        "resumable": state["resumable"] and not program.running,  # one that was stopped takes a moment to end
        "busy": program.running,
    }


def _others(text: str) -> list[str]:
    """Names of other runs, parted by commas.

    Raises:
        UsageError: there are more than can be told apart in one picture.
    """
    names = list(dict.fromkeys(name for name in text.split(",") if name))
    if len(names) >= MOST_RUNS:
        raise UsageError(f"at most {MOST_RUNS} runs can be told apart in one picture")
    return names


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
    settings, why = await run_in_threadpool(_judged, desk, body)
    return {"settings": settings, "why": why}


def _judged(desk: Desk, body: Mapping[str, Any]) -> tuple[list[dict[str, Any]], str | None]:
    return training.judged_settings(desk.shelf, _sets(body))


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
}
