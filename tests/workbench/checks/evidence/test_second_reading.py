from tests.workbench.checks.conftest import sum_rows

STRICT = """
def reward(completions, answer, **kwargs):
    return [float(f"<answer>{a}</answer>" in c[-1]["content"]) for c, a in zip(completions, answer)]
"""
CORRECT = 'kind = "correctness"'


def rows_with(*texts: str, label: str | None = None) -> list[dict[str, object]]:
    rows = sum_rows(labels=False)
    first = rows[0]
    said = {"label": label} if label else {}
    return (
        rows + rows + [{**first, "completion": [{"role": "assistant", "content": t}], **said} for t in texts]
    )


def test_right_answer_in_another_form_that_is_refused_is_a_lead(check):
    [finding] = check(STRICT, "RW705", rows=rows_with("<answer>4.0</answer>"), declare=CORRECT)
    assert finding.severity == "info"
    assert "agrees with reward on 12 of 13 samples" in finding.message
    assert "It reads '4.0' here, which is right, and the reward gives 0" in finding.message


def test_label_settles_what_the_reading_does_not_know(check):
    rows = rows_with("<answer>4.0</answer>", label="wrong")
    assert check(STRICT, "RW705", rows=rows, declare=CORRECT) == []


def test_reward_that_agrees_is_left_alone(check):
    assert check(STRICT, "RW705", rows=rows_with("<answer>5</answer>"), declare=CORRECT) == []


def test_reward_of_undeclared_kind_is_held_back(report_of):
    report = report_of(STRICT, "RW705", rows=rows_with("<answer>4.0</answer>"))
    assert report.all_findings == []
    assert "held back: looks like correctness" in report.skipped[0].why
