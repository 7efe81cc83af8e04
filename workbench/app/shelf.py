"""What all desks share: the opened project, the sample files read so far, the drafts and a scratch folder."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from rewards.errors import ManifestError, RewardWorkbenchError, SamplesError
from rewards.manifest import read_manifest
from workbench.app.drafts import Drafts
from workbench.app.engine import HeldSamples, held
from workbench.app.programs import Programs
from workbench.app.project_files import ProjectFiles
from workbench.labels import appended, forget, keep_row, labels_file, rows_said, say, with_labels
from workbench.opening import no_samples
from workbench.samples import Samples, read_samples
from workbench.samples.form import form_of, read_as, speech
from workbench.samples.reader import samples_of_records

Stamps = Mapping[Path, tuple[int, int]]

KEPT_READINGS = 6
GUEST = "opened"
"""What the groups of rows begin with that were opened from a finding and belong to no file."""


@dataclass(frozen=True)
class Source:
    """Where a desk's rows come from.

    `paths` are sample files, `columns` names to change (source, target) before anything else, `guests` rows that
    are looked at without being in any file, as JSON objects.
    """

    paths: tuple[Path, ...]
    columns: tuple[tuple[str, str], ...] = ()
    guests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rows:
    """The rows of a source with what people said of them; `pinned` are those that `labels.jsonl` holds."""

    source: Source
    samples: HeldSamples
    pinned: frozenset[int]

    def are_rows_of(self, other: Rows) -> bool:
        """Whether a number means the same row in both, whatever was said of it."""
        mine, there = self.samples, other.samples
        return self is other or (
            mine.ids == there.ids
            and mine.prompts == there.prompts
            and mine.completions == there.completions
            and mine.columns == there.columns
        )


class Sharer(Protocol):
    """A desk, as far as the others of its project know it."""

    def hear(self, file: str, text: str, before: str | None) -> None:
        """Another desk has this text now, made of `before`."""

    def look_at_disk(self) -> None:
        """A file was saved."""


class Shelf:
    """The shared things of one server; `scratch` is a folder that belongs to it alone.

    `is_there` says of a desk's name whether that desk lives or rests here.
    """

    def __init__(
        self,
        project: ProjectFiles,
        drafts: Drafts,
        scratch: Path,
        is_there: Callable[[str], bool] = lambda key: True,
    ) -> None:
        self.project = project
        self.drafts = drafts
        self.scratch = scratch
        self.is_there = is_there
        self.labels = labels_file(project.target)
        self.programs = Programs(project.root)
        self.saved: dict[str, str] = {}  # digests of what was saved last from any desk
        self._sharers: list[Sharer] = []
        self._sharing = threading.Lock()  # of the sharers alone: reading rows takes long
        self._lock = threading.Lock()
        self._raw: dict[Source, tuple[Stamps, Samples]] = {}
        self._rows: dict[Source, tuple[Stamps, Rows]] = {}

    # ---------------------------------------------------------------- the desks on it

    def join(self, desk: Sharer) -> None:
        """From now on the desk hears what others of this project do."""
        with self._sharing:
            self._sharers.append(desk)

    def leave(self, desk: Sharer) -> None:
        """It hears no more."""
        with self._sharing:
            self._sharers = [each for each in self._sharers if each is not desk]

    def others(self, desk: Sharer) -> list[Sharer]:
        """All desks of the project but this."""
        with self._sharing:
            return [each for each in self._sharers if each is not desk]

    # ---------------------------------------------------------------- rows

    def source(self) -> Source:
        """The rows the project itself names; a manifest that cannot be read just now changes no names."""
        target = self.project.target
        try:
            manifest = read_manifest(target.path) if target.kind == "project" else None
        except ManifestError:
            manifest = None
        return Source(self.project.samples, tuple((manifest.data.columns if manifest else {}).items()))

    def rows(self, source: Source) -> Rows:
        """The rows of a source, read on first use and again when their files have changed.

        Raises:
            SamplesError: no file is named, or no row could be read.
        """
        with self._lock:
            stamps = self._stamps_of(source, self.labels)
            known = self._rows.get(source)
            if known is None or known[0] != stamps:
                known = stamps, self._with_what_was_said(source)
                self._keep(self._rows, source, known)
            return known[1]

    def uploads(self, key: str) -> Path:
        """The folder of what the tab `key` uploaded; it is gone when the server ends."""
        folder = self.scratch / "uploads" / key
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder

    def skipped(self, source: Source) -> list[Any]:
        """Rows that could not be read, as far as the source has been read."""
        known = self._rows.get(source)
        return list(known[1].samples.skipped) if known is not None else []

    def stamps(self, source: Source) -> Stamps:
        """Time and size of every file whose change concerns a desk with this source."""
        root = self.project.root
        watched = {root / file for file in self.project.files} | {*source.paths, self.labels}
        if self.project.target.kind == "project":
            watched.add(self.project.target.path)
        return _stamps(watched)

    # ---------------------------------------------------------------- what people say of rows

    def say(
        self, rows: Rows, row: int, *, label: str | None, expected: Mapping[str, float | None] | None
    ) -> Rows:
        """Keep what was said of one of these rows in `labels.jsonl`; the rows with it, without reading any file again.

        They are the rows that somebody has before them; the files they were read from may hold others by now.

        Raises:
            UsageError: no such row, nothing was said, or it cannot be written.
        """
        with self._lock:
            known = self._rows.get(rows.source)
            stamps = self._stamps_of(rows.source, self.labels)
        newest = known is not None and known[1] is rows and known[0] == stamps
        say(self.labels, rows.samples, row, label=label, expected=expected)
        labels, wanted = list(rows.samples.labels), list(rows.samples.expected)
        labels[row] = label or labels[row]
        wanted[row] = {**(wanted[row] or {}), **(expected or {})} or None
        samples = replace(rows.samples, labels=labels, expected=wanted)
        samples.__dict__.update(
            {"_batch": rows.samples.__dict__.get("_batch")}
        )  # neither is passed to a reward
        said = replace(rows, samples=samples, pinned=rows.pinned | {row})
        if newest:
            with self._lock:
                self._keep(self._rows, rows.source, ({**stamps, **_stamps([self.labels])}, said))
        return said

    def unsay(self, rows: Rows, row: int) -> None:
        """Drop what `labels.jsonl` says of one of these rows; where it alone held the row, the row is gone.

        Raises:
            UsageError: no such row, or the file cannot be written.
        """
        forget(self.labels, rows.samples, row)

    def again(self, rows: Rows) -> Rows | None:
        """These rows with what is said of them now; None where their files hold others by now or cannot be read."""
        try:
            now = self.rows(rows.source)
        except RewardWorkbenchError:
            return None
        return now if now.are_rows_of(rows) else None

    def keep_row(
        self, source: Source, prompt: Any, completion: Any, columns: Mapping[str, Any], label: str | None
    ) -> None:
        """Keep a completion that is in no sample file, as text or chat like the rows of the source.

        Raises:
            UsageError: it cannot be kept.
        """
        form = form_of(self.rows(source).samples)
        keep_row(
            self.labels,
            speech(prompt, form, "user"),
            speech(completion, form, "assistant"),
            columns,
            label=label,
        )

    # ---------------------------------------------------------------- reading

    def _with_what_was_said(self, source: Source) -> Rows:
        files = replace(source, guests=())
        stamps = self._stamps_of(source)
        raw = self._raw.get(files)
        if raw is None or raw[0] != stamps:
            raw = stamps, self._read(files)
            self._keep(self._raw, files, raw)
        samples = with_labels(raw[1], self.labels, add=True)
        samples = _with_guests(samples, source.guests)
        return Rows(source, held(samples), rows_said(samples, self.labels))

    def _read(self, source: Source) -> Samples:
        target = self.project.target
        manifest = read_manifest(target.path) if target.kind == "project" else None
        if not source.paths:
            raise SamplesError(no_samples(target, manifest))
        return read_as(read_samples(source.paths, columns=dict(source.columns)), self.form())

    def form(self) -> str:
        """How the samples are to be read: "chat", "text", or "" for as they are."""
        target = self.project.target
        if self.project.read_as or target.kind != "project":
            return self.project.read_as
        try:
            return read_manifest(target.path).set.read_as
        except ManifestError:
            return ""

    def _stamps_of(self, source: Source, *more: Path) -> Stamps:
        """Time and size of everything that the reading of a source rests on."""
        target = self.project.target
        return _stamps([*source.paths, *more, *([target.path] if target.kind == "project" else [])])

    @staticmethod
    def _keep(readings: dict[Source, Any], source: Source, known: Any) -> None:
        readings.pop(source, None)
        readings[source] = known
        while len(readings) > KEPT_READINGS:
            del readings[next(iter(readings))]


def _with_guests(samples: Samples, guests: Sequence[str]) -> Samples:
    """The samples with rows behind them that are in no file; one that cannot be read is left out with a note."""
    records = [json.loads(guest) for guest in guests]
    if not records:
        return samples
    for record in records:
        record["prompt"] = speech(record.get("prompt", ""), form_of(samples), "user")
        record["completion"] = speech(record.get("completion", ""), form_of(samples), "assistant")
    try:
        found = samples_of_records(records, Path(GUEST))
    except RewardWorkbenchError as error:
        return replace(samples, notes=[*samples.notes, str(error)])
    return appended(samples, found, range(len(found)), GUEST)


def _stamps(paths: Iterable[Path]) -> Stamps:
    found = {}
    for path in paths:
        try:
            facts = path.stat()
        except OSError:
            continue  # gone for now; its return is a change
        found[path] = (facts.st_mtime_ns, facts.st_size)
    return found
