"""Which tests show which row of the training guide: docs/coverage.md, written by `make docs`.

The marks are read from the test files' text, so the list does not depend on which tests were selected.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROWS = {
    "G1": "When GRPO fits, and when there is no signal to learn from",
    "G2": "Several completions a prompt, compared within their group",
    "G3": "Several rewards, one aspect each, tested alone and together",
    "G4": "Kinds of rewards and their weights",
    "G5": "The data set: chat prompts, ground truth in columns, validated",
    "G6": "A reward's signature",
    "G7": "The example rewards: correctness, format, incremental format",
    "G8": "Three to five rewards combined",
    "G9": "Presets for a small and a large GPU",
    "G10": "Hyperparameters: what each does",
    "G11": "The standard model set-up",
    "G12": "The Unsloth set-up",
    "G13": "Watch the reward, not the loss",
    "G14": "Reward tracking and its warnings",
    "G15": "Pitfalls: symptom and remedy",
    "G16": "Training in stages",
    "G17": "Adaptive weights",
    "G18": "Your own data",
    "G19": "Merging and saving",
    "G20": "Asking the merged model",
    "G21": "Before training",
    "G22": "During training",
    "G23": "After training",
    "G24": "Debugging a reward",
    "G25": "Generate and score without an update",
    "G26": "Start small",
    "G27": "Where a run is logged",
    "G28": "The template project",
}


def guide_rows(node: ast.expr) -> list[str]:
    """The rows named by one `pytest.mark.guide("G1", ...)` expression, else none."""
    if isinstance(node, ast.List | ast.Tuple):
        return [row for element in node.elts for row in guide_rows(element)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "guide":
        return [
            arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
        ]
    return []


def marked_tests(file: Path) -> Iterator[tuple[str, str]]:
    """Every (row, test name) of a test file, from decorators of tests and classes and from `pytestmark`."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    of_module = [
        row
        for node in tree.body
        if isinstance(node, ast.Assign)
        and any(ast.unparse(target) == "pytestmark" for target in node.targets)
        for row in guide_rows(node.value)
    ]
    yield from _tests_below(tree, of_module)


def _tests_below(parent: ast.Module | ast.ClassDef, inherited: list[str]) -> Iterator[tuple[str, str]]:
    for node in parent.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        rows = inherited + [row for decorator in node.decorator_list for row in guide_rows(decorator)]
        if isinstance(node, ast.ClassDef):
            yield from _tests_below(node, rows)
        elif node.name.startswith("test"):
            yield from ((row, node.name) for row in rows)


def coverage_text(repository: Path) -> str:
    """The content of docs/coverage.md."""
    found: dict[str, list[str]] = {row: [] for row in ROWS}
    for file in sorted((repository / "tests").rglob("test_*.py")):
        for row, name in marked_tests(file):
            found[row].append(
                f"`{file.relative_to(repository)}`: {name.removeprefix('test_').replace('_', ' ')}"
            )
    without = [row for row, tests in found.items() if not tests]
    lines = [
        "# The training guide, row by row",
        "",
        "Which tests show which part of the GRPO guide this project carries out. Written by",
        "`make docs` from the `guide` marks in `tests/`; do not edit.",
        "",
        f"{len(ROWS) - len(without)} of {len(ROWS)} rows have a test."
        + (f" Without one: {', '.join(without)}." if without else ""),
    ]
    for row, title in ROWS.items():
        lines += ["", f"## {row}. {title}", ""]
        lines += [f"- {test}" for test in dict.fromkeys(found[row])] or ["No test yet."]
    return "\n".join(lines) + "\n"


def test_every_mark_names_a_row_of_the_guide(repository: Path) -> None:
    files = sorted((repository / "tests").rglob("test_*.py"))
    unknown = {
        f"{file.name}::{name}": row for file in files for row, name in marked_tests(file) if row not in ROWS
    }
    assert unknown == {}


def test_the_committed_coverage_is_current(repository: Path, write_docs: bool) -> None:
    document = repository / "docs" / "coverage.md"
    text = coverage_text(repository)
    if write_docs:
        document.write_text(text, encoding="utf-8")
    assert document.read_text(encoding="utf-8") == text, "docs/coverage.md is old: run `make docs`"


def test_marks_of_functions_classes_and_modules_are_found(tmp_path: Path) -> None:
    file = tmp_path / "test_x.py"
    file.write_text(
        "import pytest\n"
        "pytestmark = [pytest.mark.slow, pytest.mark.guide('G1')]\n"
        "@pytest.mark.guide('G2', 'G3')\n"
        "def test_a(): ...\n"
        "@pytest.mark.guide('G4')\n"
        "class TestB:\n"
        "    def test_c(self): ...\n"
    )
    assert list(marked_tests(file)) == [
        ("G1", "test_a"),
        ("G2", "test_a"),
        ("G3", "test_a"),
        ("G1", "test_c"),
        ("G4", "test_c"),
    ]


def test_a_row_without_a_test_is_told(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text("@pytest.mark.guide('G1')\ndef test_a(): ...\n")
    text = coverage_text(tmp_path)
    assert "1 of 28 rows have a test. Without one: G2, G3," in text
    assert (
        "## G1. When GRPO fits, and when there is no signal to learn from\n\n- `tests/test_x.py`: a\n" in text
    )
    assert text.count("No test yet.") == 27
