"""The reward of this project that is not in the library: is what the reply says in the message at all?

A plain function in TRL's call form: lists in, one number a completion out. The other two rewards, the shape of the
JSON and the right values, come from the library; weights and parameters of all three stand in rewardset.toml.
"""

import json
import re

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def grounded_reward(prompts, completions, **kwargs):
    """Reward values that the message really has.

    Returns the share of `name`, `guests` and `day` that stand in the message (the number of guests as a figure or a
    word); 0.0 where the reply holds no JSON object. It needs no right answer, so it can be used where there are
    none: a model that makes a name up is told so. It says nothing about whether the right value was picked.
    """
    scores = []
    for prompt, completion in zip(prompts, completions, strict=True):
        message = text_of(prompt).lower()
        booking = object_in(text_of(completion))
        score = 0.0
        if found_in(message, booking.get("name")):
            score += 1 / 3
        if found_in(message, booking.get("guests")):
            score += 1 / 3
        if found_in(message, booking.get("day")):
            score += 1 / 3
        scores.append(score)
    return scores


# ------------------------------------------------------------------------------- reading a completion


def text_of(messages):
    """The text of a prompt or a completion: its last message, or the text itself."""
    if isinstance(messages, str):
        return messages
    return (messages[-1]["content"] or "") if messages else ""


def object_in(text):
    """The JSON object between the first and the last brace; {} where there is none."""
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def found_in(message, value):
    """Whether a text or a small number stands in the message as words of its own."""
    wanted = [str(value).lower()] if type(value) in (int, str) else []
    if type(value) is int and 0 <= value < len(NUMBERS):
        wanted.append(NUMBERS[value])
    return any(word and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) for word in wanted)
