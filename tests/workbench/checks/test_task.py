"""What the samples say about a reward's task."""

import pytest

from tests.workbench.checks.conftest import sum_rows
from workbench.checks.bench import Bench
from workbench.checks.subject import Options, RewardSubject


@pytest.fixture
def task_of(project, samples, runner):
    """The task of a source's only reward: `task_of(source, rows=..., labels=..., declare=...)`."""
    open_benches = []

    def read(source, *, rows=None, declare="", names="reward", assume=False, **shape):
        target, read = project(source, declare=declare, names=names), samples(rows, **shape)
        batch = read.batch()
        bench = Bench(runner, target, batch)
        open_benches.append(bench)
        [described] = bench.description.rewards
        return RewardSubject(described, bench, read, batch, Options(assume_kinds=assume)).task

    yield read
    for bench in open_benches:
        bench.close()


def test_labels_and_the_ground_truth_show_correctness(task_of, healthy):
    task = task_of(healthy)
    assert (task.kind, task.how, task.column) == ("correctness", "shown", "answer")
    assert [case.slot.form for case in task.cases] == ["tag:answer", "tag:answer"]
    assert [(case.full, case.floor) for case in task.cases] == [(1.0, 0.0), (1.0, 0.0)]
    assert task.tags == ("answer",)


COLUMN_BY_NAME = """
import re

class Scorer:
    column = "answer"

    def __call__(self, completions, **columns):
        found = [re.findall("<answer>(.*?)</answer>", text_of(c)) for c in completions]
        return [float(one[-1:] == [gold]) for one, gold in zip(found, columns[self.column])]

def text_of(completion):
    return completion if isinstance(completion, str) else completion[-1]["content"]

reward = Scorer()
"""


def test_a_column_that_is_named_by_an_attribute_is_read(task_of):
    task = task_of(COLUMN_BY_NAME)
    assert (task.kind, task.how, task.column) == ("correctness", "shown", "answer")


def test_a_declared_kind_is_taken_at_its_word(task_of, healthy):
    task = task_of(healthy, declare='kind = "format"', names="correct")
    assert (task.kind, task.how) == ("format", "declared")


def test_without_labels_a_name_only_suggests(task_of, healthy):
    task = task_of(healthy, labels=False)
    assert (task.kind, task.suggested, task.cases) == (None, "correctness", ())


def test_assumed_kinds_count_as_declared(task_of, healthy):
    task = task_of(healthy, labels=False, assume=True)
    assert (task.kind, task.how) == ("correctness", "assumed")
    assert len(task.right) == 4


def test_declared_correctness_needs_no_labels(task_of, healthy):
    task = task_of(healthy, labels=False, declare='kind = "correctness"', names="correct")
    assert len(task.cases) == 2
    assert len(task.wrong) == 2


def test_a_constant_reward_has_no_cases(task_of):
    task = task_of("def reward(completions, answer, **kwargs): return [1.0 for _ in completions]")
    assert task.cases == ()


def test_columns_taken_out_of_the_keywords_are_read(task_of):
    task = task_of(
        """
        def reward(completions, **kwargs):
            return [float(f"<answer>{a}</answer>" in c[-1]["content"]) for c, a in zip(completions, kwargs["answer"])]
        """
    )
    assert (task.kind, task.column) == ("correctness", "answer")


def test_marks_that_only_right_samples_have_show_a_layout(task_of):
    task = task_of(
        """
        def reward(completions, **kwargs):
            return [float("<answer>" in c[-1]["content"]) for c in completions]
        """
    )
    assert (task.kind, task.marks) == ("format", ("tags",))


def test_a_column_of_numbers_that_tells_the_length_shows_length(task_of):
    rows = [
        {
            "prompt": [{"role": "user", "content": f"About {n} words."}],
            "completion": [{"role": "assistant", "content": " ".join(["word"] * words)}],
            "size": n,
            "label": label,
        }
        for n in (10, 20)
        for words, label in ((n, "right"), (2, "wrong"))
    ]
    task = task_of(
        """
        def reward(completions, size, **kwargs):
            return [min(1.0, len(c[-1]["content"].split()) / n) for c, n in zip(completions, size)]
        """,
        rows=rows,
    )
    assert (task.kind, task.how) == ("length", "shown")


def test_a_reward_that_only_takes_away_is_a_penalty(task_of):
    task = task_of(
        "def reward(completions, **kwargs): return [-float('know' in c[-1]['content']) for c in completions]",
        declare='kind = "style"',
    )
    assert task.penalty


RULES = """
def reward(completions, rules, **kwargs):
    texts = [c[-1]["content"] for c in completions]
    return [float(t == t.lower() if r == "small" else t == t.upper()) for t, r in zip(texts, rules)]
"""


def test_a_column_that_says_how_to_write_shows_no_content(task_of):
    rows = [
        {
            "prompt": [{"role": "user", "content": f"Write about {what} in {rule} letters"}],
            "completion": [{"role": "assistant", "content": text}],
            "rules": rule,
            "label": label,
        }
        for what, rule in (("rain", "small"), ("snow", "great"), ("wind", "small"), ("sun", "great"))
        for text, label in (
            (f"the {what}!" if rule == "small" else f"THE {what.upper()}!", "right"),
            (f"The {what.title()}.", "wrong"),
        )
    ]
    assert task_of(RULES, rows=rows).kind is None


@pytest.mark.parametrize(("width", "kind"), [(2, None), (40, "length")])
def test_a_small_number_of_a_column_that_is_near_a_number_of_words_is_no_length(task_of, width, kind):
    source = """
    def reward(completions, width, **kwargs):
        return [float(len(c[-1]["content"].split()) == w) for c, w in zip(completions, width)]
    """
    rows = [
        {
            "prompt": [{"role": "user", "content": f"Write {what}"}],
            "completion": [{"role": "assistant", "content": " ".join([what] * count)}],
            "width": width,
            "label": "right" if count == width else "wrong",
        }
        for what in ("rain", "snow")
        for count in (width, 3 * width)
    ]
    assert task_of(source, rows=rows).kind == kind


def test_partial_sample_that_is_paid_in_full_hides_no_kind(task_of, healthy):
    rows = sum_rows()
    for row in (rows[3], rows[7]):
        row["label"] = "partial"
    assert (task_of(healthy, rows=rows).kind, task_of(healthy, rows=rows).how) == ("correctness", "shown")
