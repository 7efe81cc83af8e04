"""Output of the commands: results on standard output or in a file, everything else on standard error."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rewards.errors import UsageError
from workbench.reports.plain import visible
from workbench.whole_files import write_whole

if TYPE_CHECKING:
    from rewards.contract import Batch
    from rewards.running import Runner
    from workbench.opening import Opened
    from workbench.samples import Samples

_DESCRIPTORS = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
"""How the open files of this process are called; `/dev/stdout` and `/dev/stderr` lead there."""


def write_output(content: str | bytes, out: Path | None) -> None:
    """Print a result, or write it to a file whole or not at all and say so on standard error.

    Folders on the way to the file are made, which is said too. A link stays, the file that it leads to is written;
    what is no regular file (a pipe, a device) is written into.

    Raises:
        UsageError: the file cannot be written; an old one is unchanged.
    """
    if out is None:
        if isinstance(content, bytes):
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.write(content if content.endswith("\n") or not content else content + "\n")
        sys.stdout.flush()
        return
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    try:
        made = not out.parent.exists()
        if is_stream(out):
            _write_into(out, data)
        else:
            write_whole(out.resolve(), data)
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error
    sys.stderr.write(f"wrote {visible(str(out))}{' (folder made)' * made}\n")


def is_stream(out: Path) -> bool:
    """Whether something is there that is written into, not replaced: an open file of this process, a pipe, a device."""
    return _descriptor(out) is not None or (out.exists() and not out.is_file() and not out.is_dir())


def _descriptor(out: Path) -> int | None:
    """The number of the open file that a path like `/dev/stdout` stands for; None for other paths."""
    text = os.path.abspath(out)
    if text in ("/dev/stdout", "/dev/stderr"):
        return 1 if text == "/dev/stdout" else 2
    found = _DESCRIPTORS.fullmatch(text)
    return int(found[1]) if found else None


def _write_into(out: Path, data: bytes) -> None:
    sys.stdout.flush()
    number = _descriptor(out)  # opened by its name, a file behind it would be emptied
    with out.open("wb") if number is None else os.fdopen(os.dup(number), "wb") as file:
        file.write(data)


def refuse_inputs(out: Path | None, target: str | None = None, samples: Samples | None = None) -> None:
    """See that a result overwrites nothing that the command reads or that people keep: samples, code, seal, labels.

    Raises:
        UsageError: `out` is one of these files.
    """
    if out is None or is_stream(out):
        return
    there = out.exists()
    for path, what in _inputs(target, samples):
        if out.resolve() == path.resolve() or (there and path.exists() and out.samefile(path)):
            raise UsageError(f"--out {out} would overwrite {what}; give --out another name")


def _inputs(target: str | None, samples: Samples | None) -> Iterator[tuple[Path, str]]:
    """The files that no result may overwrite, and what they are."""
    for source in samples.sources if samples is not None else ():
        yield source, "the samples that are read"
    if target is None:
        return
    from rewards.targets import parse_target
    from workbench.labels import labels_file
    from workbench.opening import manifest_of, sample_paths
    from workbench.versions import code_files

    parsed = parse_target(target)
    yield parsed.seal_path, "the seal"
    yield labels_file(parsed), "the labels"
    for path in sample_paths(parsed, manifest_of(target)):
        yield path, "the samples of the manifest"
    for path in code_files(parsed):
        yield path, "the code of the rewards" if path.suffix == ".py" else "the manifest"


def notes_to_stderr(notes: Sequence[str], *, limit: int = 20) -> None:
    """Tell notes on standard error, one a line; past `limit` only how many more there are."""
    for note in notes[:limit]:
        sys.stderr.write(f"note: {visible(note)}\n")
    if len(notes) > limit:
        sys.stderr.write(f"note: and {len(notes) - limit} more like these\n")


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[str, int, int], None] | None]:
    """A progress line on standard error, only on a terminal; gives the function to report to, or None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
    tasks: dict[str, int] = {}

    def report(name: str, done: int, total: int) -> None:
        if name not in tasks:
            tasks[name] = bar.add_task(f"{title} {name}", total=total)
        bar.update(tasks[name], completed=done, total=total, refresh=True)  # type: ignore[arg-type]

    with bar:
        yield report


WAITING = "waiting for the code to be saved; Ctrl-C ends"


def again_and_again(opened: Opened, show: Callable[[Runner, Batch], None], *, clear: bool) -> None:
    """Show something now and after each save of the target's code, until Ctrl-C.

    Code that does not load is told and waited for. `show` gets a runner that stays and holds the rows; `clear`:
    on a terminal, from the top of an empty screen.
    """
    from rewards.errors import RewardWorkbenchError
    from rewards.running import Runner
    from workbench.tokenizing import tokenizer_for
    from workbench.watching import saves

    batch = opened.samples.batch(tokenizer_for(opened.manifest))
    try:
        with Runner(batch=batch) as runner:
            for _ in saves(opened.target):
                if clear and sys.stdout.isatty():
                    sys.stdout.write("\x1b[2J\x1b[H")
                try:
                    show(runner, batch)
                except RewardWorkbenchError as error:
                    sys.stderr.write(f"error: {visible(str(error))}\n")
                sys.stderr.write(f"{WAITING}\n")
    except KeyboardInterrupt:
        return
