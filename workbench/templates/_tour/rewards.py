"""Two rewards as a training script has them. One of them has never paid anybody."""

import re

LAYOUT = re.compile(r"\s*<think>\s*\S.*?</think>\s*<answer>\s*\S.*?</answer>\s*")
ANSWER = re.compile(r"<answer>\s*(-?\d+)\s*</answer>\s*$")


def format_reward(completions, **kwargs):
    """1.0 for thinking in its tags, then the answer in its tags."""
    return [1.0 if LAYOUT.fullmatch(text) else 0.0 for text in completions]


def correctness_reward(completions, answer, **kwargs):
    """1.0 where the answer block at the end holds the right number."""
    scores = []
    for text, truth in zip(completions, answer, strict=True):
        found = ANSWER.search(text)
        scores.append(1.0 if found and found.group(1) == truth else 0.0)
    return scores
