"""What a person waits for in the app: its start, an edit, scrolling; and what it moves.

    python benchmarks/app.py [--rounds 3] [--rows 20000 200000]

Start: from the command to the usable page (first scores and the first row's detail are painted), beside a Gradio page
with a text box and a button, which take turns (goal 1.5 times). Then, for each number of rows and three rewards: the
way from the address to the scores, from an edit of one reward to the repainted table (goal 0.6 s at 20,000 rows; a
pause of typing, the scoring and the painting), bytes that an edit moves (40 kB), nodes of the document (3,000), the way
to the last row. Needs Chromium at /usr/bin/chromium.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
EMPTY = """
import gradio as gr
with gr.Blocks() as page:
    box = gr.Textbox(elem_id="box")
    gr.Button("Go").click(lambda text: text, box, box)
page.launch(server_name="127.0.0.1", quiet=False)
"""
REWARDS = """
import re

def shaped(completions, **kwargs):
    scores = []
    for text in completions:
        score = 0.0
        if re.search(r"<think>.*?</think>", text, re.DOTALL):
            score += 0.25
        if "<answer>" in text:
            score += 0.5
        scores.append(score)
    return scores

def correct(completions, answer, **kwargs):
    return [float(text.split("<answer>")[-1].split("<")[0] == right) for text, right in zip(completions, answer)]

def brief(completions, **kwargs):
    return [max(0.0, 1.0 - len(text) / 2000) for text in completions]
"""
PATIENCE_MS = 240_000
EDITS = ("0.125", "0.375", "0.0625", "0.3125", "0.1875", "0.4375")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, nargs="*", default=[20_000, 200_000])
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS.split())
        place = Path(folder)
        small = project(place / "small", 6)
        (place / "empty.py").write_text(EMPTY)
        ours, plain = [], []
        for _ in range(options.rounds):
            plain.append(start_empty(place, browser))
            ours.append(start_ours(small, place, browser))
        ratio = statistics.median(one / other for one, other in zip(ours, plain, strict=True))
        print(
            json.dumps({"start": {"ours_s": ours, "gradio_s": plain, "ratio": round(ratio, 2)}}), flush=True
        )
        for rows in options.rows:
            measured = work(project(place / f"rows-{rows}", rows), place, browser, rows)
            print(json.dumps({"rows": rows, **measured}), flush=True)
        browser.close()
    return 0


def project(folder: Path, rows: int) -> Path:
    """Three rewards and this many completions, eight to a prompt."""
    folder.mkdir()
    (folder / "rewards.py").write_text(REWARDS)
    tables = "".join(
        f'[[reward]]\nfunction = "rewards.py::{name}"\n' for name in ("shaped", "correct", "brief")
    )
    (folder / "rewardset.toml").write_text(f'[set]\nsamples = "samples.jsonl"\n{tables}')
    with (folder / "samples.jsonl").open("w") as file:
        for number in range(rows):
            thought = "because of this and that, " * (8 + number % 37)
            text = f"<think>{thought}</think><answer>{number % 5}</answer>"
            file.write(json.dumps({"prompt": f"p{number // 8}", "completion": text, "answer": "2"}) + "\n")
    return folder


@contextmanager
def served(command: list[str], place: Path) -> Iterator[str]:
    """The address a server says it has."""
    said = place / f"said-{time.monotonic_ns()}"
    environment = {**os.environ, "XDG_STATE_HOME": str(place / "state"), "GRADIO_ANALYTICS_ENABLED": "False"}
    with said.open("wb") as file:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment
        )
    try:
        while process.poll() is None:
            if found := re.search(r"(http://\S+)\n", said.read_text()):
                yield found.group(1)
                return
            time.sleep(0.02)
        raise SystemExit(f"the server did not start: {said.read_text()}")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def start_empty(place: Path, browser: Any) -> float:
    """Seconds from the command to a text box that can be filled."""
    start = time.perf_counter()
    with served([sys.executable, "-u", str(place / "empty.py")], place) as url, opened(browser) as page:
        page.goto(url.rstrip("."))
        page.wait_for_selector("#box textarea")
        return time.perf_counter() - start


def start_ours(folder: Path, place: Path, browser: Any) -> float:
    """Seconds from the command to scores and the first row's detail."""
    start = time.perf_counter()
    with served(serve(folder), place) as url, opened(browser) as page:
        page.goto(url)
        ready(page)
        return time.perf_counter() - start


def serve(folder: Path) -> list[str]:
    return [sys.executable, "-P", "-m", "workbench.cli.main", "serve", str(folder), "--port", "0"]


@contextmanager
def opened(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    try:
        yield page
    finally:
        context.close()


def ready(page: Any) -> None:
    """The first scores are there, and the detail of the first row."""
    page.wait_for_selector("body[data-ready]")
    page.wait_for_selector("#rw-results-in[data-status=scored]")
    page.wait_for_selector("#rw-detail[data-shown]")


def work(folder: Path, place: Path, browser: Any, rows: int) -> dict[str, Any]:
    """Open, edit, scroll."""
    with served(serve(folder), place) as url, opened(browser) as page:
        start = time.perf_counter()
        page.goto(url)
        ready(page)
        page.wait_for_function(f"() => document.querySelector('#rw-grid').ariaRowCount === '{rows + 1}'")
        opening = time.perf_counter() - start
        seconds, scored, moved, old = [], [], [], "0.25"
        answers: list[Any] = []
        page.on("response", lambda answer: answers.append(answer))  # Playwright takes no builtin
        for new in EDITS:
            answers.clear()
            seconds.append(edit(page, f"score += {old}", f"score += {new}"))
            scored.append(page.evaluate("RW.state.shown.seconds"))
            page.wait_for_timeout(1500)
            moved.append(sum(answer.request.sizes()["responseBodySize"] for answer in answers))
            old = new
        nodes = page.evaluate("document.querySelectorAll('*').length")
        page.focus("#rw-grid")
        start = time.perf_counter()
        page.keyboard.press("End")
        page.wait_for_selector(f".rw-fill .rw-row[data-row='{rows - 1}']")
        end = time.perf_counter() - start
    return {
        "open_s": round(opening, 2),
        "edit_s": [round(each, 3) for each in seconds],
        "edit_median_s": round(statistics.median(seconds), 3),
        "scoring_median_s": round(statistics.median(scored), 3),
        "moved_bytes": moved,
        "nodes": nodes,
        "to_last_row_s": round(end, 3),
    }


def edit(page: Any, old: str, new: str) -> float:
    """Seconds from the change in the editor to two frames after the new scores are in the table."""
    return float(
        page.evaluate(
            """async ([old, fresh]) => {
            const view = document.querySelector('#rw-editor .cm-content').cmTile.view;
            const results = document.querySelector('#rw-results-in');
            const at = view.state.doc.toString().indexOf(old);
            const run = Number(results.dataset.run);
            const begun = performance.now();
            view.focus();
            view.dispatch({changes: {from: at, to: at + old.length, insert: fresh}, userEvent: 'input.type'});
            await new Promise((done) => { const look = () => {
                const {status, run: now, table} = document.querySelector('#rw-results-in').dataset;
                if (Number(now) > run && status === 'scored' && table.startsWith(`${now}:`)) done();
                else requestAnimationFrame(look) }; look() });
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            return (performance.now() - begun) / 1000 }""",
            [old, new],
        )
    )


if __name__ == "__main__":
    sys.exit(main())
