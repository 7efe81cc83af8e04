import pytest

FIRST = "def reward(completions, **kwargs): return [float('answer' in c[0]['content']) for c in completions]"


def test_reward_that_reads_the_first_message_is_found_with_a_tool_call(check):
    source = (
        "def reward(completions, **kwargs): return [float('answer' in c[0]['content']) for c in completions]"
    )
    [finding] = check(source, "RW114 RW115")
    assert finding.severity == "warning"
    assert "an answer worth 1 scores 0, like the empty first message" in finding.message
    roles = [message["role"] for message in finding.evidence.completion]
    assert roles == ["assistant", "tool", "assistant"]
    assert (finding.evidence.got, finding.evidence.expected) == (0.0, 1.0)


def test_content_none_of_a_tool_call_that_raises_is_found(check):
    source = """
    def reward(completions, **kwargs):
        return [float("answer" in " ".join([m["content"] for m in c])) for c in completions]
    """
    [finding] = check(source, "RW114")
    assert "raises TypeError" in finding.message
    assert finding.line == 3


def test_reward_of_the_last_message_is_left_alone(check, healthy):
    assert check(healthy, "RW114") == []


def test_reward_that_reads_all_messages_is_left_alone(check):
    source = """
    def reward(completions, **kwargs):
        return [float("answer" in " ".join(m["content"] or "" for m in c)) for c in completions]
    """
    assert check(source, "RW114") == []


def test_plain_text_has_no_turns(check):
    source = "def reward(completions, **kwargs): return [float('answer' in c) for c in completions]"
    assert check(source, "RW114", chat=False) == []


@pytest.mark.parametrize(
    ("manifest", "severity"),
    [
        ('[train]\npreset = "cpu"', "info"),  # a planned training without tools: one message a completion
        ('[data]\ntrain = "prompts.jsonl"', "info"),
        ('[set]\nread_as = "chat"', "info"),  # the samples are plain text
        ('[train]\ntools = ["tools.py::lookup"]', "warning"),
        ('[train]\nenvironment_factory = "rooms.py::Room"', "warning"),
        ("", "warning"),
    ],
)
def test_first_message_is_a_note_where_no_second_can_come(check, manifest, severity):
    [finding] = check(FIRST, "RW114", check=f"seed = 0\n{manifest}")
    assert finding.severity == severity


def test_first_message_is_a_warning_where_a_sample_has_several(check):
    turns = [
        {"role": "assistant", "content": "Let me look."},
        {"role": "tool", "content": "4"},
        {"role": "assistant", "content": "<answer>4</answer>"},
    ]
    asked = {"prompt": [{"role": "user", "content": "What is 2 plus 2?"}], "answer": "4"}
    said = ["<answer>4</answer>", "I do not know.", "No."]
    rows = [{**asked, "completion": [{"role": "assistant", "content": text}]} for text in said]
    [finding] = check(
        FIRST, "RW114", rows=[*rows, {**asked, "completion": turns}], check='[train]\npreset = "cpu"'
    )
    assert finding.severity == "warning"


def test_reward_that_shifts_the_rows_of_a_call_is_not_taken_for_one_of_the_first_message(check):
    source = """
    def reward(completions, answer, **kwargs):
        said = [c[-1]["content"] for c in completions if "<answer>" in c[-1]["content"]]
        scores = [0.0] * len(completions)
        for place, (text, gold) in enumerate(zip(said, answer)):
            scores[place] = float(f">{gold}<" in text)
        return scores
    """
    assert check(source, "RW114") == []


def test_first_message_that_earns_more_than_the_answer_is_not_told(check):
    source = "def reward(completions, **kwargs): return [1 / (1 + len(c[0]['content'] or '')) for c in completions]"
    assert check(source, "RW114") == []
