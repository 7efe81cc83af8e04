LENGTH = "def reward(completions, **kwargs): return [min(1.0, len(c) / 20) for c in completions]"


def test_reward_that_measures_the_message_list_is_found(check):
    [finding] = check(LENGTH, "RW113")
    assert finding.severity == "error"
    assert "the samples are chat messages, and it judges them as if they were plain text" in finding.message
    assert finding.evidence.got == 0.05
    assert finding.evidence.expected > 0.05


def test_constant_is_not_told_again_beside_its_reason(check):
    assert [finding.check for finding in check(LENGTH, "RW113 RW6")] == ["RW113"]


def test_plain_text_read_as_messages_is_found(check):
    source = """
    def reward(completions, **kwargs):
        texts = ["".join(m["content"] for m in c if isinstance(m, dict)) for c in completions]
        return [float("know" in text) for text in texts]
    """
    [finding] = check(source, "RW113", chat=False)
    assert "the samples are plain text" in finding.message


def test_quiet_constant_in_the_shape_that_does_not_occur_is_information(check):
    [finding] = check(LENGTH, "RW113", chat=False)
    assert finding.severity == "info"
    assert "made for plain text" in finding.message


def test_refusing_the_other_shape_is_left_alone(check):
    source = (
        "def reward(completions, **kwargs): return [float('know' in c[-1]['content']) for c in completions]"
    )
    assert check(source, "RW113") == []


def test_reading_both_shapes_is_left_alone(check, healthy):
    assert check(healthy, "RW113") == check(healthy, "RW113", chat=False) == []


def test_token_ids_stay_the_same_in_the_other_shape(runner, project, samples):
    from workbench.checks.runner import run_checks

    source = "def reward(completions, completion_ids, **kwargs): return [float(len(i) > 10) for i in completion_ids]"
    read = samples()
    batch = read.batch(lambda text: [1, 2, 3])
    report = run_checks(project(source), read, select=["RW113"], runner=runner, batch=batch)
    assert report.all_findings == []
