"""What the monitor may stop a run for: the setting `halt`, read and checked.

Apart from the rules, which need numpy: settings are read without it.
"""

from __future__ import annotations

from collections.abc import Collection

from rewards.errors import UsageError
from rewards.targets import did_you_mean

HALTING = ("non-finite", "kl", "truncation", "no-signal")
"""What `halt = true` stops a run for, when critical."""

CRITICAL = (
    "non-finite",
    "no-signal",
    "mode-collapse",
    "component-divergence",
    "oracle",
    "kl",
    "entropy",
    "length",
    "truncation",
    "no-op-steps",
    "clipping",
)
"""The diagnoses that can be critical; for another one no run ever stops."""


def halting(halt: bool | Collection[str]) -> tuple[str, ...]:
    """The names of the diagnoses that stop a run, from the setting `halt`.

    Raises:
        UsageError: see `check_halt`.
    """
    check_halt(halt)
    if isinstance(halt, bool):
        return HALTING if halt else ()
    return _names(halt)


def check_halt(names: bool | Collection[str]) -> None:
    """See that the setting `halt` is true, false, or names (one or several) of diagnoses that can stop a run.

    Raises:
        UsageError: a name that is no diagnosis, or one of a diagnosis that is never critical.
    """
    if isinstance(names, bool):
        return
    for name in _names(names):
        if name not in CRITICAL:
            raise UsageError(
                f"halt={name!r} stops no run{did_you_mean(str(name), [*CRITICAL, 'true', 'false'])}; halt is false, "
                f"true ({', '.join(HALTING)}), or any of {', '.join(CRITICAL)}"
            )


def _names(halt: Collection[str]) -> tuple[str, ...]:
    return (halt,) if isinstance(halt, str) else tuple(halt)
