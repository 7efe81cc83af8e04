"""The four forms of a target, and what is said of anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewards.errors import TargetError
from rewards.targets import parse_target


def test_the_four_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rewards.py").write_text("")
    (tmp_path / "rewardset.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    kinds = [
        (parse_target(text).kind, parse_target(text).name)
        for text in (".", "rewardset.toml", "rewards.py", "rewards.py::f", "package.module:f")
    ]
    assert kinds == [("project", None), ("project", None), ("file", None), ("file", "f"), ("module", "f")]


def test_samples_given_as_a_target_are_answered_with_the_right_form(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("{}\n")
    with pytest.raises(TargetError, match=r"is no reward file; .*rewards\.py --samples .*s\.jsonl"):
        parse_target(tmp_path / "s.jsonl")


def test_a_seal_stands_beside_what_it_seals(tmp_path: Path) -> None:
    (tmp_path / "rewards.py").write_text("")
    (tmp_path / "rewardset.toml").write_text("")
    assert parse_target(tmp_path).seal_path == tmp_path / "rewardset.seal.json"
    assert parse_target(tmp_path / "rewards.py").seal_path == tmp_path / "rewards.py.seal.json"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("reward.py", "there is no file reward.py; did you mean 'rewards.py'?"),
        ("rewards.py::", "names no function after '::'"),
        ("empty", "empty has no rewardset.toml"),
        ("nowhere", "there is no file or folder 'nowhere'"),
        ("a b:c", "there is no file or folder"),
    ],
)
def test_anything_else_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, sentence: str
) -> None:
    (tmp_path / "rewards.py").write_text("")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TargetError, match=r"^[^\n]+$") as caught:
        parse_target(text)
    assert sentence in str(caught.value)
