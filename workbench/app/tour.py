"""The tour: a small project with a real bug in it, in a folder of its own for each tab that takes it.

It lies in the server's scratch folder and is gone with the server; no file of the user's is read or written.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from workbench.app.drafts import Drafts
from workbench.app.project_files import open_project
from workbench.app.shelf import Shelf
from workbench.project import TEMPLATES_FOLDER

NAME = "tour"
KEY_LENGTH = len(NAME) + 16
SOURCE = TEMPLATES_FOLDER / "_tour"


def is_tour(key: str) -> bool:
    """Whether a desk of this name is one of the tour's."""
    return len(key) == KEY_LENGTH and key.startswith(NAME)


def tour_shelf(key: str, scratch: Path) -> Shelf:
    """A shelf with a fresh copy of the tour's project."""
    folder = scratch / NAME / key
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCE, folder / "project", ignore=shutil.ignore_patterns("__pycache__", ".workbench"))
    return Shelf(open_project(folder / "project"), Drafts(folder / "drafts"), scratch)
