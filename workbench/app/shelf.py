"""What all desks share: the opened project, its samples, the drafts and a scratch folder."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rewards.errors import SamplesError
from rewards.manifest import read_manifest
from workbench.app.drafts import Drafts
from workbench.app.engine import held
from workbench.app.project_files import ProjectFiles
from workbench.opening import no_samples
from workbench.samples import Samples, read_samples

Stamps = Mapping[Path, tuple[int, int]]


class Shelf:
    """The shared things of one server; `scratch` is a folder that belongs to it alone."""

    def __init__(self, project: ProjectFiles, drafts: Drafts, scratch: Path) -> None:
        self.project = project
        self.drafts = drafts
        self.scratch = scratch
        self._lock = threading.Lock()
        self._samples: Samples | None = None
        self._read_at: Stamps = {}

    @property
    def samples(self) -> Samples:
        """The rows, read on first use and again when their files have changed.

        Raises:
            SamplesError: no file is named, or no row could be read.
        """
        with self._lock:
            stamps = _stamps(self.project.samples)
            if self._samples is None or stamps != self._read_at:
                self._samples, self._read_at = self._read(), stamps
            return self._samples

    @property
    def skipped(self) -> list[Any]:
        """Rows that could not be read, as far as the samples have been read."""
        return list(self._samples.skipped) if self._samples is not None else []

    def sample_files(self) -> tuple[Path, ...]:
        """The files the rows come from."""
        return self.project.samples

    def stamps(self) -> Stamps:
        """Time and size of every file whose change concerns a desk."""
        root = self.project.root
        watched = {root / file for file in self.project.files} | set(self.project.samples)
        if self.project.target.kind == "project":
            watched.add(self.project.target.path)
        return _stamps(watched)

    def _read(self) -> Samples:
        target = self.project.target
        manifest = read_manifest(target.path) if target.kind == "project" else None
        if not self.project.samples:
            raise SamplesError(no_samples(target, manifest))
        return held(read_samples(self.project.samples, columns=manifest.data.columns if manifest else None))


def _stamps(paths: Iterable[Path]) -> Stamps:
    found = {}
    for path in paths:
        try:
            facts = path.stat()
        except OSError:
            continue  # gone for now; its return is a change
        found[path] = (facts.st_mtime_ns, facts.st_size)
    return found
