"""The pytest plugin, in sessions of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

pytest_plugins = "pytester"

REWARDS = """
def right(completions, answer, **kwargs):
    return [1.0 if c.split()[-1] == a else 0.0 for c, a in zip(completions, answer)]


def brief(completions, **kwargs):
    for completion in completions:
        print(completion)
    return [1.0 if len(c) < 40 else 0.0 for c in completions]
"""
MANIFEST = """
[set]
samples = "s.jsonl"
[[reward]]
function = "rewards.py::right"
[[reward]]
function = "rewards.py::brief"
range = [0.0, 0.5]
[check]
waive = [{ check = "RW107", reason = "a range to be" }]
"""
ROWS = [
    {"prompt": "2+2", "completion": "it is 4", "answer": "4", "label": "right"},
    {"prompt": "2+2", "completion": "it is 5", "answer": "4", "label": "wrong"},
]
CHOSEN = "RW104 or RW107 or RW110 or RW120 or RW122 or RW602"
"""A few checks: one that fails, one that is waived, one that does not fail, one that is left out, one of the set."""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Path:
    write(pytester.path, REWARDS)
    return pytester.path


def write(folder: Path, rewards: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "rewards.py").write_text(rewards)
    (folder / "rewardset.toml").write_text(MANIFEST)
    (folder / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))


def test_a_set_is_collected_by_itself_with_an_item_for_each_reward_and_check(project, pytester):
    lines = pytester.runpytest("--collect-only", "-q").outlines
    assert "rewardset.toml::right::RW104-wrong-length" in lines
    assert "rewardset.toml::brief::RW104-wrong-length" in lines
    assert "rewardset.toml::the set::RW602-dead-groups" in lines
    assert "rewardset.toml::the set::RW104-wrong-length" not in lines


def test_findings_fail_waived_ones_are_expected_and_lesser_ones_told(project, pytester):
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = --strict-markers --strict-config\n")
    done = pytester.runpytest("-k", CHOSEN, "--reward-quick", "-rxs", "--junit-xml=junit.xml")
    done.assert_outcomes(failed=1, xfailed=1, skipped=2, passed=7)
    done.stdout.fnmatch_lines(
        [
            "*right: RW110-raises*",
            "error   RW110 raises  rewards.py:3",
            '*completion  ""',
            "*got *IndexError: list index out of range (rewards.py:3)",
            "*expected    a number",
            "*reward findings that do not fail*",
            "rewardset.toml::brief::RW122-prints",
            "*XFAIL rewardset.toml::brief::RW107-out-of-range - *waived: a range to be*",
        ],
        consecutive=False,
    )
    done.stdout.fnmatch_lines(["*SKIPPED*left out by --quick*"])
    cases = ET.parse(pytester.path / "junit.xml").getroot().findall(".//testcase")
    assert {case.get("name") for case in cases if case.find("failure") is not None} == {"RW110-raises"}


def test_items_are_chosen_by_name_family_and_marker(project, pytester):
    assert (
        pytester.runpytest("--collect-only", "-q", "-k", "brief and RW110")
        .outlines[0]
        .endswith("RW110-raises")
    )
    pytester.makepyfile("def test_plain(): pass")
    done = pytester.runpytest("-q", "-m", "not reward_set", "--strict-markers")
    done.assert_outcomes(passed=1)


def test_a_set_elsewhere_is_checked_on_demand_and_alone(pytester):
    write(pytester.path / "sums", REWARDS)
    pytester.makepyfile("def test_plain(): pass")
    pytester.makeini("[pytest]\nreward_sets = false\n")
    pytester.runpytest("-q").assert_outcomes(passed=1)
    done = pytester.runpytest("--reward-set", "sums", "-k", "RW104")
    done.assert_outcomes(passed=2)


def test_without_a_set_there_the_session_ends_with_one_sentence(pytester):
    done = pytester.runpytest("--reward-set", "nowhere")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: --reward-set nowhere: there is no rewardset.toml"])


def test_a_manifest_that_cannot_be_used_is_a_sentence(pytester):
    (pytester.path / "rewardset.toml").write_text("[set]\nnme = 1\n")
    done = pytester.runpytest()
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*rewardset.toml: rewardset.toml: *'nme' is no key here*"])


def test_a_file_that_does_not_load_fails_its_items_with_a_sentence(project, pytester):
    (project / "rewards.py").write_text("def right(completions:")
    done = pytester.runpytest("-k", "RW104")
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["rewards.py, line 1: SyntaxError*"])


def test_a_reward_that_hangs_is_ended_and_the_others_are_checked(project, pytester):
    hanging = REWARDS.replace("print(completion)", "while True: pass")
    (project / "rewards.py").write_text(hanging)
    manifest = (project / "rewardset.toml").read_text()
    (project / "rewardset.toml").write_text(manifest.replace("range = [0.0, 0.5]", "timeout_s = 0.3"))
    done = pytester.runpytest("-k", "RW111 or (right and RW104)")
    done.assert_outcomes(failed=1, passed=2)
    done.stdout.fnmatch_lines(["*brief: RW111-hangs*"])


def test_items_are_spread_over_processes_with_xdist(project, pytester):
    done = pytester.runpytest_subprocess("-n", "2", "-k", CHOSEN, "--reward-quick")
    done.assert_outcomes(failed=1, xfailed=1, skipped=2, passed=7)
    done.stdout.fnmatch_lines(["rewardset.toml::brief::RW122-prints"])


def test_a_plain_session_loads_nothing_of_ours(pytester):
    pytester.makepyfile("def test_plain(): pass")
    code = (
        "import sys, pytest\ncode = pytest.main(['-q', '-p', 'no:hypothesispytest', '-p', 'no:cov'])\n"
        "print(sorted(n for n in sys.modules if n.split('.')[0] in ('rewards', 'workbench', 'trainer')))\n"
        "print([n for n in ('numpy', 'pandas', 'hypothesis', 'pydantic', 'torch') if n in sys.modules])\n"
        "sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=pytester.path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-2:] == ["['workbench', 'workbench.pytest_plugin']", "[]"]


# ------------------------------------------------------------------------------------------- plain tests


def test_rewards_are_tested_in_plain_tests_beside_a_rewards_file_of_the_users_own(project, pytester):
    pytester.makepyfile(
        textwrap.dedent(f"""
        import sys
        import pytest
        from rewards import right  # the file beside this test, not our package
        from workbench.pytest_plugin import assert_pays, assert_ranks

        ROWS = {ROWS!r}

        def test_passes(check_reward):
            found = check_reward(right, ROWS, select=["RW104", "RW105"])
            assert found.passed
            assert sys.modules["rewards"].right is right

        def test_finds(check_reward):
            check_reward(right, ROWS, select=["RW110"])

        def test_waives(check_reward):
            check_reward(right, ROWS, select=["RW110"], waive={{"RW110": "for now"}})

        def test_pays():
            assert_pays(right, "it is 4", 1.0, answer="4")
            assert_pays(right, "it is 5", at_most=0.5, answer="4")
            assert_ranks(right, ["4", "5"], answer="4")

        def test_does_not_pay():
            assert_pays(right, "it is 5", 1.0, answer="4")
        """)
    )
    sys.modules.pop("rewards_of_the_test", None)
    done = pytester.runpytest_subprocess("-p", "no:randomly", "-m", "not reward_set")
    done.assert_outcomes(passed=3, failed=2)
    done.stdout.fnmatch_lines(
        [
            "E*AssertionError: 1 finding",
            "E*error   RW110 raises*",
            'E*AssertionError: completion  "it is 5"',
            "E*columns     answer = '4'",
            "E*got         0",
            "E*expected    1",
            "E*line 3 *+0  c.split()*",
        ]
    )
