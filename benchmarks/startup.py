"""How long a user waits for the first word, and that nothing heavy is imported for it.

    python benchmarks/startup.py [--rounds 5]

`reward-workbench --help` (goal 0.3 s), and `check` up to the first line of a finding (goal 1 s), beside an interpreter
that does nothing. Every command then runs once more with Python's own import log: exit code 1 where torch, trl,
gradio, datasets, transformers or peft turns up in it, in the command or in a process it starts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path

from timing import interleaved, show

ROOT = Path(__file__).resolve().parent.parent
COMMAND = str(Path(sysconfig.get_path("scripts")) / "reward-workbench")
BROKEN = ROOT / "fixtures/broken"
HEAVY = ("torch", "trl", "gradio", "datasets", "transformers", "peft")

HELP = (COMMAND, "--help")
CHECK = (COMMAND, "check", str(BROKEN / "returns_too_few.py"), "--samples", str(BROKEN / "samples_200.jsonl"))
CHECK_PROJECT = (COMMAND, "check", str(ROOT / "fixtures/gsm8k"))
GOALS = {"--help": 0.3, "check, first finding": 1.0}


def whole(command: Sequence[str]) -> Callable[[], object]:
    return lambda: subprocess.run(command, capture_output=True, check=False)


def first_line_with(command: Sequence[str], word: str) -> Callable[[], object]:
    """Run until a line of the output holds `word`."""

    def run() -> None:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout is not None
            found = any(word in line for line in process.stdout)
            process.stdout.read()
        assert found, f"{' '.join(command)} printed no {word}"

    return run


def imported(command: Sequence[str]) -> set[str]:
    """The top-level modules that a command and the Python processes it starts import."""
    environment = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    names = (
        line.rpartition("|")[2].strip()
        for line in done.stderr.splitlines()
        if line.startswith("import time:")
    )
    return {name.partition(".")[0] for name in names}


def main(rounds: int) -> int:
    seconds = interleaved(
        {
            "python -c pass": whole((sys.executable, "-c", "pass")),
            "--help": whole(HELP),
            "check, first finding": first_line_with(CHECK, "RW1"),
            "check, all of it": whole(CHECK),
            "check of 1,000 completions": whole(CHECK_PROJECT),
        },
        rounds,
    )
    print(show(seconds, "python -c pass"))
    for name, goal in GOALS.items():
        best = min(seconds[name])
        print(f"{name}: fastest {best:.2f} s, goal {goal} s: {'met' if best <= goal else 'missed'}")
    heavy = {
        " ".join(command[1:2]): sorted(imported(command) & set(HEAVY))
        for command in (HELP, CHECK, CHECK_PROJECT)
    }
    for name, found in heavy.items():
        print(f"{name}: imports {', '.join(found) if found else 'nothing heavy'}")
    return 1 if any(heavy.values()) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="start-up times and imports")
    parser.add_argument("--rounds", type=int, default=5)
    sys.exit(main(parser.parse_args().rounds))
