"""Indentation in the editor: code indented by four stays so, whatever key moves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

pytestmark = pytest.mark.browser

BEFORE = """def shaped(completions, **kwargs):
    scores = []
    for c in completions:
        if c:
            scores.append(1.0)"""
CARET = """([head, anchor]) => { const view = document.querySelector('#rw-editor .cm-content').cmTile.view;
    const at = (text) => view.state.doc.toString().indexOf(text) + text.length;
    view.focus(); view.dispatch({selection: {anchor: anchor ? at(anchor) : at(head), head: at(head)}}) }"""


@pytest.fixture
def press(bench_page: Any) -> Any:
    """Puts `text` into the editor, the caret behind `head`, and presses keys; what the text is then."""

    def do(text: str, head: str, keys: Sequence[str], anchor: str | None = None) -> str:
        keyboard = bench_page.page.keyboard
        bench_page.page.click("#rw-editor .cm-content")
        keyboard.press("Control+a")
        keyboard.insert_text(text)
        bench_page.shows_text(text)
        bench_page.page.evaluate(CARET, [head, anchor])
        for key in keys:
            keyboard.press(key) if len(key) > 1 and " " not in key else keyboard.type(key)
        return str(bench_page.text)

    return do


def test_enter_keeps_the_indentation_and_goes_four_deeper_after_a_colon(press: Any, bench_page: Any) -> None:
    last = "scores.append(1.0)"
    assert press(BEFORE, last, ["Enter", "x"]) == f"{BEFORE}\n            x"
    typed = press(BEFORE, last, ["Enter", "if x :", "Enter", "y", "Enter", "z"])
    assert typed == f"{BEFORE}\n            if x :\n                y\n                z"
    bench_page.page.wait_for_function("(text) => window.RW.text === text", arg=typed)
    for _ in range(9):
        bench_page.page.keyboard.press("Control+z")
        if bench_page.text == BEFORE:
            break
    assert bench_page.text == BEFORE
    typed = press(BEFORE, last, ["Enter", "Backspace", "else :", "Backspace", "Backspace", ":", "Enter", "w"])
    assert typed == f"{BEFORE}\n        else:\n            w"
    assert press("r = f(", "f(", ["Enter", "a"]).startswith("r = f(\n    a")
    assert press("def f(\n    a,\n    b):", "b):", ["Enter", "c"]) == "def f(\n    a,\n    b):\n    c"
    assert press('    x = "a: b"  # so:', "so:", ["Enter", "y"]) == '    x = "a: b"  # so:\n    y'
    assert press("if x:\n  y", "y", ["Enter", "if z :", "Enter", "w"]).endswith("\n  if z :\n    w")


def test_tab_and_backspace_move_by_four(press: Any) -> None:
    assert press(BEFORE, "        if c:", ["Home", "Tab"]).count("            if c:") == 1
    assert "\n    if c:" in press(BEFORE, "        if c:", ["Shift+Tab"])
    assert "\n    if c:" in press(BEFORE, "\n        ", ["Backspace"])
    assert press("a\n     ", "     ", ["Backspace"]) == "a\n    "
    moved = press("a\nb\n\nc", "b\n\nc", ["Tab"], anchor="a")
    assert moved == "    a\n    b\n\n    c"
    assert press(moved, "c", ["Shift+Tab"], anchor="a") == "a\nb\n\nc"


def test_esc_and_tab_leave_the_editor_and_change_nothing(press: Any, bench_page: Any) -> None:
    assert press("a = 1", "1", ["Escape", "Tab"]) == "a = 1"
    assert bench_page.page.evaluate("document.activeElement.closest('#rw-editor .cm-content') === null")
