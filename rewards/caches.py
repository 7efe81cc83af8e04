"""Where this product keeps what can be made again, outside of projects."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_cache(name: str) -> Path:
    """The folder `name` in the user's cache folder ($REWARD_WORKBENCH_CACHE, $XDG_CACHE_HOME, or the platform's)."""
    if override := os.environ.get("REWARD_WORKBENCH_CACHE"):
        return Path(override).expanduser() / name
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "reward-workbench" / name
    caches = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return caches / "reward-workbench" / name
