"""`reward-workbench score`, run as a user would."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.workbench.cli.command import run, sentence

FILE = """
import sys


def layout(completions, **_):
    return [0.5 if "<" in text else 0.0 for text in completions]


def correctness(completions, answer, **_):
    return [float(gold in text) for text, gold in zip(completions, answer)]
"""
ROWS = [
    {"prompt": "1+1", "completion": "<2>", "answer": "2", "label": "right"},
    {"prompt": "1+1", "completion": "3", "answer": "2", "label": "wrong"},
    {"prompt": "2+2", "completion": "<5>", "answer": "4"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rewards.py").write_text(FILE)
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def test_jsonl_has_one_strict_object_a_row(folder: Path) -> None:
    done = run("score", "rewards.py", "--samples", "s.jsonl", "--format", "jsonl", cwd=folder)
    assert (done.code, done.err) == (0, "")
    rows = [json.loads(line, parse_constant=pytest.fail) for line in done.out.splitlines()]
    assert rows[0] == {
        "row": 0, "id": rows[0]["id"], "group": rows[0]["group"], "scores": {"layout": 0.5, "correctness": 1.0},
        "total": 1.5, "advantage": rows[0]["advantage"], "errors": {},
    }  # fmt: skip
    assert [row["total"] for row in rows] == [1.5, 0.0, 0.5]


def test_csv_and_parquet_hold_the_same_table(folder: Path) -> None:
    text = run("score", "rewards.py", "--samples", "s.jsonl", "--format", "csv", cwd=folder).out
    run(
        "score", "rewards.py", "--samples", "s.jsonl", "--format", "parquet", "--out", "t.parquet", cwd=folder
    )
    table = pq.read_table(folder / "t.parquet").to_pylist()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["total"]) for row in rows] == [row["total"] for row in table] == [1.5, 0.0, 0.5]
    assert [row["completion"] for row in rows] == ["<2>", "3", "<5>"]


def test_the_summary_names_rewards_groups_and_labels(folder: Path) -> None:
    out = run("score", "rewards.py", "--samples", "s.jsonl", cwd=folder).out
    assert "3 completions in 2 groups" in out
    assert "layout" in out
    assert "right (1)" in out
    assert "\x1b[" not in out


def test_only_and_weights_choose_rewards(folder: Path) -> None:
    done = run(
        "score",
        "rewards.py::layout",
        "--samples",
        "s.jsonl",
        "--weights",
        "layout=2",
        "--format",
        "jsonl",
        cwd=folder,
    )
    assert [json.loads(line)["total"] for line in done.out.splitlines()] == [1.0, 0.0, 1.0]
    done = run("score", "rewards.py", "--samples", "s.jsonl", "--only", "layot", cwd=folder)
    assert (done.code, sentence(done)) == (
        2,
        "error: rewards.py has no reward 'layot'; did you mean 'layout'?",
    )


def test_everything_works_in_a_folder_with_a_rewards_py_of_the_users(folder: Path) -> None:
    assert run("score", "rewards.py", "--samples", "s.jsonl", cwd=folder).code == 0


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def f(:\n", "bad.py, line 1: SyntaxError"),
        ("import no_such_thing\n", "No module named 'no_such_thing' (bad.py:1)"),
        ("import sys\nsys.exit(1)\n", "ends the process at import (exit code 1)"),
        ("while True:\n    pass\n", "was not loaded after 1 s: is there an endless loop at import?"),
        ("import os\nos._exit(0)\n", "ended the process while it was imported (exit code 0)"),
    ],
)
def test_a_file_that_does_not_load_exits_3(folder: Path, source: str, words: str) -> None:
    (folder / "bad.py").write_text(source)
    done = run("score", "bad.py", "--samples", "s.jsonl", cwd=folder, REWARD_WORKBENCH_LOAD_TIMEOUT_S="1")
    assert done.code == 3
    assert words in sentence(done)


def test_a_missing_column_exits_2_and_names_the_likely_one(folder: Path) -> None:
    rows = [{**row, "solution": row["answer"]} for row in ROWS]
    (folder / "s.jsonl").write_text(
        "".join(json.dumps({k: v for k, v in row.items() if k != "answer"}) + "\n" for row in rows)
    )
    done = run("score", "rewards.py", "--samples", "s.jsonl", cwd=folder)
    assert done.code == 2
    assert "requires the column 'answer'" in sentence(done)
    assert "'solution' looks like it" in sentence(done)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "s.jsonl"), (b"\x00\xff\xfe\x01" * 200, "s.jsonl"), (b'{"prompt": "a"}\n', "completion")],
)
def test_samples_without_a_readable_row_exit_2(folder: Path, content: bytes, words: str) -> None:
    (folder / "s.jsonl").write_bytes(content)
    done = run("score", "rewards.py", "--samples", "s.jsonl", cwd=folder)
    assert done.code == 2
    assert words in sentence(done)


def test_one_bad_line_is_named_and_the_rest_is_scored(folder: Path) -> None:
    with (folder / "s.jsonl").open("a") as file:
        file.write("{broken\n")
    done = run("score", "rewards.py", "--samples", "s.jsonl", "--format", "jsonl", cwd=folder)
    assert (done.code, len(done.out.splitlines())) == (0, 3)
    assert "s.jsonl, line 4: " in done.err


def test_mixed_chat_and_text_is_told_and_goes_on(folder: Path) -> None:
    chat = {
        "prompt": [{"role": "user", "content": "x"}],
        "completion": [{"role": "assistant", "content": "y"}],
        "answer": "1",
    }
    with (folder / "s.jsonl").open("a") as file:
        file.write(json.dumps(chat) + "\n")
    done = run("score", "rewards.py", "--samples", "s.jsonl", "--format", "jsonl", cwd=folder)
    assert done.code == 0
    assert "s.jsonl" in done.err


def test_a_reward_that_raises_on_row_17_of_200_scores_the_other_199(folder: Path) -> None:
    rows = [{"prompt": "p", "completion": str(row)} for row in range(200)]
    (folder / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "r.py").write_text(
        "def f(completions, **_):\n    return [1 / (17 - int(text)) for text in completions]\n"
    )
    done = run("score", "r.py", "--samples", "s.jsonl", "--format", "jsonl", cwd=folder)
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert [line["row"] for line in lines if line["scores"]["f"] is None] == [17]
    assert lines[17]["errors"]["f"] == "ZeroDivisionError: division by zero (r.py:2)"


@pytest.mark.parametrize("body", ["return [1.0]", "import sys; sys.exit(5)", "import os; os._exit(5)"])
def test_too_few_scores_or_an_exit_fail_the_rows_and_nothing_else(folder: Path, body: str) -> None:
    (folder / "r.py").write_text(
        f"def f(completions, **_):\n    {body}\n\ndef g(completions, **_):\n    return [1.0] * len(completions)\n"
    )
    done = run("score", "r.py", "--samples", "s.jsonl", "--format", "jsonl", cwd=folder)
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert all(row["scores"]["g"] == 1.0 for row in rows)
    assert any("f" in row["errors"] for row in rows)


def test_a_full_disk_keeps_the_old_output(folder: Path) -> None:
    out = folder / "scores.jsonl"
    out.write_text("old\n")
    done = run(
        "score", "rewards.py", "--samples", "s.jsonl", "--format", "jsonl", "--out", "scores.jsonl",
        cwd=folder, file_size=64,
    )  # fmt: skip
    assert done.code == 2
    assert "scores.jsonl cannot be written" in sentence(done)
    assert out.read_text() == "old\n"
    assert sorted(path.name for path in folder.iterdir() if path.name != ".workbench") == [
        "rewards.py",
        "s.jsonl",
        "scores.jsonl",
    ]


def test_wrong_use_is_one_line(folder: Path) -> None:
    for arguments in (
        ["score"],
        ["score", "nothere.py"],
        ["scoer"],
        ["score", "rewards.py", "--format", "xml"],
    ):
        done = run(*arguments, cwd=folder)
        assert done.code == 2
        assert sentence(done)


def test_a_reader_that_leaves_early_is_no_error(folder: Path) -> None:
    command = Path(sys.executable).with_name("reward-workbench")
    line = f"{command} score rewards.py --samples s.jsonl --format jsonl | true"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["score", "explain"])
def test_what_a_completion_holds_cannot_steer_the_terminal(folder: Path, command: str) -> None:
    (folder / "rewards.py").write_text(
        "def odd(completions, **_):\n    for text in completions:\n        if '3' in text:\n"
        "            raise ValueError('\\x1b[2J' + text)\n    return [1.0] * len(completions)\n"
    )
    rows = [{"prompt": "p", "completion": "\x1b]0;mine\x07 2"}, {"prompt": "p", "completion": "3 \x1b[31m"}]
    (folder / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run(command, "rewards.py", "--samples", "s.jsonl", cwd=folder)
    assert "ValueError" in done.out
    assert "\x1b" not in done.out + done.err
    assert "\x07" not in done.out + done.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "command", [("score", "rewards.py"), ("explain", "rewards.py", "--format", "json"), ("--help",)]
)
def test_a_full_disk_behind_standard_output_is_one_sentence(folder: Path, command: tuple[str, ...]) -> None:
    samples = ("--samples", "s.jsonl") if command[0] != "--help" else ()
    program = Path(sys.executable).with_name("reward-workbench")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [program, *command, *samples],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "error: the output cannot be written: No space left on device\n"


def test_columns_are_named_without_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "rewards.py").write_text(
        "def right(completions, answer, **_):\n    return [float(a in c) for a, c in zip(answer, completions)]\n"
    )
    (tmp_path / "s.jsonl").write_text('{"question": "p", "response": "abc", "gold": "b"}\n')
    done = run("score", "rewards.py", "--samples", "s.jsonl", cwd=tmp_path)
    assert "say --columns question=prompt,response=completion, or write" in sentence(done)
    names = "question=prompt,response=completion,gold=answer"
    done = run(
        "score", "rewards.py", "--samples", "s.jsonl", "--columns", names, "--format", "jsonl", cwd=tmp_path
    )
    assert json.loads(done.out)["total"] == 1.0
    done = run("score", "rewards.py", "--samples", "s.jsonl", "--columns", "gold", cwd=tmp_path)
    assert sentence(done).startswith("error: --columns gold: must be SOURCE=TARGET")


HALF = """
import json

def keys(completions, **_):
    for text in completions:
        print("seen", next(iter(json.loads(text))))
        if "a" not in json.loads(text):
            raise ValueError("unknown keys " + ", ".join(json.loads(text)))
    return [1.0 for _ in completions]

def first(completions, **_):
    return [1.0 if (next(iter(json.loads(text))) or "none") else 0.0 for text in completions]
"""


@pytest.mark.parametrize("format", ["text", "jsonl", "csv", "html", "parquet"])
def test_half_a_character_in_a_message_loses_no_row(tmp_path: Path, format: str) -> None:
    (tmp_path / "half.py").write_text(HALF)
    rows = [{"prompt": "p", "completion": text} for text in (r'{"\ud83d": 1}', '{"a": 1}')]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    to_file = ["--out", "o"] if format == "parquet" else []
    done = run("score", "half.py", "--samples", "s.jsonl", "--format", format, *to_file, cwd=tmp_path)
    assert (done.code, "Traceback" in done.err) == (0, False), done.err
    table = pq.read_table(tmp_path / "o").to_pylist()[0]["errors"] if to_file else done.out
    assert r"unknown keys \ud83d" in table.replace(r"\\", "\\") or format == "text"
    explained = run("explain", "half.py", "--samples", "s.jsonl", "--format", "json", cwd=tmp_path)
    assert (explained.code, explained.err) == (0, "")
    assert [json.loads(line)["row"] for line in explained.out.splitlines()] == [0, 1]
