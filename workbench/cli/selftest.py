"""`reward-workbench selftest`: how much the checks find, and how quiet they are, on rewards with a known verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def selftest(
    zoo: Annotated[
        list[str] | None, typer.Option("--zoo", help="Only this folder of fixtures/; can be repeated.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run `check --quick`.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", help="Processes at a time.", min=1)] = 2,
    format: Annotated[str, typer.Option("--format", help="text, markdown or json.")] = "text",
    out: Annotated[
        Path | None, typer.Option("--out", help="Write there instead of to standard output.")
    ] = None,
) -> None:
    """Measure the checks on the zoos of a checkout: recall by kind, false alarms, seconds.

    Every reward is checked twice, with its declaration and without. Takes minutes.
    """
    from rewards.errors import UsageError
    from workbench.cli.printing import progress_bar, write_output
    from workbench.selftest.measuring import measure
    from workbench.selftest.tally import markdown, tally
    from workbench.selftest.zoo import FIXTURES, read_zoo, zoo_names

    if format not in ("text", "markdown", "json"):
        raise UsageError(f"--format {format}: known formats are text, markdown, json")
    names = zoo or zoo_names()
    if not names:
        raise UsageError(f"selftest runs in a checkout of the project: there is no zoo in {FIXTURES}")
    entries = [entry for name in names for entry in read_zoo(name)]
    with progress_bar("measuring") as progress:
        results = measure(entries, quick=quick, jobs=jobs, progress=progress)
    if format == "json":
        counted = [tally(results, declared=declared) for declared in (True, False)]
        shown = {
            "tallies": [one.to_json() for one in counted if one is not None],
            "results": [result.to_json() for result in results],
        }
        content = json.dumps(shown, ensure_ascii=False, allow_nan=False) + "\n"
    else:
        content = markdown(results)
    write_output(content, out)
