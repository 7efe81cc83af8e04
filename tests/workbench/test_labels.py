"""Labels beside the project: written, laid over the samples, never into them."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from rewards.errors import UsageError
from rewards.targets import parse_target
from workbench.labels import forget, keep_row, labels_file, rows_said, say, with_labels
from workbench.opening import open_target
from workbench.samples import Samples, read_samples

ROWS = [
    {"prompt": "1+1", "completion": "2", "answer": "2"},
    {"prompt": "1+1", "completion": "3", "answer": "2", "label": "right"},
    {"prompt": "2+2", "completion": "4", "answer": "4"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rewards.py").write_text("def r(completions, **_):\n    return [1.0] * len(completions)\n")
    write(tmp_path / "s.jsonl", ROWS)
    return tmp_path


def write(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def opened(folder: Path, *, pinned: bool = False) -> Samples:
    return open_target(folder / "rewards.py", [folder / "s.jsonl"], pinned=pinned).samples


def test_what_was_said_of_a_row_is_part_of_the_samples_from_then_on(folder: Path) -> None:
    file = labels_file(parse_target(folder / "rewards.py"))
    before = (folder / "s.jsonl").read_bytes()
    say(file, opened(folder), 0, label="wrong", expected={"r": 0.5, "s": None})
    samples = opened(folder)
    assert (samples.labels, samples.expected[0]) == (["wrong", "right", None], {"r": 0.5, "s": None})
    assert (folder / "s.jsonl").read_bytes() == before


def test_what_is_said_later_wins_and_the_rest_stays(folder: Path) -> None:
    file = folder / "labels.jsonl"
    say(file, opened(folder), 1, label="hack")
    say(file, opened(folder), 1, expected={"r": 1.0})
    say(file, opened(folder), 1, label="wrong", expected={"s": 0.0})
    (line,) = file.read_text().splitlines()
    assert json.loads(line)["expected"] == {"r": 1.0, "s": 0.0}
    assert (opened(folder).labels[1], opened(folder).expected[1]) == ("wrong", {"r": 1.0, "s": 0.0})


def test_rows_are_known_by_their_content_wherever_they_stand(folder: Path) -> None:
    say(folder / "labels.jsonl", opened(folder), 2, label="right")
    write(folder / "s.jsonl", [ROWS[2] | {"id": "other"}, ROWS[2] | {"answer": "5"}])
    assert opened(folder).labels == ["right", None]


def test_rows_that_are_gone_come_back_where_they_are_tests(folder: Path) -> None:
    say(folder / "labels.jsonl", opened(folder), 2, label="right")
    write(folder / "s.jsonl", ROWS[:2])
    assert len(opened(folder)) == 2
    pinned = opened(folder, pinned=True)
    assert (pinned.completions[2], pinned.labels[2], pinned.columns["answer"]) == (
        "4",
        "right",
        ["2", "2", "4"],
    )
    assert pinned.groups[2] not in pinned.groups[:2]
    assert {len(values) for values in (pinned.ids, pinned.steps, pinned.places, pinned.expected)} == {3}


def test_the_labels_are_a_samples_file(folder: Path) -> None:
    say(folder / "labels.jsonl", opened(folder), 0, label="right", expected={"r": 1.0})
    samples = read_samples([folder / "labels.jsonl"])
    assert (samples.completions, samples.labels, samples.expected) == (["2"], ["right"], [{"r": 1.0}])
    assert samples.columns == {"answer": ["2"]}


def test_lines_that_cannot_be_read_stay_and_are_told(folder: Path) -> None:
    file = folder / "labels.jsonl"
    file.write_text("not json\n")
    assert "labels.jsonl is not used" in opened(folder).notes[0]
    say(file, opened(folder), 0, label="right")
    samples = opened(folder)
    assert (samples.labels[0], [skip.line for skip in samples.skipped]) == ("right", [1])
    assert file.read_text().startswith("not json\n")


def test_chats_are_known_too(folder: Path) -> None:
    chat = [{"role": "assistant", "content": "2"}]
    write(folder / "s.jsonl", [{"prompt": [{"role": "user", "content": "1+1"}], "completion": chat}])
    say(folder / "labels.jsonl", opened(folder), 0, label="partial")
    assert opened(folder).labels == ["partial"]


@pytest.mark.parametrize(
    ("row", "said", "why"),
    [
        (9, {"label": "right"}, "there is no row 9: the samples have rows 0 to 2"),
        (0, {"label": "good"}, "--label good: must be one of right, partial, wrong, hack"),
        (0, {}, r"say something about row 0: --label right\|partial\|wrong\|hack or --expected NAME=SCORE"),
    ],
)
def test_wrong_use_is_one_sentence(folder: Path, row: int, said: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        say(folder / "labels.jsonl", opened(folder), row, **said)
    assert not (folder / "labels.jsonl").exists()


def test_without_labels_the_samples_are_the_very_same(folder: Path) -> None:
    samples = read_samples([folder / "s.jsonl"])
    assert with_labels(samples, folder / "labels.jsonl") is samples


def test_a_row_of_no_file_is_kept_once_and_forgotten_again(folder: Path) -> None:
    file = labels_file(parse_target(folder / "rewards.py"))
    keep_row(file, "9+9", "18", {"answer": "18", "hint": None})
    keep_row(file, "9+9", "18", {"answer": "18"}, label="right")
    samples = opened(folder, pinned=True)
    assert (len(samples), samples.labels[3], rows_said(samples, file)) == (4, "right", {3})
    assert forget(file, samples, 3)
    assert not forget(file, samples, 3)
    assert len(opened(folder, pinned=True)) == 3


def test_a_row_with_a_column_called_like_a_key_is_not_kept(folder: Path) -> None:
    with pytest.raises(UsageError, match="a column 'group' of its own"):
        keep_row(folder / "labels.jsonl", "p", "c", {"group": 1})


def test_separators_inside_a_text_do_not_tear_its_line(folder: Path) -> None:
    texts = ["one\u2028two", "three\u2029", "four\x85\x1e", "plain"]
    write(folder / "s.jsonl", [{"prompt": "p", "completion": text} for text in texts])
    file = folder / "labels.jsonl"
    for row in range(len(texts)):
        say(file, opened(folder), row, label="right")
    assert rows_said(opened(folder), file) == frozenset(range(len(texts)))


def test_what_is_said_at_the_same_time_is_all_kept(tmp_path: Path) -> None:
    write(tmp_path / "s.jsonl", [{"prompt": "p", "completion": str(number)} for number in range(12)])
    samples = read_samples([tmp_path / "s.jsonl"])
    file, start = tmp_path / "labels.jsonl", threading.Barrier(12)

    def one(row: int) -> None:
        start.wait()
        say(file, samples, row, label="right")

    threads = [threading.Thread(target=one, args=(row,)) for row in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows_said(samples, file) == frozenset(range(12))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.jsonl", "s.jsonl"]
