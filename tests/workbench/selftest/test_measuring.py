"""Measuring: the command is run on an entry, and what gives no report is not found."""

from dataclasses import replace

from workbench.selftest.measuring import check_entry, measure
from workbench.selftest.zoo import read_zoo

BROKEN = next(entry for entry in read_zoo("zoo") if entry.kind == "bad-count")


def test_broken_entry_is_found_by_the_command_itself():
    told = []
    [found] = measure([BROKEN], declared=[True], quick=True, progress=lambda *seen: told.append(seen))
    assert found.found
    assert found.naming[0] == "RW104"
    assert found.problem == ""
    assert found.seconds > 0
    assert told == [("rewards", 1, 1)]


def test_file_that_does_not_load_is_a_problem_and_no_find(tmp_path):
    (tmp_path / "r.py").write_text("def reward(completions:\n")
    result = check_entry(replace(BROKEN, file=tmp_path / "r.py"), declared=False, quick=True)
    assert not result.found
    assert result.problem.startswith("exit code 3: error: ")


def test_checks_that_take_too_long_are_given_up():
    result = check_entry(BROKEN, declared=True, limit_s=0.05)
    assert result.problem == "not finished after 0.05 s"
    assert not result.found
