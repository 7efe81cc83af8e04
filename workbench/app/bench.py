"""The opened project with a desk for every browser tab."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rewards.errors import UsageError
from workbench.app.desk import Desk, Resting
from workbench.app.drafts import Drafts, state_folder
from workbench.app.engine import Engine
from workbench.app.project_files import ProjectFiles, open_project
from workbench.app.shelf import Shelf
from workbench.app.tour import is_tour, tour_shelf

MAX_DESKS = 12
MAX_RESTING = 200
SCRATCH = "reward-workbench-app-"
KEY = re.compile(r"[a-z0-9]{8,40}")


class Bench:
    """One server's project; `desk(key)` is the desk of the tab that calls itself `key`.

    Where there are too many, the desk that nobody has looked at for longest rests: its processes and scores make room,
    its texts are drafts, and what else it was is kept. It is there again as soon as somebody asks for it.
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
        self._resting: dict[str, Resting] = {}
        self._lock = threading.Lock()
        self.shelf = Shelf(project, Drafts(drafts or state_folder()), self._scratch, self.is_there)

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

    def is_there(self, key: str) -> bool:
        """Whether there is a desk of this name, at work or at rest."""
        with self._lock:
            return key in self._desks or key in self._resting

    def rests(self, key: str) -> bool:
        """Whether this desk made room for others and nobody has gone on with it since; waits for nobody."""
        return key in self._resting

    def desk(self, key: str, *, seen: bool = True) -> Desk:
        """The desk called `key`, made on first use; `seen`: somebody looks at it now.

        Raises:
            UsageError: `key` is no desk's name.
        """
        if not KEY.fullmatch(key):
            raise UsageError("that is not the name of a desk")
        with self._lock:
            found = self._desks.get(key)
            if found is None:
                spare = self._crowded()
                if spare is not None:  # noted first: whoever asks for it from now on finds what it was
                    self._resting[spare.key] = spare.to_rest()
                    del self._desks[spare.key]
                    if len(self._resting) > MAX_RESTING:  # what rested longest is forgotten
                        del self._resting[next(iter(self._resting))]
                rest = self._resting.pop(key, None)
                shelf = rest.shelf if rest else self._shelf_of(key)
                found = self._desks[key] = Desk(key, shelf, self._engine(), self._engine(), rest)
            else:
                spare = None
        if spare is not None:
            spare.close()
        if seen:
            found.look()
        return found

    def _shelf_of(self, key: str) -> Shelf:
        toured = is_tour(key) and not self.read_only  # visitors have nothing to repair, and no copy is made
        return tour_shelf(key, self._scratch) if toured else self.shelf

    def forget(self, key: str) -> None:
        """Close a desk, if there is one of this name; asked for again it is made anew."""
        with self._lock:
            desk = self._desks.pop(key, None)
            self._resting.pop(key, None)
        if desk is not None:
            desk.close()

    def _crowded(self) -> Desk | None:
        if len(self._desks) < MAX_DESKS:
            return None
        return min(self._desks.values(), key=lambda desk: (desk.is_busy, desk.touched))

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
