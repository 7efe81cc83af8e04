"""Our record of completions: columns, names, whole files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from trainer.rewarding.completions import Recorder, ScoredBatch, to_table, write_batch

CHAT = [{"role": "assistant", "content": "hi"}]


def batch(**changes: Any) -> ScoredBatch:
    values: dict[str, Any] = {
        "step": 3,
        "split": "train",
        "prompts": [[{"role": "user", "content": "q"}]] * 2,
        "completions": [CHAT, CHAT],
        "groups": ["3-0", "3-0"],
        "names": ("format", "right"),
        "scores": np.array([[0.5, np.nan], [1.0, 1.0]]),
        "totals": np.array([0.5, 2.0]),
        "advantages": np.array([-0.7, 0.7]),
        "errors": {0: {"right": "ValueError: no"}},
        "credits": [[{"name": "tag", "points": 0.25, "of": 0.5, "reward": "format"}], []],
        "seconds": {"format": 0.2, "right": 0.4},
        "columns": {"answer": [1, 2]},
    }
    return ScoredBatch(**{**values, **changes})


def test_a_batch_has_trls_columns_and_ours(tmp_path: Path) -> None:
    frame = pd.read_parquet(write_batch(tmp_path, batch()))
    trl = ["step", "prompt", "completion", "format", "right", "advantage"]
    assert list(frame.columns) == [*trl, "total", "group", "split", "credits", "errors", "seconds", "answer"]
    assert frame["right"].isna().tolist() == [True, False]
    assert frame["errors"][0] == {"format": None, "right": "ValueError: no"}
    assert frame["seconds"][0] == {"format": 0.1, "right": 0.2}
    assert list(frame["credits"][0]) == [{"reward": "format", "name": "tag", "points": 0.25, "of": 0.5}]
    assert frame["completion"][0][0] == CHAT[0]


def test_training_files_are_named_by_step_and_evaluation_files_are_numbered(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    recorder(batch())
    recorder(batch(split="eval"))
    recorder(batch(split="eval"))
    recorder.close()
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == ["eval_00003_001.parquet", "eval_00003_002.parquet", "step_00003.parquet"]


def test_a_column_of_mixed_kinds_is_kept_as_json() -> None:
    table = to_table(batch(columns={"odd": [{"a": 1}, "text"], "short": [1]}))
    assert table["odd"].to_pylist() == ['{"a": 1}', '"text"']
    assert "short" not in table.column_names


def test_a_data_column_never_replaces_one_of_the_record() -> None:
    assert to_table(batch(columns={"format": ["json", "xml"]}))["format"].to_pylist() == [0.5, 1.0]


def test_a_full_disk_is_told_at_the_next_flush(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    recorder = Recorder(tmp_path)
    recorder(batch())
    with pytest.raises(OSError, match="No space left"):
        recorder.flush()
    recorder.close()
