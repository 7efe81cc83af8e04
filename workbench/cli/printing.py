"""Output of the commands: results on standard output or in a file, everything else on standard error."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rewards.errors import UsageError
from workbench.reports.plain import visible

if TYPE_CHECKING:
    from rewards.contract import Batch
    from rewards.running import Runner
    from workbench.opening import Opened


def write_output(content: str | bytes, out: Path | None) -> None:
    """Print a result, or write it to a file whole or not at all; folders on the way to it are made.

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
    temporary: str | None = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, out)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error


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
