import json
from pathlib import Path

import pytest

from rewards.errors import UsageError
from workbench.samples import read_samples
from workbench.samples.in_memory import samples_from
from workbench.samples.writing import to_jsonl

FORMATS = Path(__file__).resolve().parents[3] / "fixtures" / "formats"


@pytest.mark.parametrize("name", ["trl_1.16", "verl_rollout", "openai_chat.jsonl", "prompt_completion.csv"])
def test_what_is_written_reads_as_the_same_samples(name, tmp_path):
    samples = read_samples([FORMATS / name])
    (tmp_path / "samples.jsonl").write_text(to_jsonl(samples))
    again = read_samples([tmp_path / "samples.jsonl"])
    assert again.prompts == samples.prompts
    assert again.completions == samples.completions
    assert again.labels == samples.labels
    assert again.ids == samples.ids
    assert [samples.groups.index(group) for group in samples.groups] == [
        again.groups.index(group) for group in again.groups
    ]
    filled = {
        name: values for name, values in samples.columns.items() if any(value is not None for value in values)
    }
    assert again.columns == filled


def test_labels_and_expected_scores_survive(tmp_path):
    samples = samples_from(
        [{"prompt": "p", "completion": "a \u202e b", "label": "hack", "expected": {"r": 0.5}}]
    )
    (tmp_path / "s.jsonl").write_text(to_jsonl(samples))
    again = read_samples([tmp_path / "s.jsonl"])
    assert (again.completions, again.labels, again.expected) == (["a \u202e b"], ["hack"], [{"r": 0.5}])


def test_a_line_is_strict_json_without_empty_fields():
    line = to_jsonl(samples_from([{"prompt": "p", "completion": "c", "answer": None}]))
    assert "answer" not in json.loads(line, parse_constant=pytest.fail)


def test_a_value_that_json_cannot_hold_is_a_sentence():
    samples = samples_from([{"prompt": "p", "completion": "c", "answer": "4"}])
    samples.columns["answer"][0] = {1, 2}
    with pytest.raises(UsageError, match=r"row 0 .* has a value that JSON cannot hold"):
        to_jsonl(samples)
