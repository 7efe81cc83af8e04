"""The template process: small, with one thread, it forks the workers and buries them.

Forking here costs a millisecond because the template is small; forking a server with torch loaded costs ten
times that and is unsafe with threads. The template runs none of the user's code itself. It ends as soon as
its parent or its guard is gone, and takes every worker and whatever those started with it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import signal
import socket
import sys
from typing import Any

from rewards.running.guard import PDEATHSIG, SUBREAPER, children, end_children, leave_a_guard, process_control
from rewards.running.wire import receive_object, send_answer

_HELD = 4
"""Batches the template keeps; older ones are forgotten and sent again when needed."""


def main() -> None:
    """Entry of a spawned template: the control socket's descriptor and modules to preload are arguments."""
    control = socket.socket(fileno=int(sys.argv[1]))
    guard = leave_a_guard(control.fileno())
    for module in sys.argv[2:]:
        with contextlib.suppress(ImportError):
            __import__(module)
    serve(control, guard)
    os._exit(0)


def serve(control: socket.socket, guard: int, held: dict[int, Any] | None = None) -> None:
    """Answer the parent's requests until it or the guard is gone.

    Args:
        control: the parent.
        guard: see `rewards.running.guard.leave_a_guard`.
        held: batches inherited from the parent, by key.
    """
    import numpy  # noqa: F401  # so that no worker has to import them

    from rewards import outside

    outside.prepare()

    _own_process()
    if held is None:  # in a fork it would write to every object that the parent has, and so copy its memory
        gc.collect()
    gc.freeze()
    _Template(control, guard, held or {}).run()


def _own_process() -> None:
    """Leave the parent's session and descriptors, and adopt what workers leave behind."""
    with contextlib.suppress(OSError):
        os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    process_control(SUBREAPER, 1)


class _Template:
    def __init__(self, control: socket.socket, guard: int, held: dict[int, Any]) -> None:
        self.control = control
        self.guard = guard
        self.workers: dict[int, socket.socket] = {}
        self.held = held
        self.selector = selectors.DefaultSelector()
        self.selector.register(control, selectors.EVENT_READ)
        self.selector.register(guard, selectors.EVENT_READ)
        # children are noticed through a signal that only writes into a pipe
        self.wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        os.set_blocking(self.wake_read, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.selector.register(self.wake_read, selectors.EVENT_READ)

    def run(self) -> None:
        try:
            while True:
                for key, _ in self.selector.select():
                    if key.fileobj is self.control:
                        self.request()
                    elif key.fd == self.guard:
                        raise EOFError
                    else:
                        with contextlib.suppress(BlockingIOError):
                            os.read(self.wake_read, 4096)
                self.bury()
        except (EOFError, OSError):
            self.end_all()

    def request(self) -> None:
        header, fds, _, _ = socket.recv_fds(self.control, 1, 2)
        if not header:
            raise EOFError
        message = receive_object(self.control)
        if message["op"] == "hold":
            self.held[message["key"]] = message["value"]
            for old in list(self.held)[:-_HELD]:
                del self.held[old]
            send_answer(self.control, True)
        elif message["op"] == "fork":
            send_answer(self.control, self.fork(fds, message))
        elif message["op"] == "kill":
            self.kill(message["pid"])

    def fork(self, fds: list[int], message: dict[str, Any]) -> int | str:
        """The new worker's process id; why there is none where the system gives no process, which hurts no other."""
        connection = socket.socket(fileno=fds[0])
        life = socket.socket(fileno=fds[1])
        try:
            pid = os.fork()
        except OSError as error:
            connection.close()
            life.close()
            return error.strerror or type(error).__name__
        if pid == 0:
            self.become_worker(connection, life, message)
        connection.close()
        self.workers[pid] = life
        return pid

    def become_worker(self, connection: socket.socket, life: socket.socket, message: dict[str, Any]) -> None:
        from rewards.running import child

        status = 1
        try:
            process_control(PDEATHSIG, signal.SIGKILL)
            os.setsid()
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            for other in (self.control, life, *self.workers.values()):
                other.close()
            self.selector.close()
            os.close(self.wake_read)
            os.close(self.guard)
            child.serve(connection, self.held.get(message["batch"]))
            status = 0
        finally:
            os._exit(status)

    def kill(self, pid: int) -> None:
        if pid in self.workers:
            _kill_group(pid)

    def bury(self) -> None:
        """Take leave of every process that ended, and end what workers left behind."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                break
            life = self.workers.pop(pid, None)
            if life is not None:
                _kill_group(pid)
                code = os.waitstatus_to_exitcode(status)
                with contextlib.suppress(OSError):
                    life.sendall(code.to_bytes(4, "big", signed=True))
                life.close()
        for pid in children():
            if pid not in self.workers:  # an orphan of a worker, adopted by this process
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def end_all(self) -> None:
        for pid in list(self.workers):
            _kill_group(pid)
        end_children()


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
