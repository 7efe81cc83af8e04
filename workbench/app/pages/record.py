"""What a run recorded, step by step: its completions, one in full, the words that rise, and the way into Write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from rewards.errors import RewardWorkbenchError, UsageError
from workbench.app import training
from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.door import Table, body_of, desk_of, integer_of, text_of
from workbench.app.drafts import digest
from workbench.app.leash import Stopped
from workbench.app.recorded import held_out_steps, read_step, read_texts, recorded_steps, step_files
from workbench.app.shelf import Source
from workbench.app.view.credits import credits_view
from workbench.app.view.record import phrases_view, recorded_row, step_view
from workbench.phrases import rising_phrases

MAX_STEPS_READ, MAX_CHARACTERS = 50, 1_000_000
"""Steps whose words are counted together at most, and characters after which no earlier step is read."""


async def _steps(bench: Bench, request: Request) -> Any:
    """The steps that have completions, and those with held-out ones; only the folder is looked at."""
    asked = request.query_params
    desk = await desk_of(bench, asked)
    name = text_of(asked, "name")

    def read() -> dict[str, Any]:
        run = training.run_called(desk.shelf, name)
        return {"name": run.name, "steps": recorded_steps(run), "held_out": held_out_steps(run)}

    return await run_in_threadpool(read)


async def _step(bench: Bench, request: Request) -> Any:
    """The completions of one step, suspects first; with `held` those of the evaluation after it."""
    asked = request.query_params
    desk = await desk_of(bench, asked)
    name, step, held = text_of(asked, "name"), integer_of(asked, "step", 0), _held(asked)
    return await run_in_threadpool(
        lambda: step_view(read_step(training.run_called(desk.shelf, name), step, held_out=held))
    )


def _held(asked: Mapping[str, Any]) -> bool:
    """Whether held-out completions are asked for."""
    return integer_of(asked, "held", 0, most=1) == 1


async def _row(bench: Bench, request: Request) -> Any:
    """One completion in full with the credits it got then."""
    asked = request.query_params
    desk = await desk_of(bench, asked)
    name, step, row = text_of(asked, "name"), integer_of(asked, "step", 0), integer_of(asked, "row", 0)
    held = _held(asked)

    def read() -> dict[str, Any]:
        recorded = read_step(training.run_called(desk.shelf, name), step, held_out=held)
        if row >= len(recorded):
            raise UsageError(f"step {step} has no completion {row}")
        return recorded_row(recorded, row)

    return await run_in_threadpool(read)


async def _explain(bench: Bench, request: Request) -> Any:
    """Where in its text the rewards on the desk pay a recorded completion; `why` says why that cannot be shown."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    name, step, row = text_of(body, "name"), integer_of(body, "step", 0), integer_of(body, "row", 0)
    try:
        return await run_in_threadpool(_explained, desk, name, step, row, _held(body))
    except Stopped:
        return {"row": row, "stopped": True}
    except RewardWorkbenchError as error:
        return {"row": row, "why": desk.own_words(str(error))}


def _explained(desk: Desk, name: str, step: int, row: int, held: bool) -> dict[str, Any]:
    from rewards.contract import completion_text

    run = training.run_called(desk.shelf, name)
    samples = desk.shelf.rows(Source(step_files(run, step, held_out=held))).samples
    if row >= len(samples):
        raise UsageError(f"step {step} has no completion {row}")
    texts = "\0".join(sheet.text for sheet in desk.sheets.values())
    place = f"record-{digest(f'{run.name} {step} {held} {texts}')}"  # other code or rows: another target, loaded anew
    try:
        explanation = desk.comparing.engine.explain(desk.mirrored(place), samples, row)
    finally:
        desk.drop_mirror(place)
    return credits_view(explanation, completion_text(samples.completions[row]))


async def _phrases(bench: Bench, request: Request) -> Any:
    """The words whose share rises most with the advantage, in `span` steps up to this one."""
    asked = request.query_params
    desk = await desk_of(bench, asked)
    name, step = text_of(asked, "name"), integer_of(asked, "step", 0)
    span = integer_of(asked, "span", 1, least=1, most=MAX_STEPS_READ)

    def count() -> dict[str, Any]:
        run = training.run_called(desk.shelf, name)
        wanted = [each for each in recorded_steps(run) if each <= step][-span:]
        texts: list[str] = []
        advantages: list[float | None] = []
        read: list[int] = []
        for each in reversed(wanted):
            more = read_texts(run, each)
            texts, advantages, read = more[0] + texts, more[1] + advantages, [each, *read]
            if sum(map(len, texts)) > MAX_CHARACTERS:
                break
        return phrases_view(rising_phrases(texts, advantages), read, len(texts))

    return await run_in_threadpool(count)


async def _to_write(bench: Bench, request: Request) -> Any:
    """Open the completions of one step in Write; of all steps where none is named."""
    body = await body_of(request)
    desk = await desk_of(bench, body)
    name = text_of(body, "name")
    step = None if body.get("step") is None else integer_of(body, "step", 0)
    held = _held(body)

    def use() -> None:
        run = training.run_called(desk.shelf, name)
        source = Source((run.completions,) if step is None else step_files(run, step, held_out=held))
        desk.shelf.rows(source)
        desk.use(source)

    await run_in_threadpool(use)
    return {"used": name}


ROUTES: Table = {
    "record-steps": ("GET", _steps),
    "record-step": ("GET", _step),
    "record-row": ("GET", _row),
    "record-explain": ("POST", _explain),
    "record-phrases": ("GET", _phrases),
    "record-open": ("POST", _to_write),
}
