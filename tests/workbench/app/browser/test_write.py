"""What a person does on the Write page, in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.guide("G24")
def test_the_project_is_scored_when_the_page_opens(bench_page: Any) -> None:
    page = bench_page.page
    assert page.locator("h1").all_inner_texts() == ["Reward Workbench"]
    assert bench_page.cells(0)[3:7] == ["1.00", "1.00", "1.50", "+1.00"]
    assert bench_page.cells(2)[4] == "None"
    assert "samples.jsonl" in page.inner_text("#rw-project")
    assert page.inner_text("#rw-tiles .rw-tile:has-text('correct') b") == "0.800"


def test_an_edit_changes_the_scores_by_itself(bench_page: Any) -> None:
    bench_page.edit("score += 0.25", "score += 0.125")
    assert bench_page.cells(0)[3] == "0.50"
    assert "kept as draft" in bench_page.page.inner_text("#rw-dirty")


def test_many_keys_make_one_run(bench_page: Any) -> None:
    run = bench_page.run
    bench_page.replace("A quarter for each tag.", "")
    bench_page.page.keyboard.type("An eighth, or whatever one likes, for each of the four tags")
    bench_page.after_run(run)
    bench_page.page.wait_for_function("!document.title.includes('nothing')")
    assert bench_page.run <= run + 2  # the deletion may have become a run of its own, the typing is one


def test_what_is_typed_into_a_line_that_scrolls_sideways_stays_in_order(bench_page: Any) -> None:
    page = bench_page.page
    page.set_viewport_size({"width": 1024, "height": 768})
    bench_page.replace('"""Whether the answer block holds the answer."""', "")
    line = "# with a long remark that runs far beyond the right border of the editor, word by word"
    page.keyboard.type(line)
    page.wait_for_function("() => window.RW.text.includes('word by word')")
    assert line in bench_page.text
    assert line in page.evaluate("window.RW.text")


def test_undo_goes_back_to_the_text_as_opened_and_no_further(bench_page: Any) -> None:
    page = bench_page.page
    opened = bench_page.text
    bench_page.edit("score += 0.25", "score += 0.5")
    for _ in range(6):
        page.keyboard.press("Control+z")
    page.wait_for_function("(text) => window.RW.text === text", arg=opened)
    assert bench_page.text == opened
    page.keyboard.press("Control+Shift+z")
    page.wait_for_function("() => window.RW.text.includes('score += 0.5')")


def test_another_file_of_the_project_is_edited_without_mixing_up_the_two(
    start: Any, project: Path, open_page: Any, as_bench: Any
) -> None:
    (project / "helper.py").write_text("FACTOR = 1.0\n")
    source = (project / "rewards.py").read_text()
    (project / "rewards.py").write_text(
        "from helper import FACTOR\n" + source.replace("= 0.25", "= 0.25 * FACTOR")
    )
    bench = as_bench(open_page(start(project)))
    page, first = bench.page, bench.text
    page.select_option("#rw-files", "helper.py")
    bench.shows_text("FACTOR = 1.0\n")
    bench.edit("1.0", "0.5")
    assert bench.cells(0)[3] == "0.50"
    page.select_option("#rw-files", "rewards.py")
    bench.shows_text(first)
    page.click("#rw-editor .cm-content")
    page.keyboard.press("Control+z")
    assert bench.text == first
    assert (project / "helper.py").read_text() == "FACTOR = 1.0\n"


def test_ctrl_enter_scores_at_once_and_leaves_the_text_alone(bench_page: Any) -> None:
    page = bench_page.page
    page.uncheck("#rw-live")
    bench_page.replace("score += 0.25", "score += 0.1")
    page.wait_for_selector("#rw-dirty:visible")
    before, run = bench_page.text, bench_page.run
    page.keyboard.press("Control+Enter")
    bench_page.after_run(run)
    assert bench_page.text == before
    assert bench_page.cells(0)[3] == "0.40"


def test_broken_code_keeps_the_last_scores_and_marks_them_stale(bench_page: Any) -> None:
    page = bench_page.page
    bench_page.edit("scores = []\n    for completion in", "scores = [\n    for completion in", "broken")
    assert page.locator(".rw-stale").count() == 1
    assert "SyntaxError" in page.inner_text("#rw-problems")
    assert bench_page.cells(0)[3] == "1.00"
    assert "not of this text" in page.inner_text("#rw-state")
    bench_page.edit("scores = [\n", "scores = []\n")
    assert page.locator(".rw-stale").count() == 0


def test_a_problem_leads_to_its_line_and_to_its_row(bench_page: Any) -> None:
    page = bench_page.page
    bench_page.edit("score = 0.0", "score = 0.0 if completion != 'two' else int(completion)")
    problem = page.locator(".rw-problem.rw-error")
    assert "ValueError" in problem.inner_text()
    assert bench_page.cells(2)[3] == "failed"
    assert bench_page.cells(1)[3] == "1.00"
    problem.get_by_text("row #2").click()
    page.wait_for_selector("#rw-detail[data-shown$=':2']")
    assert "ValueError" in page.inner_text("#rw-credits")
    problem.get_by_text("line 8").click()
    line = page.evaluate(
        "(() => { const s = document.querySelector('#rw-editor .cm-content').cmTile.view.state;"
        "return s.doc.lineAt(s.selection.main.head).number })()"
    )
    assert line == 8


def test_an_endless_loop_blocks_nothing_and_the_next_edit_ends_it(bench_page: Any) -> None:
    page = bench_page.page
    bench_page.replace("score = 0.0\n", "score = 0.0\n        while True: pass\n")
    page.wait_for_selector("#rw-state[data-status=running]")
    page.wait_for_function("() => document.querySelector('#rw-state').innerText.includes('shaped')")
    bench_page.select(1)
    assert "guess" in page.inner_text("#rw-text")
    bench_page.edit("        while True: pass\n", "")


def test_an_endless_reward_is_stopped_by_hand_and_its_process_ends(bench_page: Any, tmp_path: Path) -> None:
    page, place = bench_page.page, tmp_path / "pid"
    endless = f"score = 0.0\n        open({str(place)!r}, 'w').write(str(__import__('os').getpid()))\n"
    bench_page.replace("score = 0.0\n", f"{endless}        while True: pass\n")
    page.wait_for_selector("#rw-stop:visible")
    assert "shaped" in page.inner_text("#rw-state")
    page.wait_for_function("() => /^[1-9]\\d* s/.test(document.querySelector('#rw-elapsed').innerText)")
    before = page.inner_text("#rw-elapsed")
    page.wait_for_function("(was) => document.querySelector('#rw-elapsed').innerText !== was", arg=before)
    bench_page.select(3)  # clicks are answered meanwhile
    pid = int(place.read_text())
    assert Path(f"/proc/{pid}").exists()
    page.click("#rw-stop")
    page.wait_for_selector("#rw-results-in[data-status=stopped]")
    said = page.inner_text("#rw-problems")
    assert re.search(r"Stopped after \d+(\.\d)? s while \w+ was being scored", said)
    assert "The scores shown are those of run" in said
    assert page.locator(".rw-stale").count() == 1
    assert bench_page.cells(0)[3] == "1.00"
    assert not page.is_visible("#rw-stop")
    for _ in range(100):  # it is killed; on a busy machine it takes its time to be gone
        if not Path(f"/proc/{pid}").exists():
            break
        page.wait_for_timeout(100)
    assert not Path(f"/proc/{pid}").exists()
    bench_page.edit("        while True: pass\n", "")
    assert page.locator(".rw-stale").count() == 0


def test_rows_are_sorted_by_a_click_on_a_column(bench_page: Any) -> None:
    page = bench_page.page
    page.click("#rw-head >> text=total")
    bench_page.shows([0, 4, 5, 3, 1, 2])
    assert page.get_attribute("#rw-head [role=columnheader]:has-text('total')", "aria-sort") == "descending"
    page.click("#rw-head >> text=total")
    bench_page.shows([2, 1, 3, 0, 4, 5])
    page.click("#rw-head >> text=total")
    bench_page.shows([0, 1, 2, 3, 4, 5])


def test_chips_filter_the_rows(bench_page: Any) -> None:
    page = bench_page.page
    page.click("[data-chip=dead]")
    bench_page.shows([4, 5])
    page.click("[data-chip=none]")
    bench_page.shows([2])
    page.click("[data-chip='label:right']")
    bench_page.shows([0, 4, 5])
    page.click("[data-chip='label:right']")
    bench_page.shows([0, 1, 2, 3, 4, 5])


def test_weights_add_up_anew_without_scoring_and_are_kept_on_request(bench_page: Any, server: Any) -> None:
    page, run = bench_page.page, bench_page.run
    page.fill("[data-focus='weight:shaped']", "3")
    page.wait_for_function(
        "() => document.querySelector(\".rw-row[data-row='0'] .rw-c-total\")?.innerText === '4.00'"
    )
    page.click("[data-solo=shaped]")
    page.wait_for_function(
        "() => document.querySelector(\".rw-row[data-row='0'] .rw-c-total\")?.innerText === '3.00'"
    )
    assert bench_page.run == run
    assert page.input_value("[data-focus='weight:shaped']") == "3"
    page.click("[data-chip=changed]")
    bench_page.shows([0, 1, 3, 4, 5])
    page.click("#rw-keep-weights")
    bench_page.after_run(run)
    manifest = (server.project / "rewardset.toml").read_text()
    assert "weight = 3.0" in manifest
    assert "abstains = true" in manifest
    page.click("#rw-reset-weights")
    page.wait_for_selector("#rw-weighing", state="hidden")


def test_a_label_and_an_expected_score_are_set_where_the_row_is_read(bench_page: Any, server: Any) -> None:
    page, run = bench_page.page, bench_page.run
    bench_page.select(2)
    page.keyboard.press("4")
    page.wait_for_selector("[data-say=hack][aria-pressed=true]")
    page.wait_for_selector("#rw-detail:not(.rw-busy)")
    page.wait_for_timeout(
        300
    )  # the credits of the labelled row are drawn once more; a key in between would be lost
    page.fill("[data-reward=shaped] .rw-expected", "1")
    page.press("[data-reward=shaped] .rw-expected", "Enter")
    page.click("[data-chip=off]")
    bench_page.shows([2])
    kept = json.loads((server.project / "labels.jsonl").read_text())
    assert (kept["label"], kept["expected"], bench_page.run) == ("hack", {"shaped": 1.0}, run)
    page.click("[data-say=hack]")
    page.wait_for_selector("[data-say=hack][aria-pressed=false]")
    assert (server.project / "labels.jsonl").read_text() == ""


def test_a_search_that_finds_nothing_says_so_and_offers_the_way_back(bench_page: Any) -> None:
    page = bench_page.page
    page.keyboard.press("/")
    page.keyboard.type("guess")
    bench_page.shows([1])
    page.fill("#rw-search", "no such words")
    page.wait_for_selector("text=No completion matches")
    page.click("text=Show all")
    bench_page.shows([0, 1, 2, 3, 4, 5])


def test_keys_move_through_the_rows(bench_page: Any) -> None:
    page = bench_page.page
    page.click("#rw-text")
    for key, row in (("j", 1), ("j", 2), ("k", 1), ("ArrowDown", 2)):
        if key == "ArrowDown":
            page.focus("#rw-grid")
        page.keyboard.press(key)
        page.wait_for_selector(f"#rw-detail[data-shown$=':{row}']")
    page.keyboard.press("End")
    page.wait_for_selector("#rw-detail[data-shown$=':5']")
    assert page.get_attribute("#rw-grid", "aria-activedescendant") == "rw-r5"


@pytest.mark.guide("G2")
def test_the_group_shows_the_advantages_and_leads_to_its_rows(bench_page: Any) -> None:
    page = bench_page.page
    bench_page.select(2)
    assert page.locator(".rw-group li").count() == 4
    page.click(".rw-group li:has-text('#3') button")
    page.wait_for_selector("#rw-detail[data-shown$=':3']")
    bench_page.select(4)
    assert "nothing is learnt" in page.inner_text(".rw-group")


@pytest.mark.guide("G24")
def test_a_credit_lights_its_place_in_the_text_and_the_place_its_credit(bench_page: Any) -> None:
    page = bench_page.page
    credits = page.locator("[data-reward=shaped] .rw-credit:not(.rw-zero)")
    assert credits.count() == 4
    pieces = page.locator("#rw-text .rw-piece")
    assert "<think>" in pieces.all_inner_texts()
    credits.first.hover()
    page.wait_for_selector("#rw-text .rw-piece.rw-lit")
    assert page.locator("#rw-text .rw-piece.rw-lit").inner_text() == "<think>"
    page.locator("#rw-text .rw-piece", has_text="</answer>").hover()
    page.wait_for_selector("#rw-credits .rw-credit.rw-lit")
    assert page.locator("#rw-credits .rw-credit.rw-lit").count() >= 1


def test_the_lines_that_ran_are_listed_and_lead_to_the_code(bench_page: Any) -> None:
    page = bench_page.page
    lines = page.locator("[data-reward=shaped] .rw-lines")
    lines.locator("summary").click()
    assert "score += 0.25" in lines.inner_text()
    lines.locator("button", has_text="L11").click()
    number = page.evaluate(
        "(() => { const s = document.querySelector('#rw-editor .cm-content').cmTile.view.state;"
        "return s.doc.lineAt(s.selection.main.head).number })()"
    )
    assert number == 11
    assert page.locator("#rw-editor .rw-line-paid").count() >= 1


def test_invisible_characters_are_shown_on_demand(open_page: Any, server: Any, as_bench: Any) -> None:
    text = "one two\\u00a0\\u200bthree\\n"
    (server.project / "samples.jsonl").write_text(
        f'{{"prompt": "p", "completion": "{text}", "answer": "2"}}\n'
    )
    page = as_bench(open_page(server)).page
    page.click("#rw-invisible")
    assert page.inner_text("#rw-text .rw-completion").strip() == "one·two⍽[ZWSP]three⏎"
    page.click("#rw-invisible")
    assert "⍽" not in page.inner_text("#rw-text .rw-completion")


def test_saving_writes_the_file(bench_page: Any, server: Any) -> None:
    page = bench_page.page
    bench_page.edit("score += 0.25", "score += 0.2")
    page.keyboard.press("Control+s")
    page.wait_for_selector("#rw-dirty", state="hidden")
    assert "score += 0.2\n" in (server.project / "rewards.py").read_text()
    assert page.is_disabled("#rw-save")


def test_reverting_takes_the_file_again(bench_page: Any) -> None:
    before = bench_page.text
    bench_page.edit("score += 0.25", "score += 9")
    bench_page.page.click("#rw-revert")
    bench_page.page.wait_for_selector("#rw-dirty", state="hidden")
    bench_page.page.wait_for_function("() => !window.RW.text.includes('score += 9')")
    assert bench_page.text == before


def test_a_file_changed_in_another_editor_is_taken_at_once(bench_page: Any, server: Any) -> None:
    run = bench_page.run
    path = server.project / "rewards.py"
    path.write_text(path.read_text().replace("score += 0.25", "score += 0.05"))
    bench_page.after_run(run)
    bench_page.page.wait_for_function("() => window.RW.text.includes('0.05')")
    assert "score += 0.05" in bench_page.text
    assert bench_page.cells(0)[3] == "0.20"


def test_a_conflict_with_another_editor_is_asked_about(bench_page: Any, server: Any) -> None:
    page = bench_page.page
    bench_page.edit("score += 0.25", "score += 0.01")
    path = server.project / "rewards.py"
    path.write_text(path.read_text() + "# theirs\n")
    page.wait_for_selector("text=was changed by another program")
    page.click("text=Take the file")
    page.wait_for_function("() => window.RW.text.includes('# theirs')")
    assert "score += 0.01" not in bench_page.text


def test_a_reload_keeps_an_unsaved_text(bench_page: Any) -> None:
    page = bench_page.page
    bench_page.edit("score += 0.25", "score += 0.075")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    page.wait_for_function("() => window.RW.text.includes('0.075')")
    assert "score += 0.075" in bench_page.text


def test_text_of_the_last_moment_survives_closing_the_tab(open_page: Any, server: Any, as_bench: Any) -> None:
    first = as_bench(open_page(server))
    first.replace("score += 0.25", "score += 0.0125")
    first.page.close(run_before_unload=False)
    second = as_bench(open_page(server, wait=False))
    second.page.wait_for_selector("body[data-ready]")
    second.page.wait_for_function("() => window.RW.text.includes('0.0125')")


def test_hostile_text_is_shown_and_never_run(open_page: Any, server: Any, as_bench: Any) -> None:
    hostile = "<img src=x onerror=document.title='owned'>${document.title='owned'}{{7*7}}<script>1</script>"
    line = '{"prompt": "%s", "completion": "%s", "answer": "%s"}\n' % ((hostile,) * 3)
    (server.project / "samples.jsonl").write_text(line)
    bench = as_bench(open_page(server))
    assert hostile in bench.page.inner_text("#rw-text .rw-completion")
    assert bench.page.locator("#rw-results img, #rw-results script").count() == 0
    assert "owned" not in bench.page.title()


def test_light_and_dark_follow_the_system_and_the_button(open_page: Any, server: Any) -> None:
    page = open_page(server, color_scheme="dark")
    dark = page.evaluate("getComputedStyle(document.querySelector('.rw-detail')).backgroundColor")
    page.click("#rw-theme")
    page.wait_for_url("**__theme=light**")
    page.wait_for_selector("#rw-detail[data-shown]")
    light = page.evaluate("getComputedStyle(document.querySelector('.rw-detail')).backgroundColor")
    assert dark != light == "rgb(255, 255, 255)"


@pytest.mark.parametrize(
    ("width", "height"),
    [
        pytest.param(1440, 900, marks=pytest.mark.slow),
        pytest.param(1024, 768, marks=pytest.mark.slow),
        (800, 1000),
    ],
)
def test_nothing_overflows_sideways(
    open_page: Any, server: Any, as_bench: Any, width: int, height: int
) -> None:
    page = open_page(server, viewport={"width": width, "height": height})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for part in ("#rw-editor", "#rw-tiles", "#rw-grid", "#rw-text", "#rw-credits", "#rw-save"):
        box = page.locator(part).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width + 1
        assert box["height"] > 20
    as_bench(page).replace("score = 0.0\n", "score = 0.0\n        while True: pass\n")
    stop = page.wait_for_selector("#rw-stop:visible").bounding_box()
    assert stop["x"] + stop["width"] <= page.locator("#rw-keys").bounding_box()["x"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("#rw-stop")


def test_everything_can_be_reached_and_is_named(bench_page: Any) -> None:
    nameless = bench_page.page.evaluate(
        """[...document.querySelectorAll('#rw-bar :is(button,input,select), #rw-main :is(button,input,select)')]
        .filter((node) => node.offsetParent && !node.closest('.cm-editor'))
        .filter((node) => !(node.textContent.trim() || node.ariaLabel || node.title || node.labels?.[0]?.innerText))
        .map((node) => node.outerHTML)"""
    )
    assert nameless == []
    bench_page.page.click("#rw-keys")
    assert bench_page.page.is_visible("#rw-help")
    bench_page.page.keyboard.press("Escape")
    assert not bench_page.page.is_visible("#rw-help")


def test_twenty_thousand_rows_scroll_with_few_nodes_and_bytes(
    open_page: Any, server: Any, as_bench: Any
) -> None:
    with (server.project / "samples.jsonl").open("w") as file:
        for number in range(20_000):
            text = f"<think>{'x' * 200}</think><answer>{number % 5}</answer>"
            row = {"prompt": f"p{number // 8}", "completion": text, "answer": "2"}
            file.write(json.dumps(row) + "\n")
    bench = as_bench(open_page(server))
    page = bench.page
    page.wait_for_function("() => document.querySelector('#rw-grid').ariaRowCount === '20001'")
    sizes: list[int] = []
    page.on("response", lambda answer: sizes.append(len(answer.body())) if "/rw/" in answer.url else None)
    bench.edit("score += 0.25", "score += 0.125")
    page.wait_for_selector("#rw-detail[data-shown^='2:']") if bench.run == 2 else None
    assert page.evaluate("document.querySelectorAll('*').length") < 3000
    page.focus("#rw-grid")
    page.keyboard.press("End")
    page.wait_for_selector("#rw-detail[data-shown$=':19999']")
    assert sum(sizes) < 120_000
    assert Path(server.project).exists()


def test_a_file_without_samples_opens_and_says_what_is_missing(
    start: Any, project: Path, open_page: Any
) -> None:
    page = open_page(start(project / "rewards.py"), wait=False)
    page.wait_for_selector("text=No scores yet")
    assert "no completions to score: add --samples" in page.inner_text("#rw-empty")
    assert "def shaped" in page.evaluate("window.RW.text")
    page.click("#rw-empty >> text=Open completions")
    page.fill("#rw-samples #rw-path", "samples.jsonl")
    page.click("#rw-look-go")
    page.click("#rw-use")
    page.wait_for_selector("#rw-results-in[data-status=scored]")
    page.wait_for_selector(".rw-fill .rw-row[data-row='5']")


def test_what_is_whole_is_scored_sooner_than_half_a_word(bench_page: Any) -> None:
    def pause(was: str, text: str) -> int:
        return int(bench_page.page.evaluate("([was, text]) => RW.pauseAfter(was, text)", [was, text]))

    half = [("x = le", "x = len"), ("x", "x."), ("x = a", "x = a+"), ("aa", "aaa")]
    whole = [
        ("x = 1", "x = 12"),
        ("f(x", "f(x)"),
        ("a", "a\n"),
        ("", "pasted"),
        ("x = 0.25", "x = 0.5"),
        ("xyz", "xy"),
    ]
    assert len({pause(*change) for change in half}) == len({pause(*change) for change in whole}) == 1
    assert pause(*half[0]) > pause(*whole[0])
