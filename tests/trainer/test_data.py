"""Training data: reading, mapping, chat, held-out prompts, order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rewards.errors import UsageError
from rewards.manifest import DataSettings
from trainer.data.prompts import (
    TrainingData,
    as_chat,
    fit_to_model,
    load_data,
    order,
    prompt_lengths,
    split_holdout,
    to_dataset,
)
from workbench.samples import read_samples

ROWS = [{"prompt": f"What is {n} + 1?", "answer": n + 1} for n in range(10)]


def jsonl(folder: Path, rows: list[Any], name: str = "train.jsonl") -> Path:
    path = folder / name
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def load(folder: Path, rows: list[Any], **settings: Any) -> TrainingData:
    jsonl(folder, rows)
    return load_data(DataSettings(**{"train": "train.jsonl", "holdout": 0.0, **settings}), folder, seed=0)


@pytest.mark.guide("G5")
def test_a_system_prompt_turns_text_prompts_into_chat(tmp_path: Path) -> None:
    data = load(tmp_path, ROWS, system_prompt="Maths")
    assert data.train[0] == {
        "prompt": [{"role": "system", "content": "Maths"}, {"role": "user", "content": "What is 0 + 1?"}],
        "answer": 1,
    }


@pytest.mark.guide("G5")
def test_few_shot_turns_of_the_data_stay_behind_the_system_prompt() -> None:
    shots = [
        {"role": "user", "content": "1"},
        {"role": "assistant", "content": "2"},
        {"role": "user", "content": "3"},
    ]
    assert [m["role"] for m in as_chat(shots, "S")] == ["system", "user", "assistant", "user"]
    own = [{"role": "system", "content": "mine"}, {"role": "user", "content": "1"}]
    assert as_chat(own, "S") == own


def test_without_a_system_prompt_text_stays_text(tmp_path: Path) -> None:
    data = load(tmp_path, ROWS)
    assert (data.train[0]["prompt"], data.conversational) == ("What is 0 + 1?", False)


@pytest.mark.guide("G18")
def test_a_csv_knowledge_base_is_mapped_by_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "kb.csv").write_text("question,expert_answer\nWhy?,Because\nHow?,So\n")
    columns = {"question": "prompt", "expert_answer": "answer"}
    data = load_data(DataSettings(train="kb.csv", columns=columns, holdout=0), tmp_path, seed=0)
    assert data.train == [{"prompt": "Why?", "answer": "Because"}, {"prompt": "How?", "answer": "So"}]


def test_one_row_without_a_mapped_column_has_none_there(tmp_path: Path) -> None:
    rows = [{"question": "Why?", "expert": "Because"}, {"question": "How?"}]
    data = load(tmp_path, rows, columns={"question": "prompt", "expert": "answer"})
    assert data.train == [{"prompt": "Why?", "answer": "Because"}, {"prompt": "How?", "answer": None}]
    with pytest.raises(UsageError, match=r"has no column 'exprt'.*did you mean 'expert'"):
        load(tmp_path, rows, columns={"question": "prompt", "exprt": "answer"})


def test_training_reads_what_scoring_reads(tmp_path: Path) -> None:
    chat = json.dumps([{"role": "user", "content": "Hi, you"}]).replace('"', '""')
    (tmp_path / "a.csv").write_text(f'prompt,answer\n"{chat}",\n"{chat}",x\n')
    (tmp_path / "a.jsonl").write_text(
        '{"prompt": "Why?\u2028", "answer": NaN}\n{"prompt": "b", "answer": "1"}\n'
    )
    for name in ("a.csv", "a.jsonl"):
        data = load_data(DataSettings(train=name, holdout=0), tmp_path, seed=0)
        samples = read_samples([_with_completions(tmp_path / name)])
        assert [row["answer"] for row in data.train] == samples.columns["answer"]
        assert len(data.train) == 2


def _with_completions(file: Path) -> Path:
    """The same rows as samples: a completion each."""
    other = file.with_stem("samples")
    if file.suffix == ".csv":
        head, *lines = file.read_text().splitlines()
        other.write_text("\n".join([f"{head},completion", *(f"{line},c" for line in lines)]) + "\n")
    else:
        other.write_text(file.read_text().replace("{", '{"completion": "c", '))
    return other


@pytest.mark.guide("G18")
def test_parquet_json_and_semicolon_csv_are_read_too(tmp_path: Path) -> None:
    import pandas as pd

    pd.DataFrame(ROWS).to_parquet(tmp_path / "d.parquet")
    (tmp_path / "d.json").write_text(json.dumps(ROWS))
    (tmp_path / "d.csv").write_text("\ufeffprompt;answer\nA;1\n")
    for name, count in (("d.parquet", 10), ("d.json", 10), ("d.csv", 1)):
        assert len(load_data(DataSettings(train=name, holdout=0), tmp_path, seed=0).train) == count


def test_a_bad_line_is_left_out_with_its_number(tmp_path: Path) -> None:
    data = load(tmp_path, [ROWS[0], "{broken", "[1]", {"prompt": " "}, ROWS[1]])
    assert len(data.train) == 2
    assert data.skipped[0].startswith("train.jsonl, line 2: no JSON")
    assert data.skipped[1:] == (
        "train.jsonl, line 3: list instead of an object",
        "train.jsonl, row 2: the prompt is empty",
    )


@pytest.mark.parametrize(
    ("rows", "settings", "sentence"),
    [
        ([], {}, "train.jsonl has no row to train on"),
        (
            [{"question": "a"}],
            {},
            "train.jsonl has no column 'prompt' (columns: question); [data] columns = ",
        ),
        (
            ROWS,
            {"columns": {"qestion": "prompt"}},
            "train.jsonl has no column 'qestion', which [data] columns maps",
        ),
        (
            [{"prompt": "a", "completions": 1}],
            {},
            "train.jsonl: the column 'completions' clashes with what TRL passes",
        ),
        ([{"prompt": "a", "image": 1}], {}, "train.jsonl: the column 'image' would switch TRL to images"),
        (
            [{"prompt": "a", "n": 1}, {"prompt": "b", "n": "2"}],
            {},
            "train.jsonl: the column 'n' holds numbers and text, but a column must be of one kind",
        ),
    ],
)
def test_data_that_cannot_be_trained_on_is_one_sentence(
    tmp_path: Path, rows: list[Any], settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, rows, **settings)
    assert str(caught.value).startswith(sentence)


def test_a_missing_file_names_the_likely_one(tmp_path: Path) -> None:
    jsonl(tmp_path, ROWS, "trian.jsonl")
    with pytest.raises(
        UsageError, match=r"there is no training data .*train.jsonl; did you mean 'trian.jsonl'\?"
    ):
        load_data(DataSettings(train="train.jsonl"), tmp_path, seed=0)


def test_no_data_and_unknown_formats_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no training data: give"):
        load_data(DataSettings(), tmp_path, seed=0)
    (tmp_path / "d.txt").write_text("x")
    with pytest.raises(UsageError, match="has no known format"):
        load_data(DataSettings(train="d.txt"), tmp_path, seed=0)


def test_held_out_prompts_never_overlap_training_prompts() -> None:
    train, held = split_holdout(ROWS + ROWS, 0.3, seed=0)
    assert len(held) == 6
    assert len(train) == 14
    assert not {row["prompt"] for row in train} & {row["prompt"] for row in held}


def test_which_prompts_are_held_out_depends_on_seed_and_text_alone() -> None:
    first = split_holdout(ROWS, 0.3, seed=1)[1]
    assert {row["prompt"] for row in split_holdout(ROWS[::-1], 0.3, seed=1)[1]} == {
        row["prompt"] for row in first
    }
    assert split_holdout(ROWS, 0.3, seed=2)[1] != first


def test_at_least_one_prompt_is_held_out_and_one_trained_on() -> None:
    assert [len(part) for part in split_holdout(ROWS[:2], 0.01, seed=0)] == [1, 1]
    assert [len(part) for part in split_holdout(ROWS[:1], 0.5, seed=0)] == [1, 0]
    assert [len(part) for part in split_holdout(ROWS, 0.0, seed=0)] == [10, 0]


def test_the_order_is_one_pass_after_another_each_shuffled_anew() -> None:
    found = order(10, 25, seed=0, shuffle=True)
    assert sorted(found[:10]) == sorted(found[10:20]) == list(range(10))
    assert found[:10] != found[10:20]
    assert len(found) == 25
    assert order(3, 5, seed=0, shuffle=False) == [0, 1, 2, 0, 1]


def test_the_data_set_keeps_chat_columns_and_order() -> None:
    rows = [{"prompt": as_chat("a", "S"), "answer": 1}, {"prompt": as_chat("b", "S"), "extra": "x"}]
    found = to_dataset(rows, [1, 0, 1])
    assert [row["prompt"][1]["content"] for row in found] == ["b", "a", "b"]
    assert found[0]["answer"] is None


def test_the_fingerprint_follows_the_rows(tmp_path: Path) -> None:
    first = load(tmp_path, ROWS).fingerprint
    assert load(tmp_path, ROWS).fingerprint == first
    assert load(tmp_path, ROWS[:-1]).fingerprint != first


@pytest.mark.guide("G21")
def test_prompts_are_measured_as_the_model_sees_them(tiny_model: Path) -> None:
    from trainer.models.loading import load_tokenizer

    tokenizer = load_tokenizer(tiny_model)
    rows = [{"prompt": as_chat("What is 1 + 1?", "")}]
    [length] = prompt_lengths(rows, tokenizer)
    text = tokenizer.apply_chat_template(rows[0]["prompt"], tokenize=False, add_generation_prompt=True)
    assert length == len(tokenizer(text, add_special_tokens=False)["input_ids"])


def test_long_prompts_are_left_out_and_counted(tiny_model: Path, tmp_path: Path) -> None:
    from trainer.models.loading import load_tokenizer

    tokenizer = load_tokenizer(tiny_model)
    data = load(tmp_path, [*ROWS, {"prompt": "long " * 200, "answer": 1}], system_prompt="Maths")
    fitted = fit_to_model(data, tokenizer, 100)
    assert len(fitted.train) == 10
    assert fitted.skipped == ("1 prompt is longer than max_prompt_length=100 tokens",)
    with pytest.raises(UsageError, match="all 11 prompts are longer than max_prompt_length=2 tokens"):
        fit_to_model(data, tokenizer, 2)


def test_chat_prompts_need_a_chat_template(tmp_path: Path) -> None:
    class Plain:
        chat_template = None

    with pytest.raises(UsageError, match="the model's tokenizer has no chat template"):
        fit_to_model(load(tmp_path, ROWS, system_prompt="S"), Plain(), None)
