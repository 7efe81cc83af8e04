"""Explaining the same rows again whenever the code is saved: an editor beside a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from rewards.errors import RewardWorkbenchError
from rewards.running import Runner
from rewards.targets import Target
from workbench.explanation import RowExplanation, explain
from workbench.samples import Samples
from workbench.versions import code_files

PAUSE_S = 0.1
"""Seconds between two looks at the files."""

State = tuple[tuple[str, int, int], ...]


def watched_rows(
    target: Target,
    samples: Samples,
    rows: Sequence[int] | None,
    *,
    tokenizer: Callable[[str], Sequence[int]] | None = None,
    saved: Callable[[], bool] | None = None,
) -> Iterator[Iterator[RowExplanation]]:
    """Explanations of the rows now, and again each time a file of the target was saved.

    Args:
        target: what is explained; `samples` are read once.
        rows: the numbers of the rows; None: all.
        tokenizer: as in `score`.
        saved: waits for the next save, False to end; None: look at the files.

    Yields:
        The explanations of one state of the code. Taking them raises as `explain` does where the code cannot be
        loaded; the next state may be better.
    """
    state = code_state(target)
    with Runner() as runner:
        while True:
            yield explain(target.text, samples, rows, runner, tokenizer=tokenizer)
            if saved is not None:
                if not saved():
                    return
                continue
            while (now := code_state(target)) == state or not now:
                time.sleep(PAUSE_S)
            state = now


def code_state(target: Target) -> State:
    """When each file of the target's code was saved last; () while one is gone, as in the middle of a save."""
    try:
        stats = [(str(path), path.stat()) for path in code_files(target)]
    except (OSError, RewardWorkbenchError):
        return ()
    return tuple((path, stat.st_mtime_ns, stat.st_size) for path, stat in stats)
