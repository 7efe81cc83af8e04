"""JSON files: lists, objects that hold one, and files that break off."""

from __future__ import annotations

import json

import pytest

from rewards.errors import SamplesError
from workbench.samples import read_samples

GOOD = {"prompt": "p", "completion": "c"}


def test_a_list_of_objects_is_read_with_line_numbers(write) -> None:
    path = write("s.json", json.dumps([GOOD, 3, GOOD], indent=1))
    samples = read_samples([path])
    assert len(samples) == 2
    assert [place.line for place in samples.places] == [2, 7]
    assert [str(skip) for skip in samples.skipped] == [
        f"{path}, line 6: a number (3), not an object with `prompt` and `completion`"
    ]


def test_a_list_that_breaks_off_gives_the_rows_before(write) -> None:
    samples = read_samples(
        [write("s.json", "[", '{"prompt": "p", "completion": "c"},', '{"prompt": "q", "comp')]
    )
    assert len(samples) == 1
    assert samples.skipped[0].line == 3
    assert samples.skipped[0].why.endswith("the rest of the file is not read")


def test_a_list_without_its_end_is_told(write) -> None:
    samples = read_samples([write("s.json", "[", '{"prompt": "p", "completion": "c"}')])
    assert [skip.why for skip in samples.skipped] == ["the list breaks off here, its end is missing"]


@pytest.mark.parametrize("key", ["samples", "rows", "data"])
def test_an_object_that_holds_the_list_is_read(write, key: str) -> None:
    assert len(read_samples([write("s.json", {"version": 1, key: [GOOD, GOOD]})])) == 2


def test_json_lines_under_the_name_json_are_read(write) -> None:
    assert len(read_samples([write("s.json", GOOD, GOOD, GOOD)])) == 3


def test_a_list_under_the_name_jsonl_is_read(write) -> None:
    assert len(read_samples([write("s.jsonl", "[", json.dumps(GOOD) + ",", json.dumps(GOOD), "]")])) == 2


def test_json_of_something_else_is_told(write) -> None:
    with pytest.raises(SamplesError, match=r"a number \(42\), not a list of objects"):
        read_samples([write("s.json", "42")])


def test_a_second_list_behind_the_first_is_read_on(write) -> None:
    samples = read_samples([write("s.json", [GOOD], [GOOD, GOOD])])
    assert ([place.line for place in samples.places], samples.skipped) == ([1, 2, 2], [])


def test_what_stands_behind_a_list_is_told(write) -> None:
    path = write("s.json", [GOOD], "", GOOD)
    samples = read_samples([path])
    assert len(samples) == 1
    assert [str(skip) for skip in samples.skipped] == [
        f"{path}, line 3: what stands behind the list is not read"
    ]
