WORDS = "def reward(completions, **kwargs):\n    return [1.0 if len(c.split()) > 5 else 0.0 for c in completions]\n"


def rows_of(*counts):
    return [{"prompt": "p", "completion": " ".join(["so"] * count)} for count in counts]


def test_changes_that_no_sample_notices_are_one_finding_with_the_missing_completion(check):
    [finding] = check(WORDS, "RW704", rows=rows_of(2, 9))
    assert finding.severity == "info"
    assert "The samples do not pin reward:" in finding.message
    assert "line 2 (" in finding.message
    assert finding.line == 2
    assert finding.advice.startswith("To pin line 2, add '")
    assert {line for line, _ in finding.lines} == {2}
    assert "changes no sample's score; add '" in finding.lines[0][1]
    assert len(finding.evidence.completion.split()) in (5, 6)


def test_samples_around_each_threshold_leave_nothing_to_tell(check):
    assert check(WORDS, "RW704", rows=rows_of(0, 2, 4, 5, 6, 7, 9)) == []


def test_lines_that_no_sample_runs_are_named(check):
    source = WORDS.replace(
        "    return", "    if not completions[0]:\n        return [0.5] * len(completions)\n    return"
    )
    [finding] = check(source, "RW704", rows=rows_of(2, 9))
    assert "No sample runs line 3." in finding.message
    assert (3, "no sample runs this line") in finding.lines


def test_quick_run_leaves_it_out_and_a_slow_reward_is_skipped_with_the_reason(report_of):
    assert [skip.why for skip in report_of(WORDS, "RW704", rows=rows_of(2, 9), quick=True).skipped] == [
        "left out by --quick"
    ]
    slow = "import time\n" + WORDS.replace("    return", "    time.sleep(0.6 * len(completions))\n    return")
    [skip] = report_of(slow, "RW704", rows=rows_of(2, 9)).skipped
    assert "too long to try changes" in skip.why
