"""Rewards of every shape TRL accepts, and the ways their code is put together."""
# ruff: noqa  # code as people write it; unformatted, because a key stands behind its line
# fmt: off

# completion: <think>I think so.</think><answer>42</answer> and more
# answer: 42

import asyncio
import functools
import re
from dataclasses import dataclass


def _text(completion):
    return completion[0]["content"]


# keys of closure
def _make(tag, points):
    def reward(completions, **kwargs):
        return [points if tag in _text(c) else 0.0 for c in completions]  #: 0.5 | tag in _text(c) | <answer>

    return reward


closure = _make("<answer>", 0.5)


# keys of bound
def _tagged(completions, tag, points=1.0, **kwargs):
    rewards = []
    for completion in completions:
        score = 0.0
        if tag in _text(completion):
            score += points  #: 0.7 | tag in _text(completion) | <think>
        rewards.append(score)
    return rewards


bound = functools.partial(_tagged, tag="<think>", points=0.7)


# keys of instance
class _TagReward:
    def __init__(self, tag):
        self.tag = tag

    def _points(self, text):
        if self.tag in text:
            return 0.5  #: 0.5 | self.tag in text | </answer>
        return 0.0

    def __call__(self, completions, **kwargs):
        return [self._points(_text(c)) for c in completions]


instance = _TagReward("</answer>")


async def awaited(completions, **kwargs):
    async def judge(text):
        await asyncio.sleep(0)
        if "<answer>" in text:
            return 1.0  #: 1.0 | "<answer>" in text | <answer>
        return 0.0

    return [await judge(_text(c)) for c in completions]


async def gathered(completions, **kwargs):
    async def judge(text):
        await asyncio.sleep(0)
        return 0.5 if "</answer>" in text else 0.0  #: 0.5 | "</answer>" in text | </answer>

    return list(await asyncio.gather(*(judge(_text(c)) for c in completions)))


# keys of decorated
def _per_row(function):
    @functools.wraps(function)
    def wrapper(completions, **kwargs):
        return [function(_text(c)) for c in completions]

    return wrapper


@_per_row
def decorated(completions):
    score = 0.0
    if "<answer>" in completions:
        score += 0.5  #: 0.5 | "<answer>" in completions | <answer>
    if "42" in completions:
        score += 0.5  #: 0.5 | "42" in completions | 42
    return score


# keys of scaled_by_decorator
def _scaled(factor):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return [factor * score for score in function(*args, **kwargs)]

        return wrapper

    return decorate


@_scaled(2.0)
def scaled_by_decorator(completions, **kwargs):
    return [0.5 if "<answer>" in _text(c) else 0.0 for c in completions]  #: 1.0 | "<answer>" in _text(c) | <answer>


@functools.lru_cache(maxsize=None)
def _cached(text):
    return 0.5 if "<answer>" in text else 0.0


# keys of a_lambda
a_lambda = lambda completions, **kwargs: [0.5 if "<answer>" in _text(c) else 0.0 for c in completions]  #: 0.5 | "<answer>" in _text(c) | <answer>


# keys of yielding
def _scores(completions):
    for completion in completions:
        if "<answer>" in _text(completion):
            yield 0.5  #: 0.5 | "<answer>" in _text(completion) | <answer>
        else:
            yield 0.0


def yielding(completions, **kwargs):
    return list(_scores(completions))


# keys of parts_yielded
def _parts(text):
    if "<think>" in text:
        yield 0.25  #: 0.25 | "<think>" in text | <think>
    if "42" in text:
        yield 0.75  #: 0.75 | "42" in text | 42


def parts_yielded(completions, **kwargs):
    return [sum(_parts(_text(c))) for c in completions]


# keys of rules_as_objects
@dataclass
class _Rule:
    pattern: str
    points: float

    def score(self, text):
        return self.points if re.search(self.pattern, text) else 0.0  #: 0.6 | re.search(self.pattern, text) | <answer> ;; 0.4 | re.search(self.pattern, text) | 42


_RULES = [_Rule("<answer>", 0.6), _Rule(r"\d+", 0.4), _Rule("<table>", 0.5)]


def rules_as_objects(completions, **kwargs):
    return [sum(rule.score(_text(c)) for rule in _RULES) for c in completions]


def keyword_arguments(completions, **kwargs):
    def points(text, *, tag, amount=0.5):
        return amount if tag in text else 0.0  #: 0.5 | tag in text | <think> ;; 0.2 | tag in text | <answer>

    return [points(_text(c), tag="<think>") + points(tag="<answer>", text=_text(c), amount=0.2) for c in completions]


def recursion(completions, **kwargs):
    def count(text):
        at = text.find("think")
        if at < 0:
            return 0.0
        return 0.1 + count(text[at + 1 :])  #: 0.1 | at < 0 | think ;; 0.1 | at < 0 | think ;; 0.1 | at < 0 | think

    return [count(_text(c)) for c in completions]


def with_statement(completions, **kwargs):
    import contextlib

    rewards = []
    for completion in completions:
        score = 0.0
        with contextlib.suppress(ValueError):
            if "<answer>" in _text(completion):
                score += 0.5  #: 0.5 | "<answer>" in _text(completion) | <answer>
            score += float("no number")
        rewards.append(score)
    return rewards


def plain_text(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion if isinstance(completion, str) else completion[-1]["content"]
        rewards.append(0.5 if "<answer>" in text else 0.0)  #: 0.5 | "<answer>" in text | <answer>
    return rewards
