import json
from pathlib import Path

import pytest

from tests.workbench.cli.command import run, sentence


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "neat.py").write_text(
        "def neat(completions, **kwargs):\n    return [float(len(c) < 9) for c in completions]\n"
    )
    return tmp_path


def test_export_writes_the_folder_and_says_what_does_not_carry_over(file):
    done = run("export", "neat.py", "--to", "verl", "--out", "out", cwd=file)
    assert (done.code, done.out.split()) == (0, ["out/README.md", "out/neat.py", "out/verl_rewards.py"])
    assert "note: does not carry over: " in done.err
    again = run("export", "neat.py", "--to", "verl", "--out", "out", cwd=file)
    assert again.code == 2
    assert "nothing was written" in sentence(again)


def test_import_writes_what_score_reads(file):
    rows = [{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]}]
    (file / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "no json\n")
    done = run("import", "log.jsonl", "--out", "samples.jsonl", cwd=file)
    assert done.code == 0
    assert (done.out, done.err.splitlines()[-1]) == ("samples.jsonl\n", "note: 1 row in 1 group, 1 skipped")
    assert "log.jsonl, line 2: " in done.err
    assert run("score", "neat.py", "--samples", "samples.jsonl", cwd=file).code == 0


def test_import_replaces_a_samples_file_only_where_told_and_renames_columns(file):
    (file / "odd.csv").write_text("question,response\n1+1,2\n")
    (file / "o.jsonl").write_text("mine\n")
    words = ["import", "odd.csv", "--columns", "question=prompt,response=completion", "--out", "o.jsonl"]
    refused = run(*words, cwd=file)
    assert (refused.code, "o.jsonl is there already" in sentence(refused)) == (2, True)
    assert "--overwrite" in refused.err
    assert (file / "o.jsonl").read_text() == "mine\n"
    assert run(*words, "--overwrite", cwd=file).code == 0
    row = json.loads((file / "o.jsonl").read_text())
    assert (row["prompt"], row["completion"]) == ("1+1", "2")


def test_import_never_writes_over_what_it_reads(file):
    before = '{"prompt": "p", "completion": "c"}\nno json\n'
    (file / "own.jsonl").write_text(before)
    done = run("import", "own.jsonl", "--out", "./own.jsonl", cwd=file)
    assert (done.code, "is the file to read" in sentence(done)) == (2, True)
    assert (file / "own.jsonl").read_text() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["export", "neat.py", "--to", "ver", "--out", "o"], "did you mean 'verl'?"),
        (["export", "gone.py", "--to", "verl", "--out", "o"], "there is no file gone.py"),
        (["import", "gone.jsonl", "--out", "o.jsonl"], "gone.jsonl"),
        (["import", "neat.py", "--out", "o.jsonl"], "neat.py"),
    ],
)
def test_wrong_use_is_one_sentence(file, arguments, words):
    done = run(*arguments, cwd=file)
    assert done.code == 2
    assert words in sentence(done)


def test_folders_on_the_way_to_an_output_are_made(file):
    (file / "s.jsonl").write_text('{"prompt": "p", "completion": "yes"}\n')
    assert run("import", "s.jsonl", "--out", "new/deep/o.jsonl", cwd=file).out == "new/deep/o.jsonl\n"
    done = run("score", "neat.py", "--samples", "s.jsonl", "--out", "other/o.txt", cwd=file)
    assert (done.code, done.out, done.err) == (0, "", "wrote other/o.txt (folder made)\n")
    assert (file / "other" / "o.txt").is_file()
    again = run("score", "neat.py", "--samples", "s.jsonl", "--out", "other/o.txt", cwd=file)
    assert again.err == "wrote other/o.txt\n"
