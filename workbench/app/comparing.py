"""The comparison of one desk: two sides scored on the rows that are open, in worker processes, in the background.

A side is the text in the editor, the saved file, a kept version (`@3fa9`), a git revision, or another file.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.errors import RewardWorkbenchError, UsageError
from rewards.targets import parse_target
from workbench.app.engine import Engine, Step
from workbench.app.leash import Stopped
from workbench.difference import Difference, compare
from workbench.samples import Samples
from workbench.sides import Side, code_changes, open_sides
from workbench.versions import Versions, read_code

if TYPE_CHECKING:
    from workbench.app.desk import Desk

DRAFT, SAVED = "draft", "saved"
MAX_VERSIONS = 40

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Compared:
    """A finished comparison with what is needed to explain its rows; the sides can be loaded until the next one."""

    number: int
    difference: Difference
    samples: Samples
    targets: tuple[str, str]


class Comparing:
    """See the module's docstring; `number` counts the comparisons. `changed` may be called from any thread."""

    def __init__(self, engine: Engine, changed: Callable[[], None]) -> None:
        self.engine = engine
        self._changed = changed
        self._thread: threading.Thread | None = None
        self._open = contextlib.ExitStack()
        self._lock = threading.Lock()
        self.number = 0
        self.state = "none"  # none | running | done | failed | stopped
        self.progress: tuple[str, str] | None = None  # side and reward that is scored now
        self.error: str | None = None
        self.done: Compared | None = None

    def start(self, desk: Desk, old: str, new: str) -> None:
        """Compare from `old` to `new`; a comparison under way is ended, the last one stays until this is done."""
        with self._lock:
            self._end()
            self.number += 1
            self.state, self.error, self.progress = "running", None, None
            self._thread = threading.Thread(
                target=self._work, args=(desk, self.number, old, new), name=f"compare-{desk.key}", daemon=True
            )
            self._thread.start()
        self._changed()

    def _work(self, desk: Desk, number: int, old: str, new: str) -> None:
        opened = contextlib.ExitStack()
        try:
            compared = self._compare(desk, number, opened, old, new)
        except Stopped:
            opened.close()
            self.state = "stopped"
        except RewardWorkbenchError as error:
            opened.close()
            self.state, self.error = "failed", desk.own_words(str(error))
        except Exception:  # a fault of ours must not leave the page waiting for ever
            opened.close()
            log.exception("comparison %d failed", number)
            self.state, self.error = (
                "failed",
                "Reward Workbench itself failed; its terminal shows the traceback",
            )
        else:
            self._open.close()
            self._open, self.done, self.state = opened, compared, "done"
        self.progress = None
        self._changed()

    def _compare(self, desk: Desk, number: int, opened: contextlib.ExitStack, old: str, new: str) -> Compared:
        samples = desk.shelf.rows(desk.source).samples
        sides = [
            opened.enter_context(_side(desk, text, f"compare-{number}-{at}"))
            for at, text in enumerate((old, new))
        ]
        tables = []
        for side in sides:
            board = self.engine.score(side.target, samples, functools.partial(self._tell, side.label))
            if board.table is None:
                raise UsageError(f"{side.label} gave no scores")
            tables.append(board.table)
        changes = code_changes(sides[0].code, sides[1].code)
        found = compare(tables[0], tables[1], old=sides[0].label, new=sides[1].label, code=changes)
        return Compared(number, found, samples, (sides[0].target, sides[1].target))

    def _tell(self, side: str, step: Step) -> None:
        self.progress = side, step.name
        self._changed()

    def stop(self) -> None:
        """End a comparison under way."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        thread = self._thread
        while thread is not None and thread.is_alive():
            self.engine.stop()  # between two sides there is nothing to stop yet
            thread.join(timeout=0.1)
        self._thread = None

    def close(self) -> None:
        """End everything and forget the sides."""
        self.stop()
        self.engine.close()
        self._open.close()

    def require(self) -> Compared:
        """The last finished comparison.

        Raises:
            UsageError: there is none.
        """
        if self.done is None:
            raise UsageError("nothing has been compared yet")
        return self.done

    def explain(self, row: int) -> tuple[Any, Any]:
        """The partial credit of a row by each side; None for one that cannot be explained."""
        compared = self.require()
        if not 0 <= row < len(compared.samples):
            raise UsageError(f"there is no row {row}")
        found: list[Any] = []
        for target in compared.targets:
            try:
                found.append(self.engine.explain(target, compared.samples, row))
            except RewardWorkbenchError:
                found.append(None)
        return found[0], found[1]


@contextlib.contextmanager
def _side(desk: Desk, text: str, name: str) -> Iterator[Side]:
    """A side that can be loaded while the context lasts."""
    project = desk.shelf.project
    real = project.in_mirror(project.root)
    if text == DRAFT:
        target = desk.mirrored(name)
        try:
            yield Side("the text in the editor", target, read_code(parse_target(target)))
        finally:
            desk.drop_mirror(name)
    elif text == SAVED:
        yield Side("the saved file", real, read_code(parse_target(real)), present=True)
    elif not text.strip():
        raise UsageError("choose what to compare: a version, a git revision or the path of a file")
    else:
        beside = project.root / Path(text).expanduser()
        with open_sides(str(beside) if beside.exists() else text, real) as (side, _):
            yield replace(side, label=text if side.present else side.label)


def versions_of(desk: Desk) -> list[dict[str, str]]:
    """The kept versions of the project, newest first, each content once."""
    project = desk.shelf.project
    present = None
    with contextlib.suppress(RewardWorkbenchError):
        code = read_code(parse_target(project.in_mirror(project.root)))
        present = code.version if code is not None else None
    return [
        {"id": f"@{version.id[:12]}", "label": version.label, "at": version.at}
        for version in Versions(project.root).of(present)[:MAX_VERSIONS]
    ]


def keep_version(desk: Desk) -> None:
    """Keep the saved code as a version; where its folder cannot be written nothing is kept."""
    project = desk.shelf.project
    with contextlib.suppress(RewardWorkbenchError):
        code = read_code(parse_target(project.in_mirror(project.root)))
        if code is not None:
            Versions(code.root).keep(code)
