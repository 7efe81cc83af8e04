"""report.html: everything of the folder on one page that asks for nothing and runs nothing of a user's."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from trainer.reports.card import write_card
from trainer.reports.curves import Curve, Interval, curves, intervals
from trainer.reports.report import report
from trainer.reports.stages import ends
from trainer.rundir import RunDir, Stage

EVIL = "<script>alert(1)</script>&\"'"
COMPARISON = {
    "lines": [
        {
            "name": "total",
            "base": 1.0,
            "trained": 1.5,
            "verdict": "better",
            "paired": {"mean": 0.5, "low": 0.25, "high": 0.75},
        }
    ],
    "sampling": {"temperature": 0.7, "top_p": 0.9},
    "prompts": 20,
    "completions": 8,
    "sentence": "total 1.0 -> 1.5",
    "notes": ["five were left aside"],
    "worst": [
        {"prompt": "What is 1 + 1?", "base": "2", "trained": EVIL, "base_total": 1.0, "trained_total": 0.0}
    ],
}


class Tags(HTMLParser):
    """The tags of a page, and whether each that was opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "line", "rect", "circle", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag


@pytest.fixture
def run(tiny_run: Path) -> RunDir:
    """A finished run with samples, diagnoses, an evaluation, a proof and a comparison."""
    found = RunDir.open(tiny_run)
    found.samples.mkdir()
    sample = {
        "step": 1, "group": "a", "prompt": EVIL, "completion": EVIL, "scores": {"tagged": 0.5, "right": None},
        "total": 0.5, "advantage": 0.7, "errors": {"right": EVIL},
    }  # fmt: skip
    for step in (1, 2):
        (found.samples / f"step_{step:05d}.jsonl").write_text(json.dumps({**sample, "step": step}) + "\n")
    told = {"seen": EVIL, "means": "It moves fast", "advice": "Slow down", "name": "kl"}
    lines = [{**told, "step": 1, "severity": "warning"}, {**told, "step": 2, "severity": "critical"}]
    found.diagnoses_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    pair = {"base": 0.2, "now": 0.6, "mean": 0.4, "low": 0.1, "high": 0.7, "verdict": "better"}
    evaluation = {"step": 2, "prompts": 2, "rewards": {"total": pair}}
    found.evaluations_path.write_text(json.dumps(evaluation) + "\n")
    checks = [
        {"name": "keys", "passed": True, "sentence": "all there"},
        {"name": "x", "passed": None, "sentence": "-"},
    ]
    (found.path / "merge-proof.json").write_text(json.dumps({"proved": True, "checks": checks}))
    (found.path / "comparison.json").write_text(json.dumps(COMPARISON))
    return found


@pytest.mark.guide("G23")
def test_the_report_has_all_of_a_run(run: RunDir) -> None:
    text = report(run)
    for part in (
        "not sealed", "right</td><td>correctness</td><td>0 (watched, not trained on)", "Total reward", "0.25 → 0.75",
        "critical, step 2", "Slow down", "+0.400 (+0.100 to +0.700)", "no score", "all there", "total 1.0 -&gt; 1.5",
        "five were left aside", "+0.500 (+0.250 to +0.750)", "learning_rate", "stand for the task and are not the task",
        "trl 1.16.0",
    ):  # fmt: skip
        assert part in text, part
    assert "warning, step 1" not in text  # only the worst of a diagnosis


def test_the_report_asks_for_nothing_and_runs_nothing(run: RunDir) -> None:
    text = report(run)
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert not {"script", "link", "img", "iframe"} & set(tags.seen)
    assert "svg" in tags.seen
    assert not re.search(r"(https?:)?//|url\(|@import|\bon\w+=", text.replace("<!doctype", ""))
    assert text.count("&lt;script&gt;") >= 5
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text


def test_what_was_not_done_is_said(tiny_run: Path) -> None:
    text = report(RunDir.open(tiny_run))
    for sentence in (
        "Not merged yet", "Not compared yet", "No completion was recorded", "None was asked for (held_out_every)",
        "The monitor had nothing to say",
    ):  # fmt: skip
        assert sentence in text


def test_without_samples_the_record_of_the_steps_is_shown(tiny_run: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    row = {
        "step": 2, "prompt": "What is 1 + 1?", "completion": "<b>2", "tagged": 0.25, "right": None, "total": 0.25,
        "advantage": -0.5, "errors": {"tagged": None, "right": "ValueError: no"},
    }  # fmt: skip
    errors = pa.struct([("tagged", pa.string()), ("right", pa.string())])
    table = pa.Table.from_pylist([row], schema=pa.schema([
        ("step", pa.int64()), ("prompt", pa.string()), ("completion", pa.string()), ("tagged", pa.float64()),
        ("right", pa.float64()), ("total", pa.float64()), ("advantage", pa.float64()), ("errors", errors),
    ]))  # fmt: skip
    parquet.write_table(table, tiny_run / "completions" / "step_00002.parquet")
    text = report(RunDir.open(tiny_run))
    assert "<pre>&lt;b&gt;2</pre>" in text
    assert "step 2 · total 0.25 · advantage -0.5 · tagged 0.25, right no score" in text
    assert "right: ValueError: no" in text
    assert "tagged: None" not in text


def test_a_failed_proof_leads(run: RunDir) -> None:
    checks = [{"name": "keys", "passed": False, "sentence": "one is missing"}]
    (run.path / "merge-proof.json").write_text(json.dumps({"proved": False, "checks": checks}))
    text = report(run)
    assert "<b>not proved</b>" in text
    assert "failed</td><td>one is missing" in text


def test_stages_are_marked_where_they_begin(run: RunDir) -> None:
    run.write_stages([Stage("one", ("tagged",), 1, 1, "done"), Stage("two", ("right",), 1, 1, "done")])
    text = report(run)
    assert text.count('class="mark"') >= 2
    assert "<td>two</td><td>right</td><td>all</td><td>1 of 1</td><td>done</td>" in text


def test_card_and_report_are_written_together(tiny_run: Path) -> None:
    write_card(RunDir.open(tiny_run))
    assert (tiny_run / "report.html").read_text().startswith("<!doctype html>")


def test_long_curves_are_thinned_and_gaps_left_out() -> None:
    values = [(float(step), float("nan") if step % 2 else 1.0) for step in range(2000)]
    points = Curve("a", values).thinned()
    assert len(points) == 250
    assert {value for _, value in points} == {1.0}
    assert curves([Curve("a", [])], "nothing") == ""


def test_an_interval_below_zero_lies_left_of_it() -> None:
    picture = intervals([Interval("<a>", -0.5, -0.75, -0.25)], "x")
    span = re.search(r'x1="([\d.]+)" y1="[\d.]+" x2="([\d.]+)" y2="[\d.]+" class="span"', picture)
    zero = re.search(r'x1="([\d.]+)" y1="0.0"', picture)
    assert span is not None
    assert zero is not None
    assert float(span[1]) < float(span[2]) < float(zero[1])
    assert "&lt;a&gt;" in picture
    assert "--less" in picture


def test_the_ends_of_a_course_are_means_of_several_steps() -> None:
    lines = [{"reward": float(step)} for step in range(8)]
    assert ends(lines, "reward") == (0.5, 6.5)
    assert ends(lines, "kl") == (None, None)


@pytest.mark.parametrize(
    "comparison", ['{"lines": []}', '{"lines": [{"name": 3, "paired": 4}]}', '{"lines": 7}']
)
def test_a_damaged_file_is_told_in_its_place_and_costs_nothing_else(tiny_run: Path, comparison: str) -> None:
    (tiny_run / "completions" / "step_00002.parquet").write_bytes(b"PAR1 torn")
    (tiny_run / "comparison.json").write_text(comparison)
    (tiny_run / "merge-proof.json").write_text("{}")
    write_card(RunDir.open(tiny_run))
    text = (tiny_run / "report.html").read_text()
    assert text.count("Not shown: a file of the run folder is damaged") == 3
    assert "All settings" in text
    assert "`comparison.json` is damaged" in (tiny_run / "README.md").read_text()


def test_a_card_that_cannot_be_written_leaves_the_run_finished(
    tiny_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from trainer.run import write_card as write_at_the_end

    monkeypatch.setattr("trainer.reports.card.read_facts", lambda run: {}["facts"])
    write_at_the_end(RunDir.open(tiny_run))
    said = capsys.readouterr()
    assert "the weights are in place; the model card" in said.out + said.err
