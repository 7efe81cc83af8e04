"""A check report as JUnit XML: a suite for each reward, a case for each check.

A finding at or above the level that fails is a failure; what was waived, known to the baseline or not run is skipped
with its reason; lesser findings stand in the case's output. Each check of a finding that speaks for several has a case.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence

from workbench.checks.check import RewardCheck
from workbench.checks.finding import Finding
from workbench.checks.report import Report
from workbench.checks.selection import CHECKS
from workbench.reports.check_text import finding_text, safe

SET = "the set"


def check_junit(report: Report) -> str:
    """The report as a `<testsuites>` document."""
    root = ET.Element("testsuites", name=safe(report.description.name), time=f"{report.seconds:.3f}")
    for reward in report.rewards:
        _suite(root, report, reward.name, reward.findings)
    _suite(root, report, SET, report.findings)
    for key in ("tests", "failures", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    root.set("errors", "0")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(root: ET.Element, report: Report, name: str, findings: Sequence[Finding]) -> None:
    of_set = name == SET
    skipped = {
        item.check: item.why
        for item in report.skipped
        if item.reward in ((None,) if of_set else (None, name))
    }
    ran = {code for code, _ in report.ran} | {code for finding in findings for code in finding.checks}
    codes = [
        code
        for code in sorted(ran | set(skipped))
        if issubclass(CHECKS[code], RewardCheck) != of_set or any(code in f.checks for f in findings)
    ]
    suite = ET.SubElement(root, "testsuite", name=safe(name))
    for code in codes:
        check = CHECKS[code]
        case = ET.SubElement(
            suite,
            "testcase",
            classname=safe(f"{report.description.name}.{name}"),
            name=f"{code} {check.name}",
        )
        found = [
            (one, finding) for finding in findings for one in (finding, *finding.also) if one.check == code
        ]
        if found:
            _tell(case, report, found)
        elif code in skipped:
            ET.SubElement(case, "skipped", message=safe(skipped[code]))
    suite.set("tests", str(len(codes)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("errors", "0")


def _tell(case: ET.Element, report: Report, findings: Iterable[tuple[Finding, Finding]]) -> None:
    """Findings of one check, each with the one that speaks for it, which says whether it stands."""
    for finding, speaker in findings:
        description = report.description.reward(finding.reward) if finding.reward else None
        text = finding_text(finding, description)
        if finding is not speaker:
            text = f"{text}\ntold with {speaker.check}"
        if speaker in report.standing and finding.at_least(report.fail_on):
            failure = ET.SubElement(case, "failure", type=finding.check, message=safe(finding.message))
            failure.text = text
        elif speaker.accepted:
            reason = f"waived: {speaker.waived}" if speaker.waived is not None else "known to the baseline"
            ET.SubElement(case, "skipped", message=safe(f"{reason}: {finding.message}"))
        else:
            output = case.find("system-out")
            output = ET.SubElement(case, "system-out") if output is None else output
            output.text = f"{output.text}\n{text}" if output.text else text


__all__ = ["check_junit"]
