import json
import math
from dataclasses import replace

import numpy as np
import pytest

from workbench.checks.finding import Cost, Evidence, Finding, merge, order, plain

FIELDS = ["check", "name", "severity", "message", "evidence", "advice", "line", "count", "fingerprint"]


def finding(**changes: object) -> Finding:
    base = Finding(
        check="RW110",
        name="raises",
        severity="error",
        message="m",
        advice="a",
        cause="raises ValueError at x",
        cost=Cost.STOPS,
        reward="r",
    )
    return replace(base, **changes)


def test_json_has_exactly_the_fixed_fields():
    assert list(finding().to_json()) == FIELDS
    assert list(finding().to_json()["evidence"]) == ["prompt", "completion", "columns", "got", "expected"]


def test_empty_evidence_and_line_are_null():
    shown = finding().to_json()
    assert shown["line"] is None
    assert set(shown["evidence"].values()) == {None}


def test_waived_finding_carries_the_reason():
    assert finding(waived="meant").to_json()["waived"] == "meant"


def test_json_is_strict_whatever_the_evidence_holds():
    evidence = Evidence(
        got=[math.nan, math.inf, np.float32(1.5), {1: object}], expected=np.int64(3), columns={"a": -math.inf}
    )
    shown = json.loads(json.dumps(finding(evidence=evidence).to_json(), allow_nan=False))["evidence"]
    assert shown["got"][:3] == ["nan", "inf", 1.5]
    assert shown["expected"] == 3
    assert shown["columns"] == {"a": "-inf"}


def test_plain_keeps_what_json_knows():
    value = {"a": [1, 2.5, None, True, "x\ud83d"]}
    assert plain(value) == value


def test_fingerprint_depends_on_check_reward_and_cause_alone():
    same = finding(line=9, count=4, message="other", severity="warning")
    assert same.fingerprint == finding().fingerprint
    assert len(finding().fingerprint) == 16
    assert len({finding(**{key: "z"}).fingerprint for key in ("check", "reward", "cause")}) == 3


def test_findings_of_one_cause_become_one_with_the_smallest_completion():
    small, large = Evidence(completion="a"), Evidence(completion="a" * 9)
    [merged] = merge([finding(evidence=large, count=2), finding(evidence=small)])
    assert merged.count == 3
    assert merged.evidence == small


def test_cause_seen_by_two_checks_is_told_by_the_costlier_one():
    [merged] = merge([finding(check="RW114", severity="warning", cost=Cost.TEACHES_WRONG), finding(count=2)])
    assert (merged.check, merged.count) == ("RW110", 2)


def test_same_cause_in_two_rewards_stays_two_findings():
    assert len(merge([finding(), finding(reward="other")])) == 2


def test_what_costs_most_comes_first_and_waived_last():
    findings = [
        finding(check="RW122", severity="info", cost=Cost.HAMPERS),
        finding(check="RW101", waived="meant"),
        finding(check="RW121", cost=Cost.RUINS),
        finding(check="RW104"),
        finding(check="RW114", severity="warning", cost=Cost.TEACHES_WRONG),
    ]
    assert [f.check for f in order(findings)] == ["RW104", "RW121", "RW114", "RW122", "RW101"]


@pytest.mark.parametrize(("level", "expected"), [("info", True), ("warning", True), ("error", False)])
def test_at_least_compares_severities(level, expected):
    assert finding(severity="warning").at_least(level) is expected
