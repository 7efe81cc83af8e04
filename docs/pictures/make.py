"""Makes the pictures of the documents: starts the app on a fresh example project and photographs it.

    python docs/pictures/make.py            all pictures, into this folder
    python docs/pictures/make.py --into D   elsewhere, to look at them

Needs the extras `app` and `test` and a Chromium; the pictures of a finished run also `train`, and two minutes. The
projects, the drafts and the servers are gone afterwards.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.machine import find_chromium
from workbench.project import create_from_template

FLAGS = "--headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run"
WIDE, MIDDLE, NARROW = (1440, 900), (1024, 768), (800, 1100)
TRAINED = "arithmetic"
"""The template whose pictures show a finished run: the toy model learns its sums in a minute."""
PARTLY_PAID = 6
"""A row of the example project that is paid for its layout alone."""


@dataclass(frozen=True)
class Picture:
    """One picture: its file name, the window, what is done before it is taken, and the template it is taken of."""

    name: str
    size: tuple[int, int] = WIDE
    scheme: str = "light"
    before: Callable[[Any], None] = lambda page: select(page, PARTLY_PAID)
    template: str = "gsm8k"


def select(page: Any, row: int) -> None:
    """Show a row and wait for its partial credit."""
    page.evaluate(f"RW.goTo({row})")
    page.wait_for_selector(f"#rw-detail[data-shown$=':{row}']")


def hover_credit(page: Any) -> None:
    """Light the place in the text that one credit was given for."""
    select(page, PARTLY_PAID)
    page.hover("[data-reward=format] .rw-credit")


def show_lines(page: Any) -> None:
    """Open the lines that ran and the invisible characters."""
    select(page, PARTLY_PAID)
    page.click("[data-reward=incremental_format] .rw-lines summary")
    page.click("#rw-invisible")


def sort_hacks(page: Any) -> None:
    """The best paid of the completions labelled as hacks."""
    page.click("[data-chip='label:hack']")
    page.click("#rw-head >> text=total")
    page.wait_for_selector("[aria-sort=descending]")


def break_code(page: Any) -> None:
    """Type something that does not parse; the last scores stay, marked stale."""
    select(page, PARTLY_PAID)
    type_over(page, "scores = []", "scores = [")
    page.wait_for_selector("#rw-results-in[data-status=broken]")


def raise_on_some_rows(page: Any) -> None:
    """An error on some rows: the others keep their scores."""
    type_over(page, "given = to_number(", "given = float(")
    page.wait_for_selector(".rw-problem.rw-error")
    page.click("[data-chip=errors]")
    page.wait_for_selector(".rw-fill .rw-row[aria-selected] .rw-failed")
    page.wait_for_selector("#rw-detail:not(.rw-busy)")


def loop(page: Any) -> None:
    """A reward that never comes back: the page goes on."""
    select(page, PARTLY_PAID)
    type_over(page, "scores = []", "while True: pass")
    page.wait_for_selector("#rw-state[data-status=running]")


def find_nothing(page: Any) -> None:
    """A search without a result."""
    page.fill("#rw-search", "pelican")
    page.wait_for_selector("text=No completion matches")


def page_of(name: str, ready: str) -> Callable[[Any], None]:
    """Open a page by its tab and wait for what it shows."""

    def before(page: Any) -> None:
        page.click(f"#rw-tab-{name}")
        page.wait_for_selector(ready, timeout=180_000)

    return before


def other_weights(page: Any) -> None:
    """One weight typed, one reward muted; the row says what it should have got."""
    select(page, PARTLY_PAID)
    page.fill("[data-focus='weight:format']", "1.5")
    page.click("[data-muted=incremental_format]")
    page.wait_for_selector("#rw-weighing:visible")


def open_samples(page: Any) -> None:
    """The drawer with what is open, and a look at a file."""
    page.click("#rw-project")
    page.fill("#rw-path", "train.jsonl")
    page.click("#rw-look-go")
    page.wait_for_selector("#rw-mapping")


def quick_check(page: Any) -> None:
    """The findings of the quick checks."""
    page.click("#rw-tab-check")
    page.check("#rw-quick")
    page.click("#rw-check-run")
    page.wait_for_selector(".rw-verdict", timeout=300_000)


def compare_draft(page: Any) -> None:
    """The editor beside the saved file."""
    type_over(page, "given == expected", "given is not None")
    page.wait_for_selector("#rw-results-in[data-run='2'][data-status=scored]")
    page.click("#rw-tab-compare")
    page.wait_for_function("() => document.querySelector('#rw-side-new').value === 'draft'")
    page.click("#rw-compare-run")
    page.wait_for_selector("#rw-compared-rows[data-shown]", timeout=60_000)


def read_a_step(page: Any) -> None:
    """A run's completions at a step, one of them in full."""
    page.click("#rw-tab-train")
    page.wait_for_selector("#rw-record-rows[data-step]")
    page.click("#rw-record-rows tbody tr")
    page.wait_for_selector("#rw-record-detail[data-explained]", timeout=60_000)


def type_over(page: Any, old: str, new: str) -> None:
    """Replace the first occurrence of a text in the editor, as a person would."""
    page.evaluate(
        """(old) => { const view = document.querySelector('#rw-editor .cm-content').cmTile.view;
        const at = view.state.doc.toString().indexOf(old); view.focus();
        view.dispatch({selection: {anchor: at, head: at + old.length}, scrollIntoView: true}) }""",
        old,
    )
    page.keyboard.insert_text(new)


PICTURES = (
    Picture("write"),
    Picture("write-dark", scheme="dark"),
    Picture("write-1024", MIDDLE),
    Picture("write-800", NARROW),
    Picture("write-credit", before=hover_credit),
    Picture("write-lines-dark", scheme="dark", before=show_lines),
    Picture("write-hacks", before=sort_hacks),
    Picture("write-broken", before=break_code),
    Picture("write-errors", before=raise_on_some_rows),
    Picture("write-loop-dark", scheme="dark", before=loop),
    Picture("write-nothing", before=find_nothing),
    Picture("write-weights", before=other_weights),
    Picture("samples", before=open_samples),
    Picture("distributions", before=page_of("distributions", "#rw-page-distributions[data-edition]")),
    Picture("check", before=quick_check),
    Picture("compare-dark", scheme="dark", before=compare_draft),
    Picture("label", before=page_of("label", "#rw-label-place[data-row]")),
    Picture("train", before=page_of("train", "#rw-train-start")),
    Picture(
        "distributions-800", NARROW, before=page_of("distributions", "#rw-page-distributions[data-edition]")
    ),
    Picture("check-1024", MIDDLE, before=page_of("check", "#rw-seal")),
    Picture("train-800", NARROW, before=page_of("train", "#rw-train-start")),
    Picture("result-empty", before=page_of("result", "text=No run has finished yet")),
    Picture("train-run", before=read_a_step, template=TRAINED),
    Picture("train-run-800-dark", NARROW, "dark", read_a_step, TRAINED),
    Picture("result", before=page_of("result", "#rw-compared-sentence"), template=TRAINED),
    Picture("result-800-dark", NARROW, "dark", page_of("result", "#rw-compared-sentence"), TRAINED),
)


def train_toy(project: Path) -> None:
    """Train the toy model for forty steps, merge it and compare it with its base."""
    sets = ["model=toy", "max_steps=40", "save_steps=40"]
    train = ["train", str(project), "--allow-unsealed", *(part for text in sets for part in ("--set", text))]
    run = str(project / "runs" / f"{TRAINED}-1")
    for arguments in (train, ["merge", run], ["compare", run]):
        subprocess.run(
            [sys.executable, "-P", "-m", "trainer", *arguments], check=True, stdout=subprocess.DEVNULL
        )


@contextmanager
def served(folder: Path, template: str) -> Iterator[str]:
    """The address of a server on a fresh project of a template in `folder`."""
    project = folder / template
    create_from_template(project, template)
    if template == TRAINED:
        train_toy(project)
    said = folder / f"{template}.log"
    with said.open("wb") as file:
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", "workbench.cli.main", "serve", str(project), "--port", "0"],
            stderr=file,
            env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
        )
    try:
        while server.poll() is None:
            found = re.search(r"(http://\S+)\n", said.read_text())
            if found:
                yield found.group(1)
                return
            time.sleep(0.1)
        raise SystemExit(f"the server did not start:\n{said.read_text()}")
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)


def take(browser: Any, address: str, picture: Picture, into: Path) -> None:
    """Take one picture in a context of its own, and leave no draft."""
    width, height = picture.size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=picture.scheme)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#rw-results-in[data-status=scored]", timeout=60_000)
    page.wait_for_selector("#rw-detail[data-shown]")
    picture.before(page)
    page.wait_for_timeout(400)  # fonts and fades; nothing is measured here
    if picture.template == TRAINED:  # the pages are long; the window shows them whole
        whole = page.evaluate("document.querySelector(`#rw-page-${RW.page}`).scrollHeight + 60")
        page.set_viewport_size({"width": width, "height": int(whole)})
    page.screenshot(path=into / f"{picture.name}.png", full_page=picture.size is NARROW)
    page.evaluate("RW.showPage('write')")
    if page.is_visible("#rw-samples"):
        page.keyboard.press("Escape")
    if page.is_visible("#rw-revert"):
        page.click("#rw-revert")
        page.wait_for_selector("#rw-revert", state="hidden")
    context.close()


def main() -> None:
    """Make all pictures, or those named."""
    parser = argparse.ArgumentParser(description="Make the pictures of the documents.")
    parser.add_argument("names", nargs="*", help="only these pictures")
    parser.add_argument("--into", type=Path, default=Path(__file__).parent)
    asked = parser.parse_args()
    from playwright.sync_api import sync_playwright

    asked.into.mkdir(parents=True, exist_ok=True)
    wanted = [picture for picture in PICTURES if not asked.names or picture.name in asked.names]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS.split())
        for template in dict.fromkeys(picture.template for picture in wanted):
            with served(Path(folder), template) as address:
                for picture in wanted:
                    if picture.template == template:
                        take(browser, address, picture, asked.into)
                        print(asked.into / f"{picture.name}.png")
        browser.close()


if __name__ == "__main__":
    main()
