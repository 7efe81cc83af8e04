"""What the console script does before the command line is loaded, and how it writes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

INTERRUPTED = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from workbench.cli.start import main
main()
"""


def test_interrupt_while_loading_says_nothing() -> None:
    done = subprocess.run([sys.executable, "-P", "-c", INTERRUPTED], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


EMOJI = """
def warm(completions, **_):
    return [1.0 if "\U0001f600" in text else 0.25 for text in completions]
"""
NARROW = (
    {"PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)


def printed(folder: Path, environment: dict[str, str], *arguments: str) -> str:
    """What a command prints where the environment asks for another encoding than UTF-8."""
    (folder / "emoji.py").write_text(EMOJI, encoding="utf-8")
    rows = [{"prompt": "p", "completion": text} for text in ("gr\u00fc\u00df \U0001f600", "no")]
    (folder / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "-P", "-m", "workbench.cli.main", *arguments]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, timeout=120, env={**os.environ, **environment}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode("utf-8")


@pytest.mark.parametrize("environment", NARROW)
def test_text_and_tables_are_utf8_whatever_the_locale(tmp_path: Path, environment: dict[str, str]) -> None:
    target = ("emoji.py", "--samples", "s.jsonl")
    text = printed(tmp_path, environment, "score", *target)
    assert "gr\u00fc\u00df \U0001f600" in text
    assert "\u2588" in text  # a bar, and not its escape
    assert "gr\u00fc\u00df \U0001f600" in printed(tmp_path, environment, "score", *target, "--format", "csv")
    assert "\u2500" in printed(tmp_path, environment, "explain", *target)


@pytest.mark.parametrize("environment", NARROW)
def test_json_and_checks_are_utf8_whatever_the_locale(tmp_path: Path, environment: dict[str, str]) -> None:
    target = ("emoji.py", "--samples", "s.jsonl")
    first = json.loads(printed(tmp_path, environment, "explain", *target, "--format", "json").splitlines()[0])
    assert first["rewards"][0]["credits"][0]["condition"] == '"\U0001f600" in text'
    assert "\u00b7" in printed(tmp_path, environment, "check", *target, "--select", "RW1")
