"""The rewards of this project that are not in the library: is it all there, and is nothing made up?

Each is a plain function in TRL's call form: lists in, one number a completion out. Length is judged by the
library; weights and parameters stand in rewardset.toml.
"""

import re

SENTENCE = re.compile(r"[^.!?\n]+")
FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_SMALL = """
    a about after an and are at be because before by for from has in into is it its no not of on or that the their
    there they this to until was were which who will with you
"""
SMALL_WORDS = frozenset(_SMALL.split())


def coverage_reward(prompts, completions, facts, **kwargs):
    """Reward what the summary tells of the notice.

    Returns the share of `facts` that are told; each is a few words, or several wordings of them (`3 May | May 3`).
    A fact counts where its words stand in a sentence, that is, among at least five words of which one in four is a
    small one such as `the`, `on`, `for`: a list of catchwords is no summary. Neither is what has more than half the
    notice's words: 0.0. None where a row has no facts.
    """
    scores = []
    for prompt, completion, wanted in zip(prompts, completions, facts, strict=True):
        text = text_of(completion)
        prose = " . ".join(sentences(text))
        if not wanted:
            scores.append(None)
            continue
        score = 0.0
        for fact in wanted:
            if told(prose, fact):
                score += 1 / len(wanted)
        if len(text.split()) > len(text_of(prompt).split()) / 2:
            score = 0.0
        scores.append(score)
    return scores


def invented_penalty(prompts, completions, **kwargs):
    """Penalise figures that the notice does not have: a wrong date or price is worse than none.

    Returns -1.0 where there is one, else 0.0. Words cannot be checked like that; a judge can (see rewardset.toml).
    """
    scores = []
    for prompt, completion in zip(prompts, completions, strict=True):
        known = set(FIGURE.findall(text_of(prompt)))
        if set(FIGURE.findall(text_of(completion))) <= known:
            scores.append(0.0)
        else:
            scores.append(-1.0)
    return scores


# ------------------------------------------------------------------------------- reading a completion


def text_of(messages):
    """The text of a prompt or a completion: its last message, or the text itself."""
    if isinstance(messages, str):
        return messages
    return (messages[-1]["content"] or "") if messages else ""


def sentences(text):
    """The parts of a text that are sentences, in lower case."""
    found = []
    for part in SENTENCE.findall(text.lower()):
        words = re.findall(r"\w+", part)
        if len(words) >= 5 and sum(word in SMALL_WORDS for word in words) * 4 >= len(words):
            found.append(part)
    return found


def told(prose, fact):
    """Whether one of the wordings of a fact stands in a text as words of its own."""
    wordings = [re.escape(wording.strip().lower()) for wording in fact.split("|") if wording.strip()]
    return any(re.search(rf"(?<!\w){wording}(?!\w)", prose) for wording in wordings)
