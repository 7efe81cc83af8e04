"""Scores that are chosen: ternaries, early returns, chains of tests, exceptions."""
# ruff: noqa  # code as people write it; unformatted, because a key stands behind its line
# fmt: off

# completion: <think>I think so.</think><answer>42</answer> and more
# answer: 42

import json
import re

POINTS = {"high": 1.0, "low": 0.25}


def ternary(completions, answer, **kwargs):
    return [2.0 if a in c[0]["content"] else 0.0 for c, a in zip(completions, answer)]  #: 2.0 | a in c[0]["content"] | 42


def ternary_with_both_signs(completions, **kwargs):
    return [1.0 if c[0]["content"].endswith("</answer>") else -0.5 for c in completions]  #: -0.5 | c[0]["content"].endswith("</answer>") | -


def appended(completions, **kwargs):
    rewards = []
    for completion in completions:
        match = re.search(r"<answer>(\d+)</answer>", completion[0]["content"])
        rewards.append(0.5 if match else 0.0)  #: 0.5 | match | <answer>42</answer>
    return rewards


def branches(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        if "<nothing>" in text:
            rewards.append(1.0)
        elif "<answer>" in text:
            rewards.append(0.75)  #: 0.75 | "<answer>" in text | <answer>
        else:
            rewards.append(0.0)
    return rewards


def else_branch(completions, **kwargs):
    rewards = []
    for completion in completions:
        if "<nothing>" in completion[0]["content"]:
            rewards.append(1.0)
        else:
            rewards.append(-1.0)  #: -1.0 | "<nothing>" in completion[0]["content"] | -
    return rewards


# keys of early_return
def _graded(text, gold):
    match = re.search(r"<answer>(.*?)</answer>", text)
    if match is None:
        return 0.0
    if match.group(1) == gold:
        return 2.0  #: 2.0 | match.group(1) == gold | 42
    return 0.5


def early_return(completions, answer, **kwargs):
    return [_graded(c[0]["content"], a) for c, a in zip(completions, answer)]


# keys of behind_early_return
def _checked(text):
    if not text.startswith("<think>"):
        return 0.0
    if "<table>" in text:
        return 0.25
    return 1.0  #: 1.0 | "<table>" in text | -


def behind_early_return(completions, **kwargs):
    return [_checked(c[0]["content"]) for c in completions]


def skipped_rows(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        if not text.strip():
            rewards.append(0.0)
            continue
        score = 0.0
        if "so" in text:
            score += 0.1  #: 0.1 | "so" in text | so
        rewards.append(score)
    return rewards


def for_else(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        for tag in ("<think>", "</answer>"):
            if tag not in text:
                break
        else:
            score += 1.0  #: 1.0 | tag not in text | </answer>
        rewards.append(score)
    return rewards


def while_loop(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score, start = 0.0, text.find("think")
        while start >= 0:
            score += 0.1  #: 0.1 | start >= 0 | think ;; 0.1 | start >= 0 | think ;; 0.1 | start >= 0 | think
            start = text.find("think", start + 1)
        rewards.append(score)
    return rewards


def exception_as_exit(completions, **kwargs):
    rewards = []
    for completion in completions:
        try:
            json.loads(completion[0]["content"])
            rewards.append(1.0)
        except ValueError:
            rewards.append(-0.1)  #: -0.1 | except ValueError | -
    return rewards


def no_exception(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        try:
            number = float(text.split("<answer>")[1].split("</answer>")[0])
        except (ValueError, IndexError):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if number == 42 else 0.0)  #: 1.0 | number == 42 | 42
    return rewards


def walrus(completions, **kwargs):
    return [0.5 if (m := re.search(r"\d+", c[0]["content"])) and m.group() == "42" else 0.0 for c in completions]  #: 0.5 | (m := re.search(r"\d+", c[0]["content"])) and m.group() == "42" | 42


def or_default(completions, **kwargs):
    rewards = []
    for completion in completions:
        score = None
        if "<answer>" in completion[0]["content"]:
            score = 0.5  #: 0.5 | "<answer>" in completion[0]["content"] | <answer>
        rewards.append(score or 0.0)
    return rewards


def table_of_points(completions, **kwargs):
    rewards = []
    for completion in completions:
        if "<answer>" in completion[0]["content"]:
            rewards.append(POINTS["high"])  #: 1.0 | "<answer>" in completion[0]["content"] | <answer>
        else:
            rewards.append(POINTS["low"])
    return rewards


def matched_case(completions, **kwargs):
    rewards = []
    for completion in completions:
        match completion[0]["content"].split("<answer>"):
            case [_]:
                rewards.append(0.0)
            case [_, _]:
                rewards.append(1.0)  #: 1.0 | case [_, _] | -
            case _:
                rewards.append(0.5)
    return rewards


def boolean_as_number(completions, answer, **kwargs):
    return [float(a in c[0]["content"]) for c, a in zip(completions, answer)]  #: 1.0 | a in c[0]["content"] | 42


def boolean_times_points(completions, answer, **kwargs):
    return [2.0 * (a in c[0]["content"]) for c, a in zip(completions, answer)]  #: 2.0 | a in c[0]["content"] | 42


def booleans_in_one_sum(completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        text = completion[0]["content"]
        rewards.append(0.5 * ("<think>" in text) + 1.5 * (gold in text) - 0.25 * ("more" in text))  #: 0.5 | "<think>" in text | <think> ;; 1.5 | gold in text | 42 ;; -0.25 | "more" in text | more
    return rewards


def flag(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        found = False
        if "<answer>" in text:
            found = True
        rewards.append(1.0 if found else 0.0)  #: 1.0 | found | <answer>
    return rewards


def nothing_paid(completions, **kwargs):
    return [1.0 if "<table>" in c[0]["content"] else 0.0 for c in completions]  #: 0.0 | "<table>" in c[0]["content"] | -


def zero_made_of_parts(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        if "<answer>" in text:
            score += 0.5  #: 0.5 | "<answer>" in text | <answer>
        if "more" in text:
            score -= 0.5  #: -0.5 | "more" in text | more
        rewards.append(score)
    return rewards


def gate(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        if "<answer>" in text:
            score += 0.5  #: 0.5 | "<answer>" in text | <answer>
        if "42" in text:
            score += 0.5  #: 0.5 | "42" in text | 42
        clean = text.endswith("</answer>")
        rewards.append(score * clean)  #: -1.0 | text.endswith("</answer>") | -
    return rewards
