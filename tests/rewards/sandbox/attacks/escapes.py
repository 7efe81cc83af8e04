"""Forty-odd more ways out: files without opening them, other processes without signals, what outlives a job."""

# ruff: noqa: E501  # programs, each in one piece

from __future__ import annotations

from pathlib import Path

from rewards.sandbox import Result
from tests.rewards.sandbox.attacks.attack import Attack, Ground, called, secret_out, tried


def victim_changed(ground: Ground, result: Result) -> bool:
    """Broken where the file outside is not as it was, or the program came through."""
    return ground.victim_changed


def not_ended(*statuses: str) -> object:
    """Broken where a program that can only be ended was not."""
    return lambda ground, result: result.status not in statuses


def shared_memory_left(ground: Ground, result: Result) -> bool:
    """Broken where a System V segment of ours is there."""
    listed = Path("/proc/sysvipc/shm")
    return "GOT" in result.output or (
        listed.exists()
        and any(line.split()[0] == "305419896" for line in listed.read_text().splitlines()[1:])
    )


def much_hidden(ground: Ground, result: Result) -> bool:
    """Broken where more than 400 MiB were written into files that have no name."""
    return any(int(word) > 400 for word in result.output.split() if word.isdigit())


MEMORY_OF_OTHERS = """
import ctypes, gc, os
libc = ctypes.CDLL(None)
read, write = os.pipe()
wanted = b"the word of the job " + b"before"
pages = {id(piece) >> 12 for piece in [object() for _ in range(1000)] + gc.get_objects()}
pages |= {page + step for page in pages for step in range(-8, 9)}
found = 0
for page in sorted(pages):  # the kernel answers for pages that are not there
    if libc.write(write, ctypes.c_void_p(page << 12), 4096) == 4096:
        found += os.read(read, 4096).count(wanted)
print("GOT" if found > 3 else "no trace")
"""

ESCAPES = [
    # ------------------------------------------------------------------------------ files, without opening
    Attack("chmod", "the mode of a file outside", tried('os.chmod("@VICTIM@", 0o777)'), victim_changed),
    Attack(
        "chown", "the owner of a file outside", tried('os.chown("@VICTIM@", 12345, 12345)'), victim_changed
    ),
    Attack("utime", "the times of a file outside", tried('os.utime("@VICTIM@", (1, 1))'), victim_changed),
    Attack(
        "setxattr",
        "attributes of a file outside",
        tried('os.setxattr("@VICTIM@", "user.here", b"1")'),
        victim_changed,
    ),
    Attack("truncate", "the content of a file outside", tried('os.truncate("@VICTIM@", 0)'), victim_changed),
    Attack("unlink", "to remove a file outside", tried('os.unlink("@VICTIM@")'), victim_changed),
    Attack(
        "rename",
        "to move a file outside into its folder",
        tried('os.rename("@VICTIM@", "mine")'),
        victim_changed,
    ),
    Attack(
        "hard link", "a second name for a file outside", tried('os.link("@VICTIM@", "mine")'), victim_changed
    ),
    Attack(
        "symbolic link",
        "a file outside through a link of its own",
        tried('os.symlink("@SECRET@", "link")\nprint(open("link").read())'),
        secret_out,
    ),
    Attack(
        "list a folder",
        "names of files outside",
        tried('print(os.listdir("@FOLDER@"))\nprint(os.listdir("/"))'),
    ),
    Attack(
        "link for the wiper",
        "to have a folder outside wiped with its own",
        'import os\ntry:\n    os.symlink("@FOLDER@", "link")\n    os.mkdir("deep")\n    os.symlink("@FOLDER@", "deep/link")\n'
        "except OSError as error:\n    print('no', type(error).__name__)\n",
        victim_changed,
    ),
    Attack(
        "file by handle",
        "a file by its number instead of its name",
        tried(called(304, 265, "-100", "ctypes.create_string_buffer(128)", "0")),
    ),
    Attack(
        "make a device",
        "a disk by a device file of its own",
        tried("os.mknod('disk', 0o060600, os.makedev(8, 0))"),
    ),
    Attack(
        "mount", "a file system of its own", tried(called(165, 40, '"none"', '"/tmp"', '"tmpfs"', "0", "0"))
    ),
    Attack("chroot", "another root", tried('os.chroot(".")')),
    Attack("watch files", "what others do with a folder", tried(called(294, 26, "0"))),
    # ------------------------------------------------------------------------------------ other programs
    Attack("exec", "another program in its place", tried("os.execv('/bin/sh', ['sh', '-c', 'echo GOT'])")),
    Attack(
        "exec its own file",
        "a program it wrote",
        tried(
            "open('x', 'w').write('#!/bin/sh\\necho GOT\\n')\n"
            "try: os.chmod('x', 0o700)\nexcept OSError: pass\nos.execv('x', ['x'])"
        ),
    ),
    Attack(
        "subprocess",
        "another program beside it",
        tried("import subprocess\nsubprocess.run(['true'], check=True)"),
    ),
    Attack(
        "multiprocessing",
        "a process of its own",
        tried("import multiprocessing as m\np = m.Process(target=int)\np.start()"),
    ),
    Attack("clone", "a process by the bare call", tried(called(56, 220, "17", "0", "0", "0", "0"))),
    Attack(
        "clone3",
        "a process by the newer call",
        tried(called(435, 435, "ctypes.create_string_buffer(88)", "88")),
    ),
    Attack(
        "namespace by clone",
        "a user and a network namespace",
        tried(called(56, 220, "0x50000011", "0", "0", "0", "0")),
    ),
    # ----------------------------------------------------------------------------------- other processes
    Attack(
        "signal by a pipe",
        "to have the kernel send the server a signal when a pipe is written",
        tried(
            "import fcntl\nr, w = os.pipe()\nfcntl.fcntl(r, fcntl.F_SETOWN, os.getppid())\n"
            "fcntl.fcntl(r, 10, 9)\nfcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)\nos.write(w, b'x')"
        ),
    ),
    Attack(
        "limits of others",
        "to set the server's limits to nothing",
        tried("import resource\nresource.prlimit(os.getppid(), resource.RLIMIT_CPU, (0, 0))"),
    ),
    Attack(
        "slow others down",
        "the priority of every process of the user",
        tried("os.setpriority(os.PRIO_USER, 0, 19)"),
    ),
    Attack("ptrace", "to take over the server", tried(called(101, 117, "16", "os.getppid()", "0", "0"))),
    Attack(
        "read by process_vm_readv",
        "the server's memory",
        tried(
            called(
                310,
                270,
                "os.getppid()",
                "ctypes.create_string_buffer(16)",
                "1",
                "ctypes.create_string_buffer(16)",
                "1",
                "0",
            )
        ),
    ),
    Attack(
        "take a descriptor",
        "one of the server's open files",
        tried("pid = os.pidfd_open(os.getppid())\n" + called(438, 438, "pid", "3", "0")),
    ),
    Attack(
        "find processes",
        "the processes of this machine",
        tried('print(os.listdir("/proc"))\nopen("/proc/1/cmdline").read()'),
    ),
    Attack("keys", "the user's keyring", tried(called(250, 219, "0", "-3", "1"))),
    Attack(
        "performance counters",
        "what the machine does",
        tried(called(298, 241, "ctypes.create_string_buffer(128)", "0", "-1", "-1", "0")),
    ),
    Attack(
        "bpf",
        "a program in the kernel",
        tried(called(321, 280, "0", "ctypes.create_string_buffer(72)", "72")),
    ),
    Attack("userfaultfd", "page faults of its own making", tried(called(323, 282, "1"))),
    # ---------------------------------------------------------------------------------------- the network
    Attack(
        "send a datagram",
        "a UDP server on this machine",
        tried(
            'import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hi", ("127.0.0.1", @PORT_UDP@))'
        ),
        lambda ground, result: "UDP" in ground.hits,
    ),
    Attack(
        "connect to a socket file",
        "a Unix socket with a path, such as a container engine's",
        tried('import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect("@FOLDER@/socket")'),
        lambda ground, result: "PATH" in ground.hits,
    ),
    Attack(
        "raw packets",
        "the network below its protocols",
        tried("import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW, 768)"),
    ),
    Attack(
        "netlink",
        "the kernel's network settings",
        tried("import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)"),
    ),
    Attack(
        "socket by x32",
        "a socket through the numbers of another interface",
        tried(
            "if __import__('platform').machine() != 'x86_64': raise OSError\n"
            + called(0x40000029, 198, "2", "1", "0")
        ),
    ),
    Attack(
        "socket by 32-bit call",
        "a socket through the 32-bit door of the processor",
        "import ctypes, mmap, platform\n"
        "if platform.machine() == 'x86_64':\n"
        "    # mov eax, 359 (socket); mov ebx, 2; mov ecx, 1; xor edx, edx; int 0x80; ret\n"
        "    code = bytes.fromhex('53b867010000bb02000000b90100000031d2cd805bc3')\n"
        "    page = mmap.mmap(-1, 4096, prot=7)\n"
        "    page.write(code)\n"
        "    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))\n"
        "    print('GOT' if function() >= 0 else 'no')\n",
    ),
    # -------------------------------------------------------------------------------- too much of something
    Attack(
        "memory without a name",
        "2 GiB outside the limit of its address space",
        tried("fd = os.memfd_create('x')\nfor _ in range(2048):\n    os.write(fd, b'x' * (1 << 20))"),
    ),
    Attack(
        "shared memory",
        "a segment that outlives it",
        tried(called(29, 194, "0x12345678", "1 << 30", "0o1666")),
        shared_memory_left,
    ),
    Attack(
        "message queue",
        "a queue that outlives it",
        tried(called(240, 180, 'b"@MARK@"', "0o102", "0o600", "0")),
    ),
    Attack(
        "threads",
        "ten thousand threads",
        "import threading, time\nmade = 0\ntry:\n    for _ in range(10000):\n"
        "        threading.Thread(target=time.sleep, args=(5,), daemon=True).start()\n        made += 1\n"
        "except BaseException as error:\n    print('no', type(error).__name__)\n"
        "print('GOT' if made > 2000 else '')\n",
    ),
    Attack(
        "open files",
        "ten thousand descriptors",
        tried("files = [os.open('/dev/null', os.O_RDONLY) for _ in range(10000)]"),
    ),
    Attack(
        "hidden files",
        "disk behind names that are gone",
        "import os\nwritten = 0\ntry:\n    for number in range(1000):\n        fd = os.open(str(number), os.O_RDWR | os.O_CREAT)\n"
        "        os.unlink(str(number))\n        for _ in range(64):\n            os.write(fd, b'x' * (1 << 20))\n            written += 1\n"
        "except OSError as error:\n    print('no', type(error).__name__)\nprint(written)\n",
        much_hidden,
    ),
    Attack(
        "many small files",
        "a million names",
        "for number in range(10**6):\n    open(str(number), 'w').close()\nprint('GOT')\n",
    ),
    Attack(
        "deep folders",
        "a folder too deep to be wiped",
        "import os\ntry:\n    for _ in range(40):\n        os.mkdir('d' * 250)\n        os.chdir('d' * 250)\n"
        "except OSError as error:\n    print('no', type(error).__name__)\n",
        lambda ground, result: result.status == "error",
    ),
    Attack(
        "locked folder",
        "a folder that its owner cannot look into",
        "import os\nos.umask(0o777)\nos.mkdir('locked')\nos.rmdir('.') if False else None\n",
        lambda ground, result: result.status == "error",
    ),
    Attack("remove its own folder", "the ground under the next job", tried("os.rmdir(os.getcwd())")),
    Attack(
        "regular expression",
        "time inside one call of the interpreter",
        "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')\nprint('GOT')\n",
        seconds=0.5,
    ),
    Attack(
        "loop through limits",
        "time, with the signals of limits ignored",
        "import signal\nfor number in (signal.SIGXCPU, signal.SIGALRM, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)\n"
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n",
        not_ended("timeout"),  # type: ignore[arg-type]
        seconds=0.5,
    ),
    Attack(
        "raise its own limits",
        "more memory than it was given",
        tried("import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\nmemory = b'x' * (4 << 30)"),
    ),
    Attack(
        "crash",
        "an end without a word",
        "import ctypes\nctypes.string_at(0)\n",
        not_ended("died"),  # type: ignore[arg-type]
    ),
    Attack(
        "run out of stack",
        "a crash of the interpreter",
        "import sys\nsys.setrecursionlimit(10**8)\ndef f(x=0): return sorted([0], key=f)\nf()\nprint('GOT')\n",
    ),
    # ----------------------------------------------------------------------------- what others left or sent
    Attack(
        "memory of others",
        "what an earlier job had in its memory",
        MEMORY_OF_OTHERS,
        before="word = 'the word of the job ' + 'before'\nkept = [word * 3 for _ in range(1000)]\nprint(kept[0])\n",
    ),
    Attack(
        "files of others",
        "what an earlier job wrote",
        "import os\nprint('GOT' if os.listdir('.') else 'no')\n",
        before="import os\nos.makedirs('a/b')\nopen('a/b/left', 'w').write('x')\nopen('left', 'w').write('x')\n",
    ),
    Attack(
        "descriptors of others",
        "open files of the server, written to",
        "import os\nopen_ones = []\nfor fd in range(3, 1024):\n    try:\n        os.fstat(fd)\n        open_ones.append(fd)\n        os.write(fd, b'+' * 64)\n"
        "    except OSError: pass\n"
        "print('GOT' if len([fd for fd in open_ones if fd > 4]) else 'no')\n",
    ),
    Attack(
        "log of the kernel",
        "messages of the kernel, and the name of the machine",
        tried(called(103, 116, "3", "ctypes.create_string_buffer(4096)", "4096")),
    ),
    Attack("name of the machine", "to rename the machine", tried(called(170, 161, 'b"@MARK@"', "12"))),
    Attack("clock", "the time of the machine", tried("time.clock_settime(time.CLOCK_REALTIME, time.time())")),
    Attack(
        "type into a terminal",
        "a command in the user's terminal",
        tried("import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSTI, b'x')"),
    ),
]
