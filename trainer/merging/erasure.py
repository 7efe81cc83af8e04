"""How much of an adapter's change survives its merge into 16-bit weights: foretold before a run, by arithmetic.

The base's weights lie on the grid of their dtype; a change smaller than half a step of that grid vanishes when the
two are added and rounded. Adam moves a factor B of the adapter by at most about the learning rate a step, so after
all steps B is at most L = sum of the learning rates, and a weight's change at most s L sqrt(r) sd(A) with A as PEFT
draws it (uniform, sd 1 / sqrt(3 n) for n inputs). Where steps do not all pull one way it is about a tenth of that.
What is retained for a relative change was measured on merged models; between the measured points it is interpolated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer.models.loading import weight_files
from trainer.settings import Settings

MEASURED: dict[str, tuple[tuple[float, float], ...]] = {
    "bfloat16": (
        (0.0001, 0.06), (0.0003, 0.18), (0.001, 0.53), (0.002, 0.82), (0.003, 0.93), (0.005, 0.99), (0.01, 1.0),
    ),
    "float16": ((0.0001, 0.6), (0.0003, 0.87), (0.001, 1.0)),
}  # fmt: skip
"""(relative change, share of its effect that is left); the first point of each is extrapolated."""
INCOHERENT = 0.1
ENOUGH = 0.9
CONSTANT = ("constant", "constant_with_warmup")
USUAL_DEVIATION = 0.02


@dataclass(frozen=True)
class Forecast:
    """What a merge into `dtype` leaves.

    `most`: the largest change, relative to the weights; `kept` and `kept_least`: the share of its effect that is left,
    for the largest change and for a tenth of it.
    """

    dtype: str
    most: float
    kept: float
    kept_least: float

    def sentence(self) -> str:
        """What is foretold, in words."""
        return (
            f"merged into {self.dtype}: a change of at most {self.most:.2%} of the weights keeps {self.kept:.0%} of "
            f"its effect, a tenth of it (steps that do not pull one way) {self.kept_least:.0%}"
        )


def forecast(folder: Path, runs: Sequence[tuple[Settings, int]], dtype: str) -> Forecast | None:
    """What a merge will leave of a run's change; None for full fine-tuning and for a merge into float32.

    Args:
        folder: the base model.
        runs: settings and steps of each stage.
        dtype: of the merged weights.
    """
    lora = runs[-1][0].lora
    if lora is None or dtype not in MEASURED:
        return None
    inputs, deviation = typical_weight(folder)
    pulled = sum(rate_sum(settings, steps) for settings, steps in runs)
    change = lora.alpha / lora.r * pulled * math.sqrt(lora.r) / math.sqrt(3 * inputs)
    most = change / deviation
    return Forecast(dtype, most, retained(most, dtype), retained(most * INCOHERENT, dtype))


def rate_sum(settings: Settings, steps: int) -> float:
    """The sum of the learning rates of all steps; a schedule that falls to 0 counts half."""
    rate = float(settings.trl.get("learning_rate", 1e-6))
    share = 1.0 if str(settings.trl.get("lr_scheduler_type", "linear")) in CONSTANT else 0.5
    return rate * steps * share


def retained(change: float, dtype: str) -> float:
    """The share of a relative change's effect that rounding to `dtype` leaves.

    >>> retained(0.001, "bfloat16"), retained(1.0, "float16"), retained(0.001, "float32")
    (0.53, 1.0, 1.0)
    """
    points = MEASURED.get(dtype)
    if points is None or change >= points[-1][0]:
        return 1.0
    if change <= points[0][0]:
        return points[0][1] * change / points[0][0]
    for (low, kept), (high, more) in itertools.pairwise(points):
        if change <= high:
            share = math.log(change / low) / math.log(high / low)
            return kept + share * (more - kept)
    return 1.0


def typical_weight(folder: Path) -> tuple[int, float]:
    """Inputs and standard deviation of the first projection found in the weight files; the usual ones where none is."""
    for file in weight_files(folder):
        if file.suffix == ".safetensors":
            found = _projection(file)
            if found is not None:
                return found
    return 2048, USUAL_DEVIATION


def _projection(file: Path) -> tuple[int, float] | None:
    from safetensors import safe_open

    with safe_open(file, framework="pt") as handle:
        for name in handle.keys():  # noqa: SIM118  (safe_open is no mapping)
            if name.endswith(("q_proj.weight", "up_proj.weight", "down_proj.weight")):
                weight: Any = handle.get_tensor(name)
                deviation = float(weight.float().std())
                return int(weight.shape[1]), deviation or USUAL_DEVIATION
    return None
