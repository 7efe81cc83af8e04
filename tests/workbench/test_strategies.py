"""The public strategies: completions, prompts and batches of your own samples, for plain Hypothesis tests."""

import json

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from rewards.contract import Batch, Status, call
from workbench.samples import read_samples
from workbench.strategies import answers_of, batches, completions, prompts, texts


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("samples") / "samples.jsonl"
    rows = []
    for question, answer in (("2 plus 2?", "4"), ("3 times 7?", "21")):
        for text, label in ((f"<answer>{answer}</answer>", "right"), ("I do not know.", "wrong")):
            rows.append(
                {
                    "prompt": [{"role": "user", "content": question}],
                    "completion": [{"role": "assistant", "content": text}],
                    "answer": answer,
                    "label": label,
                }
            )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_completions_have_the_shape_of_the_samples(file):
    @settings(max_examples=30)
    @given(completions(file))
    def holds(completion):
        [message] = completion
        assert message["role"] == "assistant"
        assert isinstance(message["content"], str)

    holds()


def test_real_completions_and_changed_ones_are_drawn(file):
    found = find(completions(read_samples([file])), lambda c: c[0]["content"] == "<answer>21</answer>")
    assert found
    changed = find(texts(file), lambda t: t.count("<answer>") > t.count("</answer>"))
    assert "<answer>" in changed
    assert len(changed) <= len("<answer>21</answer>")


def test_answers_of_other_rows_come_into_a_completion(file):
    assert answers_of(read_samples([file])) == ["4", "21"]
    assert find(texts(file), lambda t: "\\boxed{" in t)


def test_plain_texts_and_no_samples_will_do():
    assert find(texts(["one two", "three"]), lambda t: "three" in t) == "three"
    assert isinstance(find(completions(), lambda c: True), str)
    assert find(prompts(), lambda p: True) == [{"role": "user", "content": "What is 2 plus 2?"}]
    assert find(prompts(["A?", "B?"]), lambda p: True) == "A?"


def test_prompts_are_those_of_the_samples(file):
    assert find(prompts(file), lambda p: "times" in p[0]["content"]) == [
        {"role": "user", "content": "3 times 7?"}
    ]


def test_batches_keep_columns_beside_their_prompts(file):
    def reward(completions, answer, **columns):
        return [float(a in c[0]["content"]) for c, a in zip(completions, answer, strict=True)]

    @settings(max_examples=30)
    @given(batches(file, min_size=2, max_size=4))
    def holds(batch):
        assert 2 <= len(batch) <= 4
        pairs = {(p[0]["content"], a) for p, a in zip(batch.prompts, batch.columns["answer"], strict=True)}
        assert pairs <= {("2 plus 2?", "4"), ("3 times 7?", "21")}
        assert (call(reward, batch).status == Status.NUMBER).all()

    holds()
    assert isinstance(find(batches(), lambda batch: True), Batch)


@pytest.mark.parametrize(("least", "most"), [(0, 3), (5, 2)])
def test_impossible_sizes_are_refused(file, least, most):
    with pytest.raises(ValueError, match=f"min_size={least} must be at least 1 and at most max_size={most}"):
        batches(file, min_size=least, max_size=most)


def test_a_failure_shrinks_to_a_short_sample(file):
    assert find(texts(file), lambda t: len(t) > 3 and "know" in t) in ("I do not know.", "know.", "know")
    assert st.data() is not None
