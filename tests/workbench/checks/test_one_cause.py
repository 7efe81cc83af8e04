"""Recipes that one line pays are one finding; what is accepted, or has another cause, stays by itself."""

from dataclasses import replace
from types import SimpleNamespace

from workbench.baseline import Baseline, against
from workbench.checks.finding import Cost, Evidence, Finding
from workbench.checks.one_cause import Paid, join_causes, signs_of
from workbench.checks.paid import NOT_RECORDED, NotRecordedError
from workbench.checks.runner import waive
from workbench.checks.subject import RewardSubject
from workbench.selftest.measuring import Result, Said

LOOSE = """
import re
def reward(completions, answer, **kwargs):
    scores = []
    for completion, gold in zip(completions, answer):
        found = re.findall("[0-9]+", completion[-1]["content"])
        if not found:
            scores.append(0.0 if "know" in completion[-1]["content"] else 1.0)
        else:
            scores.append(float(found[-1] == gold))
    return scores
"""
"""What has no number is paid, by line 8."""


DEFINED = {"r": 3}


def made(check: str, text: str = "x", severity: str = "error", **fields: object) -> Finding:
    finding = Finding(
        check, check.lower(), severity, f"{check} is said.", "Mend it.", check, Cost.TEACHES_WRONG,  # type: ignore[arg-type]
        reward="r", evidence=Evidence(completion=text, got=1.0), line=3,
    )  # fmt: skip
    return replace(finding, **fields)  # type: ignore[arg-type]


def same(reward: str, findings: list[Finding]) -> list[object]:
    return [Paid((("7", "a < b"),)) for _ in findings]


def test_recipes_paid_by_one_line_are_one_finding_with_the_shortest_completion(check):
    findings = check(LOOSE, "RW301 RW302", declare='kind = "correctness"')
    [finding] = [f for f in findings if f.at_least("warning")]
    assert finding.checks == ("RW301", "RW302")
    assert finding.line == 8
    assert finding.check == "RW301"
    assert finding.evidence.completion[0]["content"] == ""
    assert "By line 8 it pays for" in finding.message
    for other in finding.also:
        assert f"({other.check})" in finding.message
        assert len(str(other.evidence.completion)) >= len(str(finding.evidence.completion))


def test_a_single_check_that_is_selected_tells_its_own(check):
    for finding in check(LOOSE, "RW301 RW302", declare='kind = "correctness"')[0].also:
        alone = [
            f for f in check(LOOSE, finding.check, declare='kind = "correctness"') if f.severity != "info"
        ]
        assert [(f.check, f.fingerprint, f.also) for f in alone] == [(finding.check, finding.fingerprint, ())]


def test_a_waived_recipe_stays_by_itself_and_accepts_nothing_else(report_of):
    waiver = 'waive = [{ check = "RW301", reason = "known" }]'
    report = report_of(LOOSE, "RW301 RW302", declare='kind = "correctness"', check=waiver)
    waived = [f for f in report.all_findings if f.waived]
    assert [(f.check, f.also) for f in waived] == [("RW301", ())]
    assert report.verdict == "fail"
    assert all("RW301" not in f.checks for f in report.standing)


def test_every_recipe_waived_is_accepted(report_of):
    told = report_of(LOOSE, "RW301 RW302", declare='kind = "correctness"').standing[0].checks
    waiver = ", ".join(f'{{ check = "{code}", reason = "known" }}' for code in told)
    report = report_of(LOOSE, "RW301 RW302", declare='kind = "correctness"', check=f"waive = [{waiver}]")
    assert report.verdict == "pass"


def test_a_waiver_of_the_speaker_alone_does_not_accept_a_joined_finding():
    from rewards.manifest import Waiver

    [joined] = join_causes([made("RW301"), made("RW305", "longer")], same, DEFINED)
    one = Waiver(check="RW301", reason="known")
    assert waive(joined, [one]).waived is None
    assert waive(joined, [one, Waiver(check="RW305", reason="known")]).waived == "known"


def test_another_line_another_nature_and_mere_information_are_not_joined():
    def apart(reward: str, findings: list[Finding]) -> list[object]:
        return [f.evidence.completion for f in findings]

    told = [made("RW301", "a"), made("RW305", "b")]
    assert len(join_causes(told, apart, DEFINED)) == 2
    assert len(join_causes([made("RW301"), made("RW310")], same, DEFINED)) == 2
    assert len(join_causes([made("RW301"), made("RW402"), made("RW107")], same, DEFINED)) == 3
    assert len(join_causes([made("RW301"), made("RW305", severity="info")], same, DEFINED)) == 2
    assert len(join_causes([made("RW301"), made("RW305", reward="other")], same, DEFINED)) == 2


def test_a_labelled_sample_joins_what_its_line_pays():
    for code in ("RW302", "RW308"):
        [joined] = join_causes([made(code), made("RW701", "a longer one", severity="warning")], same, DEFINED)
        assert joined.checks == (code, "RW701")
        assert joined.severity == "error"
        assert joined.line == 7


def test_where_no_line_is_known_the_same_amount_is_told_together_and_not_as_one_cause():
    def amounts(reward: str, findings: list[Finding]) -> list[object]:
        return [f.evidence.got for f in findings]

    [joined] = join_causes([made("RW301"), made("RW305", "longer", line=12)], amounts, DEFINED)
    assert "It pays the same amount for a copy of the prompt (RW305) too" in joined.message
    assert "one cause" not in joined.message
    assert joined.line == 3  # another's line is no line of this one
    less = made("RW305", evidence=Evidence(completion="x", got=0.5))
    assert len(join_causes([made("RW301"), less], amounts, DEFINED)) == 2


def test_a_paid_reward_is_not_asked_what_paid():
    class Bench:
        def probe(self, function: str, **_: object) -> None:
            raise NotRecordedError(NOT_RECORDED)

    described = SimpleNamespace(name="r", entry=SimpleNamespace(cost="paid"), timeout_s=1.0, declared=())
    subject = RewardSubject(described, Bench(), None, None)  # type: ignore[arg-type]
    findings = [made("RW301"), made("RW305", "longer")]
    assert signs_of(subject, findings) == ["1", "1"]
    [joined] = join_causes(findings, lambda _, told: signs_of(subject, told), DEFINED)
    assert joined.checks == ("RW301", "RW305")


def test_json_names_the_others_with_what_a_baseline_needs():
    [joined] = join_causes([made("RW301"), made("RW305", "longer")], same, DEFINED)
    [other] = joined.to_json()["also"]
    assert other == {
        "check": "RW305", "name": "rw305", "severity": "error", "message": "RW305 is said.",
        "fingerprint": made("RW305").fingerprint,
    }  # fmt: skip
    assert "also" not in made("RW301").to_json()


def test_a_baseline_knows_a_joined_finding_by_all_its_recipes(report_of, tmp_path):
    from workbench.baseline import read_baseline
    from workbench.reports.check_json import check_json

    report = report_of(LOOSE, "RW301 RW302", declare='kind = "correctness"')
    file = tmp_path / "baseline.json"
    file.write_text(check_json(report))
    assert against(report, read_baseline(file)).verdict == "pass"
    [joined] = report.standing
    older = {joined.fingerprint: "error", **{one.fingerprint: "error" for one in joined.also}}
    assert against(report, Baseline(file, older)).verdict == "pass"  # of a time when each was a finding
    assert against(report, Baseline(file, {joined.fingerprint: "error"})).verdict == "fail"


def test_what_a_joined_finding_names_counts_as_found():
    said = (Said("RW302", "error", "...", ("RW305",)),)
    assert Result("x", "zoo", "prompt-echo", None, True, said, 1.0).naming == ["RW305"]
