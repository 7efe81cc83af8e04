"""Scores that are added up in a variable. `#:` gives the credits of a line: points | condition | matched text."""
# ruff: noqa  # code as people write it; unformatted, because a key stands behind its line
# fmt: off

# completion: <think>I think so.</think><answer>42</answer> and more
# answer: 42

TAGS = ("<think>", "</think>", "<answer>", "</answer>")
WEIGHTS = {"layout": 0.4, "answer": 0.6}


def plus(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        if "<think>" in text:
            score += 0.25  #: 0.25 | "<think>" in text | <think>
        if "<nothing>" in text:
            score += 0.5
        if "</answer>" in text:
            score += 0.25  #: 0.25 | "</answer>" in text | </answer>
        rewards.append(score)
    return rewards


def written_out(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0
        if text.count("<answer>") == 1:
            score = score + 0.5  #: 0.5 | text.count("<answer>") == 1 | <answer>
        if text.startswith("<think>"):
            score = score + 0.5  #: 0.5 | text.startswith("<think>") | <think>
        rewards.append(score)
    return rewards


def minus(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 1.0  #: 1.0 | - | -
        if not text.endswith("</answer>"):
            score -= 0.25  #: -0.25 | not text.endswith("</answer>") | -
        rewards.append(score)
    return rewards


def trailing(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        for tag in TAGS:
            if tag in text:
                score += 0.25  #: 0.25 | tag in text | <think> ;; 0.25 | tag in text | </think> ;; 0.25 | tag in text | <answer> ;; 0.25 | tag in text | </answer>
        score -= len(text.split("</answer>")[-1]) * 0.001  #: -0.009 | - |  and more
        rewards.append(score)
    return rewards


def scaled_at_the_end(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        hits = 0
        for tag in TAGS:
            if text.count(tag) == 1:
                hits += 1  #: 0.25 | text.count(tag) == 1 | <think> ;; 0.25 | text.count(tag) == 1 | </think> ;; 0.25 | text.count(tag) == 1 | <answer> ;; 0.25 | text.count(tag) == 1 | </answer>
        rewards.append(hits / len(TAGS))
    return rewards


def divided(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0
        if "<answer>" in text:
            score += 1  #: 0.5 | "<answer>" in text | <answer>
        if "42" in text:
            score += 1  #: 0.5 | "42" in text | 42
        score /= 2
        rewards.append(score)
    return rewards


def halved_when_long(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        if "<answer>" in text:
            score += 0.8  #: 0.8 | "<answer>" in text | <answer>
        if len(text) > 20:
            score *= 0.5  #: -0.4 | len(text) > 20 | -
        rewards.append(score)
    return rewards


def clamped_below(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        if "<answer>" in text:
            score += 0.5  #: 0.5 | "<answer>" in text | <answer>
        if "more" in text:
            score -= 0.75  #: -0.75 | "more" in text | more
        score = max(score, 0.0)  #: 0.25 | max(score, 0.0) | -
        rewards.append(score)
    return rewards


def clamped_above(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        for tag in TAGS[:2]:
            if tag in text:
                score += 0.75  #: 0.75 | tag in text | <think> ;; 0.75 | tag in text | </think>
        rewards.append(min(1.0, score))  #: -0.5 | min(1.0, score) | -
    return rewards


def capped_increment(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        score += min(0.3, 0.2 * text.count("think"))  #: 0.3 | - | think & think & think
        rewards.append(score)
    return rewards


def counter_is_no_score(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        words = 0
        for _ in text.split():
            words += 1
        tags = 0
        for tag in TAGS:
            tags += text.count(tag)
        score = 0.0
        if words > 3:
            score += 0.5  #: 0.5 | words > 3 | -
        if tags == 4:
            score += 0.5  #: 0.5 | tags == 4 | <think> & </think> & <answer> & </answer>
        rewards.append(score)
    return rewards


def parts_in_a_dict(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        parts = {
            "layout": 1.0 if "<answer>" in text else 0.0,  #: 0.4 | "<answer>" in text | <answer>
            "answer": 1.0 if "42" in text else 0.0,  #: 0.6 | "42" in text | 42
        }
        rewards.append(sum(WEIGHTS[name] * value for name, value in parts.items()))
    return rewards


def dict_filled_later(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        parts = {}
        parts["open"] = 0.5 if "<answer>" in text else 0.0  #: 0.5 | "<answer>" in text | <answer>
        parts["close"] = 0.5 if "</answer>" in text else 0.0  #: 0.5 | "</answer>" in text | </answer>
        rewards.append(sum(parts.values()))
    return rewards


def item_of_a_list(completions, **kwargs):
    rewards = [0.0] * len(completions)
    for index, completion in enumerate(completions):
        text = completion[0]["content"]
        if "<answer>" in text:
            rewards[index] += 0.5  #: 0.5 | "<answer>" in text | <answer>
        if "nowhere" in text:
            rewards[index] += 0.25
        if "<think>" in text:
            rewards[index] += 0.25  #: 0.25 | "<think>" in text | <think>
    return rewards


class Tally:
    def __init__(self):
        self.score = 0.0

    def give(self, points):
        self.score += points


def attribute(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        tally = Tally()
        tally.score += 0.1  #: 0.1 | - | -
        if "<answer>" in text:
            tally.score += 0.4  #: 0.4 | "<answer>" in text | <answer>
        rewards.append(tally.score)
    return rewards


def nonlocal_score(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0

        def add(tag):
            nonlocal score
            if tag in text:
                score += 0.5  #: 0.5 | tag in text | <think> ;; 0.5 | tag in text | <answer>

        add("<think>")
        add("<answer>")
        add("<other>")
        rewards.append(score)
    return rewards


def weighted_terms(completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        text = completion[0]["content"]
        layout = 1.0 if text.startswith("<think>") else 0.0  #: 0.2 | text.startswith("<think>") | <think>
        right = 1.0 if gold in text else 0.0  #: 0.7 | gold in text | 42
        brief = max(0.0, 1.0 - len(text) / 100)  #: 0.046 | - | -
        rewards.append(0.2 * layout + 0.7 * right + 0.1 * brief)
    return rewards


def settings_as_points(completions, bonus=0.5, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        if "<answer>" in text:
            score += bonus  #: 0.5 | "<answer>" in text | <answer>
        rewards.append(score)
    return rewards


def added_in_passing(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        if not text:
            rewards.append(0.0)
            continue
        score = 0.0
        score += 0.1  #: 0.1 | - | -
        if "<answer>" in text:
            score += 0.4  #: 0.4 | "<answer>" in text | <answer>
        rewards.append(score)
    return rewards
