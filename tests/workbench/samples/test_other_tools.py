"""Files as other tools write them: every one in fixtures/formats opens, and holds what it should."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from rewards.errors import SamplesError
from workbench.samples import read_samples

FILES = {  # file: rows, groups, chat, columns, recorded
    "verl_rollout/1.jsonl": (24, 24, False, ["gts", "pred"], ["score", "acc"]),
    "ms_swift_completions.jsonl": (12, 4, False, ["solution"], ["advantages", "MathAccuracy", "Format"]),
    "lm_eval/replay": (
        16, 16, False, ["question", "answer", "target"],
        ["exact_match, strict-match", "exact_match, flexible-extract"],
    ),
    "inspect/popularity.json": (3, 3, True, ["label_confidence", "nested", "target"], ["match"]),
    "inspect/popularity_deflate.eval": (10, 10, True, ["label_confidence", "target"], ["match"]),
    "inspect/gsm8k_zstd.eval": (10, 10, True, ["idx", "target"], ["match", "pattern"]),
    "verifiers_v0/gsm8k-demo--qwen2.5-3b-demo/abc12345": (
        16, 8, True, ["answer"], ["reward", "correct_answer", "response_length", "num_turns"],
    ),
    "verifiers_v1/gsmtask-v1--demo--null--0001": (
        8, 4, True, ["answer"], ["correct", "has_box", "reply_chars"],
    ),
    "nemo_gym_rollouts.jsonl": (
        5, 5, True, ["predicted_calls"], ["reward", "correctness", "schema_valid", "format"],
    ),
    "openai_chat.jsonl": (48, 12, True, ["answer"], []),
    "openai_n_choices.jsonl": (24, 6, False, ["answer"], []),
    "openai_batch_output.jsonl": (12, 12, True, [], []),
    "trl_real_text": (600, 200, False, ["solution"], ["advantage", "rg_score", "think_format_reward"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_tool_is_read_whole(formats: Path, name: str) -> None:
    samples = read_samples([formats / name])
    rows, groups, chat, columns, recorded = FILES[name]
    assert not samples.skipped
    assert (len(samples), len(set(samples.groups)), samples.chat) == (rows, groups, chat)
    assert (list(samples.columns), list(samples.recorded)) == (columns, recorded)


@pytest.mark.parametrize(
    "name",
    ["trl_1.16/log_history.json", "lm_eval/replay/results_2026-11-30T03-37-14.180171.json"],
)
def test_a_file_without_completions_beside_them_is_one_sentence(formats: Path, name: str) -> None:
    with pytest.raises(SamplesError, match="no `prompt` and no `completion` column; the columns are "):
        read_samples([formats / name])


def test_columns_of_another_tools_file_can_be_mapped(formats: Path) -> None:
    samples = read_samples([formats / "verl_rollout/1.jsonl"], columns={"gts": "answer", "acc": "correct"})
    assert list(samples.columns) == ["pred", "answer", "correct"]
    assert samples.columns["answer"][0] == "18"
    assert list(samples.recorded) == ["score"]


def test_verl_steps_are_steps(formats: Path) -> None:
    assert set(read_samples([formats / "verl_rollout"]).steps) == {1, 100}


def test_the_filters_of_lm_eval_are_scores_of_one_row(formats: Path) -> None:
    samples = read_samples([formats / "lm_eval/replay"])
    assert None not in samples.recorded["exact_match, flexible-extract"]
    assert sum(samples.recorded["exact_match, flexible-extract"]) > 0


def test_attachments_of_an_inspect_log_are_put_in_place(formats: Path) -> None:
    samples = read_samples([formats / "inspect/popularity.json"])
    assert "attachment://" not in json.dumps([samples.prompts, samples.completions])
    assert set(samples.recorded["match"]) <= {0.0, 1.0}


def test_a_damaged_entry_of_an_inspect_log_costs_itself_alone(formats: Path, tmp_path: Path) -> None:
    content = bytearray((formats / "inspect/gsm8k_zstd.eval").read_bytes())
    with zipfile.ZipFile(formats / "inspect/gsm8k_zstd.eval") as archive:
        entry = archive.getinfo("samples/gsm8k-7_epoch_1.json")
    content[entry.header_offset + 200 : entry.header_offset + 300] = bytes(100)
    (tmp_path / "log.eval").write_bytes(content)
    samples = read_samples([tmp_path / "log.eval"])
    assert len(samples) == 9
    assert samples.skipped[0].why == "samples/gsm8k-7_epoch_1.json: damaged, its checksum differs"


def test_tool_calls_are_kept_as_messages(formats: Path) -> None:
    completion = read_samples([formats / "nemo_gym_rollouts.jsonl"]).completions[0]
    assert [message["role"] for message in completion] == ["assistant", "tool", "assistant"]
    assert completion[0]["tool_calls"][0]["function"]["name"] == "get_weather"


def test_a_batch_outputs_failed_request_is_told(write) -> None:
    good = {
        "custom_id": "a",
        "response": {"body": {"choices": [{"message": {"content": "4"}}]}},
        "error": None,
    }
    bad = {"custom_id": "b", "response": None, "error": {"code": "server_error"}}
    samples = read_samples([write("out.jsonl", good, bad)])
    assert samples.ids == ["a"]
    assert samples.skipped[0].why == "the request has no completion: {'code': 'server_error'}"


def test_a_chat_that_ends_with_a_question_is_told(write) -> None:
    said = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}
    asked = {"messages": [{"role": "user", "content": "q"}]}
    samples = read_samples([write("chat.jsonl", said, asked)])
    assert [(skip.line, skip.why) for skip in samples.skipped] == [
        (2, "`messages` ends with a question: there is no assistant's message to judge")
    ]


BROKEN: list[dict[str, Any]] = [
    {"input": "q", "output": "a", "score": None},
    {"doc": 1, "arguments": None, "resps": None, "target": 1},
    {"input": 1, "target": 1, "output": None, "epoch": 1},
    {"example_id": 1, "prompt": None, "completion": None, "reward": "x"},
    {"traces": [{"nodes": [1, {"parent": 5, "sampled": True}], "task": 3}]},
    {"responses_create_params": None, "response": {"output": [1]}},
    {"custom_id": None, "response": {"body": {"choices": [3]}}},
    {"prompt": None, "completions": [None, 4]},
    {"messages": [None, 3]},
    {"prompt": ["a"], "completion": ["b"], "step": [[]]},
]


@pytest.mark.parametrize("record", BROKEN, ids=lambda record: ", ".join(record))
def test_a_record_of_odd_values_is_read_or_told_but_never_a_crash(write, record: dict[str, Any]) -> None:
    good = {"prompt": "p", "completion": "c"}
    samples = read_samples([write("odd.jsonl", record), write("good.jsonl", good)])
    assert len(samples) + len(samples.skipped) >= 2
