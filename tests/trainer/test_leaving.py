"""What a user names to be written: somebody else's file or folder stays as it is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rewards.errors import UsageError
from trainer.__main__ import main
from trainer.job import Request
from trainer.leaving import has_rows_with, is_object_with, see_free
from trainer.merging.gguf_export import see_free_gguf
from trainer.merging.merge import merge
from trainer.preflight.dry_run import dry_run

ROW = '{"id": "x", "prompt": "p", "completion": "c"}'


@pytest.fixture(autouse=True)
def this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands run in the tests' own process, whose environment they leave alone."""
    monkeypatch.setattr("trainer.__main__.prepare_process", lambda: None)


def test_a_file_is_replaced_where_it_is_the_commands_own_empty_or_asked_for(tmp_path: Path) -> None:
    file, own = tmp_path / "x.jsonl", has_rows_with(("id", "prompt"))
    see_free(file, own=own, overwrite=False)
    for text in ("", ROW + "\n" + ROW, ROW.replace('"c"', '"two\u2028lines\x85"')):
        file.write_text(text)
        see_free(file, own=own, overwrite=False)
    for text in (
        '{"question": "mine"}',
        ROW + '\n{"prompt": "mine"}',
        ROW[:-1] + ', "label": "right"}',
        "[1]",
        "{",
    ):
        file.write_text(text)
        with pytest.raises(UsageError, match=r"x\.jsonl is there already, .* or replace it: --overwrite"):
            see_free(file, own=own, overwrite=False)
        see_free(file, own=own, overwrite=True)


def test_an_object_is_known_by_its_keys(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"answered": [], "sampling": {}}')
    assert is_object_with(("answered", "sampling"))(file)
    assert not is_object_with(("answered",))(file)
    file.write_text("{")
    assert not is_object_with(())(file)


@pytest.mark.parametrize("name", ["dry.jsonl", "dry.parquet"])
def test_a_dry_run_is_made_again_but_never_over_a_file_of_somebody_else(
    name: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, data = tmp_path / name, project / "train.jsonl"
    for _ in range(2):
        dry_run(Request(str(project)), prompts=1, out=out)
    before = data.read_text()
    assert main(["dry-run", str(project), "--prompts", "1", "--out", str(data)]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"error: {data} is there already, and not what this command writes; give --out another name, or replace it: "
        "--overwrite"
    )
    assert data.read_text() == before
    out.write_text("mine")
    assert main(["dry-run", str(project), "--prompts", "1", "--out", str(out), "--overwrite"]) == 0
    assert out.read_bytes() != b"mine"


def test_answers_replace_answers_and_nothing_else(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "answers.json"
    asked = ["sample", str(tiny_model), "--prompt", "Why?", "--out", str(out)]
    assert [main(asked), main(asked)] == [0, 0]
    out.write_text('{"mine": 1}')
    assert main(asked) == 2
    assert "is there already" in capsys.readouterr().err
    assert json.loads(out.read_text()) == {"mine": 1}
    assert main([*asked, "--overwrite"]) == 0


def test_a_folder_called_merged_in_an_output_folder_of_trl_is_not_taken_for_a_merge(
    tiny_adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trainer.merging.proof_files import Check

    done = Check(7, "fresh process", True, 0, 0, "")
    monkeypatch.setattr("trainer.merging.proof.check_fresh_reload", lambda *_: done)
    out = tmp_path / "out"
    shutil.copytree(tiny_adapter, out / "checkpoint-3")
    (out / "merged").mkdir()
    (out / "merged" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="merged exists already; give another --out"):
        merge(out)
    assert (out / "merged" / "mine.txt").read_text() == "mine"
    shutil.rmtree(out / "merged")
    assert merge(out).folder == merge(out).folder == out / "merged"  # its own is made anew


def test_a_gguf_file_beside_a_folder_that_is_yet_to_be_made_is_somebody_elses(tmp_path: Path) -> None:
    see_free_gguf(tmp_path / "model", "f16")
    (tmp_path / "model-f16.gguf").write_text("mine")
    with pytest.raises(UsageError, match=r"model-f16\.gguf exists already; give another --out"):
        see_free_gguf(tmp_path / "model", "f16")
