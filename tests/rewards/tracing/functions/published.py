"""Rewards in the style of published training scripts and notebooks, written afresh."""
# ruff: noqa  # code as people write it; unformatted, because a key stands behind its line
# fmt: off

# completion: <think>\nFirst, 6 times 7.\nSecond, that is 42.\n</think>\n<answer>\n42\n</answer>
# answer: 42

import json
import math
import re


def _text(completion):
    return completion[0]["content"]


def _answer(text):
    return text.split("<answer>")[-1].split("</answer>")[0].strip()


def correctness(prompts, completions, answer, **kwargs):
    responses = [completion[0]["content"] for completion in completions]
    extracted = [_answer(response) for response in responses]
    return [2.0 if r == a else 0.0 for r, a in zip(extracted, answer)]  #: 2.0 | r == a | 42


def is_integer(completions, **kwargs):
    responses = [completion[0]["content"] for completion in completions]
    extracted = [_answer(r) for r in responses]
    return [0.5 if r.isdigit() else 0.0 for r in extracted]  #: 0.5 | r.isdigit() | 42


def layout(completions, **kwargs):
    pattern = r"^<think>\n.*?\n</think>\n<answer>\n.*?\n</answer>$"
    matches = [re.match(pattern, _text(c), re.DOTALL | re.MULTILINE) for c in completions]
    return [1.0 if match else 0.0 for match in matches]  #: 1.0 | match | <think>\nFirst, 6 times 7.\nSecond, that is 42.\n</think>\n<answer>\n42\n</answer>


# keys of counted_tags
def _count_tags(text):
    count = 0.0
    if text.count("<think>\n") == 1:
        count += 0.25  #: 0.25 | text.count("<think>\n") == 1 | <think>\n
    if text.count("\n</think>\n") == 1:
        count += 0.25  #: 0.25 | text.count("\n</think>\n") == 1 | \n</think>\n
    if text.count("\n<answer>\n") == 1:
        count += 0.25  #: 0.25 | text.count("\n<answer>\n") == 1 | \n<answer>\n
        count -= len(text.split("\n</answer>\n")[-1]) * 0.001  #: -0.076 | text.count("\n<answer>\n") == 1 | \n<answer>\n
    if text.count("\n</answer>") == 1:
        count += 0.25  #: 0.25 | text.count("\n</answer>") == 1 | \n</answer>
    return count


def counted_tags(completions, **kwargs):
    return [_count_tags(_text(c)) for c in completions]


def reasoning_steps(completions, **kwargs):
    pattern = r"(Step \d+:|^\d+\.|\n-|\n\*|First,|Second,|Next,|Finally,)"
    matches = [len(re.findall(pattern, _text(c))) for c in completions]
    return [min(1.0, count / 3) for count in matches]  #: 0.666666667 | - | First, & Second,


def cosine_scaled(completions, answer, max_len=200, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion)
        correct = _answer(text) == gold
        progress = len(text) / max_len
        cosine = math.cos(progress * math.pi)
        low, high = (0.5, 1.0) if correct else (-1.0, -0.5)
        rewards.append(float(low + 0.5 * (high - low) * (1.0 + cosine)))
    return rewards


# keys of repetition_penalty
def _get_repetition_penalty(ngram_size, max_penalty):
    def repetition_penalty(completions, **kwargs):
        rewards = []
        for completion in completions:
            words = _text(completion).lower().split()
            if len(words) < ngram_size:
                rewards.append(0.0)
                continue
            grams = set()
            total = 0
            for gram in zip(*[words[i:] for i in range(ngram_size)]):
                grams.add(gram)
                total += 1
            scaling = 1 - len(grams) / total
            rewards.append(scaling * max_penalty)  #: 0.0 | - | -
        return rewards

    return repetition_penalty


repetition_penalty = _get_repetition_penalty(3, -1.0)


def soft_overlong(completions, completion_ids, max_len=60, cache=40, **kwargs):
    rewards = []
    for ids in completion_ids:
        length = len(ids)
        if length <= max_len - cache:
            rewards.append(0.0)
        elif length <= max_len:
            rewards.append((max_len - cache - length) / cache)
        else:
            rewards.append(-1.0)  #: -1.0 | length <= max_len | -
    return rewards


def valid_json_with_keys(completions, **kwargs):
    rewards = []
    for completion in completions:
        score = 0.0
        try:
            data = json.loads(_answer(_text(completion)))
            score += 0.5  #: 0.5 | - | -
            if isinstance(data, dict):
                score += 0.5
        except json.JSONDecodeError:
            score = -0.5
        rewards.append(score)
    return rewards


def numbers_close(completions, answer, **kwargs):
    scores = []
    for completion, gold in zip(completions, answer):
        match = re.search(r"<answer>\s*([-\d.]+)\s*</answer>", _text(completion))
        if match is None:
            scores.append(0)
            continue
        try:
            ratio = float(match.group(1)) / float(gold)
            if 0.9 <= ratio <= 1.1:
                scores.append(1.5)  #: 1.5 | 0.9 <= ratio <= 1.1 | 42
            elif 0.8 <= ratio <= 1.2:
                scores.append(0.5)
            else:
                scores.append(-1.5)
        except ValueError:
            scores.append(-1.0)
    return scores


def check_answer(prompts, completions, answer, **kwargs):
    scores = []
    for completion, true_answer in zip(completions, answer):
        score = 0
        guess = re.search(r"<answer>(.+?)</answer>", _text(completion), flags=re.DOTALL)
        guess = guess.group(1) if guess is not None else None
        if guess is None:
            scores.append(0)
            continue
        if guess == true_answer:
            score += 3.0
        elif guess.strip() == true_answer.strip():
            score += 1.5  #: 1.5 | guess.strip() == true_answer.strip() | 42
        scores.append(score)
    return scores


def exact_layout(completions, **kwargs):
    scores = []
    for completion in completions:
        score = 0
        response = _text(completion)
        score += 0.5 if response.count("<think>") == 1 else -0.5  #: 0.5 | response.count("<think>") == 1 | <think>
        score += 0.5 if response.count("</think>") == 1 else -0.5  #: 0.5 | response.count("</think>") == 1 | </think>
        score += 0.5 if response.count("<solution>") == 1 else -0.5  #: -0.5 | response.count("<solution>") == 1 | -
        scores.append(score)
    return scores


def several_signals(completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion)
        weights = {"format": 0.2, "answer": 0.7, "length": 0.1}
        signals = {}
        signals["format"] = float(bool(re.search(r"<answer>.*</answer>", text, re.DOTALL)))  #: 0.2 | bool(re.search(r"<answer>.*</answer>", text, re.DOTALL)) | <answer>\n42\n</answer>
        signals["answer"] = float(_answer(text) == gold)  #: 0.7 | _answer(text) == gold | 42
        signals["length"] = min(len(text) / 1000, 1.0)  #: 0.0076 | - | -
        rewards.append(sum(weights[key] * signals[key] for key in weights))
    return rewards
