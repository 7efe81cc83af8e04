import pytest

from rewards.errors import LoadError, TargetError, WorkerError
from tests.workbench.checks.conftest import sum_rows
from workbench.checks.contract.names import Names
from workbench.checks.contract.signature import CallRefused
from workbench.checks.runner import run_checks
from workbench.checks.selection import CHECKS
from workbench.checks.session import NO_SAMPLES
from workbench.reports.check_text import check_text

TWO_FAULTS = """
def reward(completions, **kwargs):
    print("scoring")
    return [float(c[-1]["content"].split()[-1] == "know.") for c in completions]
"""


def test_sound_reward_passes_every_check(report_of, healthy):
    report = report_of(healthy)
    assert report.verdict == "pass"
    assert [finding for finding in report.all_findings if finding.at_least("warning")] == []
    assert {item.check for item in report.skipped} == {"RW807", "RW808"}
    ran = [code for code, _ in report.ran]
    of_other_kinds = {
        code for code, check in CHECKS.items() if check.kinds is not None and "correctness" not in check.kinds
    }
    assert ran == sorted(set(CHECKS) - of_other_kinds - {"RW807", "RW808"})
    assert len(of_other_kinds) < 4


def test_labelled_right_and_wrong_samples_make_strong_evidence(report_of, healthy):
    assert report_of(healthy, "RW101").strength == "strong"
    assert report_of(healthy, "RW101", labels=False).strength == "weak"


def test_error_makes_the_verdict_fail(report_of):
    report = report_of(TWO_FAULTS)
    assert report.verdict == "fail"
    assert [finding.check for finding in report.standing] == ["RW110"]


def test_fail_on_warning_counts_warnings_too(report_of):
    source = "reward = lambda completions, **kwargs: [float(len(c[-1]['content'])) for c in completions]"
    assert report_of(source, "RW116", check='fail_on = "error"').verdict == "pass"
    assert report_of(source, "RW116", check='fail_on = "warning"').verdict == "fail"


def test_waived_finding_keeps_its_reason_and_does_not_fail(report_of):
    waiver = 'waive = [{ check = "RW110", reward = "reward", reason = "known" }]'
    report = report_of(TWO_FAULTS, check=waiver)
    assert report.verdict == "pass"
    [waived] = [finding for finding in report.all_findings if finding.waived]
    assert (waived.check, waived.waived) == ("RW110", "known")


def test_waiver_for_another_reward_does_not_count(report_of):
    report = report_of(TWO_FAULTS, check='waive = [{ check = "RW110", reward = "other", reason = "known" }]')
    assert report.verdict == "fail"


def test_without_samples_the_signature_is_checked_and_the_rest_is_listed(runner, project):
    report = run_checks(project("def reward(completions): return [1.0]"), None, runner=runner)
    assert [finding.check for finding in report.all_findings] == ["RW101", "RW912"]
    assert {item.why for item in report.skipped} == {NO_SAMPLES}
    assert "RW104" in {item.check for item in report.skipped}


def test_not_portable_works_without_samples(runner, project):
    report = run_checks(
        project("reward = (lambda: lambda completions, **k: [])()"), None, select=["RW117"], runner=runner
    )
    assert [finding.check for finding in report.all_findings] == ["RW117"]


def test_check_that_fails_itself_is_skipped_and_the_others_run(report_of, healthy, monkeypatch):
    def broken(self, subject):
        raise WorkerError("out of luck")

    monkeypatch.setattr(CallRefused, "run", broken)
    report = report_of(healthy, "RW101 RW116")
    assert [item.to_json() for item in report.skipped] == [
        {"check": "RW101", "why": "correct: could not be run: out of luck"}
    ]
    assert [code for code, _ in report.ran] == [Names.code]


def test_file_that_does_not_load_is_an_error_of_its_own(runner, project, samples):
    with pytest.raises(LoadError, match="SyntaxError"):
        run_checks(project("def reward(completions:"), samples(), runner=runner)
    with pytest.raises(TargetError, match="there is no"):
        run_checks("nowhere.py", samples(), runner=runner)


def test_progress_is_told_after_each_check(runner, project, samples, healthy):
    told = []
    run_checks(
        project(healthy),
        samples(),
        select=["RW101", "RW104"],
        runner=runner,
        progress=lambda name, done, total: told.append((name, done, total)),
    )
    assert told == [("correct", 1, 2), ("correct", 2, 2)]


def test_json_report_has_the_fixed_form(report_of):
    shown = report_of(TWO_FAULTS, "RW110 RW120", quick=True).to_json()
    assert list(shown) == ["target", "verdict", "seconds", "strength", "rewards", "set", "skipped"]
    assert [reward["name"] for reward in shown["rewards"]] == ["reward"]
    assert shown["set"] == {"findings": []}
    assert shown["skipped"] == [{"check": "RW120", "why": "left out by --quick"}]


def test_large_samples_are_thinned_by_whole_groups(report_of, healthy):
    rows = [
        {"prompt": f"p{n // 4}", "completion": f"<answer>{n % 4}</answer>", "answer": "1"}
        for n in range(4000)
    ]
    report = report_of(healthy, "RW602", rows=rows)
    assert report.rows == 4000
    assert report.durations["RW602"] < 5


def test_reward_is_only_called_where_its_condition_holds(report_of):
    source = """
    def reward(completions, answer, **kwargs):
        assert set(answer) == {"4"}
        return [float("<answer>4" in c[-1]["content"]) for c in completions]
    """
    assert report_of(source, declare='when = { answer = "4" }', labels=False).verdict == "pass"


def test_condition_that_holds_for_no_sample_is_said(report_of, healthy):
    report = report_of(healthy, "RW104", names="correct", declare='when = { answer = "99" }')
    assert [item.to_json()["why"] for item in report.skipped] == ["correct: its `when` holds for no sample"]


def test_paid_reward_is_never_called(report_of):
    source = "def reward(completions, **kwargs): raise RuntimeError('this costs money')"
    report = report_of(source, declare='cost = "paid"')
    assert report.all_findings == []
    why = 'reward: it is paid for (cost = "paid"), and 8 of its answers are not recorded: --pay asks for them'
    assert why in {item.to_json()["why"] for item in report.skipped}


def test_checks_of_a_kind_that_nothing_shows_are_counted_as_held_back(report_of):
    source = (
        "def reward(completions, size, **kwargs): return [float('4' in c[0]['content']) for c in completions]"
    )
    rows = [{**row, "size": place} for place, row in enumerate(sum_rows())]
    report = report_of(source, rows=rows)
    count = sum(check.kinds is not None for check in CHECKS.values())
    assert report.held_short == (
        f"{count} checks of 'reward' held back (no kind declared)",
        "declare its kind",
    )
    assert (
        f"{count} checks of reward held back: no kind declared, and its labelled samples show none"
        in check_text(report).replace("\n  ", " ")
    )
    whys = [item["why"] for item in report.to_json()["skipped"] if item["check"] == "RW403"]
    assert len(whys) == 1
    assert "held back: no kind declared" in whys[0]
    assert report_of(source, rows=rows, declare='kind = "other"').held_short == ("", "")
