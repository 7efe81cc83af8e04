"""Hand-made keys of traced functions: what a reader would say made up a score.

A function file states its sample at the top (`# completion:`, `# answer:`), and behind a line of code the
credits that line gives on this sample, separated by `;;`: `#: points | condition | matched text`. `-` stands
for none; several matched texts are separated by ` & `.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rewards.contract import Batch
from rewards.rewardset import RewardSet
from rewards.tracing import Explainer, RewardExplanation

FUNCTIONS = Path(__file__).parent / "functions"


@dataclass(frozen=True)
class Key:
    """One expected credit."""

    line: int
    points: float
    condition: str | None
    matched: tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    """What a function file is explained on."""

    completion: str
    answer: str

    def batch(self, rows: int = 1) -> Batch:
        """A batch of equal rows of chat completions."""
        completion = [{"role": "assistant", "content": self.completion}]
        return Batch(
            prompts=[[{"role": "user", "content": "What is it?"}]] * rows,
            completions=[completion] * rows,
            columns={"answer": [self.answer] * rows},
            groups=["g0"] * rows,
        )


def sample_of(path: Path) -> Sample:
    """The sample stated at the top of a file; `\\n` stands for a line end."""
    found = {"completion": "", "answer": ""}
    for line in path.read_text().splitlines():
        for name in found:
            if line.startswith(f"# {name}: "):
                found[name] = line.removeprefix(f"# {name}: ").replace("\\n", "\n")
    return Sample(**found)


def keys_of(path: Path) -> dict[str, list[Key]]:
    """The expected credits of every function with a key; helpers count for the function they are named after."""
    source = path.read_text()
    spans = []
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign)):
            spans.append((node.lineno, node.end_lineno or node.lineno))
    keys: dict[str, list[Key]] = {}
    owner = ""
    for number, line in enumerate(source.splitlines(), start=1):
        if line.startswith("# keys of "):
            owner = line.removeprefix("# keys of ").strip()
        if line.startswith(("def ", "async def ")) and not line.split("def ")[1].startswith("_"):
            owner = line.split("def ")[1].split("(")[0]
        _, mark, text = line.partition("#: ")
        if mark:
            keys.setdefault(owner, []).extend(_parse(number, text))
    return keys


def _parse(number: int, text: str) -> Iterator[Key]:
    for item in text.split(" ;; "):
        points, rest = item.split(" | ", 1)
        condition, matched = rest.rsplit(" | ", 1)
        condition = condition.strip()
        texts = () if matched.strip() == "-" else tuple(matched.split(" & "))
        yield Key(number, float(points), None if condition == "-" else condition, texts)


@functools.cache
def explainer(path: Path) -> Explainer:
    """One explainer a file."""
    return Explainer(functools.partial(RewardSet.load, path))


def found_in(explanation: RewardExplanation, text: str) -> list[Key]:
    """The credits of an explanation in the form of keys."""
    return [
        Key(
            credit.line or 0,
            round(credit.points, 9) + 0.0,
            credit.condition,
            tuple(text[start:end].replace("\n", "\\n") for start, end in credit.spans),
        )
        for credit in explanation.credits
    ]


def all_keys() -> list[tuple[str, str]]:
    """Every function that has a key: (file name, function name)."""
    return [(path.name, name) for path in sorted(FUNCTIONS.glob("*.py")) for name in keys_of(path)]
