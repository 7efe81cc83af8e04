import json
from dataclasses import replace

import pytest

from rewards.errors import UsageError
from rewards.rewardset import SetDescription
from workbench.baseline import against, read_baseline
from workbench.checks.finding import Cost, Finding
from workbench.checks.report import Report, RewardReport, Skipped


def finding(cause="raises", severity="error", reward="right"):
    return Finding(
        check="RW110", name="raises", severity=severity, message="m", advice="a", cause=cause, cost=Cost.STOPS,
        reward=reward,
    )  # fmt: skip


def report(tmp_path, *findings, skipped=()):
    described = SetDescription(
        target="x", name="x", root=tmp_path, seal_path=tmp_path / "s", manifest_path=None,
        aggregation="sum_then_normalize", scale_rewards="group", tokenizer="", rewards=(), fingerprint="",
    )  # fmt: skip
    return Report(
        target="x", description=described, rewards=(RewardReport("right", findings),), findings=(),
        skipped=skipped, ran=(("RW110", 1),), seconds=1.0,
    )  # fmt: skip


def baseline_of(tmp_path, *findings):
    file = tmp_path / "baseline.json"
    file.write_text(json.dumps(report(tmp_path, *findings).to_json()))
    return read_baseline(file)


def test_a_known_finding_does_not_fail_and_a_new_one_does(tmp_path):
    before = baseline_of(tmp_path, finding())
    assert against(report(tmp_path, finding()), before).verdict == "pass"
    both = against(report(tmp_path, finding(), finding("another")), before)
    assert [found.cause for found in both.standing] == ["another"]
    assert both.to_json()["rewards"][0]["findings"][0]["known"] is True


def test_more_of_the_same_is_known_and_a_worse_one_is_new(tmp_path):
    before = baseline_of(tmp_path, finding(severity="warning"))
    assert (
        against(report(tmp_path, replace(finding(severity="warning"), count=9)), before).all_findings[0].known
    )
    assert not against(report(tmp_path, finding()), before).all_findings[0].known


def test_what_is_gone_is_a_note_unless_something_did_not_run(tmp_path):
    before = baseline_of(tmp_path, finding(), finding("another"))
    assert "2 findings of the baseline" in against(report(tmp_path), before).notes[0]
    assert against(report(tmp_path, skipped=(Skipped("RW120", "why"),)), before).notes == ()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "there is no baseline"),
        ("{", "is no JSON"),
        ("[]", "is no report of a check"),
        ('{"rewards": [], "set": {"findings": [{"severity": "error"}]}}', "is no report of a check"),
        (
            '{"rewards": [], "set": {"findings": [{"severity": "bad", "fingerprint": "a"}]}}',
            "without severity or fingerprint",
        ),
    ],
)
def test_what_is_no_baseline_is_one_sentence_with_the_remedy(tmp_path, content, words):
    file = tmp_path / "b.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(UsageError, match=words) as error:
        read_baseline(file)
    assert "--format json --out FILE" in str(error.value)
