"""The Result page: a finished run merged with proof, compared with its base, asked side by side, taken away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse

from rewards.errors import MissingExtraError, UsageError
from trainer.rundir import RunDir
from workbench.app import results, training
from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.door import Table, body_of, desk_of, integer_of, text_of
from workbench.app.results import FILES, WORKS, Question
from workbench.app.view.result import answers_view, comparison_view, held_out_view, progress_of, proof_view
from workbench.app.view.run import where_it_stands

View = Callable[[Mapping[str, Any]], dict[str, Any]]
MAX_CARD = 200_000
SEALED_OFF = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
"""A report holds texts of models: it is shown without scripts, away from everything else."""


async def _result(bench: Bench, request: Request) -> Any:
    """The runs that left a trained model."""
    desk = await desk_of(bench, request.query_params)
    runs = await run_in_threadpool(results.finished_runs, desk.shelf)
    return {"runs": runs, "missing": training.missing_extra()}


async def _run(bench: Bench, request: Request) -> Any:
    """What came of one run; where nothing moved since `seen`, only that is said."""
    asked = request.query_params
    desk = await desk_of(bench, asked)
    return await run_in_threadpool(_run_view, desk, text_of(asked, "name"), asked.get("seen", ""))


def _run_view(desk: Desk, name: str, seen: str) -> dict[str, Any]:
    shelf = desk.shelf
    run = training.run_called(shelf, name)
    programs = {work: shelf.programs.look(f"{name}.{work}") for work in WORKS}
    answers = results.answers_file(shelf, name)
    places = [answers, *(run.path / file for file in FILES.values())]
    now = repr([[_mark(place) for place in places], [(p.running, len(p.said)) for p in programs.values()]])
    if now == seen:
        return {"seen": now, "same": True}
    proof, comparison, answered = (
        results.read_object(place)
        for place in (run.path / FILES["proof"], run.path / FILES["comparison"], answers)
    )
    merged = results.merged_model(run)
    return {
        "seen": now,
        "same": False,
        "stands": where_it_stands(run),
        "work": {
            work: {
                "running": program.running,
                "failed": program.failed and not program.interrupted,
                "interrupted": program.interrupted,
                "said": program.said,
                "progress": progress_of(program.said) if program.running else None,
            }
            for work, program in programs.items()
        },
        "merged": None if merged is None else str(merged),
        "proof": _part(proof_view, proof, FILES["proof"]),
        "comparison": _part(comparison_view, comparison, FILES["comparison"]),
        "answers": _part(answers_view, answered, answers.name),
        "held_out": held_out_view(run.holdout()),
        "card": _card(run),
        "files": [what for what, file in FILES.items() if (run.path / file).is_file()],
    }


def _part(view: View, values: Mapping[str, Any] | None, file: str) -> dict[str, Any] | None:
    """What a file says, None where there is none.

    Raises:
        UsageError: it lacks a part, as one that was changed by hand may.
    """
    try:
        return None if values is None else view(values)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"{file} of this run is not as it was written: {error!r}") from error


def _mark(place: Path) -> tuple[int, int]:
    try:
        facts = place.stat()
    except OSError:
        return 0, 0
    return facts.st_mtime_ns, facts.st_size


def _card(run: RunDir) -> str | None:
    try:
        return (run.path / FILES["card"]).read_text(encoding="utf-8", errors="replace")[:MAX_CARD]
    except OSError:
        return None


async def _start(bench: Bench, request: Request) -> Any:
    """Merge a run or compare what came of it (`what`)."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    _require_torch()
    name, what = text_of(body, "name"), text_of(body, "what")
    await run_in_threadpool(results.start_work, desk.shelf, name, what)
    return {"started": what}


async def _ask(bench: Bench, request: Request) -> Any:
    """Let base and merged model answer `prompt`, or the held-out prompt with the number `held_out`."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    _require_torch()
    question = Question(
        prompt=None if body.get("prompt") is None else text_of(body, "prompt"),
        held_out=None if body.get("held_out") is None else integer_of(body, "held_out", 1, least=1),
        answers=integer_of(body, "answers", 1, least=1),
        temperature=_number(body.get("temperature", 0.7), "temperature"),
        top_p=_number(body.get("top_p", 0.9), "top_p"),
        seed=integer_of(body, "seed", 0),
    )
    await run_in_threadpool(results.start_answers, desk.shelf, text_of(body, "name"), question)
    return {"started": "sample"}


def _require_torch() -> None:
    missing = training.missing_extra()
    if missing is not None:
        raise MissingExtraError(missing, "train", "merging, comparing and asking models")


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(f"'{name}' is a number")
    return float(value)


async def _file(bench: Bench, request: Request) -> Any:
    """A file of a run to take away; the report is shown in the browser where `show` is 1."""
    asked = request.query_params
    desk = await desk_of(bench, asked)
    name, what = text_of(asked, "name"), text_of(asked, "what")

    def find() -> Path:
        return results.file_of(training.run_called(desk.shelf, name), what)

    path = await run_in_threadpool(find)
    if bench.read_only:
        raise UsageError("files of a run are not handed out here: they tell of the machine they were made on")
    if what == "report" and asked.get("show") == "1":
        headers = {"cache-control": "no-store", "content-security-policy": SEALED_OFF}
        return FileResponse(path, media_type="text/html", headers=headers)
    return FileResponse(path, filename=f"{name}-{path.name}", headers={"cache-control": "no-store"})


ROUTES: Table = {
    "result": ("GET", _result),
    "result-run": ("GET", _run),
    "result-start": ("POST", _start),
    "result-ask": ("POST", _ask),
    "result-file": ("GET", _file),
}
