"""`reward-workbench doctor`: what this machine can do, and the line that mends what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.machine import Extra, Machine, Probe


def doctor() -> None:
    """Tell what this machine can do: Python, memory, GPU, extras, isolation, browser, prepared models."""
    import typer

    from workbench.machine import describe_machine

    typer.echo(machine_text(describe_machine()))


def machine_text(machine: Machine) -> str:
    """The report on a machine as lines of plain text."""
    lines = [
        ("reward-workbench", machine.version),
        ("python", f"{machine.python}  {machine.executable}"),
        ("system", machine.system),
        ("cores", str(machine.cores)),
        ("memory", _memory(machine)),
        ("torch", _torch(machine)),
        *[("gpu", gpu) for gpu in machine.gpus or ("none found (no nvidia-smi, or it names none)",)],
        *[(f"extra {extra.name}", _extra(extra)) for extra in machine.extras],
        *[(f"isolation: {probe.name}", _probe(probe)) for probe in machine.isolation],
        ("sandbox", _sandbox(machine.sandbox)),
        (
            "chromium",
            machine.chromium or "not found; only browser tests need it (apt-get install chromium)",
        ),
        ("prepared models", f"{machine.cache}  ({', '.join(machine.cached) or 'none yet'})"),
    ]
    width = max(len(label) for label, _ in lines)
    return "\n".join(f"{label:<{width}}  {text}" for label, text in lines)


def _memory(machine: Machine) -> str:
    if not machine.memory_gib:
        return "unknown"
    return f"{machine.memory_gib:.1f} GiB, {machine.memory_free_gib:.1f} GiB free"


def _torch(machine: Machine) -> str:
    if machine.torch is None:
        return "not installed; only training needs it (pip install 'reward-workbench[train]')"
    if machine.torch_cuda:
        return f"{machine.torch}, built for CUDA {machine.torch_cuda}"
    if machine.gpus:
        return f"{machine.torch}, a build without CUDA: it will not use the GPU (README.md, GPU)"
    return f"{machine.torch}, a build without CUDA"


def _extra(extra: Extra) -> str:
    found = ", ".join(f"{name} {version}" for name, version in extra.versions.items())
    if not extra.missing:
        return found
    lacking = f"missing: {', '.join(extra.missing)}; {extra.install_line}"
    return f"{found}; {lacking}" if found else f"not installed; {extra.install_line}"


def _probe(probe: Probe) -> str:
    return f"works ({probe.detail})" if probe.works else f"no: {probe.detail}"


def _sandbox(level: Probe) -> str:
    why = f" (not better: {level.detail})" if level.detail else ""
    if level.works:
        return f"model-written code runs at level {level.name}{why}"
    return f"model-written code is refused: the level found is {level.name}{why}"
