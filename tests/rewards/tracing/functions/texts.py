"""Where the matched text stands, whatever was done to it before."""
# ruff: noqa  # code as people write it; unformatted, because a key stands behind its line
# fmt: off

# completion:   <THINK>I think so.</THINK>\n<answer> 42 </answer>\nThe Answer: B, or [1] and [23].  
# answer: 42

import re

ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
NUMBER = re.compile(r"\d+")


def _text(completion):
    return completion[0]["content"]


def stripped(completions, **kwargs):
    return [0.5 if _text(c).strip().startswith("<THINK>") else 0.0 for c in completions]  #: 0.5 | _text(c).strip().startswith("<THINK>") | <THINK>


def lowered(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = _text(completion).strip().lower()
        rewards.append(0.5 if "<think>" in text else 0.0)  #: 0.5 | "<think>" in text | <THINK>
    return rewards


def sliced(completions, **kwargs):
    return [0.5 if "so" in _text(c)[10:30] else 0.0 for c in completions]  #: 0.5 | "so" in _text(c)[10:30] | so


def split_at_tags(completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        inner = _text(completion).split("<answer>")[-1].split("</answer>")[0].strip()
        rewards.append(1.0 if inner == gold else 0.0)  #: 1.0 | inner == gold | 42
    return rewards


def partitioned(completions, **kwargs):
    rewards = []
    for completion in completions:
        head, _, tail = _text(completion).partition("</answer>")
        rewards.append(0.5 if "B" in tail else 0.0)  #: 0.5 | "B" in tail | B
    return rewards


def last_line(completions, **kwargs):
    rewards = []
    for completion in completions:
        line = _text(completion).strip().splitlines()[-1]
        rewards.append(0.5 if line.lower().startswith("the answer:") else 0.0)  #: 0.5 | line.lower().startswith("the answer:") | The Answer:
    return rewards


def grouped(completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        match = ANSWER.search(_text(completion))
        given = match.group(1).strip() if match else ""
        rewards.append(1.0 if given == gold else 0.0)  #: 1.0 | given == gold | 42
    return rewards


def named_group(completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        match = re.search(r"<answer>\s*(?P<given>\d+)", _text(completion))
        rewards.append(1.0 if match and match.group("given") == gold else 0.0)  #: 1.0 | match and match.group("given") == gold | <answer> 42 & 42
    return rewards


def found_all(completions, **kwargs):
    rewards = []
    for completion in completions:
        numbers = NUMBER.findall(_text(completion))
        rewards.append(0.5 if len(numbers) >= 3 else 0.0)  #: 0.5 | len(numbers) >= 3 | 42 & 1 & 23
    return rewards


def last_found(completions, **kwargs):
    rewards = []
    for completion in completions:
        numbers = re.findall(r"\d+", _text(completion))
        rewards.append(1.0 if numbers and numbers[-1] == "23" else 0.0)  #: 1.0 | numbers and numbers[-1] == "23" | 42 & 1 & 23
    return rewards


def found_one_by_one(completions, **kwargs):
    rewards = []
    for completion in completions:
        score = 0.0
        for match in re.finditer(r"\[(\d+)\]", _text(completion)):
            if int(match.group(1)) > 0:
                score += 0.1  #: 0.1 | int(match.group(1)) > 0 | 1 ;; 0.1 | int(match.group(1)) > 0 | 23
        rewards.append(score)
    return rewards


def counted(completions, **kwargs):
    return [0.1 * _text(c).count("[") for c in completions]  #: 0.2 | - | [ & [


def replaced(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = _text(completion).replace("\n", "").replace("<answer>", "(").replace("</answer>", ")")
        rewards.append(0.5 if "B, or" in text else 0.0)  #: 0.5 | "B, or" in text | B, or
    return rewards


def substituted(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = re.sub(r"\s+", " ", _text(completion))
        rewards.append(0.5 if "</answer> The" in text else 0.0)  #: 0.5 | "</answer> The" in text | </answer>\nThe
    return rewards


def words(completions, **kwargs):
    rewards = []
    for completion in completions:
        score = 0.0
        for word in _text(completion).split():
            if word.isdigit():
                score += 0.5  #: 0.5 | word.isdigit() | 42
        rewards.append(score)
    return rewards


def word_in_list(completions, **kwargs):
    return [0.5 if "or" in _text(c).split() else 0.0 for c in completions]  #: 0.5 | "or" in _text(c).split() | or


def word_in_set(completions, **kwargs):
    rewards = []
    for completion in completions:
        said = set(_text(completion).lower().split())
        rewards.append(0.5 if "and" in said else 0.0)  #: 0.5 | "and" in said | and
    return rewards


def found_at(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = _text(completion)
        start, end = text.find("<answer>"), text.find("</answer>")
        rewards.append(0.5 if 0 <= start < end else 0.0)  #: 0.5 | 0 <= start < end | <answer> & </answer>
    return rewards


def cut_between(completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion)
        start, end = text.find("<answer>") + len("<answer>"), text.find("</answer>")
        rewards.append(1.0 if text[start:end].strip() == gold else 0.0)  #: 1.0 | text[start:end].strip() == gold | 42
    return rewards


def letter(completions, **kwargs):
    rewards = []
    for completion in completions:
        match = re.search(r"Answer: ([A-D])", _text(completion))
        choice = match.group(1) if match else ""
        rewards.append(1.0 if choice == "B" else 0.0)  #: 1.0 | choice == "B" | B
    return rewards


def joined(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = " ".join(_text(completion).split())
        rewards.append(0.5 if "so.</THINK> <answer>" in text else 0.0)  #: 0.5 | "so.</THINK> <answer>" in text | so.</THINK>\n<answer>
    return rewards


def prefix_removed(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = _text(completion).strip().removeprefix("<THINK>")
        rewards.append(0.5 if text.startswith("I think") else 0.0)  #: 0.5 | text.startswith("I think") | I think
    return rewards


def either_of(completions, **kwargs):
    return [0.5 if _text(c).lstrip().startswith(("<think>", "<THINK>")) else 0.0 for c in completions]  #: 0.5 | _text(c).lstrip().startswith(("<think>", "<THINK>")) | <THINK>


def matched_flags(completions, **kwargs):
    pattern = r"^\s*<think>.*?</think>"
    return [1.0 if re.match(pattern, _text(c), re.DOTALL | re.IGNORECASE) else 0.0 for c in completions]  #: 1.0 | re.match(pattern, _text(c), re.DOTALL | re.IGNORECASE) |   <THINK>I think so.</THINK>


def not_matched(completions, **kwargs):
    return [1.0 if re.match(r"^<think>.*</think>$", _text(c)) else 0.0 for c in completions]  #: 0.0 | re.match(r"^<think>.*</think>$", _text(c)) | -


def wrong_answer(completions, **kwargs):
    rewards = []
    for completion in completions:
        given = ANSWER.search(_text(completion)).group(1).strip()
        rewards.append(2.0 if given == "43" else 0.0)  #: 0.0 | given == "43" | 42
    return rewards


def other_regex_package(completions, **kwargs):
    import regex

    return [0.5 if regex.search(r"\p{Lu}hink|THINK", _text(c)) else 0.0 for c in completions]  #: 0.5 | regex.search(r"\p{Lu}hink|THINK", _text(c)) | THINK


def flags_by_name(completions, **kwargs):
    found = [re.findall(r"^the (\w+)", _text(c), flags=re.IGNORECASE | re.MULTILINE) for c in completions]
    return [0.1 * len(words) for words in found]  #: 0.1 | - | The Answer


def substituted_by_pattern(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = re.compile(r"<(\w+)>").sub(r"\1:", _text(completion))
        rewards.append(0.5 if "answer: 42" in text else 0.0)  #: 0.5 | "answer: 42" in text | <answer> 42
    return rewards
