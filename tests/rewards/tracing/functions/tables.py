"""Tables of rules, scores kept in dictionaries, and what decides behind a lambda, a parameter or an assertion."""
# ruff: noqa  # code as people write it; unformatted, because a key stands behind its line
# fmt: off

# completion: <think>6 * 7</think><answer>42</answer>
# answer: 42

import operator
import re
from collections import defaultdict, namedtuple
from functools import reduce

import numpy as np

Rule = namedtuple("Rule", "name pattern points")
RULES = (Rule("think", re.compile("<think>"), 0.25), Rule("no", re.compile("nothing"), 1.0), Rule("number", re.compile(r"\d+"), 0.5))
CHECKS = {"answer": lambda text: "<answer>" in text, "cry": lambda text: "!" in text, "number": lambda text: re.search(r"\d\d", text)}
WEIGHTS = {"answer": 0.3, "cry": -0.5, "number": 0.2}


def _text(completion):
    return completion[0]["content"]


def filtered_first(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = _text(completion)
        fired = [rule for rule in RULES if rule.pattern.search(text)]
        rewards.append(sum(rule.points for rule in fired))  #: 0.25 | rule.pattern.search(text) | <think> ;; 0.5 | rule.pattern.search(text) | 6
    return rewards


def kept_first(completions, **kwargs):
    rewards = []
    for completion in completions:
        text, fired = _text(completion), []
        for rule in RULES:
            if rule.pattern.search(text):
                fired.append(rule)
        score = 0.0
        for number, rule in enumerate(fired):
            score += rule.points  #: 0.25 | rule.pattern.search(text) | <think> ;; 0.5 | rule.pattern.search(text) | 6
        rewards.append(score)
    return rewards


def filter_and_sum(completions, **kwargs):
    return [sum(rule.points for rule in filter(lambda rule: rule.name in _text(c), RULES)) for c in completions]  #: 0.25 | rule.name in _text(c) | think


def rounded_sum_of_one(completions, **kwargs):
    return [round(sum(WEIGHTS[name] for name, check in CHECKS.items() if name != "number" and check(_text(c))), 3) for c in completions]  #: 0.3 | name != "number" and check(_text(c)) | <answer>


def lambdas_by_name(completions, **kwargs):
    rewards = []
    for completion in completions:
        score = 0.0
        for name, check in CHECKS.items():
            if check(_text(completion)):
                score += WEIGHTS[name]  #: 0.3 | "<answer>" in text | <answer> ;; 0.2 | re.search(r"\d\d", text) | 42
        rewards.append(score)
    return rewards


def share_of_words(completions, **kwargs):
    words = ["think", "answer", "because", "so"]
    rewards = []
    for completion in completions:
        found = [word for word in words if f"<{word}>" in _text(completion)]
        rewards.append(len(found) / len(words))  #: 0.5 | f"<{word}>" in _text(completion) | <think> & <answer>
    return rewards


def by_index(completions, **kwargs):
    totals = defaultdict(float)
    for i, completion in enumerate(completions):
        if "<think>" in _text(completion):
            totals[i] += 0.25  #: 0.25 | "<think>" in _text(completion) | <think>
        if "<answer>" in _text(completion):
            totals[i] += 0.5  #: 0.5 | "<answer>" in _text(completion) | <answer>
    return [totals[i] for i in range(len(completions))]


class Card:
    def __init__(self):
        self.parts = {}

    def add(self, name, points):
        self.parts[name] = self.parts.get(name, 0.0) + points


def named_parts(completions, **kwargs):
    rewards = []
    for completion in completions:
        card = Card()
        if "<think>" in _text(completion):
            card.add("tags", 0.25)  #: 0.25 | "<think>" in _text(completion) | <think>
        if "</think>" in _text(completion):
            card.add("tags", 0.5)  #: 0.5 | "</think>" in _text(completion) | </think>
        rewards.append(sum(card.parts.values()))
    return rewards


# keys of behind_a_parameter
class Giver:
    def __init__(self):
        self.score = 0.0

    def give(self, points, when):
        if when:
            self.score = self.score + points  #: 0.25 | "<think>" in _text(completion) | <think> ;; 1.0 | gold in _text(completion) | 42


def behind_a_parameter(completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        card = Giver()
        card.give(0.25, "<think>" in _text(completion))
        card.give(0.5, _text(completion).startswith("42"))
        card.give(1.0, gold in _text(completion))
        rewards.append(card.score)
    return rewards


def asserted(completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        score = 0.0
        try:
            assert "<answer>" in _text(completion)
            score += 0.5  #: 0.5 | "<answer>" in _text(completion) | <answer>
            assert gold == "43"
            score += 1.0
        except AssertionError:
            pass
        rewards.append(score)
    return rewards


def reduced(completions, **kwargs):
    return [reduce(operator.add, [0.25 if "<think>" in _text(c) else 0.0, 0.5 if "?" in _text(c) else 0.0, 0.125]) for c in completions]  #: 0.25 | "<think>" in _text(c) | <think> ;; 0.125 | - | -


def weighted_mean(completions, **kwargs):
    return [np.average([float("<think>" in _text(c)), float("?" in _text(c))], weights=[3, 1]) for c in completions]  #: 0.75 | "<think>" in _text(c) | <think>


def counted_so_far(completions, **kwargs):
    rewards = []
    for completion in completions:
        score, seen = 0.0, 1
        for match in re.finditer(r"<(\w+)>", _text(completion)):
            if len(match.group(1)) > seen:
                score += 0.25  #: 0.25 | len(match.group(1)) > seen | think ;; 0.25 | len(match.group(1)) > seen | answer
                seen += 1
        rewards.append(score)
    return rewards
