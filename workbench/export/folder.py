"""An export as a folder: the user's files as they are, the adapter, and a README that says what carries over."""

from __future__ import annotations

import shutil
from pathlib import Path

from rewards.errors import UsageError
from rewards.targets import did_you_mean
from workbench.export import ms_swift, openrlhf, trl, verifiers, verl
from workbench.export.plan import Plan
from workbench.export.system import System
from workbench.project import create_whole

SYSTEMS: dict[str, System] = {
    module.SYSTEM.name: module.SYSTEM for module in (trl, verl, verifiers, openrlhf, ms_swift)
}
"""Every training system by its name on the command line."""


def system_named(name: str) -> System:
    """The system of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in SYSTEMS:
        hint = did_you_mean(name, SYSTEMS) or f"; known are {', '.join(SYSTEMS)}"
        raise UsageError(f"--to {name}: no such system{hint}")
    return SYSTEMS[name]


def write_export(plan: Plan, system: System, folder: Path) -> list[Path]:
    """Write an export into a folder, all of it or nothing.

    Returns:
        The files written.

    Raises:
        UsageError: nothing of the set can be exported there, a file exists already or has the adapter's name, or the
            folder cannot be written.
    """
    if not plan.functions and system.name != "trl":
        raise UsageError(
            f"{plan.name} has reward models only, which {system.name} does not take as functions"
        )
    clash = {system.file, "README.md"} & set(plan.files)
    if clash:
        raise UsageError(
            f"{plan.name} has a file {min(clash)} of its own, which the export would write; rename it"
        )

    def fill(into: Path) -> None:
        for place, file in plan.files.items():
            (into / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, into / place)
        (into / system.file).write_text(system.adapter(plan), encoding="utf-8")
        (into / "README.md").write_text(readme(plan, system), encoding="utf-8")

    return create_whole(folder, fill, "nothing was exported to")


def readme(plan: Plan, system: System) -> str:
    """What the folder holds, how it is used, what carries over and what does not."""
    rows = "\n".join(
        f"| `{reward.entry.name}` | {reward.entry.weight:g} | `{reward.reference}` |"
        for reward in plan.rewards
    )
    needs = ", ".join(f"`{name}`" for name in plan.needs) or "nothing but Python"
    shape = "chat messages" if plan.chat else "plain text"
    ground = f"`{plan.gold}`" if plan.gold else "none"
    return f"""\
# {plan.name} for {system.name}

Made by `reward-workbench export`. `{system.file}` is a thin adapter; the reward files beside it are unchanged. They are
called as TRL calls them. They need: {needs}. Data files that they read (word lists and the like) are not copied.

| reward | weight | function |
|---|---|---|
{rows}

Read as {shape} (`CHAT` in the adapter); ground truth: {ground} (`GOLD`).

## Use

{system.use(plan)}

## What carries over

{_listed(system.carries(plan))}

## What does not

{_listed(system.loses(plan))}
- The seal: it was made for the set, not for another system's training. Check there what you checked here.
"""


def _listed(sentences: list[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


__all__ = ["SYSTEMS", "readme", "system_named", "write_export"]
