"""Our rewards for answers beside other projects' of the same meaning, row by row.

`fixtures/peers/answers.jsonl` has the rows. `SHARED` says how a row is put to one of our rewards; `APART` says why
a whole reward of theirs is not compared, `DIFFERENT` why a single row is not: its meaning is another one, and the
test makes sure that we do differ. Every other row has to agree to 1e-6. `fixtures/peers/README.md` sums this up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rewards.library import (
    exact_match,
    fuzzy_match,
    maths_equal,
    multiple_choice,
    numeric,
    set_match,
    word_overlap,
)
from rewards.library.extraction import after_thinking, last_block, last_boxed

FOLDER = Path(__file__).parents[3] / "fixtures/peers"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "answers.jsonl").read_text("utf-8").splitlines()
]

Got = tuple[Any, Any]
"""What we say and what they say."""

BOXED = ["boxed"]
ANYWHERE = ["tag", "boxed", "line", "math", "number"]


def one(member: Any, completion: Any, answer: Any, **options: Any) -> float | None:
    return member([completion], answer=[answer], **options)[0]  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------- mathematics

DECIMAL_COMMA = {"8cb6d6bc", "413477f9", "5e164e25", "0e24dd9c"}
WHOLE = {"07bac801", "31e3661d"}
LAST_NUMBER = {"5f60c281": ["number"], "20e66cce": ["number"], "fac5b9c4": ["boxed", "math"]}


def math_verify(row: dict[str, Any]) -> Got:
    """Their texts hold an answer anywhere: in a box, a formula, behind "answer", or the last number."""
    gold, text, short = row["inputs"]["gold"], row["inputs"]["pred"], row["id"][-8:]
    if short in DECIMAL_COMMA:
        forms = ["number"] if " " in text else ["whole"]
        got = one(numeric, text, gold, decimal_comma=True, answer_forms=forms)
    elif short in WHOLE:
        got = one(maths_equal, text, gold)
    else:
        forms = LAST_NUMBER.get(short, ANYWHERE)
        got = one(maths_equal, text, gold, answer_forms=forms)
    return got, float(row["expected"])


def trl(row: dict[str, Any]) -> Got:
    (completion,), (solution,) = row["inputs"]["completions"], row["inputs"]["solution"]
    text = completion[0]["content"].replace("</REASONING_END>", "</think>")
    return [one(maths_equal, text, solution, answer_forms=BOXED)], row["expected"]


def deepscaler(row: dict[str, Any]) -> Got:
    return one(maths_equal, row["inputs"]["response"], row["inputs"]["label"], answer_forms=BOXED), row[
        "expected"
    ]


def dapo(row: dict[str, Any]) -> Got:
    """They look at the last 300 characters, boxes only where told, and pay -1 or 1."""
    inputs, expected = row["inputs"], row["expected"]
    text = inputs.get("solution_str", inputs.get("pred"))
    gold = inputs.get("ground_truth", inputs.get("answer", inputs.get("gt")))
    strict = inputs.get(
        "strict_box_verify", row["config"].get("strict_box_verify", row["reward"].endswith("box"))
    )
    got = one(maths_equal, text[-300:], gold, answer_forms=BOXED if strict else ["line"])
    paid = expected["acc"] if isinstance(expected, dict) else expected[0] not in (-1, False)
    return got, float(paid)


def pair(row: dict[str, Any]) -> Got:
    inputs = row["inputs"]
    text = inputs.get(
        "given_answer", inputs.get("solution_str", inputs.get("predicted", inputs.get("answer")))
    )
    gold = inputs.get("ground_truth", inputs.get("expected"))
    return one(maths_equal, text, gold), float(row["expected"])


def cascade(row: dict[str, Any]) -> Got:
    inputs = row["inputs"]
    return one(numeric, inputs["answer"], inputs["expected"], relative_tolerance=0.01), row["expected"]


def float_match(row: dict[str, Any]) -> Got:
    inputs = row["inputs"]
    got = one(
        numeric, inputs["predicted"], inputs["expected"], relative_tolerance=inputs.get("rel_tol", 0.01)
    )
    return got, row["expected"]


def tagged_maths(row: dict[str, Any]) -> Got:
    inputs = row["inputs"]
    return one(maths_equal, inputs["completion"], inputs["solution"], answer_forms=["tag"]), row["expected"]


def eval_protocol_maths(row: dict[str, Any]) -> Got:
    inputs = row["inputs"]
    gold = inputs["ground_truth"]
    gold = gold if isinstance(gold, str) else gold[-1].get("content")
    return one(maths_equal, inputs["messages"], gold), row["expected"]["score"]


def listed(row: dict[str, Any]) -> Got:
    inputs = row["inputs"]
    ordered = inputs.get("order_matters", False)
    got = one(set_match, inputs["messages"], inputs["ground_truth"], in_order=ordered, partial_credit=False)
    return got, row["expected"]["score"]


def litmus(row: dict[str, Any]) -> Got:
    inputs, rule = row["inputs"], row["inputs"].get("match", {})
    tolerances = {"relative_tolerance": 1e-6, "absolute_tolerance": rule.get("abs_tol", 1e-6)}
    text = re.sub(r"\(\((.*?)\)\)", r"<answer>\1</answer>", inputs["completion"])
    if inputs.get("answer_type") == "string":
        return one(exact_match, text, inputs["expected_answer"]), row["expected"]["reward"]
    return one(numeric, text, inputs["expected_answer"], answer_forms=["tag", "boxed"], **tolerances), row[
        "expected"
    ]["reward"]


def tagged_expression(row: dict[str, Any]) -> Got:
    inputs = row["inputs"]
    got = one(maths_equal, inputs["response"], inputs["ground_truth"], answer_forms=["tag"])
    return got, row["expected"][0]


def geo3k(row: dict[str, Any]) -> Got:
    """Their score adds a share for the form; whether the answer is right stands beside it."""
    inputs = row["inputs"]
    member = multiple_choice if inputs["ground_truth"].isalpha() else maths_equal
    return one(member, inputs["response"], inputs["ground_truth"], answer_forms=BOXED), float(
        row["expected"][1]
    )


def math_reward(row: dict[str, Any]) -> Got:
    text = row["inputs"]["solution_str"].replace("\\boxed 7", "\\boxed{7}")
    return one(maths_equal, text, row["inputs"]["ground_truth"], answer_forms=BOXED), row["expected"]


def tagged_exact(row: dict[str, Any]) -> Got:
    got = one(exact_match, row["inputs"]["completion"], row["inputs"]["answer"], answer_forms=["tag"])
    return got, row["expected"] / 2.0


def solution_tag(row: dict[str, Any]) -> Got:
    text = row["inputs"]["completion"].replace("SOLUTION>", "answer>")
    return one(numeric, text, row["inputs"]["answer"], answer_forms=["tag"]), float(row["expected"] > 1)


# --------------------------------------------------------------------------------------------- choice


def mcqa(row: dict[str, Any]) -> Got:
    inputs, config = row["inputs"], row["config"]
    mode = config.get("grading_mode", inputs["grading_mode"])
    patterns = inputs.get("template_metadata", {}).get("output_regex")
    pattern = patterns[-1] if isinstance(patterns, list) else patterns
    forms = BOXED if "boxed" in mode else ["tag", "boxed", "line"]
    options = {"options": [inputs["options"]], "answer_forms": forms, "answer_pattern": pattern}
    return one(multiple_choice, inputs["completion"], inputs["expected_answer"], **options), row["expected"][
        "reward"
    ]


def spartqa(row: dict[str, Any]) -> Got:
    inputs = row["inputs"]
    got = one(multiple_choice, inputs["completion"], inputs["target"], options=[inputs["options"]])
    return got, row["expected"]["reward"]


def gpqa(row: dict[str, Any]) -> Got:
    inputs = row["inputs"]
    metadata = inputs.get("metadata", {})
    options = [metadata["choices"]] if "choices" in metadata else None
    gold = metadata.get("correct_letter", inputs["label"])
    return one(multiple_choice, inputs["response"], gold, options=options), row["expected"]


def letter(row: dict[str, Any]) -> Got:
    labels = row["inputs"].get("valid_letters") or row["config"]["strings"]
    expected = row["expected"]
    gold = expected if isinstance(expected, str) else expected[1]
    text = row["inputs"].get("response", row["inputs"].get("pred"))
    return one(multiple_choice, text, gold, options=[dict.fromkeys(labels, "")]), 1.0


def eval_protocol_choice(row: dict[str, Any]) -> Got:
    inputs = row["inputs"]
    gold = inputs["ground_truth"][-1]["content"] if inputs["ground_truth"] else None
    return one(multiple_choice, inputs["messages"], gold), row["expected"]["score"]


# ------------------------------------------------------------------------------------------------ text


def hotpot(row: dict[str, Any]) -> Got:
    """`{"answer": "Paris"}`: the field of the JSON is the answer."""
    inputs = row["inputs"]
    text = re.sub(r'^\{"answer": "(.*)"\}$', r"<answer>\1</answer>", inputs["completion"])
    return one(exact_match, text, inputs["expected_answer"]), row["expected"]["reward"]


def alphanumeric(row: dict[str, Any]) -> Got:
    inputs = row["inputs"]
    options = {"ignore_punctuation": True, "answer_forms": ["tag"]}
    return one(exact_match, inputs["response"], inputs["ground_truth"], **options), row["expected"][0]


def string_match(row: dict[str, Any]) -> Got:
    return one(exact_match, row["inputs"]["predicted"], row["inputs"]["expected"]), row["expected"]


def fuzzy(row: dict[str, Any]) -> Got:
    return one(fuzzy_match, row["inputs"]["completion"], row["inputs"]["answer"], answer_forms=["tag"]), row[
        "expected"
    ]


def f1(row: dict[str, Any]) -> Got:
    inputs, expected = row["inputs"], row["expected"]
    gold = inputs.get("label", inputs.get("ground_truth"))
    expected = expected["score"] if isinstance(expected, dict) else expected[0]
    return one(word_overlap, inputs["prediction"], gold), expected


def rewardlint(row: dict[str, Any]) -> Got:
    inputs = row["inputs"]
    gold, text = inputs["reference"], inputs["completion"]
    if gold.isalpha() and len(gold) == 1:
        return one(multiple_choice, text, gold), float(row["expected"])
    if gold.startswith("the "):
        return one(exact_match, text, gold, ignore_articles=True), float(row["expected"])
    return one(maths_equal, text, gold), float(row["expected"])


# ------------------------------------------------------------------------------------------- extraction


def boxes(row: dict[str, Any]) -> Got:
    text = row["inputs"].get("string", row["inputs"].get("s"))
    found = last_boxed(text) if text is not None else None
    inside = None if found is None else found.text
    whole = inside if row["reward"].endswith("remove_boxed") or inside is None else f"\\boxed{{{inside}}}"
    return whole, row["expected"]


def last_answer(row: dict[str, Any]) -> Got:
    completion = row["inputs"]["completion"]
    text = completion if isinstance(completion, str) else completion[-1]["content"] if completion else ""
    if row["reward"] == "XMLParser.parse_answer":
        found = last_block(text)
        return found and found.text, row["expected"]
    return after_thinking(text).text or None, row["expected"]


def thinking(row: dict[str, Any]) -> Got:
    return after_thinking(row["inputs"]["text"]).text, row["expected"]


def fields(row: dict[str, Any]) -> Got:
    found = {name: last_block(row["inputs"]["text"], name) for name in row["expected"]}
    return {name: block and block.text for name, block in found.items()}, row["expected"]


SHARED: dict[tuple[str, str], Callable[[dict[str, Any]], Got]] = {
    ("math-verify", "verify"): math_verify,
    ("trl", "accuracy_reward"): trl,
    ("trl", "reasoning_accuracy_reward"): trl,
    ("open-r1", "accuracy_reward"): trl,
    ("slime", "deepscaler.get_deepscaler_rule_based_reward"): deepscaler,
    ("slime", "dapo.compute_score"): dapo,
    ("slime", "dapo.verify"): dapo,
    ("slime", "dapo.is_correct_strict_box"): dapo,
    ("slime", "math.grade_answer_mathd"): pair,
    ("slime", "math.grade_answer_verl"): pair,
    ("reasoning-gym", "cascade_score"): cascade,
    ("reasoning-gym", "float_match"): float_match,
    ("reasoning-gym", "math_match"): pair,
    ("reasoning-gym", "string_match"): string_match,
    ("ms-swift", "MathAccuracy"): tagged_maths,
    ("eval-protocol", "accuracy_reward"): eval_protocol_maths,
    ("eval-protocol", "math_reward"): eval_protocol_maths,
    ("eval-protocol", "list_comparison_math_reward"): listed,
    ("eval-protocol", "multiple_choice_math_reward"): eval_protocol_choice,
    ("nemo-gym", "litmus_agent.verify"): litmus,
    ("nemo-gym", "mcqa.verify"): mcqa,
    ("nemo-gym", "spartqa.verify"): spartqa,
    ("nemo-gym", "hotpotqa_qa.verify"): hotpot,
    ("nemo-gym", "hotpotqa_qa.answer_f1_score"): f1,
    ("nemo-rl", "math_expression_reward"): tagged_expression,
    ("nemo-rl", "geo3k_reward"): geo3k,
    ("nemo-rl", "exact_answer_alphanumeric_reward"): alphanumeric,
    ("open-instruct", "F1Verifier"): f1,
    ("verl", "math_dapo.compute_score"): dapo,
    ("verl", "math_reward.compute_score"): math_reward,
    ("verl", "prime_math.compute_score"): pair,
    ("unsloth", "correctness_reward_func"): tagged_exact,
    ("unsloth", "check_numbers"): solution_tag,
    ("slime", "gpqa.compute_gpqa_reward"): gpqa,
    ("slime", "gpqa._extract_letter_from_response"): letter,
    ("math-verify", "parse_string_choice"): letter,
    ("slime", "f1.f1_score"): f1,
    ("skill-library", "fuzzy_match_reward"): fuzzy,
    ("rewardlint", "verifier_should_accept"): rewardlint,
    ("slime", "dapo.last_boxed_only_string"): boxes,
    ("slime", "math.last_boxed_only_string"): boxes,
    ("slime", "dapo.remove_boxed"): boxes,
    ("slime", "math.remove_boxed"): boxes,
    ("verifiers", "XMLParser.parse_answer"): last_answer,
    ("verifiers", "Parser.parse_answer"): last_answer,
    ("verifiers", "XMLParser.parse"): fields,
    ("verifiers", "ThinkParser.parse"): thinking,
    ("verifiers", "MaybeThinkParser.parse"): thinking,
    ("verifiers", "Parser.parse"): thinking,
}

NORMAL_FORM = "gives a text in a normal form of its own, no score"
APART: dict[tuple[str, str], str] = {
    ("slime", "dapo.normalize_final_answer"): NORMAL_FORM,
    ("slime", "math._strip_string"): NORMAL_FORM,
    ("slime", "f1.normalize_answer"): NORMAL_FORM,
    ("open-instruct", "math_utils.strip_string"): NORMAL_FORM,
    ("reasoning-gym", "strip_latex"): NORMAL_FORM,
    ("nemo-gym", "hotpotqa_qa.normalize_answer"): NORMAL_FORM,
    ("nemo-gym", "hotpotqa_qa.normalize_gt"): "cleans a data set's references, scores nothing",
    ("nemo-gym", "hotpotqa_qa.parse_generation"): "reads a record with supporting facts, scores nothing",
    ("nemo-gym", "hotpotqa_qa.is_correct"): "pays a reference anywhere in the text; we pay what is answered",
    (
        "nemo-gym",
        "hotpotqa_qa.is_correct_strict",
    ): "pays a reference anywhere in the text; we pay what is answered",
    ("nemo-rl", "bbox_giou_reward"): "boxes in a picture",
    ("open-instruct", "if_functions.validate_choice"): "has no reference",
    ("unsloth", "int_reward_func"): "has no reference: it pays any whole number",
    ("unsloth", "check_answer"): "pays near misses by ratio, on a scale of its own",
    ("skill-library", "math_problem_reward"): "adds a format reward; the parts are compared apart",
}

NOT_SCORED = "there is no reference, or none that can be read: not scored instead of wrong"
SPELLING = "they compare texts: a separator, sign or white space makes another answer there"
NEAR_MISS = "a near miss is paid by plain similarity there; here it earns little or nothing"
DIFFERENT: dict[str, str] = {
    "math-verify-036750fca6fc": "a formula may stand on several lines",
    "math-verify-65f1e0a7340f": "1/2 = 10/9 is false, and a false calculation is no answer",
    "math-verify-6398780782b1": "the reference says 1 = 0 and has a command that is none: not scored",
    "math-verify-d86852614ff9": "refused there by a setting; an interval and its inequality are the same here",
    "math-verify-e74a0bcb57ee": "1 - 1/e is not 1 + 1/e",
    "math-verify-e4db863d4399": "a letter in the middle of a sentence is no choice",
    "reasoning-gym-f35e8c9d9283": "a number needs no dollar signs to be one",
    "reasoning-gym-ca871d7fe223": NOT_SCORED,
    "slime-8893cfb5ac71": NOT_SCORED,
    "eval-protocol-dff70216634b": NOT_SCORED,
    "eval-protocol-72aeff9c3788": "an option is no mathematics: not scored, there 0",
    "eval-protocol-0e2d718dad96": "an option is no mathematics: not scored, there 0",
    "eval-protocol-a7c616393f46": "a reference that names two options names none: not scored",
    "eval-protocol-da09947f9013": NOT_SCORED,
    "eval-protocol-0d9097bf779a": NOT_SCORED,
    "eval-protocol-3fdbbe44de05": NOT_SCORED,
    "nemo-gym-8e6ea077546f": "a numeral is not the word for it",
    "nemo-gym-a36d7934fa68": "they round to yes or no; 0.4 is not 0 here",
    "nemo-gym-315baa8aa274": "letters of one alphabet are not those of another",
    "nemo-gym-f4a6d73b44b4": "a pattern that is none is refused, there passed over",
    "nemo-gym-1ec0c7438dfe": "what is said last counts, and it names three options",
    "nemo-gym-678c4572ce2e": "a short form of that data set's own: both for both of them",
    "nemo-gym-19b254e9d9ee": NOT_SCORED,
    "nemo-gym-9acc52277c6c": "without options a text is for exact_match: not scored",
    "skill-library-bad8cebc3964": NEAR_MISS,
    "skill-library-96ff7b216929": NEAR_MISS,
    "skill-library-20123e82dfcf": NEAR_MISS,
    "skill-library-9da843f301ff": NEAR_MISS,
    "skill-library-c7062fd1d4df": "an empty answer to an empty reference is not scored instead of paid in full",
    "skill-library-2347b525a519": SPELLING,
    "skill-library-225ef650e8dd": "the last of several answers counts, not the first",
    "unsloth-a9d6d308db98": SPELLING,
    "unsloth-52b9299d3d99": "the sign is part of the number",
    "verifiers-53ca6bc8929d": "a text without thinking is an answer",
    "verl-5368e8bdd4e2": "a box round one number needs no braces",
    "verl-cdd226bbd981": "`the answer is 18` is an answer, too",
    "verl-d7ebce89925a": "50% answers 50",
}


REFUSED = ["nemo-gym-f4a6d73b44b4"]


def agrees(row: dict[str, Any]) -> bool:
    got, expected = SHARED[row["peer"], row["reward"]](row)
    return _near(got, expected)


def _near(got: Any, expected: Any) -> bool:
    if isinstance(got, list):
        return len(got) == len(expected) and all(map(_near, got, expected))
    if isinstance(got, float) and isinstance(expected, (int, float)):
        return abs(got - expected) < 1e-6
    return bool(got == expected)


COMPARED = [row for row in ROWS if (row["peer"], row["reward"]) in SHARED]
ALIKE = [row for row in COMPARED if row["id"] not in DIFFERENT]


@pytest.mark.parametrize("row", ALIKE, ids=lambda row: str(row["id"]))
def test_a_row_scores_as_it_does_there(row: dict[str, Any]) -> None:
    got, expected = SHARED[row["peer"], row["reward"]](row)
    if got is None and row["family"] == "math":
        got = 0.0  # given up in its bounded time, as a slow machine makes it: nothing is paid either way
    assert _near(got, expected), (got, expected)


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_row_named_as_different_really_is(name: str) -> None:
    (row,) = [row for row in COMPARED if row["id"] == name]
    assert name in REFUSED or not agrees(row)


@pytest.mark.parametrize("name", REFUSED)
def test_a_pattern_that_is_none_is_refused(name: str) -> None:
    (row,) = [row for row in COMPARED if row["id"] == name]
    with pytest.raises(ValueError, match=r"answer_pattern='\(\[' \(str\) must be a regular expression"):
        agrees(row)


def test_every_reward_of_theirs_is_compared_or_said_to_be_apart() -> None:
    rewards = {(row["peer"], row["reward"]) for row in ROWS}
    assert rewards == SHARED.keys() | APART.keys()
    assert not SHARED.keys() & APART.keys()


def test_the_readme_counts_the_rows_by_family() -> None:
    """Rows, those compared, those that agree; asserted by the peers' own tests in brackets."""
    readme = (FOLDER / "README.md").read_text("utf-8")
    for family in sorted({row["family"] for row in ROWS}):
        cells = [_count(rows, family) for rows in (ROWS, COMPARED, ALIKE)]
        assert f"| {family} | {' | '.join(cells)} |" in readme


def _count(rows: list[dict[str, Any]], family: str) -> str:
    own = [row["basis"] for row in rows if row["family"] == family]
    return f"{len(own)} ({own.count('asserted')})"
