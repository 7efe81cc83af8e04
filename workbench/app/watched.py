"""Something that people wait for: a version that moves on, and futures of event loops that wait for it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time


class Watched:
    """Whoever changes it holds `lock` and calls `_changed`; whoever reads several attributes together holds it too."""

    def __init__(self) -> None:
        self.version = 1
        self.lock = threading.RLock()
        self.touched = time.monotonic()
        self._closed = False
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._waiting = threading.Lock()  # of the waiters alone: an event loop must not wait for `lock`

    @property
    def closed(self) -> bool:
        """Whether it has been cleared away."""
        return self._closed

    def touch(self) -> None:
        """Tell whoever waits that something on the desk is new."""
        with self.lock:
            self._changed()

    def _changed(self) -> None:
        self.version += 1
        with self._waiting:
            waiters, self._waiters = self._waiters, []
        for loop, future in waiters:
            try:
                loop.call_soon_threadsafe(_settle, future)
            except RuntimeError:
                continue  # that loop has ended; nobody waits there any more

    async def changed(self, after: int, seconds: float) -> bool:
        """Wait until the desk's version is another than `after`; False when `seconds` passed without."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with self._waiting:
            if self.version != after or self._closed:
                return True
            self._waiters.append((loop, future))
        try:
            await asyncio.wait_for(future, seconds)
        except TimeoutError:
            return False
        finally:
            with self._waiting, contextlib.suppress(ValueError):  # it was settled, and is not there any more
                self._waiters.remove((loop, future))
        return True


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
