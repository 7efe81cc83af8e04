SKIPS = """
def reward(completions, **kwargs):
    scores = []
    for c in completions:
        if "<answer>" not in c[-1]["content"]:
            continue
        scores.append(1.0)
    return scores or [0.0] * len(completions)
"""


def test_skipped_row_is_shown_beside_a_sound_one(check):
    [finding] = check(SKIPS, "RW104")
    assert finding.severity == "error"
    assert finding.name == "wrong-length"
    assert finding.message == "reward returned 1 scores for 2 completions (this one after a sound one)."
    assert (finding.evidence.got, finding.evidence.expected) == (1, 2)
    assert finding.evidence.completion[0]["content"] == "I do not know."


def test_skipped_row_is_found_although_all_samples_are_sound(check):
    rows = [
        {"prompt": "p", "completion": [{"role": "assistant", "content": f"<answer>{n}</answer>"}]}
        for n in range(4)
    ]
    rows = [{**row, "prompt": [{"role": "user", "content": "p"}]} for row in rows]
    [finding] = check(SKIPS, "RW104", rows=rows)
    assert finding.evidence.completion[0]["content"] == ""


def test_one_score_for_the_whole_batch_is_found(check):
    [finding] = check("def reward(completions, **kwargs): return [1.0]", "RW104")
    assert finding.evidence.expected in (2, 8)


def test_batch_of_one_is_tried(check):
    source = """
    def reward(completions, **kwargs):
        return [1.0, 1.0] if len(completions) == 1 else [1.0] * len(completions)
    """
    [finding] = check(source, "RW104")
    assert (finding.evidence.got, finding.evidence.expected) == (2, 1)


def test_score_for_every_message_is_found_although_no_sample_has_several(check):
    source = """
    def reward(completions, **kwargs):
        return [float("4" in (message["content"] or "")) for c in completions for message in c]
    """
    [finding] = check(source, "RW104")
    assert (finding.evidence.got, finding.evidence.expected) == (3, 1)
    assert [message["role"] for message in finding.evidence.completion] == ["assistant", "tool", "assistant"]


def test_one_score_a_completion_is_left_alone(check, healthy):
    assert check(healthy, "RW104") == []
