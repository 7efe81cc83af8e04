"""Rewards that cost money a call: checked on recorded answers.

A reward declared `cost = "paid"` is asked once for each sample, if the user says so; its answers are kept in the
project (`.workbench/paid-answers.jsonl`, a line an answer, meant to be committed) under the reward's code and the row,
and every later check replays them. A completion that was never judged has no answer: a check that needs one is
skipped, and says so. Answers that failed (no connection, a deadline) are not kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rewards.contract import Batch, CallResult, Status
from rewards.errors import RewardWorkbenchError
from rewards.fingerprint import digest
from workbench.checks.bench import Bench
from workbench.versions import FOLDER, make_folder

if TYPE_CHECKING:
    from rewards.rewardset import RewardDescription
    from rewards.running import Runner

FILE = "paid-answers.jsonl"
NOT_RECORDED = 'it needs answers that are not recorded (cost = "paid")'
KEPT = (Status.NUMBER, Status.ABSTAINED, Status.NAN, Status.INFINITE)

Pay = Callable[[str, int, int], bool]
"""Asked before paid calls with the reward's name, the number of completions to judge, and how many are recorded."""


class NotRecordedError(RewardWorkbenchError):
    """A paid reward was asked something that it was never asked before."""


class Recording:
    """Answers of paid rewards by key; see the module.

    Args:
        folder: the project's own folder; its `.workbench/` holds the file.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FOLDER / FILE
        self._answers: dict[str, tuple[float, int]] = {}
        if self._file.is_file():
            for line in self._file.read_text(encoding="utf-8", errors="replace").splitlines():
                self._read(line)

    def _read(self, line: str) -> None:
        """One line; what is no answer (a line cut off) is passed over."""
        try:
            values = json.loads(line)
            score = values["score"]
            self._answers[values["key"]] = (np.nan if score is None else float(score), int(values["status"]))
        except (ValueError, TypeError, KeyError):
            return

    def get(self, key: str) -> tuple[float, int] | None:
        """(score, status) of an answer, None where there is none."""
        return self._answers.get(key)

    def add(self, answers: Iterable[tuple[str, str, float, int]]) -> None:
        """Keep (key, reward, score, status); written at once, because they cost money."""
        lines = []
        for key, reward, score, status in answers:
            self._answers[key] = (score, status)
            plain = None if np.isnan(score) else float(score) if np.isfinite(score) else str(score)
            lines.append(json.dumps({"key": key, "reward": reward, "score": plain, "status": status}) + "\n")
        make_folder(self._file.parent)
        _keep_in_git(self._file.parent / ".gitignore")
        with self._file.open("a", encoding="utf-8") as file:
            file.writelines(lines)


def _keep_in_git(ignore: Path) -> None:
    """The folder is ignored as a whole, the answers are not: they cannot be made again for nothing."""
    text = ignore.read_text(encoding="utf-8")
    if f"!{FILE}" not in text.splitlines():
        ignore.write_text(f"{text.rstrip()}\n!{FILE}\n!.gitignore\n", encoding="utf-8")


class PaidBench(Bench):
    """A bench that calls paid rewards only where it is told to (`ask`), and answers from the recording otherwise."""

    def __init__(self, runner: Runner, target: str, batch: Batch | None, folder: Path) -> None:
        super().__init__(runner, target, batch)
        self._rows = batch
        self._recording = Recording(folder)
        self._paid = {
            reward.name: reward for reward in self.description.rewards if reward.entry.cost == "paid"
        }

    def call(
        self, reward: str, batch: Batch | None = None, *, rows: Sequence[int] | None = None, timeout_s: float
    ) -> CallResult:
        """As in `Bench`; recorded answers for a paid reward.

        Raises:
            NotRecordedError: one of the rows was never judged.
        """
        described = self._paid.get(reward)
        if described is None:
            return super().call(reward, batch, rows=rows, timeout_s=timeout_s)
        source = batch if batch is not None else self._rows or Batch([], [])
        asked = source if rows is None else source.rows(rows)
        answers = [self._recording.get(key) for key in keys(described, asked)]
        known = [answer for answer in answers if answer is not None]
        if len(known) < len(answers):
            raise NotRecordedError(NOT_RECORDED)
        scores = np.array([score for score, _ in known], dtype=np.float64)
        return CallResult(scores, np.array([status for _, status in known], dtype=np.uint8), {})

    def probe(self, function: str, *, timeout_s: float, **arguments: Any) -> Any:
        """As in `Bench`; NotRecordedError for a paid reward, which a probe would call."""
        if arguments.get("reward") in self._paid:
            raise NotRecordedError(NOT_RECORDED)
        return super().probe(function, timeout_s=timeout_s, **arguments)

    def unrecorded(self, reward: str, rows: Sequence[int]) -> list[int]:
        """The rows of the samples that a paid reward has not judged yet; whole groups where it compares them."""
        assert self._rows is not None
        found = keys(self._paid[reward], self._rows.rows(rows))
        return [row for row, key in zip(rows, found, strict=True) if self._recording.get(key) is None]

    def ask(self, reward: str, rows: Sequence[int]) -> None:
        """Call a paid reward over these rows of the samples, once, and keep its answers."""
        assert self._rows is not None
        described = self._paid[reward]
        result = super().call(reward, None, rows=rows, timeout_s=described.timeout_s)
        named = keys(described, self._rows.rows(rows))
        self._recording.add(
            (key, reward, float(score), int(status))
            for key, score, status in zip(named, result.scores, result.status, strict=True)
            if status in KEPT
        )


def keys(described: RewardDescription, batch: Batch) -> list[str]:
    """What an answer is kept under, a row: the reward's code and parameters, and the row.

    Where a reward compares the rows of a group, the whole group belongs to each of its rows.
    """
    entry = described.entry
    code = [described.code, entry.function, entry.params, entry.scope]
    rows = []
    for row in range(len(batch)):
        columns = {name: values[row] for name, values in batch.columns.items() if _is_given(described, name)}
        rows.append(digest([code, batch.prompts[row], batch.completions[row], columns]))
    if entry.scope != "group" or not batch.groups:
        return rows
    members: dict[str, list[str]] = {}
    for row, group in enumerate(batch.groups):
        members.setdefault(group, []).append(rows[row])
    return [digest([rows[row], members[group]]) for row, group in enumerate(batch.groups)]


def _is_given(described: RewardDescription, column: str) -> bool:
    """Whether the reward can see a column at all."""
    return described.signature.keywords or column in described.signature.names


__all__ = ["NOT_RECORDED", "NotRecordedError", "PaidBench", "Pay", "Recording"]
