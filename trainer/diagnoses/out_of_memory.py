"""out-of-memory: the device had no room for a step.

Caught, so that the run keeps its last checkpoint. What filled it is known from when it happened: while generating (the
cache of keys and values grows with rows and length) or while learning (activations and the logits of the vocabulary).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rewards.errors import UsageError
from trainer.bounds import check_bounds, completion_tokens
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.plan import batching, check_evaluation

FILLED = {
    "generation": "generation: the cache of keys and values grows with rows x tokens",
    "update": "the update: activations and logits grow with rows x tokens x vocabulary",
}


def out_of_memory(settings: Mapping[str, Any], part: str | None = None, *, processes: int = 1) -> Diagnosis:
    """The diagnosis of a step that did not fit.

    Args:
        settings: TRL's settings of the run.
        part: "generation" or "update", None where nobody knows.
        processes: how many train together.
    """
    filled = FILLED.get(part or "", "the step")
    return Diagnosis(
        "out-of-memory",
        "critical",
        f"the device's memory was full during {filled}",
        "The step could not be made; the last checkpoint stands",
        f"Start a new run with less: {smaller(settings, part, processes=processes)}",
        subject=part or "",
        evidence={
            name: settings.get(name)
            for name in ("per_device_train_batch_size", "num_generations", "max_completion_length")
        },
    )


def smaller(settings: Mapping[str, Any], part: str | None = None, *, processes: int = 1) -> str:
    """The next smaller settings that leave what is learnt the same as far as can be, gentlest first.

    Only those that a run with so many processes takes: what is generated has to be whole groups.
    """
    changes = list(_generating_less(settings) if part == "generation" else _learning_less(settings))
    length = completion_tokens(settings)
    if length > 1:
        changes.append({"max_completion_length": length // 2})
    legal = [change for change in changes if _is_legal({**settings, **change}, processes)]
    return ", or ".join(map(_as_sets, legal)) or "a smaller model"


def _learning_less(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Fewer rows of a forward pass, with as many more passes: what is generated and learnt stays the same."""
    rows, passes = _rows(settings), int(settings.get("gradient_accumulation_steps") or 1)
    if rows > 1:
        times = next(number for number in range(2, rows + 1) if rows % number == 0)
        change = {"per_device_train_batch_size": rows // times, "gradient_accumulation_steps": passes * times}
        if settings.get("steps_per_generation"):
            change["steps_per_generation"] = settings["steps_per_generation"] * times
        yield change
    if not settings.get("gradient_checkpointing", True):
        yield {"gradient_checkpointing": True}


def _generating_less(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Half the rows at a time: half the prompts, or as many with half the completions of each."""
    passes = int(settings.get("gradient_accumulation_steps") or 1)
    whole, group = settings.get("generation_batch_size"), int(settings.get("num_generations") or 8)
    steps = int(settings.get("steps_per_generation") or passes)
    change: dict[str, Any]
    if whole:
        change = {"generation_batch_size": whole // 2}
    elif steps % 2 == 0:
        change = {"steps_per_generation": steps // 2}
    else:
        change = {
            "per_device_train_batch_size": _rows(settings) // 2,
            "gradient_accumulation_steps": passes * 2,
            "steps_per_generation": steps,
        }
    yield change
    yield {**change, "num_generations": group // 2}


def _rows(settings: Mapping[str, Any]) -> int:
    return int(settings.get("per_device_train_batch_size") or 8)


def _is_legal(settings: Mapping[str, Any], processes: int) -> bool:
    """Whether a new run would take these settings."""
    try:
        check_bounds(settings)
        batching(settings, processes)
        check_evaluation(settings, processes)
    except UsageError:
        return False
    return True


def _as_sets(change: Mapping[str, Any]) -> str:
    return " ".join(
        f"--set {name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in change.items()
    )
