"""Entry of the console script: Ctrl+C ends it quietly, also while what it needs is being loaded."""

from __future__ import annotations

import sys


def main() -> None:
    """Load the command line and run it."""
    try:
        from workbench.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
