"""A check report as JUnit XML: a suite for each reward, a case for each check.

A finding at or above the level that fails is a failure; what was waived, known to the baseline or not run is skipped
with its reason; lesser findings stand in the case's output.
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
    ran = {code for code, _ in report.ran} | {finding.check for finding in findings}
    codes = [
        code
        for code in sorted(ran | set(skipped))
        if issubclass(CHECKS[code], RewardCheck) != of_set or any(f.check == code for f in findings)
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
        found = [finding for finding in findings if finding.check == code]
        if found:
            _tell(case, report, found)
        elif code in skipped:
            ET.SubElement(case, "skipped", message=safe(skipped[code]))
    suite.set("tests", str(len(codes)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("errors", "0")


def _tell(case: ET.Element, report: Report, findings: Iterable[Finding]) -> None:
    for finding in findings:
        description = report.description.reward(finding.reward) if finding.reward else None
        text = finding_text(finding, description)
        if finding in report.standing:
            failure = ET.SubElement(case, "failure", type=finding.check, message=safe(finding.message))
            failure.text = text
        elif finding.accepted:
            reason = f"waived: {finding.waived}" if finding.waived is not None else "known to the baseline"
            ET.SubElement(case, "skipped", message=safe(f"{reason}: {finding.message}"))
        else:
            output = case.find("system-out")
            output = ET.SubElement(case, "system-out") if output is None else output
            output.text = f"{output.text}\n{text}" if output.text else text


__all__ = ["check_junit"]
