"""Which format a file is in.

The order of the two tuples matters: the first that recognises a file has it, the last one takes what is left.
"""

from __future__ import annotations

from pathlib import Path

from workbench.samples.csv_table import CSV
from workbench.samples.flat import FLAT
from workbench.samples.format import Container, Shape, Values
from workbench.samples.imported import IMPORTED
from workbench.samples.inspect_log import INSPECT_ARCHIVE, INSPECT_SAMPLES
from workbench.samples.json_list import JSON_LIST
from workbench.samples.jsonl import JSONL
from workbench.samples.lm_eval import LM_EVAL
from workbench.samples.ms_swift import MS_SWIFT
from workbench.samples.nemo_gym import NEMO_GYM
from workbench.samples.openai import OPENAI_BATCH, OPENAI_CHAT, OPENAI_CHOICES
from workbench.samples.parquet import PARQUET
from workbench.samples.run_record import RUN_RECORD
from workbench.samples.task_file import TASK_FILE
from workbench.samples.trl_log import TRL_LOG
from workbench.samples.verifiers import VERIFIERS_RESULTS, VERIFIERS_TRACES
from workbench.samples.verl import VERL

CONTAINERS: tuple[Container, ...] = (PARQUET, INSPECT_ARCHIVE, JSONL, JSON_LIST, CSV)
SHAPES: tuple[Shape, ...] = (
    TASK_FILE,
    IMPORTED,
    RUN_RECORD,
    MS_SWIFT,
    TRL_LOG,
    VERIFIERS_RESULTS,
    VERIFIERS_TRACES,
    VERL,
    LM_EVAL,
    INSPECT_SAMPLES,
    NEMO_GYM,
    OPENAI_BATCH,
    OPENAI_CHOICES,
    OPENAI_CHAT,
    FLAT,
)

HEAD = 4096  # bytes a container may look at


class UnknownFormat(ValueError):
    """A file that no container recognises."""


def container_of(path: Path) -> Container:
    """The container of a file; UnknownFormat where none recognises it."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    for container in CONTAINERS:
        if container.recognises(path, head):
            return container
    known = ", ".join(container.name for container in CONTAINERS)
    raise UnknownFormat(f"in no format that can be read ({known})")


def shape_of(values: Values, mapped: Values) -> Shape:
    """The shape of a file by its first readable record, as it stands and with `[data] columns` applied."""
    return next(shape for shape in SHAPES if shape.matches(values if shape.foreign else mapped))
