"""What the tests of the checks share: small sums as samples, and a run of the checks over a reward's source."""

import json
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rewards.running import Runner
from workbench.checks.finding import Finding
from workbench.checks.report import Report
from workbench.checks.runner import run_checks
from workbench.samples import Samples, read_samples

CheckSource = Callable[..., list[Finding]]


def sum_rows(*, chat: bool = True, labels: bool = True) -> list[dict[str, Any]]:
    """Two sums with four completions each, as a task file's rows would be read."""
    rows = []
    for question, answer in (("What is 2 plus 2?", "4"), ("What is 3 times 7?", "21")):
        wrong = str(int(answer) + 1)
        completions = [
            (f"It is easy.\n<answer>{answer}</answer>", "right"),
            (f"Count them.\n<answer>{wrong}</answer>", "wrong"),
            ("I do not know.", "wrong"),
            (f"<answer>{answer}</answer>", "right"),
        ]
        for text, label in completions:
            row: dict[str, Any] = {
                "prompt": [{"role": "user", "content": question}] if chat else question,
                "completion": [{"role": "assistant", "content": text}] if chat else text,
                "answer": answer,
            }
            rows.append({**row, "label": label} if labels else row)
    return rows


HEALTHY = """
def _text(completion):
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        if message.get("role") == "assistant":
            return message.get("content") or ""
    return ""


def _answer(text):
    head, found, rest = text.rpartition("<answer>")
    return _number(rest.partition("</answer>")[0].strip().rstrip(".")) if found else None


def _number(text):
    text = text.replace("\u2212", "-").replace(",", "").replace("$", "")
    try:
        return float(text) if len(text) < 20 and not set(text.lower()) & set("_infa") else None
    except ValueError:
        return None


def correct(completions, answer, **kwargs):
    found = [_answer(_text(completion)) for completion in completions]
    return [1.0 if given is not None and given == float(a) else 0.0 for given, a in zip(found, answer)]
"""


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    with Runner() as shared:
        yield shared


@pytest.fixture
def samples(tmp_path: Path) -> Callable[..., Samples]:
    """Samples of rows: `samples(rows)`, or of the sums: `samples(chat=False)`."""

    def make(rows: list[dict[str, Any]] | None = None, **options: bool) -> Samples:
        rows = sum_rows(**options) if rows is None else rows
        file = tmp_path / "samples.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return read_samples([file])

    return make


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., str]:
    """A target made of a reward file's source, with a manifest where `declare` or `check` say something."""

    def make(source: str, *, declare: str = "", check: str = "", names: str = "reward") -> str:
        (tmp_path / "rewards.py").write_text(textwrap.dedent(source))
        if not declare and not check:
            return str(tmp_path / "rewards.py")
        tables = "".join(
            f'[[reward]]\nfunction = "rewards.py::{name}"\n{declare}\n' for name in names.split()
        )
        (tmp_path / "rewardset.toml").write_text(f"{tables}\n[check]\n{check}\n")
        return str(tmp_path)

    return make


@pytest.fixture
def report_of(
    runner: Runner, project: Callable[..., str], samples: Callable[..., Samples]
) -> Callable[..., Report]:
    """The report of the checks over a source: `report_of(source, select="RW104", rows=..., declare=...)`."""

    def run(
        source: str,
        select: str = "",
        *,
        rows: list[dict[str, Any]] | None = None,
        chat: bool = True,
        labels: bool = True,
        quick: bool = False,
        **project_options: str,
    ) -> Report:
        target = project(source, **project_options)
        read = samples(rows, chat=chat, labels=labels)
        return run_checks(target, read, select=select.split(), quick=quick, runner=runner)

    return run


@pytest.fixture
def check(report_of: Callable[..., Report]) -> CheckSource:
    """The findings of the checks over a source; takes what `report_of` takes."""
    return lambda source, select="", **options: report_of(source, select, **options).all_findings


@pytest.fixture
def healthy() -> str:
    """A sound reward's source, called `correct`."""
    return HEALTHY
