"""Whether the training data has the form of the samples that the rewards were proved on.

A reward proved on text is another one on chat messages; a column that the samples have and the data lacks, or has as
numbers instead of text, leads it down a branch that nothing was shown of. What is proved is proved of the samples'
form alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.errors import UsageError
from trainer.data.prompts import FORMATS, Row, kind_of, read_rows
from trainer.job import Job

NOT_COLUMNS = ("prompt", "completion", "samples", "group", "label", "expected", "id")
WORDS = {True: "chat messages", False: "plain text"}


@dataclass(frozen=True)
class Form:
    """What rewards see of rows: chat or text, how many have a system message, the kinds of value in each column."""

    rows: int
    chat: bool
    system: int
    columns: Mapping[str, frozenset[str]]


def compare_forms(job: Job, files: Sequence[Path]) -> tuple[list[str], list[str]]:
    """Sentences about the samples beside the training data, and those of them that are worries; [], [] without samples.

    The samples are those of the seal where it holds, else `files`.
    """
    sources = sealed_sources(job) or list(files)
    samples = form_of(sample_rows(sources, job.data_settings.columns), read_as=_read_as(job))
    if samples is None:
        return [], []
    data = form_of(job.data.train, read_as="chat" if job.data.conversational else "")
    assert data is not None  # a job has rows
    names = ", ".join(source.name for source in sources)
    lines = [
        f"proved on {names}: {samples.rows} rows of {WORDS[samples.chat]}, {_of(samples)} with a system message; "
        f"trained on {WORDS[data.chat]}, {_of(data)} with one"
    ]
    return lines, [*_speech(samples, data), *_columns(job, samples, data)]


def sealed_sources(job: Job) -> list[Path]:
    """The sample files of a seal that holds, those that are still there."""
    if not job.seal.holds or job.seal.seal is None:
        return []
    files = [(job.root / source).resolve() for source in job.seal.seal.samples.sources]
    return [file for file in files if file.is_file()]


def sample_rows(files: Iterable[Path], columns: Mapping[str, str]) -> list[Row]:
    """One row a completion of the samples in plain files, their columns under the names that the data has."""
    rows: list[Row] = []
    for file in files:
        if file.suffix.lower() not in FORMATS or not file.is_file():
            continue
        try:
            found, _ = read_rows(str(file.resolve()), file.parent)
        except UsageError:  # a log of another tool: the workbench reads it, and nothing is said of it here
            continue
        for row in found:
            named = {columns.get(name, name): value for name, value in row.items()}
            parts = row.get("samples")
            several = parts if isinstance(parts, list) and parts else [{}]
            rows += [
                {**named, **(part if isinstance(part, dict) else {"completion": part})} for part in several
            ]
    return [row for row in rows if row.get("prompt") and row.get("completion") is not None]


def form_of(rows: Sequence[Mapping[str, Any]], *, read_as: str = "") -> Form | None:
    """The form of rows, read as chat or text where `read_as` says so; None where there are none."""
    if not rows:
        return None
    chat = any(
        not isinstance(row.get(part), (str, type(None))) for row in rows for part in ("prompt", "completion")
    )
    names = dict.fromkeys(name for row in rows for name in row if name not in NOT_COLUMNS)
    return Form(
        len(rows),
        read_as == "chat" or (chat and read_as != "text"),
        sum(_has_system(row.get("prompt")) for row in rows),
        {name: frozenset(kind_of(row.get(name)) for row in rows) - {"null"} for name in names},
    )


def _has_system(prompt: Any) -> bool:
    return isinstance(prompt, (list, tuple)) and any(
        isinstance(message, Mapping) and message.get("role") == "system" for message in prompt
    )


def _of(form: Form) -> str:
    return "all" if form.system == form.rows else "none" if not form.system else f"{form.system}"


def _read_as(job: Job) -> str:
    return job.manifest.set.read_as if job.manifest else ""


def _speech(samples: Form, data: Form) -> Iterable[str]:
    if samples.chat == data.chat:
        return
    other = "chat" if data.chat else "text"
    away = ", or train on text: no [data] system_prompt, text prompts" if data.chat else ""
    yield (
        f"the rewards were proved on {WORDS[samples.chat]}, and training passes {WORDS[data.chat]}: prove them as "
        f'they will be called, [set] read_as = "{other}"{away}'
    )


def _columns(job: Job, samples: Form, data: Form) -> Iterable[str]:
    """Columns that a reward names and that are on one side only, or hold values of another kind."""
    for name, readers in _named(job).items():
        proved, trained = samples.columns.get(name, frozenset()), data.columns.get(name, frozenset())
        who = " and ".join(readers)
        if proved and not trained:
            yield f"{who} was proved with the column '{name}', which the training data lacks"
        elif trained and not proved:
            yield f"{who} will be passed the column '{name}', which the samples it was proved on lack"
        elif proved and trained and not proved & trained:
            yield (
                f"the column '{name}' that {who} reads holds {' and '.join(sorted(proved))} in the samples, and "
                f"{' and '.join(sorted(trained))} in the training data"
            )


def _named(job: Job) -> dict[str, list[str]]:
    """The columns that the stage's rewards have as arguments, with the rewards; not those bound in the manifest."""
    found: dict[str, list[str]] = {}
    for reward in job.description.only(list(job.rewards)).rewards:
        for name in reward.signature.names:
            if name not in reward.entry.params and name not in PASSED:
                found.setdefault(name, []).append(reward.name)
    return found


PASSED = (
    "prompts",
    "completions",
    "completion_ids",
    "trainer_state",
    "log_extra",
    "log_metric",
    "environments",
)
"""What TRL passes besides columns."""

__all__ = ["Form", "compare_forms", "form_of", "sample_rows", "sealed_sources"]
