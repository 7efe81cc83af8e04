"""JSONL: what is read, and what each kind of broken line is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rewards.errors import SamplesError
from tests.workbench.samples.conftest import Write
from workbench.samples import read_samples

GOOD = {"prompt": "2 + 2?", "completion": "4", "answer": "4"}


def reasons(path: Path) -> list[str]:
    return [f"{skip.line}: {skip.why}" for skip in read_samples([path]).skipped]


def test_every_row_is_read_with_its_columns(write) -> None:
    samples = read_samples([write("s.jsonl", GOOD, {**GOOD, "completion": "5"})])
    assert samples.completions == ["4", "5"]
    assert samples.prompts == ["2 + 2?", "2 + 2?"]
    assert samples.columns == {"answer": ["4", "4"]}
    assert not samples.skipped


def test_each_broken_line_is_told_with_its_reason(formats: Path) -> None:
    samples = read_samples([formats / "malformed.jsonl"])
    assert samples.completions == ["A: 1", "A: 5", "A: 6"]
    assert [str(skip).partition(", ")[2] for skip in samples.skipped] == [
        "line 3: not JSON: unterminated string starting at column 44",
        "line 4: no `completion`",
        "line 5: `completion` is null, not a text or a list of chat messages",
        "line 6: `completion` is a number (4), not a text or a list of chat messages",
        "line 7: a list, not an object with `prompt` and `completion`",
    ]


def test_a_skipped_row_names_file_and_line(write) -> None:
    path = write("s.jsonl", GOOD, "{")
    assert str(read_samples([path]).skipped[0]).startswith(f"{path}, line 2: not JSON: ")


def test_nan_is_a_missing_value_as_in_the_loader_used_for_training(write) -> None:
    path = write("s.jsonl", '{"prompt": "p", "completion": "c", "answer": NaN}')
    assert read_samples([path]).columns["answer"] == [None]


def test_infinity_is_not_json(write) -> None:
    path = write("s.jsonl", GOOD, '{"prompt": "p", "completion": "c", "answer": -Infinity}')
    assert reasons(path) == ["2: -Infinity is not JSON"]


def test_a_number_too_long_for_python_costs_one_line(write) -> None:
    path = write("s.jsonl", GOOD, '{"prompt": "p", "completion": "c", "answer": ' + "1" * 5000 + "}")
    assert len(reasons(path)) == 1


def test_a_deeply_nested_line_costs_one_line(write) -> None:
    assert reasons(write("s.jsonl", GOOD, "[" * 100_000)) == [
        "2: not JSON that can be read: nested too deeply"
    ]


def test_bytes_that_are_no_text_cost_their_lines_alone(write, tmp_path: Path) -> None:
    path = write("s.jsonl", GOOD, GOOD)
    path.write_bytes(
        path.read_bytes() + bytes(range(128, 256)) + b"\n" + b'{"prompt": "\xff", "completion": "c"}\n'
    )
    assert reasons(path) == ["3: not UTF-8 text", "4: not UTF-8 text"]


def test_half_a_binary_file_still_gives_its_good_rows(write) -> None:
    path = write("s.jsonl", *[GOOD] * 20)
    path.write_bytes(path.read_bytes() + os.urandom(20_000))
    samples = read_samples([path])
    assert len(samples) == 20
    assert samples.skipped


def test_a_lone_surrogate_is_told(write) -> None:
    path = write("s.jsonl", GOOD, r'{"prompt": "p", "completion": "a\ud800b"}')
    assert reasons(path) == ["2: not UTF-8 text: a lone surrogate at character 1"]


def test_a_pair_of_surrogates_is_an_ordinary_character(write) -> None:
    assert read_samples([write("s.jsonl", r'{"prompt": "p", "completion": "\ud83d\ude00"}')]).completions == [
        "😀"
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_understood(write, encoding: str) -> None:
    path = write("s.jsonl", {**GOOD, "completion": "größer"}, encoding=encoding)
    assert read_samples([path]).completions == ["größer"]


def test_windows_line_ends_and_blank_lines_are_no_rows(write) -> None:
    samples = read_samples([write("s.jsonl", GOOD, "", "   ", GOOD, end="\r\n")])
    assert len(samples) == 2
    assert not samples.skipped


def test_the_last_line_needs_no_line_end(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"prompt": "p", "completion": "c"}')
    assert read_samples([path]).completions == ["c"]


def test_a_line_of_megabytes_is_read(write) -> None:
    samples = read_samples([write("s.jsonl", {**GOOD, "completion": "x" * 3_000_000}, GOOD)])
    assert [len(text) for text in samples.completions] == [3_000_000, 1]


def test_line_separators_inside_a_text_do_not_cut_a_line(write) -> None:
    text = "a\u2028b\u0085c"
    assert read_samples([write("s.jsonl", {**GOOD, "completion": text})]).completions == [text]


def test_an_empty_file_is_one_sentence(write) -> None:
    with pytest.raises(SamplesError, match=r"s\.jsonl: empty, there is no row to read$"):
        read_samples([write("s.jsonl", "", end="")])


def test_a_file_without_a_readable_row_tells_the_first_reason_and_the_count(write) -> None:
    with pytest.raises(
        SamplesError, match=r"s\.jsonl, line 1: not JSON.* \(2 rows skipped, this is the first\)$"
    ):
        read_samples([write("s.jsonl", "x", "y")])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SamplesError, match=r"there is no samples file .*nowhere\.jsonl"):
        read_samples([tmp_path / "nowhere.jsonl"])


def test_a_file_without_permission_is_told(write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("s.jsonl", GOOD)

    def refuse(*_args: object, **_keywords: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SamplesError, match=r"s\.jsonl: cannot be read: Permission denied$"):
        read_samples([path])


@pytest.mark.parametrize("name", ["s.jsonl", "s.json"])
@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("1e400", "Infinity is not JSON (1e400 is beyond every number)"),
        ("-1e400", "-Infinity is not JSON (-1e400 is beyond every number)"),
        ('1, "x": 2', "the key 'x' stands twice in one object"),
        ('{"y": 1, "y": 2}', "the key 'y' stands twice in one object"),
    ],
)
def test_numbers_beyond_every_number_and_repeated_keys_are_refused(
    write: Write, name: str, value: str, why: str
) -> None:
    good = '{"prompt": "p", "completion": "c", "x": 1.5e3}'
    samples = read_samples([write(name, good, f'{{"prompt": "p", "completion": "c", "x": {value}}}')])
    assert samples.columns == {"x": [1500.0]}
    assert samples.skipped[0].why.startswith(why)
