import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from workbench.reports.check_sarif import check_sarif


@pytest.fixture(scope="module")
def schema():
    """The official schema of SARIF 2.1.0 (fixtures/README.md says where it is from)."""
    repository = Path(__file__).resolve().parents[3]
    return json.loads((repository / "fixtures" / "schemas" / "sarif-2.1.0.json").read_text())


def run_of(report, root):
    return json.loads(check_sarif(report, root), parse_constant=pytest.fail)["runs"][0]


def test_document_is_valid_by_the_official_schema(full_report, root, schema):
    for report in (full_report, replace(full_report, baseline=3, rewards=(), findings=())):
        jsonschema.Draft7Validator(schema).validate(json.loads(check_sarif(report, root)))


def test_the_schema_would_refuse_a_wrong_document(full_report, root, schema):
    wrong = json.loads(check_sarif(full_report, root))
    wrong["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate(wrong)


def test_result_has_rule_level_place_and_fingerprint(full_report, root):
    run = run_of(full_report, root)
    first = run["results"][0]
    assert (first["ruleId"], first["level"]) == ("RW110", "error")
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["name"] == "Raises"
    place = first["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "my%20rewards.py"}, "region": {"startLine": 3}}
    assert first["partialFingerprints"] == {
        "rewardWorkbench/v1": full_report.rewards[0].findings[0].fingerprint
    }
    assert 'completion:\n""' in first["message"]["text"]


def test_waived_findings_are_suppressed_with_their_reason(full_report, root):
    [waived] = [result for result in run_of(full_report, root)["results"] if result["ruleId"] == "RW122"]
    assert waived["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "prints, for now"}
    ]


def test_with_a_baseline_every_result_is_new_or_unchanged(full_report, root):
    assert "baselineState" not in run_of(full_report, root)["results"][0]
    report = replace(full_report, baseline=1, findings=(replace(full_report.findings[0], known=True),))
    states = [(result["ruleId"], result["baselineState"]) for result in run_of(report, root)["results"]]
    assert ("RW602", "unchanged") in states
    assert ("RW110", "new") in states


def test_checks_that_did_not_run_are_notifications(full_report, root):
    told = run_of(full_report, root)["invocations"][0]["toolExecutionNotifications"]
    assert {
        "level": "note",
        "descriptor": {"id": "RW120"},
        "message": {"text": "not run: left out by --quick"},
    } in told


def test_a_finding_that_speaks_for_others_names_them_with_their_rules(joined_report, root, schema):
    document = json.loads(check_sarif(joined_report, root))
    jsonschema.Draft7Validator(schema).validate(document)
    [run] = document["runs"]
    told = [(one["check"], one["severity"]) for one in run["results"][0]["properties"]["also"]]
    assert told == [("RW301", "error"), ("RW314", "warning")]
    assert {"RW301", "RW314"} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert all("also" not in result["properties"] for result in run["results"][1:])
