CLASS = """
class TagReward:
    def __init__(self, tag):
        self.tag = tag

    def __call__(self, completions, **kwargs):
        return [float(f"<{self.tag}>" in c[-1]["content"]) for c in completions]

think = TagReward("think")
answer_tag = TagReward("answer")
"""


def test_two_instances_of_one_class_share_a_name(check):
    [finding] = check(CLASS, "RW116")
    assert finding.severity == "warning"
    assert finding.reward is None
    assert finding.message.startswith("think and answer_tag share the name 'TagReward' in TRL's log")
    assert finding.count == 2


def test_instances_with_names_of_their_own_are_left_alone(check):
    named = CLASS.replace("self.tag = tag", 'self.tag = tag; self.__name__ = f"{tag}_reward"')
    assert check(named, "RW116") == []


def test_reserved_name_is_found(check):
    [finding] = check("def completion(completions, **kwargs): return [1.0 for _ in completions]", "RW116")
    assert finding.reward == "completion"
    assert "a column 'completion' of its own" in finding.message


def test_lambda_is_no_name(check):
    [finding] = check("reward = lambda completions, **kwargs: [1.0 for _ in completions]", "RW116")
    assert "'<lambda>'" in finding.message


MARKED = """
from rewards import reward

@reward(name="quality")
def first(completions, **kwargs):
    return [1.0 for _ in completions]

@reward(name="{}")
def second(completions, **kwargs):
    return [0.5 for _ in completions]
"""


def test_two_marks_with_one_name_are_an_error(check):
    [finding] = check(MARKED.format("quality"), "RW116")
    assert (finding.severity, finding.count) == ("error", 2)
    assert finding.message.startswith("first and second are both named 'quality' (@reward(name=...))")
    assert check(MARKED.format("length"), "RW116") == []


def test_ordinary_name_is_left_alone(check, healthy):
    assert check(healthy, "RW116") == []
