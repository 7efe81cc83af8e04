import re
from dataclasses import replace

from workbench.reports.check_github import check_github, escape_data, escape_property
from workbench.reports.check_places import place_of


def test_a_finding_is_an_annotation_at_its_line(full_report, root):
    first = check_github(full_report, root).splitlines()[0]
    assert first.startswith(
        "::error file=my rewards.py,line=3,title=RW110 raises (right)::right raises IndexError"
    )
    assert first.endswith("ends the whole run.")


def test_levels_are_those_of_github_and_accepted_findings_are_left_out(full_report, root):
    levels = [line.split()[0] for line in check_github(full_report, root).splitlines()[:-1]]
    assert levels == ["::error", "::warning", "::notice"]
    assert "RW122" not in check_github(full_report, root)


def test_hostile_text_can_start_no_command_of_its_own(full_report, root):
    lines = check_github(full_report, root).splitlines()
    assert all(re.match(r"::(error|warning|notice) file=", line) for line in lines[:-1])
    assert "\x1b" not in "".join(lines)
    assert "\r" not in check_github(full_report, root)


def test_data_and_properties_are_escaped_as_github_reads_them():
    assert escape_data("50%\r\n::error::x") == "50%25%0D%0A::error::x"
    assert escape_property("a:b,c%\n") == "a%3Ab%2Cc%25%0A"


def test_what_lies_outside_the_checkout_points_to_the_manifest(full_report, root):
    reward = full_report.description.reward("same")
    assert not str(reward.file).startswith(str(root))
    finding = replace(full_report.findings[0], reward="same", line=99)
    place = place_of(finding, full_report, root)
    assert (place.path.as_posix(), place.line) == ("rewardset.toml", 10)


def test_the_last_line_is_the_verdict(full_report, root):
    assert re.fullmatch(
        r"sums & more: fail, 3 findings, 1 accepted, in \d+\.\d s",
        check_github(full_report, root).splitlines()[-1],
    )


def test_a_finding_that_speaks_for_others_has_their_codes_in_its_title(joined_report, root):
    assert "title=RW110%2C RW301%2C RW314 raises (right)::" in check_github(joined_report, root)
