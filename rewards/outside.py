"""What user code is seen to use besides the rows it gets, noted while it runs: files, connections, programs, chance.

A look at a reward's code (`workbench.repeatable`) knows by name what reads the world; this sees what happens, whatever
it is called. It works in worker processes, where `install` was called; elsewhere nothing is seen. Files of Python, of
installed packages and of this product do not count, nor what importing an installed package reads. Not seen: clocks
and the environment, which Python does not tell of, and what a C extension does by itself.
"""

from __future__ import annotations

import _random
import ctypes
import os
import random
import sys
import sysconfig
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

_EVENTS = frozenset(
    [
        "open",
        "socket.connect",
        "socket.bind",
        "socket.sendto",
        "socket.sendmsg",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "socket.gethostbyaddr",
        "socket.gethostname",
        "subprocess.Popen",
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.spawn",
        "os.fork",
        "os.forkpty",
        "pty.spawn",
        "sqlite3.connect",
        "os.listdir",
        "os.scandir",
        "os.walk",
        "glob.glob",
        "os.putenv",
        "os.unsetenv",
    ]
)

_SOURCE_READERS = ("linecache.py", "tokenize.py")
"""Modules of Python that read code to show it."""

_MOST = 50
"""Uses that are told one by one: a long training may open a new file with every call."""

CHANCE = "random numbers"


class _Seen:
    """What was noted, and what it takes to note it."""

    def __init__(self) -> None:
        self.installed = False
        self.depth = 0
        self.noted: dict[tuple[str, str], None] = {}
        self.installed_below: tuple[str, ...] = ()
        self.random: Callable[[], Any] = random.getstate
        self.numpy: Callable[[], Any] | None = None


_seen = _Seen()


def install() -> None:
    """Begin to see in this process, for good."""
    if _seen.installed:
        return
    prepare()
    _seen.installed = True
    sys.addaudithook(_heard)


def prepare() -> None:
    """Find out what seeing takes; processes that are forked from this one need not."""
    if _seen.installed_below:
        return
    paths = sysconfig.get_paths()
    below = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    below |= {entry for entry in sys.path if "-packages" in entry}
    below.add(os.path.dirname(os.path.abspath(__file__)))
    _seen.installed_below = tuple(
        sorted({form for place in below for form in (place + os.sep, os.path.realpath(place) + os.sep)})
    )
    _seen.random = _random_state()


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _EVENTS or not _seen.depth:
        return
    frame: FrameType | None = sys._getframe(1)
    caller = frame.f_code.co_filename if frame is not None else ""
    what = event
    if event == "open":
        path = arguments[0] if arguments else None
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str):  # a descriptor: that it was opened was told
            return
        place = os.path.abspath(path)
        if place.startswith(_seen.installed_below):
            return
        if place.endswith(".py") and caller.endswith(_SOURCE_READERS):
            return
        what = f"open {path}"
    file = _users_file(frame)
    if file is not None:
        key = (file, what[:200]) if len(_seen.noted) < _MOST else ("", "much")
        _seen.noted[key] = None


def _users_file(frame: FrameType | None) -> str | None:
    """The innermost file of the user's that is at work; "" where there is none.

    None where it only imports something that is installed: what a package reads for that is the same each time.
    """
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return None
        if not name.startswith(("<", *_seen.installed_below)):
            return os.path.realpath(name)
        frame = frame.f_back
    return ""


class watched:  # used as a function, and a class of two methods is quicker than a generator
    """A context in which what is used is noted; `reads` has what may be in a score that was made in it.

    Args:
        file: the file of the user's that is loaded in it; "" for a call.
    """

    __slots__ = ("_before", "_chance", "_file", "_noted")

    def __init__(self, file: str = "") -> None:
        self._file = file

    def __enter__(self) -> watched:
        self._noted = 0
        self._before: tuple[Any, Any] | None = None
        self._chance: tuple[Any, Any] | None = None
        if _seen.installed:
            _seen.depth += 1
            self._noted = len(_seen.noted)
            self._before = _chance()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if _seen.installed and self._before is not None:
            _seen.depth -= 1
            self._chance = _chance(self._before)
            if self._file and self._chance != self._before:
                _seen.noted[os.path.realpath(self._file), CHANCE] = None

    def reads(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a file and what its code used, in this process so far; "" for what this call used itself."""
        if not _seen.noted and self._chance == self._before:
            return ()
        own = [("", what) for _, what in list(_seen.noted)[self._noted :]]
        chance = [("", CHANCE)] if self._chance != self._before else []
        return tuple(dict.fromkeys([*chance, *own, *_seen.noted]))


def _chance(before: tuple[Any, Any] | None = None) -> tuple[Any, Any]:
    """The state of the generators that all code shares."""
    if _seen.numpy is None and "numpy.random" in sys.modules:
        moved, _seen.numpy = _numpy_state()
        if before is not None:  # it came meanwhile: only what drew from it counts
            return _seen.random(), moved
    return _seen.random(), _seen.numpy() if _seen.numpy is not None else None


def _random_state() -> Callable[[], Any]:
    """Gives the state of `random`, read in place where that can be done: asking it makes 625 numbers each time."""
    own: Any = random.random.__self__  # type: ignore[attr-defined]  # the generator behind the module's functions
    start, known = object.__basicsize__, own.getstate()[1]
    if _random.Random.__basicsize__ < start + 4 * len(known) or sys.implementation.name != "cpython":
        return random.getstate
    view = (ctypes.c_uint32 * len(known)).from_address(id(own) + start)
    if (*view[1:], view[0]) != known:  # the index goes first
        return random.getstate
    memory = memoryview(view).cast("B")
    return lambda: (bytes(memory), own.gauss_next)


def _numpy_state() -> tuple[bool | None, Callable[[], Any]]:
    """Whether anything was drawn from NumPy's own generator yet (None: nothing), and what gives its state."""
    import numpy

    generator: Any = numpy.random.mtrand._rand
    known = generator.get_state()
    drawn = True if known[2] != _UNUSED or known[3] else None
    view = (ctypes.c_uint32 * 625).from_address(generator._bit_generator.ctypes.state_address)
    if (*view[:624], view[624]) == (*map(int, known[1]), known[2]):
        memory = memoryview(view).cast("B")
        return drawn, lambda: bytes(memory)
    return drawn, lambda: generator.get_state()[1].tobytes()


_UNUSED = 623
"""The place in the state of NumPy's own generator as it is made; 624 once it is seeded."""
