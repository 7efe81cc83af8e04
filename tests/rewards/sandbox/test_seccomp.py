"""The filter, carried out step by step as the kernel would, for both architectures."""

# ruff: noqa: E501  # tables

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from rewards.sandbox.inside.seccomp import MACHINES, build, denied

ALLOW, EPERM, ENOSYS, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
X86, ARM = "x86_64", "aarch64"

NUMBERS = {
    X86: {"read": 0, "write": 1, "openat": 257, "clone": 56, "clone3": 435, "fcntl": 72, "ioctl": 16, "prlimit64": 302,
          "socketpair": 53, "socket": 41, "fork": 57, "kill": 62, "execve": 59, "futex": 202, "ptrace": 101},
    ARM: {"read": 63, "write": 64, "openat": 56, "clone": 220, "clone3": 435, "fcntl": 25, "ioctl": 29, "prlimit64": 261,
          "socketpair": 199, "socket": 198, "kill": 129, "execve": 221, "futex": 98, "ptrace": 117},
}  # fmt: skip


def verdict(
    machine: str, number: int, *arguments: int, architecture: int | None = None, program: bytes = b""
) -> int:
    """What the filter says to a call."""
    given = [*arguments, *[0] * (6 - len(arguments))]
    arch = MACHINES[machine][1] if architecture is None else architecture
    data = struct.pack("<IIQ6Q", number, arch, 0, *given)
    program = program or build(machine)
    steps = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at = loaded = 0
    while True:
        code, jump_true, jump_false, value = steps[at]
        at += 1
        if code == 0x20:
            (loaded,) = struct.unpack_from("<I", data, value)
        elif code == 0x06:
            return value
        elif code == 0x05:
            at += value
        else:
            true = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            at += jump_true if true else jump_false


@pytest.mark.parametrize("machine", [X86, ARM])
def test_every_number_gets_what_the_list_says(machine: str) -> None:
    refused = set(denied(machine).values())
    looked_at = {
        NUMBERS[machine][name] for name in ("clone", "clone3", "fcntl", "ioctl", "prlimit64", "socketpair")
    }
    for number in range(463):
        if number not in looked_at:
            assert verdict(machine, number) == (EPERM if number in refused else ALLOW), number


@pytest.mark.parametrize("machine", [X86, ARM])
def test_numbers_newer_than_the_list_are_not_there(machine: str) -> None:
    assert {verdict(machine, number) for number in (463, 470, 1000, 0x40000000, 0x40000029, 0xFFFFFFFF)} == {
        ENOSYS
    }


@pytest.mark.parametrize("machine", [X86, ARM])
def test_another_architecture_is_the_end(machine: str) -> None:
    assert verdict(machine, 1, architecture=0x40000003) == KILL


CLOSER = [
    ("clone", (0x3D0F00,), ALLOW),  # what pthread_create asks for
    ("clone", (17,), EPERM),
    ("clone", (0x10000000 | 17,), EPERM),
    ("clone", (0x00010000 | 0x10000000,), EPERM),
    ("clone3", (0,), ENOSYS),
    ("fcntl", (3, 1), ALLOW),
    ("fcntl", (3, 8), EPERM),
    ("fcntl", (3, 10), EPERM),
    ("fcntl", (3, 1026), EPERM),
    ("fcntl", (3, 4), EPERM),
    ("fcntl", (5, 4), ALLOW),
    ("ioctl", (0, 0x5401), ALLOW),
    ("ioctl", (3, 0x5421), EPERM),
    ("ioctl", (7, 0x5421), ALLOW),
    ("ioctl", (7, 0x5452), EPERM),
    ("ioctl", (0, 0x5412), EPERM),
    ("prlimit64", (0, 9), ALLOW),
    ("prlimit64", (1234, 9), EPERM),
    ("socketpair", (1, 1), ALLOW),
    ("socketpair", (2, 1), EPERM),
]


@pytest.mark.parametrize("machine", [X86, ARM])
@pytest.mark.parametrize(("name", "arguments", "wanted"), CLOSER)
def test_some_calls_are_looked_at_more_closely(
    machine: str, name: str, arguments: tuple[int, ...], wanted: int
) -> None:
    assert verdict(machine, NUMBERS[machine][name], *arguments) == wanted


@pytest.mark.parametrize("machine", [X86, ARM])
def test_what_programs_need_is_let_through(machine: str) -> None:
    for name in ("read", "write", "openat", "futex"):
        assert verdict(machine, NUMBERS[machine][name]) == ALLOW
    for name in ("socket", "kill", "execve", "ptrace"):
        assert verdict(machine, NUMBERS[machine][name]) == EPERM


@pytest.mark.parametrize("machine", [X86, ARM])
def test_only_what_judges_may_be_given_descriptors(machine: str) -> None:
    number = denied(machine)["recvmsg"]
    assert verdict(machine, number) == EPERM
    assert verdict(machine, number, program=build(machine, receives=True)) == ALLOW
    assert verdict(machine, denied(machine)["sendmsg"], program=build(machine, receives=True)) == EPERM


def test_the_numbers_are_those_of_the_system_headers() -> None:
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not header.exists():
        pytest.skip("no system headers here")
    lines = [line.split() for line in header.read_text().splitlines() if line.startswith("#define __NR_")]
    known = {line[1].removeprefix("__NR_"): int(line[2]) for line in lines}
    assert {name: number for name, number in denied(X86).items() if known.get(name, number) != number} == {}


def test_a_machine_without_a_table_is_refused() -> None:
    with pytest.raises(KeyError):
        build("riscv64")


@pytest.mark.parametrize("machine", [X86, ARM])
def test_the_filter_is_small(machine: str) -> None:
    assert len(build(machine)) // 8 < 400
