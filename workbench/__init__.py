"""The bench: samples, scoring, explanation, checks, reports, and their faces (command line, app, pytest plugin).

`score`, `explain`, `show`, `check` and `diff` are its face for Python and notebooks (`workbench.api`). Names are loaded
when they are first used, so that `import workbench` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.api import (
        Checked,
        Compared,
        Explained,
        Overview,
        Scores,
        check,
        diff,
        explain,
        score,
        show,
    )

__all__ = [
    "Checked",
    "Compared",
    "Explained",
    "Overview",
    "Scores",
    "check",
    "diff",
    "explain",
    "score",
    "show",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        import importlib

        _load_own_rewards()
        return getattr(importlib.import_module("workbench.api"), name)
    raise AttributeError(f"module 'workbench' has no attribute '{name}'")


def _load_own_rewards() -> None:
    """See that `rewards` is this product's package, not a rewards.py in the folder a notebook was started in.

    Raises:
        ImportError: another module was imported under that name already.
    """
    import importlib.util
    import sys
    from pathlib import Path

    home = Path(__file__).resolve().parent.parent / "rewards"
    loaded = sys.modules.get("rewards")
    if loaded is not None:
        if not hasattr(loaded, "__path__"):
            raise ImportError(
                f"{getattr(loaded, '__file__', 'a module')} was imported as 'rewards', which is a package of "
                "Reward Workbench: rename the file, or do not import it and give it as a target, "
                "workbench.score('rewards.py', rows)"
            )
        return
    found = importlib.util.find_spec("rewards")
    if found is not None and found.origin and Path(found.origin).resolve() == home / "__init__.py":
        return
    spec = importlib.util.spec_from_file_location(
        "rewards", home / "__init__.py", submodule_search_locations=[str(home)]
    )
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["rewards"] = module
    spec.loader.exec_module(module)
