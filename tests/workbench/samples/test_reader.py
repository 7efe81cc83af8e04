"""Files that can be read only once."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from pathlib import Path

import pytest

from rewards.errors import SamplesError
from workbench.samples import read_samples
from workbench.samples.reader import holds_samples


def pipe_of(path: Path, content: str) -> Path:
    """A named pipe that gives this content once; whatever opens it again waits for ever or reads nothing."""

    def give() -> None:
        with path.open("w") as pipe:
            pipe.write(content)

    os.mkfifo(path)
    threading.Thread(target=give, daemon=True).start()
    return path


def lines(count: int) -> str:
    rows = ({"prompt": f"p{number}", "completion": "c" * 50} for number in range(count))
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("count", [1, 5000])
def test_every_row_of_a_pipe_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    samples = read_samples([pipe_of(tmp_path / "pipe.jsonl", lines(count))])
    assert (len(samples), samples.skipped) == (count, [])
    assert samples.places[0].file == samples.sources[0] == tmp_path / "pipe.jsonl"
    assert [path.name for path in tmp_path.iterdir()] == ["pipe.jsonl"]


def test_messages_name_the_pipe(tmp_path: Path) -> None:
    pipe = pipe_of(tmp_path / "pipe.jsonl", lines(1) + "no json\n")
    assert [str(skip).partition(", ")[0] for skip in read_samples([pipe]).skipped] == [str(pipe)]


def test_the_columns_of_a_pipe_are_told(tmp_path: Path) -> None:
    pipe = pipe_of(tmp_path / "pipe.jsonl", '{"prompt": "p", "response": "c"}\n')
    with pytest.raises(
        SamplesError, match=r"pipe\.jsonl: no `completion` column; the columns are prompt, response"
    ):
        read_samples([pipe])


def test_nobody_waits_for_a_pipe_to_tell_what_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert not holds_samples(tmp_path / "pipe.jsonl")
