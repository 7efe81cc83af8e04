"""RW701, RW702: the order of labelled completions."""

import pytest

from tests.workbench.checks.signal.columns import VALUE, grouped, members


def labelled(groups, *labels, names=("value",)):
    rows = grouped(groups, *names)
    for place, row in enumerate(rows):
        row["label"] = labels[place % len(labels)]
    return rows


def test_wrong_one_that_earns_more_is_shown_with_the_share_in_order(check):
    rows = labelled([[1.0, 0.0]] * 9 + [[0.2, 0.7]], "right", "wrong")
    [finding] = check(VALUE, "RW70", rows=rows)
    assert (finding.check, finding.severity, finding.reward) == ("RW701", "error", "reward")
    assert (
        "pays a completion labelled wrong 0.7: 'text 1 of 9'. One labelled right of the same prompt gets less, 0.2: "
        "'text 0 of 9'. In order are" in finding.message
    )
    assert finding.evidence.expected == "less than what one labelled right gets (0.2)"
    assert "In order are 90% of 10 pairs of right and wrong (interval 60% to 98%)" in finding.message
    assert (finding.evidence.completion, finding.evidence.got) == ("text 1 of 9", 0.7)
    assert finding.count == 1


def test_hack_that_ties_with_a_right_one_is_a_warning(check):
    rows = labelled([[1.0, 1.0, 0.0]] * 3, "right", "hack", "wrong")
    [finding] = check(VALUE, "RW701", rows=rows)
    assert finding.severity == "warning"
    assert (
        "labelled hack 1: 'text 1 of 0'. One labelled right of the same prompt gets no more, 1: 'text 0"
        in (finding.message)
    )
    assert finding.count == 3


SUMS = [("<answer>9</answer>", "right"), ("<answer>8</answer>", "wrong"), ("14", "wrong"), ("", "hack")]
MARK = "from rewards.marks import reward as mark\n"
ANY_NUMBER = (
    MARK + "import re\n@mark(kind='correctness')\n"
    "def reward(completions, answer, **kwargs):\n"
    "    return [float(bool(re.search(r'\\d', c))) for c in completions]\n"
)


def sums(prompts, texts=SUMS):
    return [
        {
            "prompt": f"{ten} + 9?",
            "completion": text.replace("9", str(ten + 9)),
            "label": label,
            "answer": str(ten + 9),
        }
        for ten in range(0, 10 * prompts, 10)
        for text, label in texts
    ]


def test_declared_correctness_that_tells_no_wrong_answer_from_a_right_one_is_an_error(check):
    [finding] = check(ANY_NUMBER, "RW701", rows=sums(3))
    assert finding.severity == "error"
    assert (
        "in none of 6 pairs does the right completion earn more, 1 for '<answer>9</answer>' as for '14'"
        in (finding.message)
    )
    assert "what is compared comes out alike" in finding.advice
    unread = ANY_NUMBER.replace("answer, ", "")
    [finding] = check(unread, "RW701", rows=sums(3))
    assert finding.advice == (
        "It reads no ground truth: compare the answer with the right one, in the column 'answer'."
    )


def test_ties_stay_a_warning_with_few_pairs_or_where_a_made_up_wrong_answer_earns_less(check):
    def levels(source, rows):
        return [finding.severity for finding in check(source, "RW701", rows=rows)]

    assert levels(ANY_NUMBER, sums(1, SUMS[:2] + SUMS[3:])) == ["warning"]
    within_ten = (
        "import re\n@mark(kind='correctness')\n"
        "def reward(completions, answer, **kwargs):\n"
        "    found = [re.search(r'\\d+', c) for c in completions]\n"
        "    return [float(bool(f) and abs(int(f[0]) - int(a)) < 10) for f, a in zip(found, answer)]\n"
    )
    near = [("<answer>9</answer>", "right"), ("<answer>8</answer>", "wrong"), ("", "hack")]
    assert levels(MARK + within_ten, sums(4, near)) == ["warning"]


def test_of_rewards_without_a_kind_the_one_that_takes_the_ground_truth_is_judged(check):
    undeclared = ANY_NUMBER.replace("@mark(kind='correctness')\n", "")
    [finding] = check(undeclared, "RW701", rows=sums(3))
    assert (finding.severity, "does not tell right from wrong" in finding.message) == ("error", True)
    assert check(undeclared.replace("answer, ", ""), "RW701", rows=sums(3)) == []
    rows = [{**row, "topic": "sums"} for row in sums(3)]
    [finding] = check(undeclared.replace("answer, ", "topic, "), "RW701", rows=rows)
    assert finding.severity == "warning"


def test_partial_one_that_is_graded_and_earns_less_than_no_answer_is_out_of_order(check):
    # the texts of a group have one shape, the last wrong one has another
    rows = labelled([[1.0, -0.5, -1.0, 0.0]] * 3, "right", "partial", "wrong", "wrong")
    for row in rows[3::4]:
        row["completion"] = "no answer at all, in many more words"
    [finding] = check(VALUE, "RW701", rows=rows)
    assert finding.severity == "error"
    assert (
        "labelled wrong 0: 'no answer at all, in many more words'. One labelled partial of the same prompt gets "
        in (finding.message)
    )
    assert "gets less, -0.5: 'text " in finding.message
    rows = labelled([[1.0, -1.0, -1.0, 0.0]] * 3, "right", "partial", "wrong", "wrong")
    for row in rows[3::4]:
        row["completion"] = "no answer at all, in many more words"
    assert check(VALUE, "RW701", rows=rows) == []


def test_partial_one_above_a_right_one_is_out_of_order_and_below_it_is_not(check):
    rows = labelled([[0.6, 0.9, 0.0]] * 3, "right", "partial", "wrong")
    [finding] = check(VALUE, "RW701", rows=rows)
    assert (
        "labelled partial 0.9: 'text 1 of 0'. One labelled right of the same prompt gets less, 0.6"
        in finding.message
    )
    assert check(VALUE, "RW701", rows=labelled([[0.9, 0.6, 0.0]] * 3, "right", "partial", "wrong")) == []


def test_reward_that_is_turned_around_is_told_once(check):
    rows = labelled([[0.0, 1.0, 0.8]] * 3, "right", "wrong", "wrong")
    [finding] = check(VALUE, "RW70", rows=rows)
    assert (finding.check, finding.severity) == ("RW702", "error")
    assert "only 0% of 6 pairs are in order (interval 0% to 39%)" in finding.message


def test_one_unlucky_pair_is_not_taken_for_a_turned_sign(check):
    rows = labelled([[0.0, 1.0]], "right", "wrong")
    assert [finding.check for finding in check(VALUE, "RW70", rows=rows)] == ["RW701"]


def test_layout_that_pays_wrong_answers_is_no_alarm(check):
    source = (
        "def reward(completions, **kwargs): return [float(c.startswith('text 1')) for c in completions]\n"
    )
    rows = labelled([[0.0, 0.0]] * 2, "right", "wrong") + labelled([[0.0, 0.0]] * 2, "wrong", "right")
    for row in rows[4:]:
        row["prompt"] = "another " + row["prompt"]
    assert [finding.severity for finding in check(source, "RW70", rows=rows)] == ["info"]


def test_total_of_a_set_is_judged_and_a_lesser_member_is_not(check):
    source = members(one=1.0, other=1.0)
    names = ("one_value", "other_value")
    rows = labelled([[[1.0, 0.0], [0.0, 0.5]]] * 3, "right", "wrong", names=names)
    assert check(source, "RW70", rows=rows) == []
    rows = labelled(
        [[[1.0, 0.0], [0.0, 3.0]]] * 3 + [[[1.0, 0.0], [0.0, 0.0]]] * 9, "right", "wrong", names=names
    )
    findings = check(source, "RW70", rows=rows)
    assert [(finding.check, finding.reward) for finding in findings] == [("RW701", None)]
    assert "The total pays a completion labelled wrong 3" in findings[0].message


def test_member_declared_as_correctness_is_judged_by_itself(check):
    source = members(one=1.0, other=5.0).replace("@mark(weight=1.0)", "@mark(weight=1.0, kind='correctness')")
    rows = labelled([[[0.0, 1.0], [1.0, 0.0]]] * 4, "right", "wrong", names=("one_value", "other_value"))
    assert [(finding.check, finding.reward) for finding in check(source, "RW70", rows=rows)] == [
        ("RW702", "one")
    ]


def test_random_reward_is_not_judged(check):
    source = "import random\ndef reward(completions, value, **kwargs): return [random.random() for c in completions]\n"
    assert check(source, "RW70", rows=labelled([[0.0, 0.0]] * 6, "right", "wrong")) == []


@pytest.mark.parametrize("labels", [True, False])
def test_sound_reward_is_left_alone(check, healthy, labels):
    assert check(healthy, "RW701 RW702 RW703", labels=labels) == []


def test_what_is_expected_is_less_than_the_best_paid_right_one_gets(check):
    rows = labelled([[1.0, 0.0, 1.0, 0.5]] * 3, "right", "right", "wrong", "wrong")
    [finding] = check(VALUE, "RW701", rows=rows)
    assert (finding.severity, finding.evidence.got) == ("error", 1.0)
    assert finding.evidence.expected == "less than what one labelled right gets (1)"
    rows = labelled([[1.0, 0.0, 0.5]] * 3, "right", "right", "wrong")
    [finding] = check(VALUE, "RW701", rows=rows)
    assert finding.evidence.expected == "less than one labelled right is to get"
    [finding] = check(VALUE, "RW701", rows=labelled([[1.0, 0.0, 0.0]] * 3, "right", "right", "wrong"))
    assert (
        "pays a completion labelled right 0: 'text 1 of 0'. One labelled wrong of the same prompt"
        in finding.message
    )
    assert (finding.evidence.got, finding.evidence.expected) == (
        0.0,
        "more than what one labelled wrong gets (0)",
    )


@pytest.mark.parametrize(
    ("reads", "partial", "severity"),
    [
        ("answer", "<answer>7</answer>", "error"),
        ("answer", "<answer>nine-</answer>", "info"),  # may be right in another form
        ("topic", "<answer>7</answer>", "info"),  # may be about another matter
    ],
)
def test_partial_one_that_is_paid_in_full_is_told(check, reads, partial, severity):
    source = f"def reward(completions, {reads}, **kwargs): return [float('8' not in c) for c in completions]"
    texts = [("<answer>9</answer>", "right"), ("<answer>8</answer>", "wrong"), (partial, "partial")]
    rows = [{**row, "topic": "sums"} for row in sums(3, texts)]
    [finding] = check(source, "RW701", rows=rows)
    assert finding.severity == severity
    assert f"pays a completion labelled partial 1: '{partial}'" in finding.message
    assert finding.count == 3


def test_partial_one_that_gets_nothing_beside_a_refused_right_one_is_not_told(check):
    rows = labelled([[1.0, 0.0, 0.0, -1.0]] * 3, "right", "right", "partial", "wrong")
    assert check(VALUE, "RW701", rows=rows) == []
