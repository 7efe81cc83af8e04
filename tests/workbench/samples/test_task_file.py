"""Task files: one record a prompt, with a list of judged completions."""

from __future__ import annotations

from workbench.samples import read_samples

TASK = {
    "prompt": [{"role": "user", "content": "8 times 9?"}],
    "answer": 72,
    "samples": [{"completion": "72", "label": "right"}, {"completion": "70", "label": "wrong"}],
}


def test_each_sample_is_a_row_with_the_ground_truth_of_its_prompt(write) -> None:
    samples = read_samples([write("t.jsonl", TASK, {**TASK, "answer": 1})])
    assert samples.columns == {"answer": [72, 72, 1, 1]}
    assert samples.labels == ["right", "wrong", "right", "wrong"]
    assert samples.completions[0] == [{"role": "assistant", "content": "72"}]


def test_a_record_is_a_group_even_where_two_ask_the_same(write) -> None:
    samples = read_samples([write("t.jsonl", TASK, TASK)])
    assert samples.groups == ["g0", "g0", "g1", "g1"]


def test_a_row_knows_its_line_and_its_place_in_the_list(write) -> None:
    samples = read_samples([write("t.jsonl", TASK, TASK)])
    assert [(place.line, place.sample) for place in samples.places] == [(1, 0), (1, 1), (2, 0), (2, 1)]


def test_a_bad_sample_costs_itself_alone(write) -> None:
    bad = {**TASK, "samples": ["text", {"label": "right"}, {"completion": "72"}]}
    samples = read_samples([write("t.jsonl", bad)])
    assert len(samples) == 1
    assert [skip.why for skip in samples.skipped] == [
        "sample 0 is a text, not an object with a `completion`",
        "sample 1: no `completion`",
    ]


def test_a_record_without_the_list_is_told(write) -> None:
    samples = read_samples([write("t.jsonl", TASK, {"prompt": "p", "completion": "c"})])
    assert [(skip.line, skip.why) for skip in samples.skipped] == [
        (2, "no `samples` list, which the first record of this file has")
    ]


def test_a_label_of_the_record_beside_those_of_the_samples_is_ground_truth(write) -> None:
    samples = read_samples([write("t.jsonl", {**TASK, "label": "cat"})])
    assert samples.labels == ["right", "wrong"]
    assert samples.columns["label"] == ["cat", "cat"]


def test_ids_of_a_record_are_told_apart_by_sample(write) -> None:
    assert read_samples([write("t.jsonl", {**TASK, "id": "t1"})]).ids == ["t1-0", "t1-1"]


def test_what_a_sample_says_wins_over_its_record(write) -> None:
    own = {
        **TASK,
        "samples": [{"completion": "a", "answer": 5, "expected": {"format": 0.5}}, {"completion": "b"}],
    }
    samples = read_samples([write("t.jsonl", own)])
    assert samples.columns["answer"] == [5, 72]
    assert samples.expected == [{"format": 0.5}, None]
