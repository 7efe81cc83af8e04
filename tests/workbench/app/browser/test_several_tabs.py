"""Several tabs of one person on one project."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from workbench.app.bench import MAX_DESKS

pytestmark = pytest.mark.browser


@pytest.fixture
def second(bench_page: Any, server: Any, as_bench: Any) -> Any:
    """Another tab of the same browser on the same project."""
    page = bench_page.page.context.new_page()
    page.goto(server.url)
    page.wait_for_selector("#rw-detail[data-shown]")
    return as_bench(page)


def holds(bench: Any, text: str) -> None:
    """Wait until the editor holds this piece of text."""
    bench.page.wait_for_function(
        "(text) => document.querySelector('#rw-editor .cm-content').cmTile.view.state.doc.toString().includes(text)",
        arg=text,
    )


def test_what_is_typed_and_saved_in_one_tab_is_in_the_other_and_typing_goes_on_there(
    bench_page: Any, second: Any, server: Any
) -> None:
    first = bench_page
    first.edit("score += 0.25", "score += 0.125")
    holds(second, "score += 0.125")
    second.edit("score += 0.125", "score += 0.05")
    holds(first, "score += 0.05")
    for bench in (first, second):
        bench.page.wait_for_function(
            "() => document.querySelector(\".rw-row[data-row='0'] .rw-c-score\")?.innerText === '0.20'"
        )
        assert not bench.page.is_visible("#rw-banner")
    second.page.keyboard.press("Control+s")
    for bench in (first, second):
        bench.page.wait_for_selector("#rw-dirty", state="hidden")
        assert not bench.page.is_visible("#rw-banner")
    assert "score += 0.05" in (server.project / "rewards.py").read_text()


def test_a_save_waits_for_the_text_under_way_and_what_is_typed_meanwhile_waits_for_the_save(
    bench_page: Any, server: Any
) -> None:
    page, held = bench_page.page, []
    asked: list[tuple[str, Any]] = []

    def hold(route: Any) -> None:
        asked.append((route.request.url.rpartition("/")[2], route.request.post_data_json["text"]))
        held.append(route)

    def let_go(name: str) -> None:
        page.wait_for_timeout(600)  # longer than the pause after typing
        assert [each for each, _ in asked] == ["edit", "save", "edit"][: len(asked)]
        assert asked[-1][0] == name
        held.pop().continue_()

    for name in ("edit", "save"):
        page.route(f"**/rw/{name}", hold)
    bench_page.replace("score += 0.25", "score += 0.125")
    page.wait_for_timeout(600)
    bench_page.replace("score += 0.125", "score += 0.05")
    page.keyboard.press("Control+s")
    let_go("edit")
    page.wait_for_timeout(200)
    bench_page.replace("score += 0.05", "score += 0.02")
    let_go("save")
    let_go("edit")
    page.wait_for_function("() => RW.text === RW.sent")
    steps = ("score += 0.125", "score += 0.05", "score += 0.02")
    assert [step in text for step, (_, text) in zip(steps, asked, strict=True)] == [True] * 3
    assert "score += 0.05" in (server.project / "rewards.py").read_text()
    assert page.is_visible("#rw-dirty")
    page.unroute_all()
    page.keyboard.press("Control+s")
    page.wait_for_selector("#rw-dirty", state="hidden")
    assert "score += 0.02" in (server.project / "rewards.py").read_text()


def test_what_is_saved_before_the_page_has_heard_of_another_tabs_text_leaves_that_one_there(
    bench_page: Any, second: Any, server: Any
) -> None:
    first = bench_page
    second.page.route("**/rw/state*", lambda route: None)  # it hears of what it asks for by now, and no more
    first.edit("score += 0.25", "score += 0.2")
    holds(second, "score += 0.2")
    first.edit("score += 0.2", "score += 0.125")
    second.replace("score = 0.0", "score = 0.5")
    second.page.keyboard.press("Control+s")
    first.page.wait_for_selector("#rw-banner >> text=was saved in another tab, and you have a draft of it")
    assert ("score += 0.125" in first.text, "score = 0.5" in first.text) == (True, False)
    written = (server.project / "rewards.py").read_text()
    assert ("score += 0.125" in written, "score = 0.5" in written) == (False, True)
    second.page.unroute_all()


@pytest.mark.slow  # two pages poll and type at once: a busy machine takes longer than the browser waits
def test_two_tabs_that_typed_both_keep_both_texts_until_one_is_chosen(bench_page: Any, second: Any) -> None:
    first = bench_page
    second.page.route("**/rw/edit", lambda route: route.abort())  # what it typed has not arrived yet
    second.replace("score = 0.0", "score = 0.5")
    first.edit("score += 0.25", "score += 0.01")
    second.page.wait_for_selector("#rw-banner:visible")
    second.page.unroute("**/rw/edit")
    for bench in (first, second):
        bench.page.wait_for_selector("#rw-banner >> text=is edited in another tab too")
    assert ("score = 0.5" in second.text, "score += 0.01" in second.text) == (True, False)
    assert ("score = 0.5" in first.text, "score += 0.01" in first.text) == (False, True)
    second.page.click("#rw-banner >> text=Take the other")
    holds(second, "score += 0.01")
    first.page.wait_for_selector("#rw-banner", state="hidden")
    second.page.click("#rw-banner >> text=Put it back")
    for bench in (first, second):
        holds(bench, "score = 0.5")


def test_a_duplicated_tab_takes_a_name_of_its_own(bench_page: Any) -> None:
    with bench_page.page.context.expect_page() as opened:
        bench_page.page.evaluate("() => { window.open(location.href) }")  # brings the session storage along
    page = opened.value
    page.wait_for_selector("body[data-ready]")
    names = [each.evaluate("RW.desk") for each in (bench_page.page, page)]
    assert len(set(names)) == 2
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.evaluate("RW.desk") == names[1]


def make_it_rest(page: Any, name: str) -> str:
    """Open as many desks as there may be, until none is older than that of the page; the name of the last."""
    from playwright.sync_api import TimeoutError

    for attempt in range(8):
        desks = [f"{name}{attempt}{number:05}" for number in range(MAX_DESKS)]
        page.evaluate(
            "(desks) => Promise.all(desks.map((desk) => fetch(`rw/text?desk=${desk}`).then((got) => got.text())))",
            desks,
        )
        with contextlib.suppress(TimeoutError):  # the page asked in between, and was the newest then
            page.wait_for_selector("#rw-banner >> text=This tab rests", timeout=5_000)
            return desks[-1]
    raise AssertionError("the page never rests")


def test_a_tab_that_made_room_for_others_says_so_and_goes_on_with_its_draft(
    bench_page: Any, server: Any
) -> None:
    page = bench_page.page
    bench_page.edit("score += 0.25", "score += 0.125")
    make_it_rest(page, "crowd")
    holds(bench_page, "score += 0.125")
    page.click("#rw-banner >> text=Go on here")
    page.wait_for_selector("#rw-banner >> text=This tab had rested")
    page.wait_for_selector("#rw-results-in[data-status=scored]")
    holds(bench_page, "score += 0.125")
    page.click("#rw-banner >> text=Fine")
    page.wait_for_selector("#rw-banner", state="hidden")
    bench_page.edit("score += 0.125", "score += 0.05")


def test_a_tab_that_rested_shows_what_its_desk_has_when_its_text_was_given_up_meanwhile(
    bench_page: Any, server: Any
) -> None:
    page = bench_page.page
    before = bench_page.text
    bench_page.edit("score += 0.25", "score += 0.125")
    last = make_it_rest(page, "given")
    page.evaluate(
        """(desk) => fetch('rw/settle', { method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ desk, file: 'rewards.py', keep: 'file' }) })""",
        last,
    )
    page.click("#rw-banner >> text=Go on here")
    page.wait_for_selector("#rw-banner >> text=This tab had rested")
    bench_page.shows_text(before)


def test_a_tab_that_comes_to_the_front_says_so_at_once(bench_page: Any) -> None:
    page = bench_page.page

    def turn(hidden: bool) -> None:
        page.evaluate(
            """(hidden) => { Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
            document.dispatchEvent(new Event('visibilitychange')) }""",
            hidden,
        )

    def asks(unseen: bool) -> Any:
        return page.expect_request(
            lambda request: "/rw/state" in request.url and ("hidden=1" in request.url) == unseen,
            timeout=5_000,
        )

    turn(True)
    with asks(unseen=True):
        bench_page.edit("score += 0.25", "score += 0.125")  # which ends what it was waiting for
    page.wait_for_timeout(500)
    with asks(unseen=False):
        turn(False)
    bench_page.edit("score += 0.125", "score += 0.05")
