import inspect
import re
from pathlib import Path

import pytest

from rewards.errors import UsageError
from workbench.checks.check import FAMILIES, RewardCheck, SetCheck
from workbench.checks.selection import CHECKS, codes_of, explained, select

FOLDERS = {
    "RW1": "contract",
    "RW2": "laws",
    "RW3": "exploits",
    "RW4": "answers",
    "RW5": "robustness",
    "RW6": "signal",
    "RW7": "evidence",
    "RW8": "data",
    "RW9": "code",
}


def test_no_prefix_selects_every_check_in_the_order_of_codes():
    assert [check.code for check in select()] == sorted(CHECKS)


def test_prefixes_select_families_and_single_checks():
    chosen = [check.code for check in select(["RW6", "RW104"])]
    assert chosen[:3] == ["RW104", "RW601", "RW602"]
    assert {code[:3] for code in chosen[1:]} == {"RW6"}


def test_ignored_checks_are_left_out_of_the_selected():
    chosen = [check.code for check in select(["RW6"], ["RW601"])]
    assert "RW602" in chosen
    assert "RW601" not in chosen


def test_codes_are_read_from_a_list_with_commas():
    assert codes_of(" rw1, RW601 ,") == ["RW1", "RW601"]


def test_unknown_code_is_refused_with_those_there_are():
    with pytest.raises(
        UsageError, match=r"there is no check RW699: .*RW601 to RW6.. are the checks of its family"
    ):
        select(["RW699"])
    with pytest.raises(UsageError, match=f"the families are {', '.join(FAMILIES)}"):
        explained("XX1")


@pytest.mark.parametrize("code", sorted(CHECKS))
def test_every_check_is_described_and_stands_in_its_familys_folder(code):
    check = CHECKS[code]
    assert re.fullmatch(r"RW\d\d\d", code)
    assert code[:3] in FAMILIES
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", check.name)
    assert check.severity in ("error", "warning", "info")
    assert check.summary[0].islower() or check.summary.startswith("NaN")
    assert not check.summary.endswith(".")
    assert issubclass(check, (RewardCheck, SetCheck))
    assert Path(inspect.getfile(check)).parent.name == FOLDERS[code[:3]]


def test_names_are_unique():
    assert len({check.name for check in CHECKS.values()}) == len(CHECKS)
