"""How many steps, prompts and completions a run makes: TRL's batch rules as arithmetic, without torch.

TRL generates `per_device_train_batch_size x steps_per_generation` rows at a time and on each process; those
rows have to be whole groups of `num_generations`. They serve `steps_per_generation x num_iterations` forward
passes, which are `gradient_accumulation_steps` to an optimizer step. A *window* is the smallest number of
optimizer steps at whose end nothing generated is left over: checkpoints may be taken only there, because TRL
does not save what is left over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rewards.errors import UsageError


@dataclass(frozen=True)
class Batching:
    """The sizes that follow from the settings.

    `rows`: completions of one generation batch over all processes; `prompts`: different prompts in it;
    `group`: completions of one prompt; `passes`: forward passes a generation batch serves; `accumulation`:
    passes to an optimizer step; `window`: optimizer steps between points where nothing generated is left
    over.
    """

    rows: int
    prompts: int
    group: int
    passes: int
    accumulation: int
    window: int

    def steps(self, generations: int) -> int:
        """Whole optimizer steps that `generations` generation batches last for."""
        return generations * self.passes // self.accumulation

    def generations(self, steps: int) -> int:
        """Generation batches needed for `steps` optimizer steps."""
        return math.ceil(steps * self.accumulation / self.passes)


@dataclass(frozen=True)
class Plan:
    """A whole run: its optimizer steps, the prompts it walks through (repeats counted), and passes over the
    data."""

    max_steps: int
    prompts_needed: int
    epochs: float


def batching(trl: Mapping[str, Any], processes: int = 1) -> Batching:
    """Read TRL's batch settings (defaults filled in as TRL does).

    Raises:
        UsageError: a combination TRL refuses; the sentence names the nearest legal values.
    """
    device_rows = _whole(trl, "per_device_train_batch_size", 8)
    accumulation = _whole(trl, "gradient_accumulation_steps", 1)
    iterations = _whole(trl, "num_iterations", 1)
    group = _whole(trl, "num_generations", 8)
    if group < 2:
        raise UsageError(
            f"num_generations={group} must be at least 2: GRPO compares the completions of a prompt"
        )
    per_pass = device_rows * processes
    per_generation = _steps_per_generation(trl, per_pass, accumulation)
    rows = per_pass * per_generation
    if rows % group:
        raise UsageError(_illegal(per_pass, per_generation, group, given="steps_per_generation" in _set(trl)))
    passes = per_generation * iterations
    window = passes // math.gcd(passes, accumulation)
    return Batching(rows, rows // group, group, passes, accumulation, window)


def check_evaluation(trl: Mapping[str, Any], processes: int = 1) -> None:
    """See that evaluation batches hold whole groups.

    Raises:
        UsageError: they do not; the sentence names the nearest legal value.
    """
    if str(trl.get("eval_strategy", "no")) == "no":
        return
    group = _whole(trl, "num_generations_eval", _whole(trl, "num_generations", 8))
    rows = _whole(trl, "per_device_eval_batch_size", 8)
    if rows * processes % group:
        step = group // math.gcd(group, processes)
        choices = _around(rows, step)
        raise UsageError(
            f"per_device_eval_batch_size={rows} does not hold whole groups of {group} completions; "
            f"nearest legal: {_or(choices)}"
        )


def plan_run(sizes: Batching, prompts: int, *, max_steps: int, epochs: float) -> Plan:
    """The plan of a run over `prompts` training prompts; `max_steps` below 1 means: as many as `epochs`
    passes give.

    Raises:
        UsageError: the data does not fill one generation batch, or `epochs` gives no step.
    """
    if prompts < sizes.prompts:
        raise UsageError(
            f"the data has {prompts} training prompt{'' if prompts == 1 else 's'}, but one generation batch "
            f"takes {sizes.prompts} ({sizes.rows} rows in groups of {sizes.group}), so not one step could be "
            "made; give more data, a smaller batch (per_device_train_batch_size, steps_per_generation) or a "
            "larger num_generations"
        )
    if max_steps < 1:
        generations = math.floor(prompts * epochs / sizes.prompts)
        max_steps = sizes.steps(generations)
        if max_steps < 1:
            raise UsageError(f"num_train_epochs={epochs:g} over {prompts} prompts gives no step; raise it")
    needed = sizes.generations(max_steps) * sizes.prompts
    return Plan(max_steps, needed, needed / prompts)


def _steps_per_generation(trl: Mapping[str, Any], per_pass: int, accumulation: int) -> int:
    if "generation_batch_size" not in _set(trl):
        return _whole(trl, "steps_per_generation", accumulation)
    if "steps_per_generation" in _set(trl):
        raise UsageError(
            "generation_batch_size and steps_per_generation say the same thing; give one of them"
        )
    rows = _whole(trl, "generation_batch_size", 0)
    if rows % per_pass:
        raise UsageError(
            f"generation_batch_size={rows} must be a multiple of the {per_pass} rows of one pass "
            f"(per_device_train_batch_size x processes); nearest legal: {_or(_around(rows, per_pass))}"
        )
    return rows // per_pass


def _illegal(per_pass: int, per_generation: int, group: int, *, given: bool) -> str:
    rows = per_pass * per_generation
    groups = [size for size in range(2, rows + 1) if rows % size == 0]
    near = sorted(sorted(groups, key=lambda size: abs(size - group))[:2])
    name = "steps_per_generation" if given else "gradient_accumulation_steps"
    steps = _around(per_generation, group // math.gcd(group, per_pass))
    options = [f"{name}={_or(steps)}"] + ([f"num_generations={_or(near)}"] if near else [])
    return (
        f"{rows} rows are generated at a time (per_device_train_batch_size {per_pass} x {name} "
        f"{per_generation}), which is no whole number of groups of num_generations={group}; nearest legal: "
        + ", or ".join(options)
    )


def _around(value: int, step: int) -> list[int]:
    """The multiples of `step` just below and above `value`, zero left out."""
    below = value // step * step
    return [multiple for multiple in (below, below + step) if multiple > 0]


def _or(values: list[int]) -> str:
    return " or ".join(str(value) for value in values)


def _set(trl: Mapping[str, Any]) -> set[str]:
    return {name for name, value in trl.items() if value is not None}


def _whole(trl: Mapping[str, Any], name: str, default: int) -> int:
    value = trl.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{name}={value!r} ({type(value).__name__}) must be a whole number of at least 1")
    return value
