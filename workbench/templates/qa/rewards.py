"""The rewards of this project that are not in the library: is the answer right, and if so, is it brief?

`correctness_reward` is a plain function in TRL's call form: lists in, one number a completion out. `brief_if_right` is
put together from rewards of the library; a plain TRL reward as well. The layout is judged by the library alone;
weights stand in rewardset.toml.
"""

import re
from functools import partial

from rewards.library import max_length
from rewards.library.shaping import gate, scale

BLOCK = re.compile(r"<answer>((?:(?!<answer>).)*)</answer>", re.DOTALL)
SAID = re.compile(r"(?:the answer is|it is|it's)\s+(.*)", re.IGNORECASE | re.DOTALL)


def correctness_reward(completions, answer, **kwargs):
    """Reward the right answer.

    Returns 1.0 where the completion's answer is one of the wordings in `answer` (`carbon dioxide | CO2`), else 0.0;
    None where `answer` is empty. The answer is what stands in the last `<answer>` block, or without one the whole
    reply, `The answer is` left out. Upper and lower case, articles and punctuation do not matter; a word more does,
    so that `A or B` is not right because one of them is.
    """
    scores = []
    for completion, wordings in zip(completions, answer, strict=True):
        accepted = [plain(wording) for wording in str(wordings or "").split("|") if plain(wording)]
        given = plain(final_answer(text_of(completion)))
        if not accepted:
            scores.append(None)
        elif given in accepted:
            scores.append(1.0)
        else:
            scores.append(0.0)
    return scores


# Long answers must not pay, or a model learns to talk instead of to know; short wrong ones must not either. So
# brevity is paid to right answers only: 1.0 up to 40 words, falling to 0.0 at 80.
brief_if_right = gate(scale(partial(max_length, longest=40)), by=correctness_reward, name="brief_if_right")


# ------------------------------------------------------------------------------- reading a completion


def text_of(completion):
    """The text of a completion: the last message of the assistant, or the text itself."""
    if isinstance(completion, str):
        return completion
    said = [message["content"] for message in completion if message["role"] == "assistant"]
    return said[-1] if said and isinstance(said[-1], str) else ""


def final_answer(text):
    """What the text gives as its answer; "" where an answer was begun and not ended."""
    blocks = BLOCK.findall(text)
    if blocks and text.rfind("<answer>") < text.rfind("</answer>"):
        return blocks[-1]
    if "<answer>" in text:
        return ""
    said = SAID.fullmatch(text.strip())
    return said[1] if said else text


def plain(text):
    """Text without what does not change an answer: case, articles, punctuation, white space around it."""
    words = re.sub(r"[^\w%.,+-]+", " ", text.lower()).split()
    words = [word.strip(".,") for word in words if word not in ("the", "a", "an")]
    return " ".join(word for word in words if word)
