"""The runs of the opened project: which there are, a new one, the settings it would have."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.errors import RewardWorkbenchError, UsageError
from rewards.manifest import TrainSettings, read_manifest
from trainer.presets import find_preset
from trainer.rundir import RunDir, choose_run_folder
from trainer.settings import parse_sets, resolve
from workbench.app.view.run import settings_view, where_it_stands

if TYPE_CHECKING:
    from workbench.app.shelf import Shelf

MAX_RUNS = 60
NO_MODEL = "name a model in the field above: a folder, a name on the hub, or toy, which needs no download"


def runs_of(shelf: Shelf) -> list[dict[str, Any]]:
    """The project's runs, newest first; one that is only starting has no folder yet."""
    folder = shelf.project.root / "runs"
    places = sorted(folder.glob("*/stages.json"), key=lambda place: -place.stat().st_mtime)[:MAX_RUNS]
    found = []
    for place in places:
        try:
            found.append(where_it_stands(RunDir.open(place.parent)))
        except (RewardWorkbenchError, OSError, ValueError, KeyError):
            found.append({"name": place.parent.name, "status": "unreadable"})
    return found


def run_called(shelf: Shelf, name: str) -> RunDir:
    """A run by its name.

    Raises:
        UsageError: there is none, or the name leads elsewhere.
    """
    if not name or Path(name).name != name or name.startswith("."):
        raise UsageError(f"{name!r} is no name of a run")
    return RunDir.open(shelf.project.root / "runs" / name)


def start_run(shelf: Shelf, sets: Sequence[str], *, allow_unsealed: bool) -> str:
    """Start a new run of the saved files as a process of its own; its name.

    Raises:
        UsageError: a setting that cannot work, or nothing can be written.
        MissingExtraError: torch or trl is not installed.
    """
    resolved_settings(shelf, sets)  # what cannot work is said before anything is started
    project = shelf.project
    path = choose_run_folder(project.root, _name(shelf), None)
    arguments = ["train", project.in_mirror(project.root), "--run", str(path)]
    arguments += [part for text in sets for part in ("--set", text)]
    arguments += [part for file in project.samples for part in ("--samples", str(file))]
    shelf.programs.start(path.name, [*arguments, *(["--allow-unsealed"] if allow_unsealed else [])])
    return path.name


def resume_run(shelf: Shelf, name: str) -> None:
    """Go on with a run at its last checkpoint, under its own settings.

    Raises:
        UsageError: there is no such run, or it is running.
    """
    run, project = run_called(shelf, name), shelf.project
    target = project.in_mirror(project.root)
    shelf.programs.start(name, ["train", target, "--run", str(run.path), "--resume"])


def start_preflight(shelf: Shelf, sets: Sequence[str]) -> None:
    """Look at data, memory, signal and settings of a run; nothing is trained.

    Raises:
        UsageError: a setting that cannot work, or one is under way.
    """
    resolved_settings(shelf, sets)
    project = shelf.project
    arguments = ["preflight", project.in_mirror(project.root)]
    arguments += [part for text in sets for part in ("--set", text)]
    arguments += [part for file in project.samples for part in ("--samples", str(file))]
    shelf.programs.start("preflight", arguments)


def judged_settings(shelf: Shelf, sets: Sequence[str] = ()) -> tuple[list[dict[str, Any]], str | None]:
    """The settings a run would have, each with where it comes from, and why it cannot be started, None if it can.

    Without a model the others are told all the same.
    """
    try:
        settings, has_model = _settings(shelf, sets)
    except RewardWorkbenchError as error:
        return [], str(error)
    return settings, None if has_model else NO_MODEL


def resolved_settings(shelf: Shelf, sets: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The settings a run would have, each with where it comes from.

    Raises:
        UsageError: a value or combination that cannot work, or no model is named; one sentence.
    """
    settings, has_model = _settings(shelf, sets)
    if not has_model:
        raise UsageError(NO_MODEL)
    return settings


def _settings(shelf: Shelf, sets: Sequence[str]) -> tuple[list[dict[str, Any]], bool]:
    """The settings, and whether a model is named; where none is, `model` is not among them."""
    target = shelf.project.target
    train = read_manifest(target.path).train if target.kind == "project" else TrainSettings()
    given = parse_sets(sets)
    has_model = bool(given.get("model") or train.model)
    unnamed = None if has_model else "no-model-yet"
    settings = resolve(train, device="cuda" if _has_gpu() else "cpu", model=unnamed, sets=given)
    preset: Mapping[str, Any] = find_preset(settings.preset).settings
    named = {"model": settings.model} if has_model else {}
    values = {**named, "preset": settings.preset, **settings.trl}
    written = {"model": train.model, **train.settings} if target.kind == "project" else {}
    return settings_view(
        {**values, **settings.own.model_dump(exclude={"monitor"})}, written, preset
    ), has_model


def missing_extra() -> str | None:
    """The package that training lacks here; None where it can be started."""
    return next((name for name in ("torch", "trl") if importlib.util.find_spec(name) is None), None)


def _has_gpu() -> bool:
    return os.path.exists("/dev/nvidia0")


def _name(shelf: Shelf) -> str:
    return shelf.project.name.removesuffix(".py")
