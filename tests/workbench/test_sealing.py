import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewards.errors import SealError
from rewards.running import Runner
from rewards.seal import read_seal
from workbench.checks.report import Report
from workbench.checks.runner import run_checks
from workbench.samples import Samples, read_samples
from workbench.sealing import make_seal, seal_report, sealed_samples, verify_seal

SOUND = """
def reward(completions, answer, **kwargs):
    return [float(a in c) for c, a in zip(completions, answer)]
"""
RAISES = """
def reward(completions, answer, **kwargs):
    return [1.0 / len(c.split()) for c in completions]
"""


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as shared:
        yield shared


@pytest.fixture
def samples(tmp_path: Path) -> Samples:
    rows = [
        {"prompt": "2+2", "completion": "it is 4", "answer": "4", "label": "right"},
        {"prompt": "2+2", "completion": "it is 5", "answer": "4", "label": "wrong"},
        {"prompt": "2+2", "completion": "4 5 6", "answer": "4", "label": "hack"},
    ]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_samples([tmp_path / "s.jsonl"])


def checked(folder: Path, source: str, samples: Samples | None, runner: Runner) -> Report:
    (folder / "rewards.py").write_text(source)
    return run_checks(
        str(folder / "rewards.py"), samples, select=["RW101", "RW110", "RW122"], quick=True, runner=runner
    )


def test_set_that_passes_is_sealed_and_the_seal_holds(tmp_path, samples, runner):
    path = seal_report(checked(tmp_path, SOUND, samples, runner), samples)
    assert path == tmp_path / "rewards.py.seal.json"
    seal = verify_seal(str(tmp_path / "rewards.py"), runner=runner)
    assert [check.check for check in seal.checks] == ["RW101", "RW110", "RW122"]
    assert (seal.samples.rows, seal.samples.right, seal.samples.wrong) == (3, 1, 2)
    assert seal.samples.sources == ("s.jsonl",)
    assert (seal.strength, seal.quick) == ("strong", True)


def test_set_that_fails_is_not_sealed(tmp_path, samples, runner):
    report = checked(tmp_path, RAISES, samples, runner)
    with pytest.raises(SealError, match=r"not sealed: 1 finding at or above 'error' \(first: RW110 raises\)"):
        seal_report(report, samples)
    assert not (tmp_path / "rewards.py.seal.json").exists()


def test_nothing_is_sealed_without_samples(tmp_path, runner):
    with pytest.raises(SealError, match="without samples nothing was shown"):
        seal_report(checked(tmp_path, SOUND, None, runner), None)


def test_changed_code_breaks_the_seal_and_a_comment_does_not(tmp_path, samples, runner):
    seal_report(checked(tmp_path, SOUND, samples, runner), samples)
    target = str(tmp_path / "rewards.py")
    (tmp_path / "rewards.py").write_text("# a comment\n" + SOUND)
    assert verify_seal(target, runner=runner)
    (tmp_path / "rewards.py").write_text(SOUND.replace("a in c", "a not in c"))
    with pytest.raises(SealError, match="the seal does not hold: reward 'reward': its code changed"):
        verify_seal(target, runner=runner)


def test_missing_seal_is_said_with_the_remedy(tmp_path, runner):
    (tmp_path / "rewards.py").write_text(SOUND)
    with pytest.raises(SealError, match=r"there is no seal rewards\.py\.seal\.json"):
        verify_seal(str(tmp_path / "rewards.py"), runner=runner)


def test_seal_records_findings_that_did_not_fail(tmp_path, samples, runner):
    source = SOUND.replace("    return", "    print('hello')\n    return")
    seal = make_seal(checked(tmp_path, source, samples, runner), samples, created="2026-01-01T00:00:00+00:00")
    assert [finding["check"] for finding in seal.findings] == ["RW122"]
    assert seal.created == "2026-01-01T00:00:00+00:00"


def test_hash_of_samples_moves_with_any_row_and_label(samples):
    digest = sealed_samples(samples, Path("/")).hash
    samples.labels[0] = "wrong"
    assert sealed_samples(samples, Path("/")).hash != digest


def test_seal_is_readable_json(tmp_path, samples, runner):
    path = seal_report(checked(tmp_path, SOUND, samples, runner), samples)
    assert read_seal(path).fingerprint == json.loads(path.read_text())["fingerprint"]


def test_checks_that_were_not_selected_are_recorded_as_skipped(tmp_path, samples, runner):
    seal = make_seal(checked(tmp_path, SOUND, samples, runner), samples)
    assert ("RW601", "not selected") in [(item.check, item.why) for item in seal.skipped]
