from __future__ import annotations

from pathlib import Path

import pytest

from rewards.errors import ManifestError, UsageError
from rewards.manifest import read_manifest
from workbench.waiving import add_waiver

SET = '# ours\n[[reward]]\nfunction = "r.py::r"  # the one\n'


@pytest.mark.parametrize(
    "check",
    [
        "",
        "\n[check]\nexamples = 7\n",
        '\n[check]\nwaive = [{ check = "RW2", reason = "old" }]\n',
        '\n[[check.waive]]\ncheck = "RW122"\nreward = "r"\nreason = "older"\n',
    ],
)
def test_a_waiver_joins_what_is_there_and_comments_stay(tmp_path: Path, check: str) -> None:
    path = tmp_path / "rewardset.toml"
    path.write_text(SET + check)
    add_waiver(path, "RW122", "r", " prints,\n for now ")
    add_waiver(path, "RW601", None, "small samples")
    waive = {(waiver.check, waiver.reward): waiver.reason for waiver in read_manifest(path).check.waive}
    assert waive["RW122", "r"] == "prints, for now"
    assert waive["RW601", None] == "small samples"
    assert len(waive) == 3 if "RW2" in check else len(waive) == 2
    assert path.read_text().startswith(SET)


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_a_waiver_needs_a_reason(tmp_path: Path, reason: str) -> None:
    with pytest.raises(UsageError, match="why this is accepted"):
        add_waiver(tmp_path / "rewardset.toml", "RW1", None, reason)


def test_a_broken_manifest_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "rewardset.toml").write_text("[set")
    with pytest.raises(ManifestError):
        add_waiver(tmp_path / "rewardset.toml", "RW1", None, "why")
