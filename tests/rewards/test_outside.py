"""What user code is seen to use besides its rows."""

from __future__ import annotations

import subprocess
import sys

import pytest

WATCH = """
import random, socket, subprocess, sys
from rewards import outside
outside.install()
import numpy as np
def use(what):
    with outside.watched() as seen:
        exec(what)
    return [what for file, what in seen.reads() if not file]
"""


def used(*uses: str) -> list[list[str]]:
    """What each of these was seen to use, in a process of their own: what hears it stays for good."""
    code = WATCH + f"print([use(what) for what in {list(uses)!r}])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    found: list[list[str]] = eval(done.stdout)
    return found


def test_files_programs_and_connections_are_seen() -> None:
    found = used(
        "open('/dev/null').close()", "subprocess.run(['true'])", "socket.getaddrinfo('localhost', 1)"
    )
    assert [one[0] for one in found] == ["open /dev/null", "subprocess.Popen", "socket.getaddrinfo"]


@pytest.mark.parametrize(
    "draw",
    ["random.random()", "random.gauss(0, 1)", "random.seed(0)", "np.random.rand()", "np.random.seed(1)"],
)
def test_chance_is_seen(draw: str) -> None:
    assert used(draw) == [["random numbers"]]


def test_imports_and_generators_of_their_own_are_not_taken_for_it() -> None:
    harmless = [
        "import colorsys, numpy.polynomial",
        "random.Random(3).random()",
        "np.random",
        "random.getstate()",
    ]
    assert used(*harmless) == [[], [], [], []]


def test_what_was_read_before_is_told_with_the_file_that_did() -> None:
    code = (
        WATCH + "use(\"open('/dev/null')\")\nwith outside.watched() as seen:\n    pass\nprint(seen.reads())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "(('', 'open /dev/null'),)\n"


def test_no_more_is_told_than_fits_beside_a_score() -> None:
    code = WATCH + 'use(\'for n in range(500): open("/dev/" + "./" * n + "null").close()\')\n'
    code += "with outside.watched() as seen:\n    pass\nprint(len(seen.reads()))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "51\n"
