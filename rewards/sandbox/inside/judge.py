"""A process that judges one program after another, for tests that leave nothing behind.

Most test code only calls a function and compares. A process for each of its runs would cost more than the run;
so it stays. The caller sends jobs as lines of JSON and gets the report; with each job comes a descriptor, the end
of a channel to that program and to no other. What cannot be seen to be so simple (`rewards.sandbox.simple`) is
judged in a process of its own.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

from rewards.sandbox.inside.grader import grade_with
from rewards.sandbox.inside.job import CHANNEL, finish
from rewards.sandbox.inside.remote import Channel

_ROOM = socket.CMSG_SPACE(4)


def judge_all(job: dict[str, Any]) -> None:
    """Judge until the caller hangs up."""
    caller = socket.socket(fileno=CHANNEL)
    buffer = b""
    given: list[int] = []
    while True:
        while b"\n" not in buffer:
            data, ancillary, _, _ = caller.recvmsg(1 << 16, _ROOM)
            if not data:
                finish(0)
            buffer += data
            given += [int.from_bytes(text[:4], sys.byteorder) for _, _, text in ancillary]
        line, _, buffer = buffer.partition(b"\n")
        if line != b'"gone"':  # that of a program whose tests had already ended
            channel = given.pop(0)
            os.set_blocking(channel, False)
            sys.modules["random"].seed(0)
            told = json.loads(line)
            grade_with(told, Channel(channel, objects=not told["entry"], caller=CHANNEL), CHANNEL)
            os.close(channel)
