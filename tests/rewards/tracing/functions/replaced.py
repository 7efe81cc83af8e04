"""Scores that are replaced, thrown away, clamped or rescaled after they were made."""
# ruff: noqa  # code as people write it; unformatted, because a key stands behind its line
# fmt: off

# completion: <think>I think so.</think><answer>42</answer> and more
# answer: 42

import numpy as np

TAGS = ("<think>", "</think>", "<answer>", "</answer>")


def _text(completion):
    return completion[0]["content"]


def last_item_replaced(completions, **kwargs):
    rewards = []
    for completion in completions:
        rewards.append(0.5 if "<answer>" in _text(completion) else 0.0)
        if "more" in _text(completion):
            rewards[-1] = 0.1  #: 0.1 | "more" in _text(completion) | more
    return rewards


def sum_thrown_away(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = _text(completion)
        score = 0.0
        for tag in TAGS:
            if tag in text:
                score += 0.25
        if "more" in text:
            score = -1.0  #: -1.0 | "more" in text | more
        rewards.append(score)
    return rewards


# keys of returned_instead
def _judged(text):
    score = 0.0
    if "<answer>" in text:
        score += 0.5
    if "and" in text:
        return 0.2  #: 0.2 | "and" in text | and
    return score


def returned_instead(completions, **kwargs):
    return [_judged(_text(c)) for c in completions]


def all_scaled(completions, **kwargs):
    rewards = [1 if "<answer>" in _text(c) else 0 for c in completions]  #: 0.3 | "<answer>" in _text(c) | <answer>
    return [0.3 * reward for reward in rewards]


def clamped_afterwards(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = _text(completion)
        score = sum(0.4 for tag in TAGS if tag in text)  #: 0.4 | tag in text | <think> ;; 0.4 | tag in text | </think> ;; 0.4 | tag in text | <answer> ;; 0.4 | tag in text | </answer>
        rewards.append(score)
    return [min(1.0, max(0.0, reward)) for reward in rewards]  #: -0.6 | min(1.0, max(0.0, reward)) | -


def negated(completions, **kwargs):
    return [-sum(0.1 for word in ("so", "more") if word in _text(c)) for c in completions]  #: -0.1 | word in _text(c) | so ;; -0.1 | word in _text(c) | more


def maximum_kept(completions, **kwargs):
    rewards = []
    for completion in completions:
        best = 0.0
        for points, tag in ((0.25, "<think>"), (0.75, "<answer>"), (0.5, "and")):
            if tag in _text(completion):
                best = max(best, points)  #: 0.75 | tag in _text(completion) | <answer>
        rewards.append(best)
    return rewards


def swapped(completions, **kwargs):
    rewards = []
    for completion in completions:
        bonus, malus = (0.5, 0.25) if "<answer>" in _text(completion) else (0.0, 0.0)  #: 0.5 | "<answer>" in _text(completion) | <answer> ;; -0.25 | "<answer>" in _text(completion) | <answer>
        rewards.append(bonus - malus)
    return rewards


def array_of_scores(completions, **kwargs):
    return np.array([0.5 if "<answer>" in _text(c) else 0.0 for c in completions])  #: 0.5 | "<answer>" in _text(c) | <answer>


def clipped_by_numpy(completions, **kwargs):
    rewards = []
    for completion in completions:
        score = sum(0.4 for tag in TAGS[:3] if tag in _text(completion))  #: 0.4 | tag in _text(completion) | <think> ;; 0.4 | tag in _text(completion) | </think> ;; 0.4 | tag in _text(completion) | <answer>
        rewards.append(float(np.clip(score, 0.0, 1.0)))  #: -0.2 | np.clip(score, 0.0, 1.0) | -
    return rewards


def quality_factor(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = _text(completion)
        score = 0.0
        if "<answer>" in text:
            score += 1.0  #: 1.0 | "<answer>" in text | <answer>
        unique = len(set(text.split())) / len(text.split())
        score *= 1.0 - 0.5 * unique  #: -0.5 | score *= 1.0 - 0.5 * unique | -
        rewards.append(score)
    return rewards


def abstains(completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        if not gold:
            rewards.append(None)
            continue
        rewards.append(1 if gold in _text(completion) else 0)  #: 1.0 | gold in _text(completion) | 42
    return rewards


def popped_and_pushed(completions, **kwargs):
    rewards = []
    for completion in completions:
        rewards.append(0.5 if "<answer>" in _text(completion) else 0.0)  #: 0.5 | "<answer>" in _text(completion) | <answer>
        last = rewards.pop()
        rewards.append(last + (0.25 if "42" in _text(completion) else 0.0))  #: 0.25 | "42" in _text(completion) | 42
    return rewards


def extended(completions, **kwargs):
    rewards = []
    for completion in completions:
        rewards += [0.5 if "<answer>" in _text(completion) else 0.0]  #: 0.5 | "<answer>" in _text(completion) | <answer>
    return rewards
