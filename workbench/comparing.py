"""Two sides scored on the same completions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rewards.errors import SamplesError
from rewards.running import Runner
from rewards.targets import parse_target
from workbench.difference import Difference, compare
from workbench.opening import Opened, open_target
from workbench.scoring import score
from workbench.sides import Side, code_changes
from workbench.tokenizing import tokenizer_for

if TYPE_CHECKING:
    from workbench.parallel import Progress


def samples_of(
    sides: tuple[Side, Side],
    samples: Sequence[Path],
    form: str = "",
    columns: Mapping[str, str] | None = None,
) -> Opened:
    """The completions of a comparison: as named, else those of the new side's manifest, else of the old one's.

    Raises:
        SamplesError: neither names any, or no row could be read.
    """
    old, new = sides
    kinds = [parse_target(side.target).kind for side in (new, old)]
    chosen = new if kinds[0] == "project" or kinds[1] != "project" else old
    try:
        return open_target(chosen.target, samples, form=form, columns=columns)
    except SamplesError as error:
        if samples:
            raise
        raise SamplesError(f"{chosen.label}: {error}") from error


def compare_sides(
    sides: tuple[Side, Side], opened: Opened, *, progress: Progress | None = None, jobs: int | None = None
) -> Difference:
    """Score both sides on the same rows and compare; what failed on a row is a row without a number.

    Raises:
        LoadError, TargetError, ManifestError: a side cannot be loaded.
        MissingColumnError: the samples lack a column that a reward requires.
    """
    tokenizer = tokenizer_for(opened.manifest)
    batch = opened.samples.batch(tokenizer)
    with Runner(batch=batch) as runner:
        before, after = (
            score(
                side.target,
                opened.samples,
                runner=runner,
                tokenizer=tokenizer,
                batch=batch,
                keep=side.present,
                jobs=jobs or os.cpu_count() or 1,
                progress=progress,
            )
            for side in sides
        )
    old, new = sides
    before, after = (
        replace(table, notes=[*table.notes, *([side.note] if side.note else [])])
        for table, side in zip((before, after), sides, strict=True)
    )
    changes = code_changes(old.code, new.code)
    return compare(before, after, old=old.label, new=new.label, code=changes)
