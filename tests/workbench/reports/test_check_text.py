import json
import re
from dataclasses import replace

import pytest

from rewards.running import Runner
from workbench.checks.report import Report, Skipped
from workbench.checks.runner import run_checks
from workbench.reports.check_json import check_json
from workbench.reports.check_text import check_text, completion_lines, safe, shorten, value_words
from workbench.samples import read_samples

SOURCE = """
def last_word(completions, **kwargs):
    return [float(c[-1]["content"].split()[-1] == "\\x1b[31m") for c in completions]
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("project")
    (folder / "rewards.py").write_text(SOURCE)
    rows = [
        {
            "prompt": [{"role": "user", "content": "Say it\nall."}],
            "completion": [{"role": "assistant", "content": f"word {n}"}],
            "answer": "4",
        }
        for n in range(4)
    ]
    (folder / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Runner() as runner:
        return run_checks(
            str(folder / "rewards.py"),
            read_samples([folder / "s.jsonl"]),
            select=["RW104", "RW110", "RW120"],
            quick=True,
            runner=runner,
        )


def test_finding_shows_completion_got_expected_line_and_remedy(report):
    text = check_text(report, width=100)
    assert "  error   RW110 raises  rewards.py:3" in text
    assert re.search(r'completion +""', text)
    assert re.search(r"got +IndexError: list index out of range \(rewards.py:3\)", text)
    assert re.search(r"expected +a number", text)
    assert re.search(r'line 3 +return \[float\(c\[-1\]\["content"\].split', text)
    assert re.search(r"do +Treat the case", text)


def test_prompt_is_one_line(report):
    assert re.search(r"prompt +Say it⏎all\.\n", check_text(report, width=100))


def test_what_did_not_run_is_said_with_the_reason(report):
    assert "not run: RW120 (left out by --quick)" in check_text(report, width=100)


def test_last_line_is_the_verdict_with_counts_and_strength(report):
    last = check_text(report, width=100).splitlines()[-1]
    assert re.fullmatch(
        r"fail: 1 error, in \d+\.\d s; evidence is weak: no samples labelled right and wrong", last
    )


HELD = Skipped("RW301", "held back", "layout", "format")


@pytest.mark.parametrize(
    ("skipped", "said"),
    [
        (
            [HELD],
            "1 check of 'layout' held back: 1 error, in 1.0 s; declare its kind (kind = \"format\"), or",
        ),
        (
            [HELD, HELD, replace(HELD, reward="right", held="correctness")],
            "3 checks of 'layout' and 'right' held back: 1 error, in 1.0 s; declare their kinds, or",
        ),
        (
            [replace(HELD, reward=f"r{number}") for number in range(5)],
            '5 checks of 5 rewards held back: 1 error, in 1.0 s; declare their kinds (kind = "format"), or',
        ),
    ],
    ids=["one", "two kinds", "many rewards"],
)
def test_verdict_says_what_was_held_back_and_what_runs_it(report, skipped, said):
    text = check_text(replace(report, skipped=tuple(skipped), seconds=1.0), width=80)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert f"fail, with {said} run with --assume-kinds; evidence is weak" in " ".join(text.split())
    python = check_text(replace(report, skipped=tuple(skipped)).for_python(), width=300)
    assert "or run with assume_kinds=True" in python.splitlines()[-1]


def test_no_line_is_wider_than_asked(report):
    assert max(len(line) for line in check_text(report, width=80).splitlines()) <= 80


def test_colour_only_where_it_is_asked_for(report):
    assert "\x1b" not in check_text(report, width=100)
    coloured = check_text(report, width=100, colour=True)
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == check_text(report, width=100)


def test_durations_are_listed_on_demand(report):
    assert re.search(r"RW110 +\d+\.\d+ s", check_text(report, durations=True))


def test_waived_finding_shows_its_reason_instead_of_the_evidence(report):
    waived = replace(report.rewards[0].findings[0], waived="as agreed")
    text = check_text(replace(report, rewards=(replace(report.rewards[0], findings=(waived,)),)), width=100)
    assert "  waived  RW110 raises" in text
    assert re.search(r"waived +as agreed", text)
    assert "1 waived" in text.splitlines()[-1]
    assert "expected" not in text


def test_json_report_is_strict_and_ascii(report):
    text = check_json(report)
    assert text.isascii()
    assert json.loads(text)["verdict"] == "fail"


def test_long_completion_is_folded_and_cut():
    lines = list(completion_lines("\n".join(f"line {n} " + "x" * 200 for n in range(20)), 60))
    assert len(lines) == 9
    assert all(len(line) <= 60 for line in lines)
    assert lines[-1].startswith("│ ... 12 more lines")


def test_messages_are_shown_with_their_roles():
    completion = [
        {"role": "assistant", "content": None, "tool_calls": [{}]},
        {"role": "tool", "content": "4"},
    ]
    assert list(completion_lines(completion, 60)) == ["assistant: None + a tool call", "tool: '4'"]


def test_control_characters_and_surrogates_are_escaped():
    assert safe("a\x1b[31m\u202e\ud83d") == "a\\x1b[31m\\u202e\\ud83d"
    assert shorten("a" * 100, 25).count("a") == 20


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (["gold", "topic"], "gold, topic"),
        ({"right": 0.5, "wrong": None}, "right 0.5, wrong None"),
        ([{"strategy": "an echo", "share": 0.42, "low": 0.0, "high": 1.0}], "an echo 42% (0% to 100%)"),
        ([], "nothing"),
        (True, "yes"),
    ],
)
def test_what_came_is_told_in_words_not_in_python(value, words):
    assert value_words(value) == words
