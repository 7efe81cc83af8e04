"""The text of `reward-workbench doctor`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.cli.doctor import doctor, machine_text
from workbench.machine import Extra, Machine, Probe

PLAIN = Machine(
    version="0.1.0",
    python="3.11.7",
    executable="/venv/bin/python",
    system="Linux 6.1 x86_64",
    cores=2,
    memory_gib=8.0,
    memory_free_gib=6.5,
    torch=None,
    torch_cuda=None,
    gpus=(),
    extras=(Extra("app", {"gradio": "6.31.0"}, ()), Extra("train", {"torch": "2.13.0"}, ("trl", "peft"))),
    isolation=(
        Probe("Landlock", works=True, detail="ABI 4"),
        Probe("seccomp", works=False, detail="refused"),
    ),
    sandbox=Probe("landlock", works=True, detail="bwrap is not installed"),
    chromium=None,
    cache="/cache",
    cached=(),
)


def line(text: str, start: str) -> str:
    """The rest of the line that starts with a label."""
    return next(row.removeprefix(start).strip() for row in text.splitlines() if row.startswith(start))


def test_a_machine_without_torch_is_told_how_to_get_it() -> None:
    assert line(machine_text(PLAIN), "torch").endswith("(pip install 'reward-workbench[train]')")


def test_a_torch_without_cuda_beside_a_gpu_is_pointed_out() -> None:
    text = machine_text(replace(PLAIN, torch="2.13.0+cpu", gpus=("NVIDIA H200, 143771 MiB",)))
    assert line(text, "torch") == "2.13.0+cpu, a build without CUDA: it will not use the GPU (README.md, GPU)"
    assert line(text, "gpu") == "NVIDIA H200, 143771 MiB"


def test_a_torch_with_cuda_names_its_version() -> None:
    assert line(machine_text(replace(PLAIN, torch="2.13.0", torch_cuda="12.8")), "torch").endswith(
        "CUDA 12.8"
    )


def test_a_half_installed_extra_names_what_is_missing() -> None:
    text = machine_text(PLAIN)
    assert (
        line(text, "extra train") == "torch 2.13.0; missing: trl, peft; pip install 'reward-workbench[train]'"
    )
    assert line(text, "extra app") == "gradio 6.31.0"


def test_isolation_tells_what_worked_and_why_not() -> None:
    text = machine_text(PLAIN)
    assert line(text, "isolation: Landlock") == "works (ABI 4)"
    assert line(text, "isolation: seccomp") == "no: refused"


def test_the_sandbox_level_is_told_with_what_kept_it_from_being_better() -> None:
    text = line(machine_text(PLAIN), "sandbox")
    assert text == "model-written code runs at level landlock (not better: bwrap is not installed)"


def test_without_a_sandbox_model_written_code_is_refused() -> None:
    text = machine_text(replace(PLAIN, sandbox=Probe("limits", works=False, detail="")))
    assert line(text, "sandbox") == "model-written code is refused: the level found is limits"


def test_memory_that_cannot_be_read_is_unknown() -> None:
    assert line(machine_text(replace(PLAIN, memory_gib=0.0)), "memory") == "unknown"


def test_doctor_prints_a_report_of_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    doctor()
    assert line(capsys.readouterr().out, "python").startswith("3.")
