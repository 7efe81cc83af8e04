"""The arithmetic of the merge proof: functions on tensors, each with a test on numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

MANTISSA_BITS = {"float32": 23, "float16": 10, "bfloat16": 7}
LOWEST_EXPONENT = {"float32": -126, "float16": -14, "bfloat16": -126}


def count_not_finite(tensors: Iterable[Tensor]) -> int:
    """How many numbers in all the tensors are NaN or infinite."""
    return sum(int((~tensor.isfinite()).sum()) for tensor in tensors if tensor.is_floating_point())


def merged_weight(base: Tensor, delta: Tensor, dtype: Any) -> Tensor:
    """What a merged weight has to be: base + delta in float32, rounded once to `dtype`."""
    return (base.float() + delta.float()).to(dtype)


def ulp_error(actual: Tensor, expected: Tensor, base: Tensor) -> float:
    """The largest difference of `actual` from `expected`, in units of the last place of their dtype.

    The unit is taken at the larger of |expected| and |base|: where a sum nearly cancels, its rounding error
    is that of its parts. NaN anywhere gives infinity.
    """
    import torch

    name = str(actual.dtype).removeprefix("torch.")
    size = torch.maximum(expected.float().abs(), base.float().abs())
    _, exponent = torch.frexp(size)
    exponent = (exponent - 1).clamp(min=LOWEST_EXPONENT[name])
    unit = torch.ldexp(torch.ones_like(size, dtype=torch.float64), exponent - MANTISSA_BITS[name])
    error = (actual.double() - expected.double()).abs() / unit
    worst = float(error.max()) if error.numel() else 0.0
    return worst if worst == worst else float("inf")


def same_bits(left: Tensor, right: Tensor) -> bool:
    """True where both tensors have the same dtype, shape and bits."""
    import torch

    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    bits = [tensor.contiguous().reshape(-1).view(torch.uint8) for tensor in (left, right)]
    return bool((bits[0] == bits[1]).all())


def retention_parts(base: Tensor, merged: Tensor, delta: Tensor) -> tuple[float, float]:
    """<merged - base, delta> and <delta, delta> in float64.

    Their ratio is the retained share of the update.
    """
    wanted = delta.double()
    got = merged.double() - base.double()
    return float((got * wanted).sum()), float((wanted * wanted).sum())


def retention(base: Tensor, merged: Tensor, delta: Tensor) -> float | None:
    """The share of an update that is in the merged weight.

    1 all of it, 0 nothing; None for an update of zero.
    """
    top, bottom = retention_parts(base, merged, delta)
    return top / bottom if bottom > 0 else None


def mean_kl(logits: Tensor, others: Tensor) -> float:
    """Mean over positions of KL(softmax(logits) || softmax(others)), in float64.

    Both are (positions, vocabulary).
    """
    first = logits.double().log_softmax(-1)
    second = others.double().log_softmax(-1)
    per_position = (first.exp() * (first - second)).sum(-1)
    # A sum of rounding errors can come out at -1e-17; a KL divergence cannot be negative.
    return max(0.0, float(per_position.mean()))


def largest_difference(left: Tensor, right: Tensor) -> float:
    """The largest |left - right|; infinity where either holds NaN."""
    worst = float((left.double() - right.double()).abs().max())
    return worst if worst == worst else float("inf")
