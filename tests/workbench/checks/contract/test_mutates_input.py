def test_completion_changed_in_place_is_shown_before_and_after(check):
    source = """
    def reward(completions, **kwargs):
        for c in completions:
            c[0]["content"] = c[0]["content"].replace("know", "guess")
        return [1.0 for _ in completions]
    """
    [finding] = check(source, "RW121")
    assert finding.severity == "error"
    assert "changes completions in place" in finding.message
    assert finding.evidence.expected[0]["content"] == "I do not know."
    assert finding.evidence.got[0]["content"] == "I do not guess."
    assert finding.count == 2


def test_list_that_is_shortened_is_found(check):
    source = """
    def reward(completions, answer, **kwargs):
        scores = [1.0 for _ in completions]
        answer.pop()
        return scores
    """
    [finding] = check(source, "RW121")
    assert "changes answer in place" in finding.message


def test_work_on_copies_is_left_alone(check, healthy):
    assert check(healthy, "RW121") == []
