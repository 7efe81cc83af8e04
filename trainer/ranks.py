"""The processes that train one run together: what they tell one another, and which of them writes.

A launcher (`accelerate launch`, `torchrun`) starts one process for each device. All of them make the same steps; TRL
shares the completions and gradients out. Of ours, rank 0 alone writes the run folder, listens and decides (when a
stage ends, what a weight becomes); the others do as it decided. What is gathered and shared here goes over a group of
its own on the CPUs (gloo), so that it can neither take a GPU's memory nor get between TRL's own exchanges.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

from rewards.errors import RewardWorkbenchError, ShortfallError

T = TypeVar("T")

PATIENCE = timedelta(hours=2)
"""How long the others wait for rank 0, which evaluates and writes alone."""


class SaidByMain(RewardWorkbenchError):
    """Rank 0 has said what is wrong; the others end with the same exit code and say nothing."""

    def __init__(self, sentence: str, exit_code: int) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


class MainFailed(ShortfallError):
    """Rank 0 ended with an error that is none of ours: its traceback stands there, and the others say a sentence."""


class AnotherEnded(ShortfallError):
    """An exchange failed because another process is gone."""


GONE = "another process of this run has ended; it said why, or was killed from outside"


class Ranks:
    """One process alone: there is nobody to tell anything."""

    rank = 0
    count = 1

    @property
    def is_main(self) -> bool:
        """Whether this process writes and decides."""
        return self.rank == 0

    def gather(self, value: T) -> list[T]:
        """Everybody's value, in the order of the ranks; on all of them."""
        return [value]

    def share(self, value: T) -> T:
        """Rank 0's value, on all of them."""
        return value

    def wait(self) -> None:
        """Go on when all have come here."""

    def from_main(self, make: Callable[[], T]) -> T:
        """What `make` gives on rank 0, which alone calls it.

        Raises:
            RewardWorkbenchError: `make` raised it; on all ranks.
            MainFailed: `make` raised another error; on all ranks but 0, where it goes on.
        """
        return make()


ALONE = Ranks()


class Together(Ranks):
    """One of several processes; made on all of them at the same point."""

    def __init__(self) -> None:
        import torch.distributed as dist

        self.rank, self.count = dist.get_rank(), dist.get_world_size()
        self._group = dist.new_group(backend="gloo", timeout=PATIENCE)

    def gather(self, value: T) -> list[T]:
        """Everybody's value, in the order of the ranks; on all of them."""
        import torch.distributed as dist

        values: list[Any] = [None] * self.count
        with _told_apart():
            dist.all_gather_object(values, value, group=self._group)
        return values

    def share(self, value: T) -> T:
        """Rank 0's value, on all of them."""
        import torch.distributed as dist

        values = [value]
        with _told_apart():
            dist.broadcast_object_list(values, src=0, group=self._group)
        return values[0]

    def wait(self) -> None:
        """Go on when all have come here."""
        import torch.distributed as dist

        with _told_apart():
            dist.barrier(group=self._group)

    def from_main(self, make: Callable[[], T]) -> T:
        """See the base class."""
        if self.is_main:
            try:
                made = make()
            except RewardWorkbenchError as error:
                self.share((None, str(error), error.exit_code))
                raise
            except Exception as error:
                self.share((None, _first_line(error), UNEXPECTED))
                raise
            self.share((made, "", 0))
            return made
        there: tuple[Any, str, int] = self.share((None, "", 0))
        if there[2] == UNEXPECTED:
            raise MainFailed(f"process 0 has ended with an error that it shows: {there[1]}")
        if there[2]:
            raise SaidByMain(there[1], there[2])
        value: T = there[0]
        return value


UNEXPECTED = -1
"""Stands for the exit code of an error that is none of ours."""


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


@contextmanager
def _told_apart() -> Iterator[None]:
    """An exchange; that another process is gone is one sentence.

    Raises:
        AnotherEnded: it is.
    """
    try:
        yield
    except RuntimeError as error:
        if lost_another(error):
            raise AnotherEnded(GONE) from error
        raise


def lost_another(error: RuntimeError) -> bool:
    """Whether an exchange with another process failed."""
    import torch.distributed as dist

    text = str(error)
    return isinstance(error, dist.DistError) or "closed by peer" in text or "gloo" in text.lower()


_joined: Together | None = None


def launched() -> int:
    """How many processes a launcher has started for this run; 1 without one."""
    count = os.environ.get("WORLD_SIZE", "")
    return int(count) if count.isdigit() and int(count) > 0 else 1


def launched_here() -> int:
    """How many of them are on this machine."""
    count = os.environ.get("LOCAL_WORLD_SIZE", "")
    return int(count) if count.isdigit() and int(count) > 0 else launched()


def speaks() -> bool:
    """Whether this process is the one that talks to the terminal."""
    return rank_name() == ""


def rank_name() -> str:
    """`process 3: ` before what another process than rank 0 has to say of itself; "" for rank 0."""
    rank = os.environ.get("RANK", "0") if launched() > 1 else "0"
    return f"process {rank}: " if rank not in ("", "0") else ""


def join(*, cpu: bool) -> Ranks:
    """This process among the others; a lone one where no launcher has started several.

    Args:
        cpu: the run computes on the CPU.
    """
    if launched() == 1:
        return ALONE
    from accelerate import PartialState

    PartialState(cpu=cpu)
    return joined()


def joined() -> Ranks:
    """The same, where the trainer's library has already joined them; to be called on all ranks alike."""
    global _joined
    import torch.distributed as dist

    if not (dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1):
        return ALONE
    if _joined is None:
        _joined = Together()
    return _joined


def sharded() -> bool:
    """Whether the launcher spreads the model's weights over the processes, so that none can compute with it alone."""
    return (
        os.environ.get("ACCELERATE_USE_FSDP", "false").lower() == "true"
        or os.environ.get("ACCELERATE_DEEPSPEED_ZERO_STAGE") == "3"
    )
