"""What may be given to the functions one calls from Python: checked at the door, told in one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from rewards.errors import ArgumentError
from rewards.targets import did_you_mean
from workbench.samples.form import FORMS


def check_functions(functions: Any) -> None:
    """ArgumentError where they are neither functions nor a target."""
    if isinstance(functions, (str, Path, Mapping)) or callable(functions):
        return
    if functions is None or isinstance(functions, (bytes, bytearray)) or not isinstance(functions, Iterable):
        raise ArgumentError(
            f"functions={_shown(functions)} must be a reward function, several in a list, a mapping of names to "
            "functions, or a target (a file, a project)"
        )


def check_weights(weights: Any) -> None:
    """ArgumentError where they are neither numbers in the order of the functions nor numbers by name."""
    if weights is None:
        return
    if isinstance(weights, (str, bytes)) or not isinstance(weights, (Mapping, Iterable)):
        raise ArgumentError(
            f"weights={_shown(weights)} must be numbers in the order of the functions, [2.0, 0.5], or by name, "
            "{'correct': 2.0}"
        )
    named = weights.items() if isinstance(weights, Mapping) else enumerate(weights)
    for name, value in named:
        if not _number(value) or not math.isfinite(value):
            raise ArgumentError(f"weights: {name!r} has {_shown(value)}, which must be a finite number")


def check_names(weights: Mapping[str, Any], names: Sequence[str]) -> None:
    """ArgumentError for a weight of a reward that there is not."""
    unknown = next((name for name in weights if name not in names), None)
    if unknown is not None:
        near = did_you_mean(str(unknown), names)
        raise ArgumentError(f"weights has {unknown!r}, which is none of {', '.join(names)}{near}")


def check_options(
    *,
    columns: Any = None,
    tokenizer: Any = None,
    jobs: Any = None,
    read_as: Any = "",
    row: Any = None,
) -> None:
    """ArgumentError for the first of these that cannot be used."""
    if columns is not None and not (
        isinstance(columns, Mapping)
        and all(isinstance(part, str) for pair in columns.items() for part in pair)
    ):
        raise ArgumentError(
            f"columns={_shown(columns)} must map names in the samples to others: {{'question': 'prompt'}}"
        )
    if tokenizer is not None and not callable(tokenizer):
        raise ArgumentError(
            f"tokenizer={_shown(tokenizer)} must be a function that is called with a text and gives its token ids"
        )
    if jobs is not None and not (_whole(jobs) and jobs >= 1):
        raise ArgumentError(f"jobs={_shown(jobs)} must be a whole number of processes, at least 1")
    if read_as and read_as not in FORMS:
        raise ArgumentError(f"read_as={_shown(read_as)} must be 'chat' or 'text'")
    for one in [row] if isinstance(row, (str, Iterator)) else rows_given(row, as_whole=False) or []:
        if not _whole(one):
            raise ArgumentError(f"row={_shown(one)} must be the number of a row, counted from 0, or several")


def rows_given(row: Any, *, as_whole: bool = True) -> list[Any] | None:
    """The rows that are meant by a number or several; None for None, which is all of them."""
    if row is None:
        return None
    several = list(row) if isinstance(row, Iterable) and not isinstance(row, str) else [row]
    return [int(one) for one in several] if as_whole else several


def codes_given(codes: Any, name: str) -> tuple[str, ...]:
    """Starts of check codes as a text, `"RW1,RW601"`, or a sequence of them.

    Raises:
        ArgumentError: they are neither.
    """
    if isinstance(codes, str):
        return tuple(part.strip() for part in codes.split(",") if part.strip())
    if not isinstance(codes, Sequence) or not all(isinstance(code, str) for code in codes):
        raise ArgumentError(f'{name}={_shown(codes)} must be starts of check codes, ["RW1", "RW601"]')
    return tuple(codes)


def _number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else f'{text[:57]}...'} ({type(value).__name__})"
