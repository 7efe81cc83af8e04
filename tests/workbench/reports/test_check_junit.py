import xml.etree.ElementTree as ET
from dataclasses import replace

from workbench.reports.check_junit import check_junit


def read(report):
    return ET.fromstring(check_junit(report).encode())


def test_a_suite_for_each_reward_and_a_case_for_each_check(full_report):
    root = read(full_report)
    assert [suite.get("name") for suite in root] == ["right", "brief", "same", "the set"]
    names = [case.get("name") for case in root.find("testsuite[@name='right']")]
    assert names == ["RW110 raises", "RW120 thread-result", "RW122 prints"]


def test_what_fails_is_a_failure_with_the_completion(full_report):
    failure = read(full_report).find(".//failure")
    assert failure.get("type") == "RW110"
    assert "IndexError" in failure.get("message")
    assert 'completion  ""' in failure.text


def test_lesser_findings_do_not_fail(full_report):
    case = read(full_report).find("testsuite[@name='brief']/testcase[@name='RW107 out-of-range']")
    assert [child.tag for child in case] == ["system-out"]
    assert "warning RW107" in case[0].text


def test_waived_known_and_not_run_are_skipped_with_the_reason(full_report):
    known = replace(full_report, findings=(replace(full_report.findings[0], known=True),))
    said = [skipped.get("message") for skipped in read(known).findall(".//skipped")]
    assert any(message.startswith("waived: prints, for now: brief writes") for message in said)
    assert "known to the baseline: no group differs" in said
    assert "left out by --quick" in said


def test_hostile_text_leaves_the_document_whole_and_the_counts_true(full_report):
    root = read(full_report)
    assert root.get("tests") == str(len(root.findall(".//testcase")))
    assert root.get("failures") == str(len(root.findall(".//failure"))) == "1"
    assert "<script>" in root.find(".//system-out").text


def test_each_check_of_a_finding_that_speaks_for_others_has_its_case(joined_report):
    suite = read(joined_report).find("testsuite[@name='right']")
    told = {case.get("name")[:5]: [child.tag for child in case] for case in suite}
    assert {code: told[code] for code in ("RW110", "RW301", "RW314")} == {
        "RW110": ["failure"],
        "RW301": ["failure"],
        "RW314": ["system-out"],
    }
    failure = suite.find("testcase[@name='RW301 empty-paid']/failure")
    assert (failure.get("type"), failure.get("message")) == ("RW301", "empty-paid is paid")
    assert failure.text.endswith("told with RW110")
    assert suite.get("failures") == "2"


def test_what_is_accepted_with_its_speaker_is_skipped(joined_report):
    [right, *others] = joined_report.rewards
    waived = replace(right, findings=(replace(right.findings[0], waived="meant"),))
    suite = read(replace(joined_report, rewards=(waived, *others))).find("testsuite[@name='right']")
    assert [case.get("message")[:13] for case in suite.iter("skipped")].count("waived: meant") == 3
    assert suite.get("failures") == "0"
