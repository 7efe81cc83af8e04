"""RW603, RW604, RW605: ends of the scale, prompts alone, ties."""

from tests.workbench.checks.signal.columns import VALUE, grouped, members


def test_reward_that_nearly_all_earn_is_saturated_with_the_one_that_differs(check):
    rows = grouped([[1.0] * 10] * 5 + [[1.0] * 9 + [0.25]])
    [finding] = check(VALUE, "RW603", rows=rows)
    assert finding.severity == "info"
    assert "gives 59 of 60 samples 1, the top of its scale (98%, interval 91% to 100%)" in finding.message
    assert finding.evidence.got == 0.25


def test_reward_that_hardly_anybody_earns_is_told_and_few_samples_are_not(check):
    [finding] = check(VALUE, "RW603", rows=grouped([[0.0] * 30, [0.0] * 29 + [1.0]]))
    assert "the bottom of its scale" in finding.message
    assert check(VALUE, "RW603", rows=grouped([[1.0] * 5 + [0.0]])) == []


def test_penalty_that_few_earn_is_not_saturated(check):
    rows = grouped([[0.0] * 59 + [-1.0]])
    assert check(VALUE, "RW603", rows=rows, declare="range = [-1.0, 0.0]") == []


def test_reward_that_only_looks_at_the_prompt_is_a_warning(check):
    rows = grouped([[0.2] * 3, [0.8] * 3, [0.4] * 3])
    [finding] = check(VALUE, "RW604", rows=rows)
    assert finding.severity == "warning"
    assert "in 3 of 3 groups, and made-up ones too: it does not look at the completion" in finding.message


def test_member_that_happens_to_be_the_same_in_each_group_is_information(check):
    source = (
        members(other=1.0)
        + "def ends(completions, **kwargs): return [float(c.endswith('!')) for c in completions]\n"
    )
    rows = grouped([[0.0, 1.0]] * 20, "other_value", texts=["so", "no"])
    rows += grouped([[0.0, 1.0]] * 1, "other_value", texts=["so!", "no!"])
    for row in rows[-2:]:
        row["prompt"] = "the last one"
    [finding] = check(source, "RW604", rows=rows)
    assert (finding.reward, finding.severity) == ("ends", "info")
    assert "so it adds nothing there" in finding.message


def test_reward_that_differs_within_groups_is_left_alone(check, healthy):
    assert check(healthy, "RW603 RW604 RW605") == []


def test_groups_with_one_winner_tie_mostly(check):
    [finding] = check(VALUE, "RW605", rows=grouped([[0.0] * 11 + [1.0]] * 8))
    assert finding.severity == "info"
    assert (
        "83% of the pairs in a group have equal totals: 2.0 different totals a group of 12.0"
        in finding.message
    )
    assert "an effective size of 1.2" in finding.message


def test_half_and_half_is_no_matter_of_ties(check):
    assert check(VALUE, "RW605", rows=grouped([[0.0, 1.0] * 4] * 8)) == []
