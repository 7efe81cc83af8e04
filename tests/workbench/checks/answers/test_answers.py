"""Right and wrong forms of an answer."""

import pytest

from workbench.answer_variants import near_misses

HEAD = """
import re
from fractions import Fraction

def text_of(completion):
    return completion[-1]["content"]

def answer_of(text):
    found = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
    return found[-1].strip() if found else ""

def number(text):
    text = text.strip().replace("\\u2212", "-").replace("$", "").rstrip(".")
    text = text.replace(",", "") if re.fullmatch(r"[-+]?\\d{1,3}(,\\d{3})+(\\.\\d+)?", text) else text
    whole = re.fullmatch(r"([-+]?)(\\d+) (\\d+)/(\\d+)", text)
    if whole:
        sign, units, top, bottom = whole.groups()
        value = int(units) + Fraction(int(top), int(bottom))
        return -value if sign == "-" else value
    scale = 100 if text.endswith("%") else 1
    try:
        return Fraction(text.rstrip("%")) / scale
    except (ValueError, ZeroDivisionError):
        return None
"""


def reward(expression: str) -> str:
    """A reward of one expression over `t` (the text), `s` (the answer said) and `a` (the ground truth)."""
    return HEAD + (
        "\ndef reward(completions, answer, **kwargs):\n    scores = []\n    for c, a in zip(completions, answer):\n"
        "        t = text_of(c)\n        s = answer_of(t)\n"
        f"        scores.append(float({expression}))\n    return scores\n"
    )


GOLDS = ("1250", "-3", "7.5", "42")


def rows(golds=GOLDS, form="<answer>{}</answer>"):
    made = []
    for place, gold in enumerate(golds):
        for text, label in [
            (f"Sum up.\n{form.format(gold)}", "right"),
            (f"Sum up.\n{form.format('17')}", "wrong"),
        ]:
            made.append(
                {
                    "prompt": [{"role": "user", "content": f"What is task {place}?"}],
                    "completion": [{"role": "assistant", "content": text}],
                    "answer": gold,
                    "label": label,
                }
            )
    return made


SOUND = reward("number(s) is not None and number(s) == number(a)")
DECLARED = 'kind = "correctness"\nrange = [0.0, 1.0]'


@pytest.mark.parametrize("declare", ["", DECLARED])
def test_a_sound_reward_raises_no_alarm(check, declare):
    assert check(SOUND, "RW4", rows=rows(), declare=declare) == []


def test_refused_forms_are_told_in_one_finding(check):
    [finding] = [
        f for f in check(reward("s == a"), "RW4", rows=rows(), declare=DECLARED) if f.at_least("warning")
    ]
    assert (finding.check, finding.severity) == ("RW402", "warning")
    for form in (
        "with trailing zeros",
        "with thousands separators",
        "with a typographic minus",
        "as a fraction",
    ):
        assert form in finding.message
    assert finding.evidence.got == 0.0
    assert finding.evidence.expected == 1.0
    assert finding.count == 4


def test_a_line_break_after_the_tag_is_no_other_answer(check):
    source = SOUND.replace(", re.DOTALL", "")
    [finding] = check(source, "RW402", rows=rows(), declare=DECLARED)
    assert "on a line of its own" in finding.message


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("a in s", "(ten times as large)"),
        ("bool(s) and s in a", "'1' for '1250'"),
        ("s and number(s) is not None and abs(number(s) - number(a)) <= abs(number(a)) / 5", "for"),
        (
            "s and number(s) is not None and int(number(s)) == int(number(a))",
            "'7' for '7.5' (without its decimal places)",
        ),
        ("s and number(s) is not None and abs(number(s)) == abs(number(a))", "for"),
    ],
)
def test_near_misses_are_not_paid(check, expression, said):
    [finding] = check(reward(expression), "RW403", rows=rows(), declare=DECLARED)
    assert finding.severity == "error"
    assert said in finding.message
    assert finding.evidence.got == 1.0


def test_a_small_tolerance_is_left_alone(check):
    source = reward("s and number(s) is not None and abs(number(s) - number(a)) <= abs(number(a)) / 1000")
    assert check(source, "RW403", rows=rows(), declare=DECLARED) == []


def test_a_ground_truth_that_cannot_be_read_is_told_with_its_rows(check):
    made = rows((*GOLDS, "1,300"))
    source = reward("s.isascii() and number(s) is not None and ',' not in a and number(s) == number(a)")
    [finding] = check(source, "RW401", rows=made, declare=DECLARED)
    assert "does not pay the right answer in 1 of 5 rows: the ground truth '1,300'" in finding.message
    assert finding.evidence.expected == "at least 1, as other right samples"


def test_a_form_that_the_data_do_not_use_is_named(check):
    source = reward("'####' in t and t.rpartition('#### ')[2].strip() == a")
    [finding] = check(source, "RW401", rows=rows(), declare=DECLARED)
    assert "it reads the answer as #### ..., and the data write it as '<answer>" in finding.message


def test_a_reward_that_never_reads_the_ground_truth_is_told(check):
    source = (
        HEAD
        + """
SOLUTIONS = {"0": "1250", "1": "-3", "2": "7.5", "3": "42"}

def reward(prompts, completions, answer, **kwargs):
    return [float(answer_of(text_of(c)) == SOLUTIONS[p[-1]["content"][-2]]) for p, c in zip(prompts, completions)]
"""
    )
    [finding] = check(source, "RW404", rows=rows(), declare=DECLARED)
    assert "does not look at 'answer'" in finding.message


def test_a_column_that_is_compared_instead_and_agrees_in_some_row_is_named(check):
    made = [
        {**row, "other": row["answer"] if not place else str(900 + place)} for place, row in enumerate(rows())
    ]
    source = (
        reward("s == a")
        .replace("answer, **kwargs", "other, **kwargs")
        .replace("zip(completions, answer)", "zip(completions, other)")
    )
    [finding] = check(source, "RW401", rows=made, declare=DECLARED)
    assert finding.message.endswith("earns 0; the value of 'other' is paid.")
    assert finding.advice == "Compare with 'answer', not with 'other'."


def test_the_column_that_is_compared_instead_is_named(check):
    made = [{**row, "number": str(100 + place)} for place, row in enumerate(rows())]
    source = (
        reward("s == a")
        .replace("answer, **kwargs", "number, **kwargs")
        .replace("zip(completions, answer)", "zip(completions, number)")
    )
    source = source.replace("def number(text)", "def value(text)").replace("number(", "value(")
    [finding] = check(source, "RW405", rows=made, declare=DECLARED)
    assert "compares with the column 'number', and the right samples answer with 'answer'" in finding.message


@pytest.mark.parametrize(
    "pattern",
    ["re.search(r'<answer>(.*?)</answer>', t, re.S)", "re.search(r'<answer>(.*)</answer>', t, re.S)"],
)
def test_a_corrected_answer_counts(check, pattern):
    source = reward(f"({pattern} or ['', ''])[1].strip() == a")
    [finding] = check(source, "RW406", rows=rows(), declare=DECLARED)
    assert finding.message.startswith(
        "reward refuses a right answer after a wrong one: it earns 0, and 1 without"
    )
    assert finding.evidence.completion[-1]["content"].count("<answer>") == 2


def test_a_little_less_for_the_words_of_a_correction_is_no_refusal(check):
    last = "(re.findall(r'<answer>(.*?)</answer>', t, re.S) or [''])[-1].strip() == a"
    assert check(reward(f"({last}) * (1 - len(t) / 5000)"), "RW406", rows=rows(), declare=DECLARED) == []


def test_a_maximum_that_nobody_reaches_is_told(check):
    [finding] = check(reward("0.9 * (s == a)"), "RW408", rows=rows(), declare=DECLARED)
    assert (
        finding.message == "reward never pays its declared maximum 1: the best of 4 right samples gets 0.9."
    )
    assert check(reward("s == a"), "RW408", rows=rows(), declare=DECLARED) == []


def listed(*golds):
    made = rows(tuple(", ".join(gold) for gold in golds))
    return [{**row, "answer": golds[place // 2]} for place, row in enumerate(made)]


@pytest.mark.parametrize("declare", ["", DECLARED])
@pytest.mark.parametrize(("divided", "found"), [(" / len(a)", True), ("", False)])
def test_division_by_the_number_of_parts_too_many_is_told(check, divided, found, declare):
    source = reward(f"(sorted(s.split(', ')) == sorted(a)){divided}")
    made = listed(["red"], ["green", "blue"], ["oak", "elm", "ash"])
    findings = check(source, "RW408", rows=made, declare=declare)
    assert [f.severity for f in findings] == ["warning"] * found
    if found:
        assert findings[0].message.endswith("the more parts it has: 1 for 1, 0.5 for 2, 0.3333 for 3.")


FENCED = """
import re
def reward(completions, tests, **kwargs):
    texts = [c[-1]["content"] for c in completions]
    found = [re.search(r"```python\\n(.*?)```", text, re.DOTALL) for text in texts]
    return [float(bool(f and f"return {t[-2:]}" in f.group(1))) for f, t in zip(found, tests)]
"""


@pytest.mark.parametrize(("asked", "found"), [("in one block", True), ("in one ```python block", False)])
def test_fence_that_the_prompt_asks_for_may_be_required(check, asked, found):
    made = [
        {
            "prompt": [{"role": "user", "content": f"Write f, which returns {value}, {asked}."}],
            "completion": [{"role": "assistant", "content": f"```python\ndef f():\n    return {said}\n```"}],
            "tests": f"assert f() == {value}",
            "label": label,
        }
        for value in ("40", "50")
        for said, label in ((value, "right"), ("17", "wrong"))
    ]
    assert bool(check(FENCED, "RW402", rows=made, declare=DECLARED)) == found


def test_reward_that_counts_the_answers_refuses_two_on_purpose(check):
    counted = reward("len(re.findall('<answer>', t)) == 1 and s == a")
    greedy = reward("(m := re.search(r'<answer>(.*)</answer>', t, re.S)) is not None and m.group(1) == a")
    [told] = check(counted, "RW406", rows=rows(), declare=DECLARED)
    assert told.severity == "info"
    assert "asks for exactly one answer" in told.message
    [told] = check(greedy, "RW406", rows=rows(), declare=DECLARED)
    assert told.severity == "warning"


def test_letters_in_brackets_and_bold_lines_are_the_same_answer(check):
    made = rows(("A", "C", "B"), form="Answer: {}")
    made = [
        {
            **row,
            "completion": [
                {"role": "assistant", "content": row["completion"][0]["content"].replace("17", "D")}
            ],
        }
        for row in made
    ]
    source = reward("t.strip().rpartition(chr(10))[2] == f'Answer: {a}'")
    [finding] = check(source, "RW402", rows=made, declare=DECLARED)
    for form in ("with the letter in brackets", "in bold", "with a final full stop"):
        assert form in finding.message


@pytest.mark.parametrize(("asked", "found"), [("How many is {}?", True), ("Roughly how many is {}?", False)])
def test_wide_tolerance_is_a_near_miss_unless_the_prompt_asks_for_about_that_much(check, asked, found):
    made = [
        {**row, "prompt": [{"role": "user", "content": asked.format(place // 2)}]}
        for place, row in enumerate(rows(("40", "68", "75")))
    ]
    source = reward("number(s) is not None and abs(number(s) - number(a)) <= 0.1 * number(a)")
    assert [f.check for f in check(source, "RW403", rows=made, declare=DECLARED)] == ["RW403"] * found


def test_letter_that_stands_in_brackets_gets_no_second_pair(check):
    made = [
        {
            **row,
            "completion": [
                {"role": "assistant", "content": row["completion"][0]["content"].replace("17", "D")}
            ],
        }
        for row in rows(("A", "C", "B"), form="Answer: ({})")
    ]
    source = reward("(m := re.search(r'Answer: [(]?([A-D])[)]?[.*]*$', t)) is not None and m.group(1) == a")
    assert check(source, "RW402", rows=made, declare=DECLARED) == []


@pytest.mark.parametrize(
    ("refused", "prompt", "severity"),
    [
        ("[+$]", "What is task {}?", "info"),
        ("[+$]", "What does it cost, {}?", "warning"),
        ("[.]", "{}?", "warning"),
    ],
)
def test_forms_that_hardly_any_model_writes_are_a_note(check, refused, prompt, severity):
    made = [
        {**row, "prompt": [{"role": "user", "content": prompt.format(place // 2)}]}
        for place, row in enumerate(rows(("1250", "42", "60")))
    ]
    source = reward(f"number(s) is not None and number(s) == number(a) and not re.search(r'{refused}', s)")
    [finding] = check(source, "RW402", rows=made, declare=DECLARED)
    assert finding.severity == severity


def test_records_are_compared_as_records(check):
    made = []
    for place, record in enumerate([{"name": "Ana", "age": 31}, {"name": "Bo", "age": 4}]):
        text = f'{{"name": "{record["name"]}", "age": {record["age"]}}}'
        for said, label in [(text, "right"), ('{"name": "Zoe", "age": 99}', "wrong")]:
            made.append(
                {
                    "prompt": [{"role": "user", "content": f"Extract record {place}."}],
                    "completion": [{"role": "assistant", "content": said}],
                    "answer": record,
                    "label": label,
                }
            )
    source = """
    import json

    def reward(completions, answer, **kwargs):
        scores = []
        for c, want in zip(completions, answer):
            try:
                got = json.loads(c[-1]["content"])
            except ValueError:
                got = None
            scores.append(float(isinstance(got, dict) and bool(got) and all(want.get(k) == v for k, v in got.items())))
        return scores
    """
    found = {finding.check: finding for finding in check(source, "RW4", rows=made, declare=DECLARED)}
    assert set(found) == {"RW402", "RW403"}
    assert "in a JSON fence" in found["RW402"].message
    assert "with its name alone" in found["RW403"].message or "without its" in found["RW403"].message


def test_nothing_found_equals_nothing_asked_for(check):
    [finding] = check(reward("s == a"), "RW409", rows=rows(), declare=DECLARED)
    assert finding.severity == "info"
    assert "where the ground truth is ''" in finding.message
    blank = {**rows(("",))[1], "prompt": [{"role": "user", "content": "What is missing?"}]}
    [finding] = check(reward("s == a"), "RW409", rows=[*rows(), blank], declare=DECLARED)
    assert (finding.severity, finding.count) == ("error", 1)
    assert check(reward("bool(a) and s == a"), "RW409", rows=[*rows(), blank], declare=DECLARED) == []


@pytest.mark.parametrize(
    ("prompt", "found"), [("Finish {} with 'Estimate: <number>'.", []), ("How much is {}?", ["RW402"])]
)
def test_words_behind_a_number_are_not_the_form_where_the_prompt_says_how_to_end(check, prompt, found):
    made = [
        {
            **row,
            "prompt": [{"role": "user", "content": prompt.format(place // 2)}],
            "completion": [
                {"role": "assistant", "content": row["completion"][0]["content"].replace("\n", " ")}
            ],
        }
        for place, row in enumerate(rows(("1250", "42", "60"), form="Estimate: {}"))
    ]
    source = reward(
        "(m := re.search(r'Estimate: (.*?)[.]?$', t)) is not None and number(m.group(1)) == number(a)"
    )
    loud = [f.check for f in check(source, "RW402", rows=made, declare=DECLARED) if f.severity != "info"]
    assert loud == found


BOXES = """
def last_box(text):
    at = text.rfind("\\\\boxed{") + 7
    depth, end = 1, at
    while depth and end < len(text):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return text[at : end - 1]

def reward(completions, answer, **kwargs):
    return [float(last_box(c[-1]["content"]) == a) for c, a in zip(completions, answer)]
"""


def test_near_miss_that_its_form_would_not_give_back_is_not_tried(check):
    golds = ("2\\sqrt{3}", "\\sqrt{5}", "4\\pi{r}")
    made = rows(golds, form="So $\\boxed{{{}}}$.")
    assert check(BOXES, "RW303 RW403", rows=made, declare='kind = "correctness"') == []


def test_longer_word_is_made_of_letters_only():
    longer = {
        gold: [v.text for v in near_misses(gold) if v.what == "a longer word"] for gold in ("Paris", "x^{2}")
    }
    assert longer == {"Paris": ["Parissing"], "x^{2}": []}


AFTER_A_MARK = """
import re
def reward(completions, answer, **kwargs):
    found = [re.findall(r"\\$(\\d+(?:\\.\\d+)?)", c[-1]["content"]) for c in completions]
    return [float(len(f) == 1 and float(f[0]) == float(a)) for f, a in zip(found, answer)]
"""


def test_reward_that_asks_for_the_mark_around_the_answer_is_not_said_to_refuse_forms(check):
    made = rows(("8", "12", "2450"), form="Total: ${}")
    assert check(AFTER_A_MARK, "RW402", rows=made, declare='kind = "correctness"') == []
    bare = AFTER_A_MARK.replace("[float(len(f) == 1 and float(f[0]) == float(a))", "[float(f == [a])")
    assert check(bare, "RW402", rows=made, declare='kind = "correctness"') == []


ENDS = """
def reward(completions, answer, **kwargs):
    return [float(c[-1]["content"].endswith(": " + a)) for c, a in zip(completions, answer)]
"""


def test_case_that_other_right_samples_write_is_the_first_reason(check):
    made = rows(("red", "green", "blue"), form="Colour: {}")
    right = [{"role": "assistant", "content": "Looked.\nColour: Red"}]
    made.append({**made[0], "completion": right})
    [finding] = check(ENDS, "RW402", rows=made, declare='kind = "correctness"')
    assert "'Red' for 'red' (with a capital letter) earns 0 instead of 1" in finding.message
