"""The app as a Space of the Hub: the example project scored, explained and checked; nothing can be edited or run.

    python app.py      serves on port 7860; `PORT` chooses another, `SPACE_HOST` is the name the Space is reached by

On a machine of your own use `make run` or `reward-workbench serve` instead.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Serve the example project, read-only, until it is stopped."""
    # Processes of the workbench's own are started from here, and nothing is installed in a Space.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH", "")]))
    sys.path.insert(0, str(HERE))
    from rewards.errors import RewardWorkbenchError
    from workbench.app.serving import serve_target
    from workbench.project import create_from_template

    with tempfile.TemporaryDirectory(prefix="reward-workbench-space-") as place:
        folder = Path(place) / "example-project"
        try:
            create_from_template(folder)
            serve_target(
                str(folder),
                samples=[],
                host="0.0.0.0",  # it only shows
                port=int(os.environ.get("PORT", "7860")),
                allow_hosts=[name for name in [os.environ.get("SPACE_HOST", "")] if name],
                root_path="",
                say=_say,
                read_only=True,
            )
        except RewardWorkbenchError as error:
            _say(f"error: {error}")
            return error.exit_code
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
