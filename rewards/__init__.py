"""What a reward is: its contract, calling, isolation, sets, partial credit, group statistics, seal, library.

Names are loaded when they are first used, so that `import rewards` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rewards.contract import Batch, CallResult, Status, completion_text
    from rewards.credits import credit
    from rewards.errors import RewardWorkbenchError
    from rewards.marks import reward
    from rewards.rewardset import RewardSet

_HOMES = {
    "Batch": "rewards.contract",
    "CallResult": "rewards.contract",
    "RewardSet": "rewards.rewardset",
    "RewardWorkbenchError": "rewards.errors",
    "Status": "rewards.contract",
    "completion_text": "rewards.contract",
    "credit": "rewards.credits",
    "reward": "rewards.marks",
}

__all__ = [
    "Batch",
    "CallResult",
    "RewardSet",
    "RewardWorkbenchError",
    "Status",
    "completion_text",
    "credit",
    "reward",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'rewards' has no attribute '{name}'")
