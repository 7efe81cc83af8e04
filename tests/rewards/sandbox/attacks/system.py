"""The sixteen attacks that sandboxes for model-written code were compared by."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from rewards.sandbox import Result
from tests.rewards.sandbox.attacks.attack import Attack, Ground, called, secret_out, tried


def left_processes(mark: str) -> list[int]:
    """Processes whose name is a mark."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "comm").read_text().startswith(mark[:15]):
                found.append(int(entry.name))
    return found


def daemon_left(ground: Ground, result: Result) -> bool:
    """Broken where a process is still there; it is ended."""
    left = left_processes(ground.mark)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return bool(left)


def not_in_time(ground: Ground, result: Result) -> bool:
    """Broken where the program was not ended."""
    return result.status != "timeout"


def files_left(ground: Ground, result: Result) -> bool:
    """Broken where files with the mark are left somewhere."""
    places = (Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"), Path.cwd())
    left = [file for place in places if place.is_dir() for file in place.glob(f"{ground.mark}*")]
    for file in left:
        file.unlink()
    return bool(left)


DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import ctypes
        ctypes.CDLL(None).prctl(15, b"@MARK@", 0, 0, 0)
        for fd in (0, 1, 2):
            os.close(fd)
        time.sleep(20)
        os._exit(0)
    os._exit(0)
time.sleep(0.1)
"""

FORKS = """
import os, time
made = 0
try:
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(1.5)
            os._exit(0)
        made += 1
except Exception as error:
    print("no", type(error).__name__)
if made:
    print("GOT", made)
"""

DISK = """
import os
for folder in ("/tmp", "/dev/shm", "/var/tmp", "."):
    try:
        for number in range(3):
            with open(os.path.join(folder, "@MARK@_%d" % number), "wb") as file:
                for _ in range(100):
                    file.write(b"x" * (1 << 20))
    except Exception as error:
        print("no", type(error).__name__)
"""

SYSTEM = [
    Attack("read a file", "a readable file outside", tried('print(open("@SECRET@").read())'), secret_out),
    Attack(
        "read the environment",
        "a key in the environment of the server or of its own",
        tried(
            'found = os.environ.get("@VARIABLE@") or open("/proc/%d/environ" % os.getppid(), "rb").read().decode()\n'
            "print(found)"
        ),
        secret_out,
    ),
    Attack(
        "write a file",
        "a file outside",
        tried('open("@OUT@", "w").write("here")'),
        lambda ground, result: ground.out.exists(),
    ),
    Attack(
        "connect to the loopback",
        "a TCP server on this machine",
        tried('import socket\nsocket.create_connection(("127.0.0.1", @PORT_TCP@), 2).sendall(b"hi")'),
        lambda ground, result: "TCP" in ground.hits,
    ),
    Attack(
        "connect to an abstract socket",
        "a Unix socket without a path",
        tried('import socket\ns = socket.socket(socket.AF_UNIX)\ns.settimeout(2)\ns.connect("\\0@MARK@")'),
        lambda ground, result: "ABSTRACT" in ground.hits,
    ),
    Attack("fork 200 times", "many processes", FORKS),
    Attack("take 4 GiB", "memory", tried('memory = b"x" * (4 << 30)')),
    Attack("loop for ever", "time", "while True: pass\n", not_in_time, seconds=0.5),
    Attack(
        "sleep through signals",
        "time, with every signal ignored",
        "import signal, time\n"
        "for number in range(1, 32):\n"
        "    try: signal.signal(number, signal.SIG_IGN)\n"
        "    except Exception: pass\n"
        "time.sleep(60)\n",
        not_in_time,
        seconds=0.5,
    ),
    Attack(
        "kill the parent",
        "the server's process",
        tried("import signal\nos.kill(os.getppid(), signal.SIGKILL)"),
    ),
    Attack(
        "read the judge's memory",
        "expected values in the memory of the process that judges",
        tried(
            'maps = [line for line in open("/proc/@PID@/maps") if " rw" in line]\n'
            'file = open("/proc/@PID@/mem", "rb", 0)\n'
            'file.seek(int(maps[0].split("-")[0], 16))\nfile.read(8)'
        ),
    ),
    Attack("leave a daemon", "a process that stays", DAEMON, daemon_left),
    Attack("fill the disk", "300 MiB in each of four folders", DISK, files_left),
    Attack(
        "flood the output",
        "200 MiB of printed text",
        'import os\nfor _ in range(200):\n    os.write(1, b"y" * (1 << 20))\nprint("GOT")\n',
        lambda ground, result: result.status != "output" or len(result.output) > 1 << 16,
    ),
    Attack(
        "make a user namespace", "privileges in a namespace of its own", tried(called(272, 97, "0x10000000"))
    ),
    Attack(
        "make an io_uring",
        "system calls past the filter",
        tried(called(425, 425, "4", "ctypes.create_string_buffer(256)")),
    ),
]
