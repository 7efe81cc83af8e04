"""Where results go, and what they never overwrite."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from rewards.errors import UsageError
from tests.workbench.cli.command import run, sentence
from workbench.cli.printing import is_stream, refuse_inputs, write_output
from workbench.samples import read_samples

ROW = json.dumps({"prompt": "p", "completion": "c"}) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text("ONE = 1.0\n")
    (tmp_path / "rewards.py").write_text(
        "import helper\n\n\ndef layout(completions, **_):\n    return [helper.ONE] * len(completions)\n"
    )
    (tmp_path / "rewardset.toml").write_text(
        '[set]\nsamples = "kept.jsonl"\n[[reward]]\nfunction = "rewards.py::layout"\n'
    )
    for name in ("kept.jsonl", "s.jsonl", "labels.jsonl", "rewardset.seal.json"):
        (tmp_path / name).write_text(ROW)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("s.jsonl", "the samples that are read"),
        ("kept.jsonl", "the samples of the manifest"),
        ("rewards.py", "the code of the rewards"),
        ("helper.py", "the code of the rewards"),
        ("rewardset.toml", "the manifest"),
        ("rewardset.seal.json", "the seal"),
        ("labels.jsonl", "the labels"),
    ],
)
def test_no_result_overwrites_what_is_read_or_kept(folder: Path, name: str, what: str) -> None:
    samples = read_samples([folder / "s.jsonl"])
    (folder / "link").symlink_to(folder / name)
    for out in (folder / name, folder / "link"):
        with pytest.raises(UsageError) as caught:
            refuse_inputs(out, str(folder), samples)
        assert str(caught.value) == f"--out {out} would overwrite {what}; give --out another name"


def test_an_older_report_may_be_overwritten(folder: Path) -> None:
    (folder / "report.json").write_text("{}")
    refuse_inputs(folder / "report.json", str(folder), read_samples([folder / "s.jsonl"]))


@pytest.mark.parametrize(
    "command", [("score", "--format", "jsonl"), ("check", "--quick", "--format", "json")]
)
@pytest.mark.parametrize("out", ["s.jsonl", "rewards.py"])
def test_score_and_check_refuse_before_anything_runs(
    folder: Path, command: tuple[str, ...], out: str
) -> None:
    before = (folder / out).read_text()
    done = run(command[0], "rewards.py", "--samples", "s.jsonl", *command[1:], "--out", out, cwd=folder)
    assert (done.code, done.out) == (2, "")
    assert f"--out {out} would overwrite the " in sentence(done)
    assert (folder / out).read_text() == before


def test_import_never_writes_over_a_file_of_the_folder_it_reads(folder: Path) -> None:
    (folder / "log").mkdir()
    (folder / "log" / "s.jsonl").write_text(ROW)
    done = run("import", "log", "--out", "log/s.jsonl", "--overwrite", cwd=folder)
    assert (done.code, "would overwrite the samples that are read" in sentence(done)) == (2, True)
    assert (folder / "log" / "s.jsonl").read_text() == ROW


def test_the_file_behind_a_link_is_written_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_output("new", tmp_path / "link.txt")
    assert ((tmp_path / "link.txt").is_symlink(), (tmp_path / "real.txt").read_text()) == (True, "new")


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    write_output("a line\n", pipe)
    reader.join(10)
    assert (got, pipe.is_fifo(), is_stream(pipe)) == (["a line\n"], True, True)


def test_standard_output_by_its_name_is_printed_to(folder: Path) -> None:
    done = run("import", "s.jsonl", "--out", "/dev/stdout", cwd=folder)
    assert (done.code, json.loads(done.out)["completion"]) == (0, "c")
    assert Path("/dev/stdout").is_symlink()


def test_a_name_as_long_as_a_name_may_be_is_written(tmp_path: Path) -> None:
    out = tmp_path / ("x" * 255)
    write_output("text", out)
    assert out.read_text() == "text"
