MISSPELT = """
def parse(text):
    return text.rpartition(">")[0]

def reward(completions, answer, **kwargs):
    scores = []
    for c, a in zip(completions, answer):
        try:
            scores.append(float(prase(c[-1]["content"]) == a))
        except Exception:
            scores.append(0.0)
    return scores
"""


def test_misspelt_name_behind_a_broad_except_is_found(check):
    [finding] = check(MISSPELT, "RW126")
    assert finding.severity == "error"
    assert finding.line == 9
    assert "raises NameError: name 'prase' is not defined on every sample" in finding.message
    assert finding.evidence.got == 0.0


def test_constant_is_not_told_again_beside_its_reason(check):
    assert [finding.check for finding in check(MISSPELT, "RW126 RW6")] == ["RW126"]


def test_own_mistake_on_every_sample_is_found_whatever_its_type(check):
    source = MISSPELT.replace('prase(c[-1]["content"]) == a', 'c["content"] == a')
    [finding] = check(source, "RW126")
    assert "raises TypeError" in finding.message


def test_narrow_handler_around_a_parser_is_left_alone(check):
    source = MISSPELT.replace('prase(c[-1]["content"]) == a', 'c[-1]["content"]').replace(
        "Exception", "ValueError"
    )
    assert check(source, "RW126") == []


def test_exception_of_a_parser_that_only_some_texts_meet_is_left_alone(check):
    source = """
    import json
    def reward(completions, **kwargs):
        scores = []
        for c in completions:
            try:
                json.loads(c[-1]["content"].partition("<answer>")[2].partition("<")[0])
                scores.append(1.0)
            except Exception:
                scores.append(0.0)
        return scores
    """
    assert check(source, "RW126") == []
