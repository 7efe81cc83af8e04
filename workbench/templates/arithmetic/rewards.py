"""Rewards for sums that a very small model can learn in minutes on a CPU.

A good reply is `<answer>12</answer>` and nothing else. Each function is a plain function in TRL's call form:
lists in, one number a completion out. Weights stand in rewardset.toml.
"""

import re

BLOCK = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+")
REPLY = re.compile(r"(?:the answer is|[\d\s+]+=)?\s*\$?([-+]?\d{1,18})(?:\.0*)?", re.IGNORECASE)


def format_reward(completions, **kwargs):
    """Reward each quarter of the layout `<answer>12</answer>`.

    Returns 0.25 for an opening tag, 0.25 for a closing tag that no opening tag follows, 0.25 where a single
    whole number stands between the two, and 0.25 where nothing else stands around that. A tag that comes
    twice counts as none. A model that gets half of it is told so, which is what lets it learn the rest.
    """
    scores = []
    for completion in completions:
        text = text_of(completion)
        score = 0.0
        if text.count("<answer>") == 1:
            score += 0.25
        if text.count("</answer>") == 1 and "<answer>" not in text.split("</answer>")[1]:
            score += 0.25
        block = BLOCK.search(text) if score == 0.5 else None  # on one tag of each: on many it is slow
        if block and NUMBER.fullmatch(block[1].strip()):
            score += 0.25
            if text.strip() == block[0]:
                score += 0.25
        scores.append(score)
    return scores


def correctness_reward(completions, answer, **kwargs):
    """Reward the right result.

    Returns 1.0 where the reply gives the whole number in `answer`, else 0.0. What counts is what stands between
    the last `<answer>` tags, unclosed or not, else the whole reply. It has to be `12`, `The answer is 12.` or
    `5 + 7 = 12`: several numbers, or words around them, do not count.
    """
    scores = []
    for completion, truth in zip(completions, answer, strict=True):
        result = result_of(text_of(completion))
        scores.append(1.0 if result is not None and result == int(truth) else 0.0)
    return scores


def brevity_reward(completions, **kwargs):
    """Reward short replies. Its weight is 0: it is logged beside the others and changes nothing.

    Returns 1.0 up to 20 characters, falling in a straight line to 0.0 at 60; 0.0 for an empty reply.
    """
    scores = []
    for completion in completions:
        length = len(text_of(completion).strip())
        scores.append(min(1.0, max(0.0, (60 - length) / 40)) if length else 0.0)
    return scores


# ------------------------------------------------------------------------------- reading a completion


def text_of(completion):
    """The text of a completion: the last message of the assistant, or the text itself."""
    if isinstance(completion, str):
        return completion
    said = [message["content"] for message in completion if message["role"] == "assistant"]
    return said[-1] if said and isinstance(said[-1], str) else ""


def result_of(text):
    """The whole number a reply gives as its result, None where it gives none."""
    inside = text.split("<answer>")[-1].split("</answer>")[0]
    reply = REPLY.fullmatch(inside.strip())
    return int(reply[1]) if reply else None
