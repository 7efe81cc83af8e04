"""The three rewards of this project: is the answer right, is the layout kept, how much of the layout is there.

Each is a plain function in TRL's call form: lists in, one number a completion out. Nothing here depends on
Reward Workbench; the same functions can be given to `GRPOTrainer` as they are. Weights stand in rewardset.toml.
"""

import re

TAGS = ("<think>", "</think>", "<answer>", "</answer>")
LAYOUT = re.compile(r"\s*<think>(.*)</think>\s*<answer>(.*)</answer>\s*", re.DOTALL)

ANSWER = re.compile(r"<answer>((?:(?!<answer>).)*?)(?:</answer>|\Z)", re.DOTALL)
BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
LINE = re.compile(r"(?:A:|####)(.*)")
NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")


def correctness_reward(completions, answer, **kwargs):
    """Reward the right final answer.

    Returns 1.0 where the completion's final answer is the number in `answer`, else 0.0; None where `answer`
    holds no number. The final answer is the last `<answer>` block; a completion without one is read at its
    last `\\boxed{...}`, else at its last line if that is `A: ...` or `#### ...`. It has to be one number:
    dollar and percent signs, thousands commas and a full stop may stand around it, a second number may not.

    `answer` may be a plain number or a GSM8K solution that ends in `#### 18`.
    """
    scores = []
    for completion, truth in zip(completions, answer, strict=True):
        expected = to_number(str(truth).split("####")[-1])
        given = to_number(final_answer(text_of(completion)))
        if expected is None:
            scores.append(None)
        elif given == expected:
            scores.append(1.0)
        else:
            scores.append(0.0)
    return scores


def format_reward(completions, **kwargs):
    """Reward the whole layout: `<think>...</think>`, then `<answer>...</answer>`, and nothing else.

    Returns 1.0 where the completion is exactly that, each tag once and with something in it, else 0.0. White
    space around the two blocks is free.
    """
    scores = []
    for completion in completions:
        text = text_of(completion)
        once = all(text.count(tag) == 1 for tag in TAGS)
        layout = LAYOUT.fullmatch(text) if once else None  # on many tags the pattern is slow
        if layout and layout[1].strip() and layout[2].strip():
            scores.append(1.0)
        else:
            scores.append(0.0)
    return scores


def incremental_format_reward(completions, **kwargs):
    """Reward each part of the layout, so that a model that keeps half of it is told so.

    Returns 0.25 for each tag that comes once: a closing one only if its block has something in it, the
    answer's two only after the thinking. Each character after `</answer>` costs 0.001, at most 0.25.
    """
    scores = []
    for completion in completions:
        text = text_of(completion)
        thought = between(text, "<think>", "</think>")
        rest = text.split("</think>")[-1]
        score = 0.0
        if text.count("<think>") == 1:
            score += 0.25
        if text.count("</think>") == 1 and thought:
            score += 0.25
        if text.count("<answer>") == 1 and "<answer>" in rest:
            score += 0.25
        if text.count("</answer>") == 1 and between(rest, "<answer>", "</answer>"):
            score += 0.25
            score -= min(0.25, 0.001 * len(rest.split("</answer>")[1].strip()))
        scores.append(score)
    return scores


# ------------------------------------------------------------------------------- reading a completion


def text_of(completion):
    """The text of a completion: the last message of the assistant, or the text itself."""
    if isinstance(completion, str):
        return completion
    said = [message["content"] for message in completion if message["role"] == "assistant"]
    return said[-1] if said and isinstance(said[-1], str) else ""


def between(text, opening, closing):
    """What stands between two tags, without white space around it; "" where they are not there in that order."""
    inside, found, _ = text.partition(opening)[2].partition(closing)
    return inside.strip() if found else ""


def final_answer(text):
    """What the text gives as its final answer; "" where it gives none."""
    blocks = ANSWER.findall(text)
    if blocks:
        text = blocks[-1]
    boxes = BOXED.findall(text)
    if boxes:
        return boxes[-1]
    if blocks:
        return text
    line = LINE.fullmatch(text.strip().split("\n")[-1].strip())
    return line[1] if line else ""


def to_number(text):
    """The number that `text` is, None if it is anything else."""
    bare = re.sub(r"[\\$%]", "", text).strip().removesuffix(".").replace("−", "-")
    return float(bare.replace(",", "")) if NUMBER.fullmatch(bare) else None
