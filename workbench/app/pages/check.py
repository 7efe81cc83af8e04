"""The Check page: run, stop, what was found, and what to do with a finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from rewards.errors import UsageError
from workbench.app.bench import Bench
from workbench.app.checking import seal_view
from workbench.app.desk import Desk
from workbench.app.door import Table, body_of, desk_of, integer_of, text_of
from workbench.app.view.findings import findings_view, margin_view, open_view


async def _check(bench: Bench, request: Request) -> Any:
    """The run and what it found, the seal, the families that can be run."""
    desk = await desk_of(bench, request.query_params)
    return await run_in_threadpool(_view, desk)


def _view(desk: Desk) -> dict[str, Any]:
    from workbench.checks.check import FAMILIES
    from workbench.checks.selection import CHECKS

    checking = desk.checking
    there = {code[:3] for code in CHECKS}
    result = checking.result
    return {
        "families": [[code, about] for code, about in FAMILIES.items() if code in there],
        "state": checking.state,
        "number": checking.number,
        "select": list(checking.select),
        "stale": checking.stale(desk),
        "draft": checking.number > 0 and not checking.saved,
        "error": checking.said.get("error"),
        "result": None if result is None else findings_view(result),
        "found": open_view(checking.findings) if result is None else [],
        "seal": seal_view(desk),
        "why_no_seal": checking.why_no_seal(),
        "refused": checking.said.get("refused"),
        "manifest": desk.shelf.project.target.kind == "project",
    }


async def _lines(bench: Bench, request: Request) -> Any:
    """The lines of the code that the checks point at, for its margin and the list under it."""
    desk = await desk_of(bench, request.query_params)
    shown = desk.shown
    files = {column.name: column.file for column in shown.board.columns} if shown is not None else {}
    return {
        "number": desk.checking.number,
        "stale": desk.checking.stale(desk),
        "lines": margin_view(desk.checking.findings, files),
    }


async def _run(bench: Bench, request: Request) -> Any:
    """Start a run of all checks or of those whose code starts as one of `select`."""
    from workbench.checks.selection import select as select_checks

    body = await body_of(request)
    desk = await desk_of(bench, body)
    select = body.get("select") or []
    if not isinstance(select, list) or not all(isinstance(code, str) for code in select):
        raise UsageError("'select' is a list of codes")
    select_checks(select)  # an unknown code is told before anything runs
    await run_in_threadpool(
        lambda: desk.checking.start(
            desk,
            select=select,
            quick=body.get("quick") is True,
            assume_kinds=body.get("assume_kinds") is True,
        )
    )
    return {"number": desk.checking.number}


async def _stop(bench: Bench, request: Request) -> Any:
    """End the run."""
    desk = await desk_of(bench, await body_of(request))
    await run_in_threadpool(desk.checking.stop)
    return {"state": desk.checking.state}


async def _seal(bench: Bench, request: Request) -> Any:
    """Seal what the last run showed; the answer is part of the page's state."""
    desk = await desk_of(bench, await body_of(request))
    await run_in_threadpool(desk.checking.seal)
    return {"asked": True}


async def _waive(bench: Bench, request: Request) -> Any:
    """Accept a finding, named by `check` and `reward`, with a reason, in the manifest; also while the checks run."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    reward = text_of(body, "reward") if body.get("reward") is not None else None
    finding = desk.checking.finding_of(text_of(body, "check"), reward)
    await run_in_threadpool(desk.waive, finding["check"], finding["reward"], text_of(body, "reason"))
    return {"waived": finding["check"]}


async def _open(bench: Bench, request: Request) -> Any:
    """Show a finding's completion in the debugger: as the row it is, else as a row of no file."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    prompt, completion, columns = _evidence(desk, integer_of(body, "number", -1, least=-1))
    row = await run_in_threadpool(_row_like, desk, prompt, completion)
    if row is None:
        await run_in_threadpool(desk.show_guest, {**columns, "prompt": prompt, "completion": completion})
    return {"row": row}


async def _keep(bench: Bench, request: Request) -> Any:
    """Keep a finding's completion in `labels.jsonl`, with the label given."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    prompt, completion, columns = _evidence(desk, integer_of(body, "number", -1, least=-1))
    label = text_of(body, "label") if body.get("label") else None
    await run_in_threadpool(desk.keep_row, prompt, completion, columns, label)
    return {"kept": desk.shelf.labels.name}


async def _manual(bench: Bench, request: Request) -> Any:
    """The manual page of a check."""
    from workbench.checks.manual import page
    from workbench.checks.selection import explained

    code = text_of(request.query_params, "code")
    return {"code": code, "text": await run_in_threadpool(lambda: page(explained(code)))}


def _evidence(desk: Desk, number: int) -> tuple[Any, Any, dict[str, Any]]:
    evidence = desk.checking.finding(number).get("evidence") or {}
    if evidence.get("completion") is None:
        raise UsageError("this finding has no completion")
    columns = {
        str(name): value
        for name, value in (evidence.get("columns") or {}).items()
        if name not in ("prompt", "completion", "label", "expected", "group", "id")
    }
    return evidence.get("prompt") or "", evidence["completion"], columns


def _row_like(desk: Desk, prompt: Any, completion: Any) -> int | None:
    """The row with this prompt and completion; None where there is none."""
    shown = desk.shown
    if shown is None:
        return None
    samples = shown.rows.samples
    for row, there in enumerate(samples.completions):
        if there == completion and samples.prompts[row] == prompt:
            return row
    return None


def summary(desk: Desk) -> Mapping[str, Any]:
    """What the bar and the page have to know of the run at any time; small."""
    checking = desk.checking
    checking.recall(desk)
    result = checking.result
    open_ = [f for f in checking.findings if "waived" not in f and f["severity"] != "info"]
    return {
        "state": checking.state,
        "number": checking.number,
        "progress": checking.said.get("progress"),
        "findings": None if result is None else len(open_),
        "found": len(checking.findings),
        "waived": sum("waived" in finding for finding in checking.findings),
        "stale": checking.stale(desk),
        "sealed": checking.said.get("sealed") is not None,
        "refused": checking.said.get("refused"),
    }


ROUTES: Table = {
    "check": ("GET", _check),
    "check-lines": ("GET", _lines),
    "check-run": ("POST", _run),
    "check-stop": ("POST", _stop),
    "check-seal": ("POST", _seal),
    "check-manual": ("GET", _manual),
    "finding-open": ("POST", _open),
    "finding-keep": ("POST", _keep),
    "finding-waive": ("POST", _waive),
}
