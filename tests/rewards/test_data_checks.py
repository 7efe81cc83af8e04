from rewards.data_checks import (
    conflicting_values,
    empty_prompts,
    leaked_answers,
    near_repeats,
    opened_tags,
    question_text,
    repeated_prompts,
    shown_answers,
    unreadable_values,
    visible_values,
)


def chat(question: str, system: str = "") -> list[dict[str, str]]:
    said = [{"role": "user", "content": question}]
    return [{"role": "system", "content": system}, *said] if system else said


def test_question_is_the_last_user_message():
    assert question_text([*chat("one", "be brief"), *chat("two")]) == "two"
    assert question_text("plain") == "plain"


def test_prompt_with_a_system_message_alone_is_empty():
    assert empty_prompts([chat("", "be brief"), chat("2 + 2?"), " \n"]) == [0, 2]


def test_equal_prompts_are_repeated_and_others_are_not():
    assert repeated_prompts(["a", "b", "a", chat("a", "x")]) == [[0, 2]]


def test_near_repeats_differ_in_case_and_punctuation_only_and_never_in_a_number():
    assert near_repeats(["What is 2 plus 2?", "what is 2  plus 2", "What is 2 plus 3?"]) == [(0, 1)]


def test_a_word_more_in_a_long_prompt_is_a_near_repeat():
    long = (
        "A farmer has 12 hens and sells half of the eggs they lay each morning at the market for 2 dollars. "
    )
    assert near_repeats([long, long + "Ok", long.replace("12", "13")]) == [(0, 1)]


def test_forms_of_one_number_are_no_conflict():
    prompts = ["q", "q", "q", "r"]
    assert conflicting_values(prompts, ["72", "72.0", " $72", "5"]) == []
    assert conflicting_values(prompts, ["72", "72", "71", "5"]) == [(0, 2)]
    assert conflicting_values(prompts, ["1,250", "1250", "1250", "5"]) == []
    assert conflicting_values(prompts, ["3,4", "34", "3,4", "5"]) == [(0, 1)]


def test_placeholders_are_no_shown_answers():
    prompts = [
        "Use <answer>...</answer>",
        r"Write \boxed{your answer}",
        "Answer: [letter]",
        "<answer>42</answer>",
    ]
    assert [item.answer for item in shown_answers(prompts)] == ["42"]


def test_prompts_that_show_their_own_answer_leak_it():
    prompts = ["6 times 7?\nAnswer: 42", "6 times 8?\nAnswer: 48"]
    assert [item.row for item in leaked_answers(prompts, ["42", 48.0])] == [0, 1]


def test_fixed_example_that_is_right_for_one_row_is_no_leak():
    prompts = [chat(q, "Like this: <answer>4</answer>") for q in ("2 + 2?", "3 + 3?", "1 + 3?")]
    assert leaked_answers(prompts, ["4", "6", "4"]) == []


def test_value_in_the_question_is_visible_and_an_option_is_not():
    prompts = ["The capital of France is Paris. Which city is it?", "Is it A) Paris or B) London?"]
    assert visible_values(prompts, ["Paris", "London"]) == [0]


def test_unreadable_values_are_told_with_the_reason():
    values = ["4", "nan", r"\frac{1}{2", "12", "caf\ufffd", "7", "9", "so\n" * 90, float("nan")]
    assert [(row, why.partition(" (")[0]) for row, why in unreadable_values(values)] == [
        (1, "is the placeholder 'nan'"),
        (2, "has unbalanced braces"),
        (4, "has broken characters"),
        (7, "is a whole solution, where the others are short answers"),
        (8, "is nan"),
    ]


def test_whole_solutions_among_whole_solutions_are_fine():
    assert unreadable_values(["so\n" * 90, "then\n" * 80, "first\n" * 70, r"\{1, 2\}"]) == []


def test_unknown_as_a_common_answer_is_an_answer():
    assert unreadable_values(["none", "red", "none", "blue"]) == []


def test_tags_opened_at_the_end_of_a_rendered_prompt():
    assert opened_tags("<|assistant|>\n<think>\n") == ["think"]
    assert opened_tags("<think></think>\nSay it in <answer> tags") == []
