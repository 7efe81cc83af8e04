"""The opened project with a desk for every browser tab."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rewards.errors import UsageError
from workbench.app.desk import Desk
from workbench.app.drafts import Drafts, state_folder
from workbench.app.engine import Engine
from workbench.app.project_files import ProjectFiles, open_project
from workbench.app.shelf import Shelf
from workbench.app.tour import is_tour, tour_shelf

MAX_DESKS = 12
SCRATCH = "reward-workbench-app-"
KEY = re.compile(r"[a-z0-9]{8,40}")


class Bench:
    """One server's project; `desk(key)` is the desk of the tab that calls itself `key`.

    A desk that nobody has looked at for longest makes room when there are too many. Its text is in a draft.
    """

    def __init__(
        self,
        project: ProjectFiles,
        engine: Callable[[], Engine],
        drafts: Path | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        self.project = project
        self.read_only = read_only
        self._engine = engine
        remove_left_scratch(Path(tempfile.gettempdir()))
        self._scratch = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{os.getpid()}-")).resolve()
        self._desks: dict[str, Desk] = {}
        self._lock = threading.Lock()
        self.shelf = Shelf(project, Drafts(drafts or state_folder()), self._scratch)

    @classmethod
    def open(
        cls,
        target: str | Path,
        samples: Sequence[Path],
        engine: Callable[[], Engine],
        *,
        form: str = "",
        read_only: bool = False,
    ) -> Bench:
        """Open a target; nothing of it is run before a desk is asked for. `form`: read samples as chat or text."""
        return cls(replace(open_project(target, samples), read_as=form), engine, read_only=read_only)

    def desk(self, key: str) -> Desk:
        """The desk called `key`, made on first use.

        Raises:
            UsageError: `key` is no desk's name.
        """
        if not KEY.fullmatch(key):
            raise UsageError("that is not the name of a desk")
        with self._lock:
            found = self._desks.get(key)
            if found is None:
                spare = self._crowded()
                toured = (
                    is_tour(key) and not self.read_only
                )  # visitors have nothing to repair, and no copy is made
                shelf = tour_shelf(key, self._scratch) if toured else self.shelf
                found = self._desks[key] = Desk(key, shelf, self._engine(), self._engine())
            else:
                spare = None
            found.touched = time.monotonic()
        if spare is not None:
            spare.close()
        return found

    def forget(self, key: str) -> None:
        """Close a desk, if there is one of this name; asked for again it is made anew."""
        with self._lock:
            desk = self._desks.pop(key, None)
        if desk is not None:
            desk.close()

    def _crowded(self) -> Desk | None:
        if len(self._desks) < MAX_DESKS:
            return None
        oldest = min(self._desks.values(), key=lambda desk: (desk.is_busy, desk.touched))
        return self._desks.pop(oldest.key)

    def close(self) -> None:
        """End every desk with its processes and remove the scratch folder."""
        with self._lock:
            desks, self._desks = list(self._desks.values()), {}
        for desk in desks:
            desk.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def remove_left_scratch(folder: Path) -> None:
    """Remove the scratch folders of servers that were killed and could not do it themselves."""
    for left in folder.glob(f"{SCRATCH}*"):
        owner = left.name.removeprefix(SCRATCH).partition("-")[0]
        if owner.isdecimal() and not _runs(int(owner)):
            shutil.rmtree(left, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's process, so it runs
    return True
