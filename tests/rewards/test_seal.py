"""Seals: what they hold, when they break, and what is said then."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from rewards.code_parts import code_parts
from rewards.errors import SealError, UsageError
from rewards.rewardset import RewardSet, SetDescription
from rewards.seal import (
    Seal,
    SealedCheck,
    SealedSamples,
    SkippedCheck,
    here,
    read_seal,
    seal_of,
    verify,
    write_seal,
)

CODE = """
import helper
def right(completions, answer, **columns):
    return [float(helper.same(text, gold)) for text, gold in zip(completions, answer)]
def brief(completions, **columns):
    return [1.0 if len(text) < 40 else 0.0 for text in completions]
"""
HELPER = "def same(text, gold):\n    return text.strip() == gold\n"
MANIFEST = """
[set]
name = "sums"
aggregation = "sum_then_normalize"
[[reward]]
function = "scores.py::right"
kind = "correctness"
weight = 2.0
[[reward]]
function = "scores.py::brief"
params = {{ {params} }}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "scores.py").write_text(CODE)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "rewardset.toml").write_text(MANIFEST.format(params=""))
    return tmp_path


def described(project: Path) -> SetDescription:
    return RewardSet.load(project).describe()


def sealed(project: Path, right: int = 3, wrong: int = 2) -> Seal:
    samples = SealedSamples(hash="ab", rows=8, groups=2, right=right, wrong=wrong, sources=("samples.jsonl",))
    return seal_of(
        described(project),
        samples,
        created="2026-01-02T03:04:05+00:00",
        checks=[SealedCheck("RW104", version=2, seed=7)],
        skipped=[SkippedCheck("RW3xx", "no kind declared")],
        findings=[{"check": "RW601", "message": "constant \ud800", "count": 3}],
        waivers=[{"check": "RW203", "reward": "brief", "reason": "length is the point"}],
        environment={"python": "3.11.0", "packages": {"numpy": "2.0"}},
    )


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_seal_comes_back_as_it_was_written(project: Path) -> None:
    seal = sealed(project)
    write_seal(project / "rewardset.seal.json", seal)
    assert read_seal(project / "rewardset.seal.json") == seal


def test_the_file_is_strict_json_with_everything_that_was_proved(project: Path) -> None:
    path = project / "rewardset.seal.json"
    write_seal(path, sealed(project))
    content = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert content["samples"] == {
        "hash": "ab", "rows": 8, "groups": 2, "right": 3, "wrong": 2, "sources": ["samples.jsonl"], "each": "",
    }  # fmt: skip
    assert content["checks"] == [{"check": "RW104", "version": 2, "seed": 7}]
    assert content["skipped"] == [{"check": "RW3xx", "why": "no kind declared"}]
    assert [reward["name"] for reward in content["rewards"]] == ["right", "brief"]
    assert sorted(content["rewards"][0]["code"]) == ["helper.py", "scores.py"]
    assert content["strength"] == "strong"
    assert str(project) not in path.read_text()


@pytest.mark.parametrize(("right", "wrong", "strength"), [(1, 1, "strong"), (5, 0, "weak"), (0, 5, "weak")])
def test_evidence_without_both_labels_is_weak(project: Path, right: int, wrong: int, strength: str) -> None:
    assert sealed(project, right, wrong).strength == strength


def test_an_untouched_set_keeps_its_seal(project: Path) -> None:
    assert verify(sealed(project), described(project)) == []


def test_comments_layout_and_training_settings_keep_the_seal(project: Path) -> None:
    seal = sealed(project)
    change(project / "scores.py", "def brief", "# short is good\n\n\ndef brief")
    change(project / "rewardset.toml", "[set]", "[train.settings]\nlearning_rate = 1e-5\n[set]")
    assert verify(seal, described(project)) == []


def test_changed_code_is_named_with_its_rewards_and_file(project: Path) -> None:
    seal = sealed(project)
    change(project / "scores.py", "< 40", "< 50")
    assert verify(seal, described(project)) == [
        "reward 'brief': its code changed (scores.py)",
    ]


def test_a_changed_local_import_breaks_the_seal(project: Path) -> None:
    seal = sealed(project)
    change(project / "helper.py", "text.strip() == gold", "gold in text")
    assert "reward 'right': its code changed (helper.py)" in verify(seal, described(project))


def test_a_changed_weight_is_named_with_both_values(project: Path) -> None:
    seal = sealed(project)
    change(project / "rewardset.toml", "weight = 2.0", "weight = 1.5")
    assert verify(seal, described(project)) == ["reward 'right': weight changed from 2.0 to 1.5"]


def test_changed_parameters_and_settings_are_named(project: Path) -> None:
    seal = sealed(project)
    text = MANIFEST.format(params="most = 3").replace("sum_then_normalize", "normalize_then_sum")
    (project / "rewardset.toml").write_text(text)
    assert verify(seal, described(project)) == [
        '[set] aggregation changed from "sum_then_normalize" to "normalize_then_sum"',
        "reward 'brief': params changed from {} to {\"most\": 3}",
    ]


def test_a_package_of_another_version_is_named_with_both(project: Path) -> None:
    first, *others = sealed(project).rewards
    old = replace(first, fingerprint="0", code={**first.code, "numpy": "1.0", "regex": "2.0"})
    new = described(project)
    new = replace(new, fingerprint="1")
    now = replace(new.rewards[0], code={**new.rewards[0].code, "numpy": "2.0"})
    assert verify(
        replace(sealed(project), fingerprint="2", rewards=(old, *others)),
        replace(new, rewards=(now, *new.rewards[1:])),
    ) == ["reward 'right': its code changed (numpy 1.0 is now 2.0, regex)"]


def test_a_seal_of_an_older_format_is_read_and_has_to_be_made_anew(project: Path) -> None:
    path = project / "s.json"
    write_seal(path, replace(sealed(project), format=1, fingerprint="0"))
    seal = read_seal(path)
    assert (seal.format, seal.strength) == (1, "strong")
    assert verify(seal, described(project)) == [
        "it was made by an older version, whose seals cover less and cannot be compared"
    ]


@pytest.mark.parametrize(
    ("old", "new", "change_told"),
    [
        (
            "weight = 2.0",
            "weight = 2.0\ntimeout_s = 0.001",
            "reward 'right': timeout_s changed from 5.0 to 0.001",
        ),
        (
            "weight = 2.0",
            "weight = 2.0\nmemory_mb = 128",
            "reward 'right': memory_mb changed from 2048 to 128",
        ),
        (
            "weight = 2.0",
            'weight = 2.0\ncost = "paid"',
            'reward \'right\': cost changed from "free" to "paid"',
        ),
        ('name = "sums"', 'read_as = "chat"', '[set] read_as changed from "" to "chat"'),
    ],
)
def test_whatever_rewards_are_called_with_breaks_the_seal(
    project: Path, old: str, new: str, change_told: str
) -> None:
    seal = sealed(project)
    change(project / "rewardset.toml", old, new)
    assert verify(seal, described(project)) == [change_told]


def test_another_way_to_run_breaks_the_seal_with_the_deadline_it_brings(project: Path) -> None:
    seal = sealed(project)
    change(project / "rewardset.toml", "weight = 2.0", 'weight = 2.0\nruns = "warm"')
    assert verify(seal, described(project)) == [
        "reward 'right': timeout_s changed from 5.0 to 60.0",
        'reward \'right\': runs changed from "fork" to "warm"',
    ]


def test_a_default_written_down_and_the_name_of_the_set_keep_the_seal(project: Path) -> None:
    seal = sealed(project)
    defaults = 'timeout_s = 5.0\nmemory_mb = 2048\nruns = "fork"\ncost = "free"'
    change(project / "rewardset.toml", "weight = 2.0", f"weight = 2.0\n{defaults}")
    change(project / "rewardset.toml", 'name = "sums"', 'name = "other"\nsamples = "s.jsonl"\nread_as = ""')
    assert verify(seal, described(project)) == []


def test_added_and_removed_rewards_are_named(project: Path) -> None:
    seal = sealed(project)
    change(
        project / "rewardset.toml",
        'function = "scores.py::brief"',
        'function = "scores.py::right"\nname = "r2"',
    )
    assert verify(seal, described(project)) == [
        "reward 'r2' was not there when the set was sealed",
        "reward 'brief' was sealed and is gone",
    ]


def test_a_changed_order_is_named(project: Path) -> None:
    seal = sealed(project)
    first, second, third = (project / "rewardset.toml").read_text().split("[[reward]]")
    (project / "rewardset.toml").write_text("[[reward]]".join([first, third, second]))
    assert verify(seal, described(project)) == [
        "the order of the rewards changed from right, brief to brief, right"
    ]


def test_a_missing_seal_is_said_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(
        SealError, match=r"there is no seal x\.seal\.json; check the set with --seal to make one"
    ):
        read_seal(tmp_path / "x.seal.json")


@pytest.mark.parametrize("kept", [0, 1, 40, -3])
def test_a_seal_cut_short_is_damaged(project: Path, kept: int) -> None:
    path = project / "s.json"
    write_seal(path, sealed(project))
    path.write_text(path.read_text()[:kept])
    with pytest.raises(
        SealError, match=r"the seal s\.json is damaged: it is not complete JSON; check the set again"
    ):
        read_seal(path)


def test_a_seal_edited_by_hand_is_refused(project: Path) -> None:
    path = project / "s.json"
    write_seal(path, sealed(project, right=0))
    change(path, '"right": 0', '"right": 9')
    with pytest.raises(SealError, match=r"s\.json was changed after it was made: its digest does not fit"):
        read_seal(path)


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": 99}', "3"])
def test_another_format_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(SealError, match="this version reads formats 1 to 3"):
        read_seal(tmp_path / "s.json")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b'{"format": NaN}', b"[" * 100_000])
def test_bytes_that_are_no_seal_are_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s.json").write_bytes(content)
    with pytest.raises(SealError, match=r"the seal s\.json (is damaged|cannot be read)"):
        read_seal(tmp_path / "s.json")


def test_a_folder_in_place_of_a_seal_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SealError, match="cannot be read"):
        read_seal(tmp_path)


def test_a_failed_write_leaves_the_old_seal(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = project / "s.json"
    write_seal(path, sealed(project))
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        UsageError, match="cannot be written: No space left on device; the old file is unchanged"
    ):
        write_seal(path, sealed(project, right=1))
    assert path.read_bytes() == before
    assert sorted(file.name for file in project.iterdir() if "s.json" in file.name) == ["s.json"]


def test_numbers_without_a_word_in_json_are_refused(project: Path) -> None:
    seal = seal_of(
        described(project),
        SealedSamples("ab", 1, 1),
        created="",
        findings=[{"check": "RW105", "evidence": {"got": float("nan")}}],
    )
    with pytest.raises(ValueError, match="JSON"):
        write_seal(project / "s.json", seal)
    assert not (project / "s.json").exists()


def test_the_environment_names_python_and_packages() -> None:
    assert set(here()) == {"python", "platform", "packages"}
    assert "numpy" in here()["packages"]


def test_a_seal_of_another_target_in_the_folder_is_told_from_this_ones(tmp_path: Path) -> None:
    (tmp_path / "rewards.py.pays.seal.json").write_text("{}")
    with pytest.raises(SealError) as error:
        read_seal(tmp_path / "rewardset.seal.json")
    assert "(sealed here is rewards.py::pays: another target, whose seal says nothing of this one)" in str(
        error.value
    )


def test_of_a_changed_file_only_the_rewards_that_use_the_change_are_named(tmp_path: Path) -> None:
    (tmp_path / "worth.py").write_text("def one():\n    return 1.0\n\ndef two():\n    return 2.0\n")
    file = tmp_path / "rewards.py"
    code = (
        "from worth import one, two\n\ndef a(completions, **_):\n    return [one() for _ in completions]\n\n"
    )
    code += "def b(completions, **_):\n    return [two() for _ in completions]\n"
    file.write_text(code)
    seal = seal_of(RewardSet.load(file).describe(), SealedSamples("", 0, 0), created="")

    def told() -> list[str]:
        return verify(seal, RewardSet.load(file).describe())

    file.write_text(code.replace("[two()", "[-two()"))
    assert told() == ["reward 'b': its code changed (rewards.py)"]
    file.write_text(code)
    (tmp_path / "worth.py").write_text("def one():\n    return 1.5\n\ndef two():\n    return 2.0\n")
    assert told() == ["reward 'a': its code changed (worth.py)"]
    (tmp_path / "worth.py").write_text(
        "def one():\n    return 1.0\n\ndef two():\n    return 2.0\n\nTHREE = 3.0\n"
    )
    assert [sentence.partition(":")[0] for sentence in told()] == ["reward 'a'", "reward 'b'"]


def test_code_that_is_nested_too_deeply_to_be_read_has_no_parts(tmp_path: Path) -> None:
    pays = "def pays(completions, **kwargs):\n    return [MANY for _ in completions]\n"
    code = f"MANY = {' + '.join(['1'] * 1500)}\n\n{pays}"
    compile(code, "deep.py", "exec")  # Python itself takes it
    (tmp_path / "deep.py").write_text(code)
    assert code_parts("deep.py::pays", tmp_path) == {}
