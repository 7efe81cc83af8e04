"""Chat or text, labels, expected scores, groups, columns: what only the whole of the files can tell."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.samples import read_samples


def row(**more: Any) -> dict[str, Any]:
    return {"prompt": "p", "completion": "c", **more}


USER = [{"role": "user", "content": "p"}]
SAID = [{"role": "assistant", "content": "c"}]

# ------------------------------------------------------------------------------------ chat or text


def test_a_text_beside_a_chat_prompt_is_the_assistants_message(write) -> None:
    assert read_samples([write("s.jsonl", row(prompt=USER))]).completions == [SAID]


def test_a_text_prompt_of_a_chat_completion_is_the_users_message(write) -> None:
    assert read_samples([write("s.jsonl", row(completion=SAID))]).prompts == [USER]


def test_a_single_message_is_a_chat_of_one(write) -> None:
    samples = read_samples([write("s.jsonl", row(prompt=USER[0], completion=SAID[0]))])
    assert (samples.prompts, samples.completions) == ([USER], [SAID])


def test_of_mixed_chat_and_text_the_rarer_kind_is_told_and_left_out(write) -> None:
    samples = read_samples([write("s.jsonl", row(), row(prompt=USER), row(prompt=USER))])
    assert samples.chat
    assert [(skip.line, skip.why) for skip in samples.skipped] == [
        (1, "the prompt is a text where most rows are chats; put the two kinds into files of their own")
    ]


def test_a_tie_of_chat_and_text_goes_to_the_first_row_as_in_training(write) -> None:
    assert not read_samples([write("s.jsonl", row(), row(prompt=USER))]).chat


@pytest.mark.parametrize("value", [None, 4, True, [], ["text"], [{"content": "x"}], {"a": 1}])
def test_what_is_neither_text_nor_chat_is_skipped_with_a_reason(write, value: Any) -> None:
    samples = read_samples([write("s.jsonl", row(), row(completion=value))])
    assert len(samples) == 1
    assert samples.skipped[0].why.startswith("`completion` is ")


# ------------------------------------------------------------------------------ labels and expected


def test_labels_are_read_in_every_spelling_and_not_passed_to_rewards(write) -> None:
    labels = ["right", "Partial", "wrong", "hack", True, False, "true", "FALSE", None]
    samples = read_samples([write("s.jsonl", *[row(label=label) for label in labels])])
    assert samples.labels == ["right", "partial", "wrong", "hack", "right", "wrong", "right", "wrong", None]
    assert "label" not in samples.columns


def test_a_label_of_any_other_value_is_an_ordinary_column_and_said(write) -> None:
    path = write("s.jsonl", row(label="right"), row(label="rigth"))
    samples = read_samples([path])
    assert samples.labels == [None, None]
    assert samples.columns["label"] == ["right", "rigth"]
    assert samples.notes == [
        f"{path}, line 2: `label` is read as an ordinary column, because 'rigth' is none of "
        "right, partial, wrong, hack"
    ]


def test_a_class_number_is_no_label(write) -> None:
    assert read_samples([write("s.jsonl", row(label=1), row(label=0))]).columns["label"] == [1, 0]


def test_each_file_decides_about_its_own_label(write) -> None:
    samples = read_samples([write("a.jsonl", row(label="right")), write("b.jsonl", row(label="cat"))])
    assert samples.labels == ["right", None]
    assert samples.columns["label"] == [None, "cat"]


def test_a_mapped_label_is_passed_to_rewards(write) -> None:
    path = write("s.jsonl", row(label="right"))
    as_answer = read_samples([path], columns={"label": "answer"})
    assert (as_answer.labels, as_answer.columns) == ([None], {"answer": ["right"]})
    both = read_samples([path], columns={"label": "label"})
    assert (both.labels, both.columns) == (["right"], {"label": ["right"]})


def test_expected_scores_are_read_and_anything_else_is_a_column(write) -> None:
    scores = read_samples([write("a.jsonl", row(expected={"format": 1, "correctness": None}), row())])
    assert scores.expected == [{"format": 1.0, "correctness": None}, None]
    other = read_samples([write("b.jsonl", row(expected="42"))])
    assert (other.expected, other.columns["expected"]) == ([None], ["42"])
    assert "`expected` is read as an ordinary column" in other.notes[0]


# ------------------------------------------------------------------------------------------- groups


def test_rows_of_one_prompt_are_a_group_wherever_they_stand(write) -> None:
    samples = read_samples([write("s.jsonl", row(), row(prompt="q"), row())])
    assert samples.groups == ["g0", "g1", "g0"]


def test_a_written_group_is_kept_and_not_passed_to_rewards(write) -> None:
    samples = read_samples([write("s.jsonl", row(group=7), row(group=7, prompt="q"), row(group="x"))])
    assert samples.groups == ["7", "7", "x"]
    assert "group" not in samples.columns


def test_equal_group_names_of_two_files_are_two_groups(write) -> None:
    samples = read_samples([write("a.jsonl", row(group=0)), write("b.jsonl", row(group=0, prompt="q"))])
    assert samples.groups == ["0", "0#2"]


def test_a_derived_group_never_takes_a_written_name(write) -> None:
    assert len(set(read_samples([write("s.jsonl", row(group="g1"), row(prompt="q"))]).groups)) == 2


def test_a_step_parts_groups_and_calls_and_stays_a_column(write) -> None:
    samples = read_samples([write("s.jsonl", row(step=1), row(step=2), row(step=1))])
    assert samples.groups == ["g0", "g1", "g0"]
    assert samples.step_rows() == [[0, 2], [1]]
    assert samples.columns["step"] == [1, 2, 1]


# ------------------------------------------------------------------------------- columns, ids, batch


def test_a_column_that_a_row_lacks_is_none_there(write) -> None:
    samples = read_samples([write("s.jsonl", row(answer=1), row(topic="x"))])
    assert samples.columns == {"answer": [1, None], "topic": [None, "x"]}


def test_ids_are_texts_and_default_to_the_row_number(write) -> None:
    assert read_samples([write("s.jsonl", row(id=17), row(), row(id="a"))]).ids == ["17", "1", "a"]


def test_several_files_are_read_one_after_another(write) -> None:
    paths = [write("a.jsonl", row(completion="1")), write("b.csv", "prompt,completion", "p,2")]
    samples = read_samples(paths)
    assert (samples.completions, samples.sources) == (["1", "2"], paths)


def test_an_unreadable_file_among_others_is_told_and_the_others_are_read(write) -> None:
    samples = read_samples([write("a.jsonl", row()), write("b.parquet", "no parquet at all")])
    assert len(samples) == 1
    assert "b.parquet: damaged Parquet file" in str(samples.skipped[0])


@pytest.mark.guide("G18")
def test_mapped_columns_take_the_place_of_those_with_the_target_name(write) -> None:
    path = write("s.jsonl", {"question": "q", "prompt": "old", "completion": "c", "expert_answer": "e"})
    samples = read_samples([path], columns={"question": "prompt", "expert_answer": "answer", "missing": "x"})
    assert (samples.prompts, samples.columns) == (["q"], {"answer": ["e"]})


def test_a_swap_of_two_names_works(write) -> None:
    path = write("s.jsonl", row(a=1, b=2))
    assert read_samples([path], columns={"a": "b", "b": "a"}).columns == {"a": [2], "b": [1]}


def test_the_batch_has_token_ids_where_there_is_a_tokenizer(write) -> None:
    samples = read_samples([write("s.jsonl", row(completion="ä", answer=1), row(prompt="q", completion="b"))])
    batch = samples.batch()
    assert batch.completion_ids == []
    assert (batch.columns, batch.groups) == ({"answer": [1, None]}, ["g0", "g1"])
    assert samples.batch(tokenizer=lambda text: [len(text)]).completion_ids == [[1], [1]]


def test_a_batch_can_be_changed_without_changing_the_samples(write) -> None:
    samples = read_samples([write("s.jsonl", row(answer=1))])
    samples.batch().columns["answer"].append(2)
    assert samples.columns["answer"] == [1]


def test_half_of_the_rows_is_not_called_most(write) -> None:
    samples = read_samples([write("s.jsonl", row(), row(prompt=USER))])
    assert samples.skipped[0].why.startswith(
        "the prompt is a chat where half of the rows, and the first, are texts;"
    )


def test_an_expected_score_beyond_every_number_makes_it_a_column(write) -> None:
    path = write("s.jsonl", row(expected={"layout": 10**400}))
    samples = read_samples([path])
    assert (samples.expected, samples.columns["expected"]) == ([None], [{"layout": 10**400}])
    assert samples.notes == [
        f"{path}, line 1: `expected` is read as an ordinary column, because it does not map reward names to scores"
    ]
