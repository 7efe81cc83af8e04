"""When something that is done every so many steps is due, where not every step has a batch.

A generated batch serves a whole window of steps, so that with a window of two only steps 1, 3, 5, ... are scored, and
a plain `step % every` would never come out even. Here the step is due that is the first to reach a multiple of `every`.
"""

from __future__ import annotations


class Pace:
    """Tells of steps, asked about in order, which are due; of several questions about one step only the first.

    Args:
        every: steps between; 0: nothing is ever due.
        first: a step that is due whatever its number.
        last: the step before those that will be asked about; None: the one before the first question.
    """

    def __init__(self, every: int, *, first: int | None = None, last: int | None = None) -> None:
        self._every, self._first = every, first
        self.last = last
        """The step that was asked about last: all there is to keep with a checkpoint."""

    def due(self, step: int) -> bool:
        """Whether a multiple of `every` lies after the last step asked about and not after this one.

        >>> pace = Pace(10)
        >>> [step for step in range(1, 40, 2) if pace.due(step)]
        [11, 21, 31]
        """
        before = step - 1 if self.last is None else self.last
        self.last = step
        if not self._every or step <= before:
            return False
        return step == self._first or step // self._every > before // self._every
