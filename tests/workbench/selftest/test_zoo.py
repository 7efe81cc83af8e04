"""Reading the zoos: what an entry declares becomes a manifest, and nothing of its verdict does."""

import pytest

from rewards.errors import UsageError
from rewards.manifest import read_manifest
from workbench.checks.selection import CHECKS
from workbench.selftest.naming import NAMING, names_it
from workbench.selftest.zoo import FIXTURES, manifest, read_zoo, zoo_names

ENTRIES = [entry for name in zoo_names() for entry in read_zoo(name)]


def test_zoos_hold_enough_of_every_kind():
    assert zoo_names() == [
        "zoo",
        "zoo_fourth",
        "zoo_fresh",
        "zoo_held_out",
        "zoo_more",
        "zoo_second",
        "zoo_third",
    ]
    assert sum(entry.sound for entry in ENTRIES) >= 125
    kinds = {entry.kind for entry in ENTRIES if entry.kind}
    assert kinds == set(NAMING)
    fresh = {entry.kind for name in ("zoo_fresh", "zoo_held_out") for entry in read_zoo(name) if entry.kind}
    assert fresh == kinds


def test_ids_are_unique_and_files_are_there():
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES)
    assert all(entry.file.is_file() and entry.tasks.is_file() for entry in ENTRIES)


def test_codes_that_name_a_kind_are_codes_of_checks():
    for starts in NAMING.values():
        assert all(any(code.startswith(start) for code in CHECKS) for start in starts.split())
    assert names_it("bad-count", "RW104")
    assert not names_it("bad-count", "RW110")


def test_manifest_holds_the_declaration_and_nothing_else(tmp_path):
    entry = next(entry for entry in ENTRIES if entry.declares["abstains"])
    (tmp_path / "rewardset.toml").write_text(manifest(entry, "rewards.py"))
    [reward] = read_manifest(tmp_path / "rewardset.toml").reward
    assert reward.kind == entry.declares["role"]
    assert reward.range == tuple(entry.declares["range"])
    assert reward.abstains is True
    bare = manifest(entry, "rewards.py", declared=False)
    assert [line.split(" =")[0] for line in bare.splitlines()] == ["[[reward]]", "function", "weight"]


def test_unknown_zoo_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match=r"there is no zoo .zebras. in .*; there are: zoo, "):
        read_zoo("zebras")
    assert zoo_names(FIXTURES / "zoo") == []
