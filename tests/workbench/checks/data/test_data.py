"""RW8 over samples."""

from typing import Any

import pytest

EXACT = """
def reward(completions, answer, **kwargs):
    return [float(c[-1]["content"] == f"<answer>{a}</answer>") for c, a in zip(completions, answer)]
"""


def rows(*tasks: tuple[str, Any], system: str = "", **columns: list[Any]) -> list[dict[str, Any]]:
    """Two completions of each (question, answer)."""
    made = []
    for place, (question, answer) in enumerate(tasks):
        prompt = [{"role": "system", "content": system}] if system else []
        prompt += [{"role": "user", "content": question}]
        for said, label in ((answer, "right"), ("no idea", "wrong")):
            completion = [{"role": "assistant", "content": f"<answer>{said}</answer>"}]
            row = {"prompt": prompt, "completion": completion, "answer": answer, "label": label}
            made.append({**row, **{name: values[place] for name, values in columns.items()}})
    return made


SUMS = (("What is 6 times 7?", "42"), ("What is 6 times 8?", "48"), ("What is 5 times 5?", "25"))


@pytest.mark.parametrize("chosen", ["RW801", "RW802", "RW803", "RW804", "RW805", "RW806"])
def test_sound_data_are_left_alone(check, chosen):
    assert check(EXACT, chosen, rows=rows(*SUMS, system="Write <answer>...</answer>.")) == []


def test_prompts_that_show_their_answer_are_a_warning(check):
    told = tuple((f"{question}\nAnswer: {answer}", answer) for question, answer in SUMS)
    [finding] = check(EXACT, "RW801 RW802", rows=rows(*told))
    assert (finding.check, finding.severity, finding.count) == ("RW801", "warning", 3)
    assert finding.message == "3 of 3 prompts show their own 'answer', as 'Answer: 42'."


def test_answers_that_are_words_of_the_text_are_a_note(check):
    told = tuple((f"Who came? {name} came late.", name) for name in ("Anna", "Bert", "Clara", "Dora"))
    [finding] = check(EXACT, "RW801", rows=rows(*told))
    assert finding.severity == "info"
    assert "stands word for word in 4 of 4 prompts" in finding.message


def test_offered_choices_are_no_leak(check):
    told = tuple(
        (f"Who came? A) Anna B) Bert C) Clara {n}", name) for n, name in enumerate(("Anna", "Bert") * 3)
    )
    assert check(EXACT, "RW801", rows=rows(*told)) == []


def test_filled_example_is_a_note(check):
    [finding] = check(EXACT, "RW802", rows=rows(*SUMS, system="Write it like <answer>13</answer>."))
    assert finding.severity == "info"
    assert "3 of 3 prompts show '<answer>13</answer>' as an example" in finding.message


def test_nearly_equal_prompts_are_a_note(check):
    [finding] = check(EXACT, "RW803", rows=rows(*SUMS, ("what is 6 times 7 ?", "42")))
    assert "1 prompt stands in the samples again, nearly equal" in finding.message


def test_equal_prompts_in_two_groups_are_a_note_and_the_steps_of_a_log_are_not(check):
    tasks = (*SUMS, SUMS[0])
    [finding] = check(EXACT, "RW803", rows=rows(*tasks, group=["a", "b", "c", "d"]))
    assert "again, equal, as a group of its own" in finding.message
    assert check(EXACT, "RW803", rows=rows(*SUMS, *SUMS, group=list("abcdef"))) == []


def test_empty_prompts_are_a_warning(check):
    [finding] = check(EXACT, "RW804", rows=rows(*SUMS, (" ", "1")))
    assert (finding.severity, finding.count) == ("warning", 2)


def test_two_answers_to_one_question_are_a_warning(check):
    [finding] = check(EXACT, "RW805", rows=rows(*SUMS, ("What is 5 times 5?", "24")))
    assert finding.message == "a prompt has different values of 'answer' in different rows: '25' and '24'."
    assert check(EXACT, "RW805", rows=rows(*SUMS, ("What is 5 times 5?", "25.0"))) == []


def test_placeholder_among_answers_is_a_warning(check):
    more = tuple((f"What is {n} plus 1?", str(n + 1)) for n in range(6))
    [finding] = check(EXACT, "RW806", rows=rows(*SUMS, *more, ("What is 9 plus 9?", "nan")))
    assert finding.message == "'answer' is the placeholder 'nan' in 2 of 20 samples: 'nan'."


def test_what_needs_a_tokenizer_is_listed_as_left_to_preflight(report_of):
    report = report_of(EXACT, "RW8")
    assert {item.check for item in report.skipped} == {"RW807", "RW808"}
    assert all("preflight makes it" in item.why for item in report.skipped)
