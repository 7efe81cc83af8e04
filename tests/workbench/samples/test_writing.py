import json
import math
from pathlib import Path

import pytest

from rewards.errors import UsageError
from workbench.samples import read_samples
from workbench.samples.in_memory import samples_from
from workbench.samples.writing import to_jsonl
from workbench.scoring import score

FORMATS = Path(__file__).resolve().parents[3] / "fixtures" / "formats"


@pytest.mark.parametrize("name", ["trl_1.16", "verl_rollout", "openai_chat.jsonl", "prompt_completion.csv"])
def test_what_is_written_reads_as_the_same_samples(name, tmp_path):
    samples = read_samples([FORMATS / name])
    (tmp_path / "samples.jsonl").write_text(to_jsonl(samples).text)
    again = read_samples([tmp_path / "samples.jsonl"])
    assert again.prompts == samples.prompts
    assert again.completions == samples.completions
    assert again.labels == samples.labels
    assert again.ids == samples.ids
    assert again.steps == samples.steps
    assert again.step_rows() == samples.step_rows()
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
    (tmp_path / "s.jsonl").write_text(to_jsonl(samples).text)
    again = read_samples([tmp_path / "s.jsonl"])
    assert (again.completions, again.labels, again.expected) == (["a \u202e b"], ["hack"], [{"r": 0.5}])


def test_a_line_is_strict_json_without_empty_fields():
    line = to_jsonl(samples_from([{"prompt": "p", "completion": "c", "answer": None}])).text
    assert "answer" not in json.loads(line, parse_constant=pytest.fail)


def test_a_value_that_json_cannot_hold_is_a_sentence():
    samples = samples_from([{"prompt": "p", "completion": "c", "answer": "4"}])
    samples.columns["answer"][0] = {1, 2}
    with pytest.raises(
        UsageError, match=r"no row can be written: .*`answer` has a value that JSON cannot hold"
    ):
        to_jsonl(samples)


def test_a_row_that_json_cannot_hold_is_told_and_the_others_are_written():
    samples = samples_from([{"prompt": "p", "completion": "c", "x": value} for value in (1.0, math.inf, 2.0)])
    written = to_jsonl(samples)
    assert [json.loads(line)["x"] for line in written.text.splitlines()] == [1.0, 2.0]
    assert [(skip.line, skip.why.partition(":")[0]) for skip in written.skipped] == [
        (1, "`x` has a value that JSON cannot hold")
    ]
    assert len(written.groups) == 2


def test_the_step_of_a_log_is_kept_and_is_no_column(tmp_path):
    (tmp_path / "s.jsonl").write_text(to_jsonl(read_samples([FORMATS / "trl_1.16"])).text)
    again = read_samples([tmp_path / "s.jsonl"])
    assert not {"step", "log_file"} & set(again.columns)
    assert (again.steps, len(again.step_rows())) == ([2] * 4 + [4] * 4, 2)
    (tmp_path / "t.jsonl").write_text(to_jsonl(again).text)
    assert (tmp_path / "t.jsonl").read_text() == (tmp_path / "s.jsonl").read_text()


def test_two_files_of_one_step_stay_two_calls(tmp_path):
    log = [{"step": 5, "prompt": "p", "completion": c, "r": 1.0, "advantage": 0.0} for c in "ab"]
    (tmp_path / "log").mkdir()
    for name in ("train.jsonl", "evaluation.jsonl"):
        (tmp_path / "log" / name).write_text("".join(json.dumps(row) + "\n" for row in log))
    samples = read_samples([tmp_path / "log"])
    (tmp_path / "s.jsonl").write_text(to_jsonl(samples).text)
    again = read_samples([tmp_path / "s.jsonl"])
    assert again.step_rows() == samples.step_rows() == [[0, 1], [2, 3]]
    assert again.groups == samples.groups


def test_a_step_that_is_a_column_stays_one(tmp_path):
    rows = [{"prompt": "p", "completion": "c", "step": step} for step in (1, 2)]
    (tmp_path / "s.jsonl").write_text(to_jsonl(samples_from(rows)).text)
    again = read_samples([tmp_path / "s.jsonl"])
    assert (again.columns["step"], again.steps, len(again.step_rows())) == ([1, 2], [1, 2], 2)


@pytest.mark.parametrize("scale", ["batch", "group"])
def test_an_imported_log_scores_as_the_log(scale, tmp_path):
    (tmp_path / "rewards.py").write_text(
        "def place(completions, **_):\n    return [float(row) for row in range(len(completions))]\n"
    )
    (tmp_path / "rewardset.toml").write_text(
        f'[set]\nscale_rewards = "{scale}"\n[[reward]]\nfunction = "rewards.py::place"\n'
    )
    samples = read_samples([FORMATS / "trl_1.16"])
    (tmp_path / "s.jsonl").write_text(to_jsonl(samples).text)
    before = score(str(tmp_path), samples)
    after = score(str(tmp_path), read_samples([tmp_path / "s.jsonl"]))
    assert after.totals.tolist() == before.totals.tolist()
    assert after.advantages.tolist() == before.advantages.tolist()
