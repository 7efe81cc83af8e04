import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from rewards.errors import UsageError
from rewards.running import Runner
from workbench.mutants import running
from workbench.mutants.survivors import Survival, find_survivors, told_apart
from workbench.samples import read_samples

LONG = "def reward(completions, **kwargs):\n    return [1.0 if len(c.split()) > 5 else 0.0 for c in completions]\n"
WORDS = "so it goes on and on until it ends here"


@pytest.fixture(scope="module")
def runner():
    with Runner() as shared:
        yield shared


@pytest.fixture
def survival(tmp_path: Path, runner: Runner) -> Any:
    def run(source: str, counts: list[int], **said: list[Any]) -> Survival:
        rows: list[dict[str, Any]] = [
            {"prompt": "p", "completion": " ".join(WORDS.split()[:count]), "id": str(place)}
            for place, count in enumerate(counts)
        ]
        for key, values in said.items():
            for row, value in zip(rows, values, strict=True):
                row[key] = value
        (tmp_path / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / "rewards.py").write_text(source)
        found = find_survivors(
            tmp_path / "rewards.py", read_samples([tmp_path / "samples.jsonl"]), runner=runner
        )
        return found["reward"]

    return run


def survived(found: Survival) -> set[str]:
    return {str(survivor.change) for survivor in found.survivors}


def test_threshold_that_no_sample_meets_survives_with_a_completion_that_meets_it(survival):
    found = survival(LONG, [2, 9])
    assert "len(c.split()) >= 5 for len(c.split()) > 5" in survived(found)
    [survivor] = [s for s in found.survivors if str(s.change).startswith("len(c.split()) >= 5")]
    assert len(survivor.witness.text.split()) == 5
    assert (survivor.witness.score, survivor.witness.changed) == (0.0, 1.0)
    assert survivor.line == 2
    assert "it scores 0, and 1 with len(c.split()) >= 5" in survivor.suggestion
    assert found.by_line[2]


def test_samples_around_the_threshold_leave_nothing_unnoticed(survival):
    found = survival(LONG, [0, 2, 4, 5, 6, 7, 9])
    assert survived(found) == set()
    assert found.noticed == found.tried - found.ends.get("no difference", 0) - found.ends.get("same code", 0)


def test_changes_that_turn_labels_or_expected_scores_around_are_told_apart(survival):
    found = survival(LONG, [2, 9], label=["wrong", "right"])
    assert found.ends["label"] > 0
    found = survival(LONG, [2, 9], expected=[{"reward": 0.0}, {"reward": 1.0}])
    assert found.ends["expected"] > 0


def test_line_that_no_sample_runs_is_named(survival):
    source = "def reward(completions, **kwargs):\n    out = []\n    for c in completions:\n"
    source += "        if c.startswith('never'):\n            c = c[5:]\n"
    source += "        out.append(float(len(c)))\n    return out\n"
    assert survival(source, [2, 9]).unreached == (5,)


WRITING = """
import os
import sqlite3, subprocess, tempfile

def reward(completions, **kwargs):
    memory = sqlite3.connect(":memory:")
    with open("own.log", "a") as log, tempfile.TemporaryDirectory() as folder:
        log.write("scored")
        (mark := open(folder + "/mark", "w")).close()
        subprocess.run(["true"])
        os.kill(os.getppid(), 0)
        return [float(memory.execute("select length(?)", (c,)).fetchone()[0] > 5) for c in completions]
"""


def test_changed_names_of_files_and_programs_leave_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rewards.py").write_text(WRITING)
    rows = [{"prompt": "p", "completion": text} for text in ("12", "123456789")]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    before = set(tmp_path.iterdir()) | {tmp_path / "own.log"}
    with Runner() as runner:
        found = find_survivors("rewards.py", read_samples(["samples.jsonl"]), runner=runner)["reward"]
    assert set(tmp_path.iterdir()) == before
    assert found.ends["failure"] >= 4  # the names of the memory, the log and the program, the signal
    assert found.ends["no difference"] > 0  # it writes what the code writes, and may


def test_changes_that_hang_or_kill_are_noticed_and_end_with_their_process(survival):
    source = "def reward(completions, **kwargs):\n    n = 0\n    while n < 3:\n        n += 1\n"
    source += "    return [float(len(c) + n) for c in completions]\n"
    found = survival(source, [2, 9])
    assert found.ends["failure"] >= 2
    assert found.tried == found.possible


def test_law_of_the_project_notices_a_change(survival):
    law = "\n".join(
        [
            "from workbench.laws import law",
            "@law",
            "def never_negative(score, completion):",
            "    return score('so ' * 30) == 1",
        ]
    )
    found = survival(LONG + law + "\n", [2, 9])
    assert all(s.line == 2 for s in found.survivors)


def test_file_is_left_as_it_was_and_the_reward_of_a_random_kind_is_left_out(survival, tmp_path, runner):
    survival(LONG, [2, 9])
    assert (tmp_path / "rewards.py").read_text() == LONG
    source = (
        "import random\ndef reward(completions, **kwargs): return [random.random() for c in completions]\n"
    )
    (tmp_path / "rewards.py").write_text(source)
    assert (
        find_survivors(tmp_path / "rewards.py", read_samples([tmp_path / "samples.jsonl"]), runner=runner)
        == {}
    )
    assert sorted(os.listdir(tmp_path)) == ["rewards.py", "samples.jsonl"]


def test_no_samples_are_refused(tmp_path):
    (tmp_path / "s.jsonl").write_text('{"prompt": "p", "completion": "c"}\n')
    samples = read_samples([tmp_path / "s.jsonl"])
    for values in (samples.completions, samples.prompts):
        values.clear()
    with pytest.raises(UsageError, match="no samples"):
        find_survivors("rewards.py", samples)


def test_scores_that_differ_late_are_told_apart() -> None:
    assert told_apart(0.75, 0.5) == ("0.75", "0.5")
    assert told_apart(0.75, 0.750001) == ("0.75", "0.750001")
    assert told_apart(float("nan"), 1.0) == ("no score", "1")


def test_busy_and_waiting_children_are_ended_each_by_its_own_clock() -> None:
    def spins() -> dict[str, Any]:
        while True:
            pass

    def waits() -> dict[str, Any]:
        time.sleep(0.3)
        return {"end": "scored"}

    spun = running._in_child(spins, running._Patience(busy_s=0.1, seconds=60.0))
    assert spun.answer == {"end": "hangs"}
    assert 0.05 < spun.busy_s < 5.0
    waited = running._in_child(waits, running._Patience(busy_s=0.2, seconds=60.0))
    assert waited.answer == {"end": "scored"}
    assert waited.busy_s < 0.2 < waited.seconds
    late = running._in_child(waits, running._Patience(busy_s=5.0, seconds=0.05))
    assert late.answer == {"end": "hangs"}
