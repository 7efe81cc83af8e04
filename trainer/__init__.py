"""GRPO from a sealed reward set, in a process of its own; and `attach`, for a trainer of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainer.attached import Attached, attach

__all__ = ["Attached", "attach"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from trainer import attached

        return getattr(attached, name)
    raise AttributeError(f"module 'trainer' has no attribute '{name}'")
