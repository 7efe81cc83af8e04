"""A process that judges one program after another, for tests that leave nothing behind.

Most test code only calls a function and compares. A process for each of its runs would cost more than the run;
so it stays, and its two ends are: the caller, who sends jobs as lines of JSON and gets the report, and the
channel, whose other end each program in turn is given. What cannot be seen to be so simple
(`rewards.sandbox.simple`) is judged in a process of its own.
"""

from __future__ import annotations

import json
import os
import select
import sys
from typing import Any

from rewards.sandbox.inside.grader import grade_with
from rewards.sandbox.inside.job import CHANNEL, REPORT, finish
from rewards.sandbox.inside.remote import Channel


def _empty() -> None:
    """Throw away what the last program said and nobody read; it has ended."""
    while select.select([REPORT], [], [], 0)[0]:
        os.read(REPORT, 1 << 16)


def judge_all(job: dict[str, Any]) -> None:
    """Judge until the caller hangs up."""
    os.set_blocking(REPORT, False)  # this end alone: the program's blocks
    buffer = b""
    while True:
        while b"\n" not in buffer:
            data = os.read(CHANNEL, 1 << 16)
            if not data:
                finish(0)
            buffer += data
        line, _, buffer = buffer.partition(b"\n")
        if line != b'"gone"':  # that of a program whose tests had already ended
            _empty()
            sys.modules["random"].seed(0)
            told = json.loads(line)
            grade_with(told, Channel(REPORT, objects=not told["entry"], caller=CHANNEL), CHANNEL)
