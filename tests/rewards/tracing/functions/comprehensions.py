"""Scores made in one expression: sums, comprehensions, any and all, map and lambda."""
# ruff: noqa  # code as people write it; unformatted, because a key stands behind its line
# fmt: off

# completion: <think>I think so.</think><answer>42</answer> and more
# answer: 42

import math
import statistics
from functools import reduce

TAGS = ("<think>", "</think>", "<answer>", "</answer>")
CHECKS = [
    (0.5, lambda text: "<answer>" in text),
    (0.25, lambda text: "<table>" in text),
    (0.25, lambda text: "42" in text),
]


def has(text, tag):
    return tag in text


def tag_points(text, tag):
    return 0.25 if tag in text else 0.0


def sum_of_booleans(completions, **kwargs):
    return [sum(tag in c[0]["content"] for tag in TAGS) / 4 for c in completions]  #: 0.25 | tag in c[0]["content"] | <think> ;; 0.25 | tag in c[0]["content"] | </think> ;; 0.25 | tag in c[0]["content"] | <answer> ;; 0.25 | tag in c[0]["content"] | </answer>


def sum_of_points(completions, **kwargs):
    return [sum(0.5 for tag in TAGS[:2] if tag in c[0]["content"]) for c in completions]  #: 0.5 | tag in c[0]["content"] | <think> ;; 0.5 | tag in c[0]["content"] | </think>


def sum_of_a_list(completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        text = completion[0]["content"]
        rewards.append(
            sum(
                [
                    0.5 if "<think>" in text else 0.0,  #: 0.5 | "<think>" in text | <think>
                    0.25 if "<table>" in text else 0.0,
                    2.0 if gold in text else 0.0,  #: 2.0 | gold in text | 42
                ]
            )
        )
    return rewards


def nested_helpers(completions, **kwargs):
    return [sum([0.25 * has(c[0]["content"], tag) for tag in ("<think>", "<answer>")]) for c in completions]


# keys of nested_helpers_key
def _layout(text):
    return sum(0.5 if has(text, tag) else 0.0 for tag in ("<think>", "<answer>"))  #: 0.5 | has(text, tag) | <think> ;; 0.5 | has(text, tag) | <answer>


def nested_helpers_key(completions, **kwargs):
    return [_layout(c[0]["content"]) for c in completions]


def all_of_them(completions, **kwargs):
    return [1.0 if all(tag in c[0]["content"] for tag in TAGS) else 0.0 for c in completions]  #: 1.0 | all(tag in c[0]["content"] for tag in TAGS) | <think> & </think> & <answer> & </answer>


def any_of_them(completions, **kwargs):
    words = ("perhaps", "so", "more")
    return [0.3 if any(word in c[0]["content"] for word in words) else 0.0 for c in completions]  #: 0.3 | any(word in c[0]["content"] for word in words) | so


def mapped_lambda(completions, **kwargs):
    return list(map(lambda c: 0.5 if "<answer>" in c[0]["content"] else 0.0, completions))  #: 0.5 | "<answer>" in c[0]["content"] | <answer>


def table_of_lambdas(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        for points, check in CHECKS:
            if check(text):
                score += points  #: 0.5 | "<answer>" in text | <answer> ;; 0.25 | "42" in text | 42
        rewards.append(score)
    return rewards


def list_then_sum(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        hits = [tag in text for tag in TAGS]  #: 0.25 | tag in text | <think> ;; 0.25 | tag in text | </think> ;; 0.25 | tag in text | <answer> ;; 0.25 | tag in text | </answer>
        rewards.append(sum(hits) / len(hits))
    return rewards


def mean_of_parts(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        parts = []
        parts.append(1.0 if "<answer>" in text else 0.0)  #: 0.5 | "<answer>" in text | <answer>
        parts.append(1.0 if "<table>" in text else 0.0)
        rewards.append(statistics.mean(parts))
    return rewards


def exact_sum(completions, **kwargs):
    return [math.fsum([0.1 if tag in c[0]["content"] else 0.0 for tag in TAGS[:2]]) for c in completions]  #: 0.1 | tag in c[0]["content"] | <think> ;; 0.1 | tag in c[0]["content"] | </think>


def zipped_terms(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        hits = [1 if "<answer>" in text else 0, 1 if "42" in text else 0]  #: 0.25 | "<answer>" in text | <answer> ;; 0.75 | "42" in text | 42
        rewards.append(sum(weight * hit for weight, hit in zip((0.25, 0.75), hits)))
    return rewards


def combined_lists(completions, **kwargs):
    layout = [0.5 if "<think>" in c[0]["content"] else 0.0 for c in completions]  #: 0.5 | "<think>" in c[0]["content"] | <think>
    answers = [1.0 if "42" in c[0]["content"] else 0.0 for c in completions]  #: 1.0 | "42" in c[0]["content"] | 42
    return [a + b for a, b in zip(layout, answers)]


def best_of_two(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        strict = 1.0 if text.endswith("</answer>") else 0.0
        soft = 0.5 if "</answer>" in text else 0.0  #: 0.5 | "</answer>" in text | </answer>
        rewards.append(max(strict, soft))
    return rewards


def first_match(completions, **kwargs):
    levels = ((1.0, "<table>"), (0.5, "<answer>"), (0.1, "<think>"))
    return [next((points for points, tag in levels if tag in c[0]["content"]), 0.0) for c in completions]  #: 0.5 | tag in c[0]["content"] | <answer>


def generator_of_scores(completions, **kwargs):
    return (0.5 if "<answer>" in c[0]["content"] else 0.0 for c in completions)  #: 0.5 | "<answer>" in c[0]["content"] | <answer>


def rounded(completions, **kwargs):
    return [round(sum(tag in c[0]["content"] for tag in TAGS[:2]) / 3, 2) for c in completions]  #: 0.333333333 | tag in c[0]["content"] | <think> ;; 0.333333333 | tag in c[0]["content"] | </think> ;; 0.003333333 | round(sum(tag in c[0]["content"] for tag in TAGS[:2]) / 3, 2) | -


def penalties_subtracted(completions, **kwargs):
    bad = ("more", "I ", "maybe")
    return [1.0 - 0.25 * sum(word in c[0]["content"] for word in bad) for c in completions]  #: 1.0 | - | - ;; -0.25 | word in c[0]["content"] | more ;; -0.25 | word in c[0]["content"] | I 


def formula(completions, **kwargs):
    return [max(0.0, 1.0 - abs(len(c[0]["content"]) - 50) / 50) for c in completions]  #: 0.92 | - | -


def reduced(completions, **kwargs):
    return [reduce(lambda total, tag: total + (0.1 if tag in c[0]["content"] else 0.0), TAGS[:2], 0.0) for c in completions]  #: 0.1 | tag in c[0]["content"] | <think> ;; 0.1 | tag in c[0]["content"] | </think>
