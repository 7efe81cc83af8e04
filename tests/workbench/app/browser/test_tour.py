"""The tour, from the offer to the seal."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser
PATIENCE_MS = 120_000
CARET = """(() => { const state = document.querySelector('#rw-editor .cm-content').cmTile.view.state;
    return state.doc.lineAt(state.selection.main.head).number })()"""


def test_the_tour_is_offered_once_and_repairs_a_bug_in_a_copy_of_its_own(
    open_page: Any, server: Any, as_bench: Any, serious: Any
) -> None:
    page = as_bench(open_page(server)).page
    before = (server.project / "rewards.py").read_text()
    page.click("#rw-offer-take")
    page.wait_for_selector("#rw-tour >> text=Step 1 of 5")
    page.wait_for_selector(".rw-tour-here >> text=format")
    page.wait_for_selector("#rw-detail[data-shown]:not(.rw-busy)")
    assert serious(page) == []
    page.click("#rw-tour-next")
    page.click("#rw-tour-do")
    page.wait_for_selector("#rw-credits >> text=LAYOUT.fullmatch(text)")
    page.click("#rw-tour-next")
    page.wait_for_selector("#rw-tour-text >> text=Nothing has been checked yet")
    page.wait_for_selector("#rw-findings >> text=Not checked yet")
    page.click("#rw-tour-do")
    page.wait_for_selector("#rw-tour[data-done=yes]", timeout=PATIENCE_MS)
    page.wait_for_selector("#rw-findings [data-check=RW601]")
    assert "a dot does not match" in page.inner_text("#rw-tour-text")
    assert "Passes" not in page.inner_text(".rw-verdict")
    page.click("#rw-findings [data-check=RW601] header button:text('L5')")
    page.wait_for_selector("#rw-main:visible")
    assert page.evaluate(CARET) == 5
    page.click("#rw-tour-next")
    page.wait_for_selector("#rw-margin:visible")
    page.wait_for_function(
        "() => { const [card, list] = ['.rw-tour', '.rw-under'].map((each) => document.querySelector(each)"
        ".getBoundingClientRect()); return card.top > 60 && card.bottom <= list.top; }"
    )
    page.wait_for_selector("#rw-tour[data-done=no]")
    page.click("#rw-editor .cm-content")
    page.keyboard.press("Control+Home")
    assert page.evaluate(CARET) == 1
    page.click("#rw-margin button:text('line 5')", timeout=5_000)  # the tour's card must not lie on it
    assert page.evaluate(CARET) == 5
    page.click("#rw-tour-do")
    page.wait_for_selector("#rw-tour-said >> text=The scores moved.")
    page.click("#rw-tour-next")
    page.click("#rw-tour-do")
    page.wait_for_selector("#rw-tour-said >> text=Sealed.", timeout=PATIENCE_MS)
    page.click("#rw-tour-next")
    page.wait_for_selector("body[data-ready]")
    assert not page.is_visible("#rw-offer")
    assert (server.project / "rewards.py").read_text() == before
    assert not (server.project / "rewardset.seal.json").exists()
    page.click("#rw-tour-start")
    page.wait_for_selector("#rw-tour >> text=Step 1 of 5")
    page.click("#rw-tour-leave")
    page.wait_for_selector("#rw-tour", state="detached")


def test_the_offer_is_dismissed_for_good(open_page: Any, server: Any, as_bench: Any) -> None:
    page = as_bench(open_page(server)).page
    page.click("#rw-offer-no")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert not page.is_visible("#rw-offer")
