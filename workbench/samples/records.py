"""Samples: completions with everything a reward is called with and everything that is known about them.

All lists of `Samples` run in parallel, one entry a row. What the rows hold besides the call (labels, expected
scores, what a training run recorded) is never passed to a reward.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rewards.contract import Batch

LABELS = ("right", "partial", "wrong", "hack")


class Place(NamedTuple):
    """Where a row stands: file, line (row number where a format has no lines), index in a task file's list.

    `log_file` is the file of a log that an imported row stood in before.
    """

    file: Path
    line: int
    sample: int | None = None
    log_file: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row that could not be read, or a whole file where `line` is None."""

    file: Path
    line: int | None
    why: str

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line is not None else f"{self.file}"
        return f"{where}: {self.why}"


@dataclass(frozen=True)
class Samples:
    """The rows of one or more sample files, in file order.

    `prompts` and `completions` are all texts or all chat message lists (`chat`); `columns` are the ground
    truth columns, None where a row has no such value; `groups` names the rows of one prompt; `labels` and
    `expected` are what people said of a row; `steps` is the training step of a logged row; `recorded` holds
    what a log says the row scored then (rewards, advantage); `skipped` and `notes` are to be shown.
    """

    prompts: list[Any]
    completions: list[Any]
    columns: dict[str, list[Any]]
    groups: list[str]
    labels: list[str | None]
    expected: list[dict[str, float | None] | None]
    ids: list[str]
    steps: list[int | None]
    places: list[Place]
    skipped: list[Skipped] = field(default_factory=list)
    sources: list[Path] = field(default_factory=list)
    recorded: dict[str, list[float | None]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.completions)

    @property
    def chat(self) -> bool:
        """Whether prompts and completions are message lists; decided by the first prompt, as in TRL."""
        return bool(self.prompts) and isinstance(self.prompts[0], list)

    def batch(self, tokenizer: Callable[[str], Sequence[int]] | None = None) -> Batch:
        """All rows as one call sees them.

        `tokenizer` turns a completion's text into token ids; without one the batch has none, and each call
        makes do with the text's UTF-8 bytes.
        """
        from rewards.contract import Batch

        return Batch(
            prompts=list(self.prompts),
            completions=list(self.completions),
            completion_ids=[_token_ids(text, tokenizer) for text in self.completions] if tokenizer else [],
            columns={name: list(values) for name, values in self.columns.items()},
            groups=list(self.groups),
        )

    def take(self, rows: Sequence[int]) -> Samples:
        """The samples with only these rows, in this order."""

        def some(values: list[Any]) -> list[Any]:
            return [values[row] for row in rows]

        return replace(
            self,
            prompts=some(self.prompts),
            completions=some(self.completions),
            columns={name: some(values) for name, values in self.columns.items()},
            groups=some(self.groups),
            labels=some(self.labels),
            expected=some(self.expected),
            ids=some(self.ids),
            steps=some(self.steps),
            places=some(self.places),
            recorded={name: some(values) for name, values in self.recorded.items()},
        )

    def step_rows(self) -> list[list[int]]:
        """The rows of each call: all of them, or those of one training step where the rows have steps."""
        if self.steps.count(None) == len(self.steps):
            return [list(range(len(self)))] if len(self) else []
        calls: dict[tuple[int, Path, str] | None, list[int]] = {}
        for row, (step, place) in enumerate(zip(self.steps, self.places, strict=True)):
            key = (
                None if step is None else (step, place.file, place.log_file)
            )  # evaluation has a file of its own for its step
            calls.setdefault(key, []).append(row)
        return list(calls.values())

    def step_batches(self, tokenizer: Callable[[str], Sequence[int]] | None = None) -> list[Batch]:
        """One batch for each entry of `step_rows`, in the same order."""
        whole = self.batch(tokenizer)
        return [whole.rows(rows) for rows in self.step_rows()]


def _token_ids(completion: Any, tokenizer: Callable[[str], Sequence[int]]) -> list[int]:
    from rewards.contract import completion_text

    return list(tokenizer(completion_text(completion)))
