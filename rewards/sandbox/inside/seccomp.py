"""A seccomp filter against what no graded program needs, built as BPF instructions in plain Python.

It is a deny-list: namespaces, mounts, debugging and other processes' memory, signals to others, new processes
and programs, sockets, changes of the descriptors a program was given, keys, io_uring, BPF, shared memory that
outlives a process, changes of modes, owners and times of files (Landlock leaves those open), and every system call
that is newer than this list. A refused call fails with EPERM, an unknown one with ENOSYS. A call through another
architecture's door ends the process.

The numbers are looked up by bisection, so that the kernel, which tries the filter on every number when it is
loaded, is done in microseconds.
"""

from __future__ import annotations

import ctypes
import struct

# name, number on x86-64, number on arm64; "-" where the architecture has no such call
_DENIED = """
unshare 272 97            setns 308 268             mount 165 40              umount2 166 39
pivot_root 155 41         chroot 161 51             fsopen 430 430            fsconfig 431 431
fsmount 432 432           fspick 433 433            move_mount 429 429        open_tree 428 428
mount_setattr 442 442     statmount 457 457         listmount 458 458
ptrace 101 117            process_vm_readv 310 270  process_vm_writev 311 271 process_madvise 440 440
process_mrelease 448 448  kcmp 312 272              pidfd_open 434 434        pidfd_getfd 438 438
pidfd_send_signal 424 424 perf_event_open 298 241   userfaultfd 323 282       bpf 321 280
keyctl 250 219            add_key 248 217           request_key 249 218
io_uring_setup 425 425    io_uring_enter 426 426    io_uring_register 427 427
init_module 175 105       finit_module 313 273      delete_module 176 106
kexec_load 246 104        kexec_file_load 320 294   reboot 169 142
swapon 167 224            swapoff 168 225           acct 163 89
quotactl 179 60           quotactl_fd 443 443       settimeofday 164 170
clock_settime 227 112     clock_adjtime 305 266     adjtimex 159 171
sethostname 170 161       setdomainname 171 162     iopl 172 -                ioperm 173 -
syslog 103 116            vhangup 153 58            nfsservctl 180 42         lookup_dcookie 212 18
uselib 134 -              personality 135 92        modify_ldt 154 -          lsm_set_self_attr 460 460
kill 62 129               tkill 200 130             tgkill 234 131
rt_sigqueueinfo 129 138   rt_tgsigqueueinfo 297 240
fork 57 -                 vfork 58 -                execve 59 221             execveat 322 281
socket 41 198             connect 42 203            bind 49 200               listen 50 201
accept 43 202             accept4 288 242           sendto 44 206             sendmsg 46 211
sendmmsg 307 269          recvmsg 47 212            recvmmsg 299 243
shutdown 48 210           setsockopt 54 208
chmod 90 -                fchmod 91 52              fchmodat 268 53           fchmodat2 452 452
chown 92 -                lchown 94 -               fchown 93 55              fchownat 260 54
setxattr 188 5            lsetxattr 189 6           fsetxattr 190 7
removexattr 197 14        lremovexattr 198 15       fremovexattr 199 16
utime 132 -               utimes 235 -              futimesat 261 -           utimensat 280 88
truncate 76 45            mknod 133 -               mknodat 259 33
name_to_handle_at 303 264 open_by_handle_at 304 265 fanotify_init 300 262     fanotify_mark 301 263
inotify_init 253 -        inotify_init1 294 26      inotify_add_watch 254 27
memfd_create 319 279      memfd_secret 447 447
shmget 29 194             shmat 30 196              shmctl 31 195             shmdt 67 197
semget 64 190             semop 65 193              semctl 66 191             semtimedop 220 192
msgget 68 186             msgsnd 69 189             msgrcv 70 188             msgctl 71 187
mq_open 240 180           mq_unlink 241 181         mq_timedsend 242 182      mq_timedreceive 243 183
mq_notify 244 184         mq_getsetattr 245 185
setpriority 141 140       sched_setscheduler 144 119 sched_setparam 142 118   sched_setattr 314 274
sched_setaffinity 203 122 ioprio_set 251 30         migrate_pages 256 238     move_pages 279 239
mbind 237 235             set_mempolicy 238 237     set_mempolicy_home_node 450 450
sync 162 81               syncfs 306 267
"""

# calls that are looked at more closely: name, x86-64, arm64
_LOOKED_AT = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "prlimit64": (302, 261),
    "socketpair": (53, 199),
}

_FIRST_UNKNOWN = 463
"""Numbers from here on are newer than this list (Linux 6.13 and later): they are answered as not there."""

MACHINES = {
    "x86_64": (0, 0xC000003E),
    "amd64": (0, 0xC000003E),
    "aarch64": (1, 0xC00000B7),
    "arm64": (1, 0xC00000B7),
}
"""Machine -> column of the tables, and the kernel's name for the architecture."""

_LOAD, _JEQ, _JGE, _JSET, _JA, _RET = 0x20, 0x15, 0x35, 0x45, 0x05, 0x06
_ALLOW, _EPERM, _ENOSYS, _KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
_ENDS = {"allow": _ALLOW, "deny": _EPERM, "unknown": _ENOSYS}

_THREAD = 0x00010000
_NAMESPACES = 0x7E020000
_FCNTL = (8, 10, 15, 1024, 1026)  # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY
_IOCTL = (0x5412, 0x541C, 0x5423, 0x5452, 0x8901, 0x8902, 0x40086602, 0x401C5820)
"""TIOCSTI, TIOCLINUX, TIOCSETD, FIOASYNC, FIOSETOWN, SIOCSPGRP, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR."""

_GIVEN = 5
"""Descriptors below this one were given to a program: others hold them too, so it does not change their ways."""

_CHANGES = {"fcntl": 4, "ioctl": 0x5421}
"""F_SETFL and FIONBIO, allowed for a program's own descriptors: event loops need them."""

_Step = tuple[int, int, int, int]


def denied(machine: str) -> dict[str, int]:
    """The calls that are refused whatever their arguments: name -> number on `machine`."""
    column = MACHINES[machine.lower()][0]
    words = _DENIED.split()
    numbers = {words[at]: words[at + 1 + column] for at in range(0, len(words), 3)}
    return {name: int(number) for name, number in numbers.items() if number != "-"}


def build(machine: str, *, receives: bool = False) -> bytes:
    """The filter for a machine as `platform.machine()` names it.

    Args:
        machine: the machine.
        receives: allow `recvmsg`, by which a process is given descriptors: what judges programs needs it.

    Raises:
        KeyError: there is no table for it.
    """
    column, architecture = MACHINES[machine.lower()]
    refused = denied(machine)
    if receives:
        del refused["recvmsg"]
    actions = dict.fromkeys(refused.values(), "deny")
    actions |= {numbers[column]: name for name, numbers in _LOOKED_AT.items()}
    starts: list[tuple[int, str]] = [(0, "allow")]
    for number in range(_FIRST_UNKNOWN):
        action = actions.get(number, "allow")
        if action != starts[-1][1]:
            starts.append((number, action))
    starts.append((_FIRST_UNKNOWN, "unknown"))
    if starts[1][0] == 0:
        del starts[0]
    steps: list[tuple[int, int, int, int | str]] = [
        (_LOAD, 0, 0, 4),
        (_JEQ, 1, 0, architecture),
        (_RET, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        *_bisect(starts),
    ]
    places: dict[str, int] = {}
    for name in _LOOKED_AT:
        places[name] = len(steps)
        steps += _look_at(name)
    done = [
        (code, jt, jf, places[value] - at - 1 if isinstance(value, str) else value)
        for at, (code, jt, jf, value) in enumerate(steps)
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in done)


def _bisect(starts: list[tuple[int, str]]) -> list[tuple[int, int, int, int | str]]:
    """Instructions that end in the action of the range a number falls into."""
    if len(starts) == 1:
        action = starts[0][1]
        return [(_RET, 0, 0, _ENDS[action])] if action in _ENDS else [(_JA, 0, 0, action)]
    middle = len(starts) // 2
    below, above = _bisect(starts[:middle]), _bisect(starts[middle:])
    return [(_JGE, len(below), 0, starts[middle][0]), *below, *above]


def _look_at(name: str) -> list[_Step]:
    """Instructions for a call whose arguments decide; argument n lies at 16 + 8n, low half first."""
    if name == "clone":  # threads of this process, never a process or a namespace
        return [
            (_LOAD, 0, 0, 16),
            (_JSET, 2, 0, _NAMESPACES),
            (_JSET, 0, 1, _THREAD),
            (_RET, 0, 0, _ALLOW),
            (_RET, 0, 0, _EPERM),
        ]
    if name == "clone3":  # its flags lie in memory, out of reach: the C library falls back to clone
        return [(_RET, 0, 0, _ENOSYS)]
    if name == "prlimit64":
        return [(_LOAD, 0, 0, 16), (_JEQ, 0, 1, 0), (_RET, 0, 0, _ALLOW), (_RET, 0, 0, _EPERM)]
    if name == "socketpair":  # event loops wake themselves with one; it leads nowhere
        return [(_LOAD, 0, 0, 16), (_JEQ, 0, 1, 1), (_RET, 0, 0, _ALLOW), (_RET, 0, 0, _EPERM)]
    refused = _FCNTL if name == "fcntl" else _IOCTL
    tests = [(_JEQ, len(refused) + 3 - at, 0, value) for at, value in enumerate(refused)]
    given = [(_JEQ, 0, 2, _CHANGES[name]), (_LOAD, 0, 0, 16), (_JGE, 0, 1, _GIVEN)]
    return [(_LOAD, 0, 0, 24), *tests, *given, (_RET, 0, 0, _ALLOW), (_RET, 0, 0, _EPERM)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


class Filter:
    """A filter ready to be loaded."""

    def __init__(self, program: bytes) -> None:
        self._buffer = ctypes.create_string_buffer(program, len(program))
        self._program = _Program(len(program) // 8, ctypes.cast(self._buffer, ctypes.c_void_p))

    def load(self, libc: ctypes.CDLL) -> None:
        """Put this process, for ever, under the filter; needs `no_new_privs`.

        Raises:
            OSError: the kernel refused it.
        """
        if libc.prctl(22, 2, ctypes.byref(self._program), 0, 0):
            raise OSError(ctypes.get_errno(), "seccomp")
