"""The bench: samples, scoring, explanation, checks, reports, and their faces (command line, app, pytest plugin).

`score`, `explain`, `check` and `diff` are its face for Python and notebooks (`workbench.api`). Names are loaded when
they are first used, so that `import workbench` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.api import Checked, Compared, Explained, Scores, check, diff, explain, score

__all__ = ["Checked", "Compared", "Explained", "Scores", "check", "diff", "explain", "score"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        import importlib

        return getattr(importlib.import_module("workbench.api"), name)
    raise AttributeError(f"module 'workbench' has no attribute '{name}'")
