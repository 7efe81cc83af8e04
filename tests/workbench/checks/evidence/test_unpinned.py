from dataclasses import replace

import pytest

from workbench.checks.evidence import unpinned
from workbench.mutants.survivors import Survival

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


def steps(count: int) -> str:
    """A reward with more changes than are tried, of which each takes a while."""
    lines = [
        f"        value += 0.125 if c.count('w{number}') > {number + 1} else 0.0" for number in range(count)
    ]
    return "\n".join(
        [
            "import time",
            "def reward(completions, **kwargs):",
            "    time.sleep(0.03)",
            "    scores = []",
            "    for c in completions:",
            "        value = 0.0",
            *lines,
            "        scores.append(value)",
            "    return scores",
            "",
        ]
    )


def test_as_many_changes_are_tried_whatever_time_each_takes(check):
    [finding] = check(steps(12), "RW704", rows=rows_of(2, 9))
    assert f" of {unpinned.CHANGES} small changes " in finding.message
    assert "out of time" not in finding.message


def test_changes_left_out_for_want_of_time_are_told(report_of, monkeypatch):
    monkeypatch.setattr(unpinned, "SECONDS", 0.0)
    [skip] = report_of(WORDS, "RW704", rows=rows_of(2, 9)).skipped
    assert "stopped after 0 of 8 changes: out of time" in skip.why


def test_sentence_of_a_search_cut_short_says_so(check, monkeypatch):
    found: list[Survival] = []
    survival_of = unpinned.survival_of

    def halved(*arguments, **options):
        survival = survival_of(*arguments, **options)
        found.append(replace(survival, chosen=2 * survival.tried))
        return found[0]

    monkeypatch.setattr(unpinned, "survival_of", halved)
    [finding] = check(WORDS, "RW704", rows=rows_of(2, 9))
    tried = found[0].tried
    assert finding.message.endswith(f"It was stopped after {tried} of {2 * tried} changes: out of time.")


@pytest.mark.parametrize(
    ("given", "said"), [("None", "None (no opinion)"), ("float('nan')", "NaN")], ids=["none", "nan"]
)
def test_what_is_no_number_is_named_as_the_reward_gave_it(check, given, said):
    source = WORDS.replace("1.0 if", f"{given} if")
    [finding] = check(source, "RW704", rows=rows_of(2, 9))
    assert said in (finding.evidence.got, finding.advice.partition(" with ")[0].rpartition(" and ")[2])
    assert (
        f"it scores 0, and {said} with" in finding.advice or f"it scores {said}, and 0 with" in finding.advice
    )
