import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rewards.errors import SealError
from rewards.running import Runner
from rewards.seal import SealedCheck, read_seal
from workbench.baseline import against, read_baseline
from workbench.checks.report import Report
from workbench.checks.runner import options_of, run_checks
from workbench.samples import Samples, read_samples
from workbench.sealing import make_seal, proved_by, seal_report, sealed_samples, verify_seal

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
    report = run_checks(
        str(folder / "rewards.py"), samples, select=["RW101", "RW110", "RW122"], quick=True, runner=runner
    )
    return replace(report, chosen=False)  # as if these were all: they are quick


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


def test_checks_left_out_by_their_codes_give_no_seal(tmp_path, samples, runner):
    report = checked(tmp_path, SOUND, samples, runner)
    for options in ({"select": ["RW101"]}, {"ignore": ["RW"]}):
        assert run_checks(str(tmp_path / "rewards.py"), samples, quick=True, runner=runner, **options).chosen
    with pytest.raises(SealError, match="not sealed: checks were selected or ignored"):
        seal_report(replace(report, chosen=True), samples)
    assert not (tmp_path / "rewards.py.seal.json").exists()


def test_code_that_changed_since_it_was_checked_is_not_sealed(tmp_path, samples, runner):
    report = checked(tmp_path, SOUND, samples, runner)
    (tmp_path / "rewards.py").write_text(SOUND.replace("a in c", "a not in c"))
    with pytest.raises(SealError, match="not sealed: the code or the manifest changed while the checks ran"):
        seal_report(report, samples)
    (tmp_path / "rewards.py").write_text(SOUND)
    assert seal_report(report, samples).exists()


def test_what_only_a_baseline_accepts_is_not_sealed(tmp_path, samples, runner):
    report = checked(tmp_path, RAISES, samples, runner)
    (tmp_path / "b.json").write_text(json.dumps(report.to_json()))
    known = against(report, read_baseline(tmp_path / "b.json"))
    assert known.verdict == "pass"
    with pytest.raises(SealError, match="not sealed: 1 finding"):
        seal_report(known, samples)


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


def test_seal_says_how_thorough_the_checks_were_and_whose_findings_stand(tmp_path, samples, runner):
    source = SOUND.replace("    return", "    print('hello')\n    return")
    seal = make_seal(checked(tmp_path, source, samples, runner), samples)
    assert seal.options == {"examples": 100, "assume_kinds": False}
    assert [(finding["check"], finding["reward"]) for finding in seal.findings] == [("RW122", "reward")]


# ------------------------------------------------------------------------------- samples that were added

COUNTED = """
import pathlib
def reward(completions, answer, **kwargs):
    with open(pathlib.Path(__file__).with_name("seen.txt"), "a", errors="replace") as file:
        file.write("".join(text + "\\n" for text in completions))
    return [float(a in c) for c, a in zip(completions, answer)]
"""
QUICK = options_of(None, quick=True)


def many(folder: Path, count: int, **extra: str) -> Samples:
    """Rows in groups of two, each with a text of its own."""
    rows = [
        {
            "prompt": f"{place // 2} + 1", "completion": f"row {place}: {place // 2 + 1}",
            "answer": str(place // 2 + 1), "label": "wrong" if place % 2 else "right",
        }
        for place in range(count)
    ]  # fmt: skip
    rows += [{"prompt": "new", "completion": text, "answer": "7"} for text in extra.values()]
    (folder / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_samples([folder / "s.jsonl"])


def proved(folder: Path, samples: Samples, runner: Runner, **options: bool):
    seal = verify_seal(str(folder / "rewards.py"), runner=runner)
    return proved_by(seal, samples, options_of(None, **{"quick": True, **options}))


@pytest.fixture
def sealed(tmp_path, runner) -> Path:
    samples = many(tmp_path, 400)
    seal_report(checked(tmp_path, COUNTED, samples, runner), samples)
    (tmp_path / "seen.txt").unlink()
    return tmp_path


def test_only_added_rows_are_looked_at_beside_some_of_the_sealed_ones(sealed, runner):
    samples = many(sealed, 400, a="it is 7", b="it is 8")
    known = proved(sealed, samples, runner)
    assert (known.sealed, known.new) == (400, 2)
    assert known.rows[-2:] == (400, 401)
    report = run_checks(
        str(sealed / "rewards.py"),
        samples,
        select=["RW110", "RW122"],
        quick=True,
        runner=runner,
        proved=known,
    )
    rows_called = set((sealed / "seen.txt").read_text().splitlines())
    assert {"it is 7", "it is 8"} <= rows_called
    assert len(rows_called & set(samples.completions)) <= 2 + 100
    assert report.to_json()["sealed"]["new"] == 2
    seal = make_seal(report, samples)
    assert seal.samples.rows == 402
    assert seal.extends == known.created


def test_a_fault_in_an_added_row_is_found(sealed, runner):
    source = (
        (sealed / "rewards.py")
        .read_text()
        .replace("return", "assert 'it is 8' not in completions\n    return", 1)
    )
    (sealed / "rewards.py").write_text(source)
    samples = many(sealed, 300)
    seal_report(checked(sealed, source, samples, runner), samples)
    added = many(sealed, 300, a="it is 8")
    known = proved(sealed, added, runner)
    report = run_checks(
        str(sealed / "rewards.py"), added, select=["RW110"], quick=True, runner=runner, proved=known
    )
    assert [finding.check for finding in report.all_findings] == ["RW110"]
    assert report.all_findings[0].evidence.completion == "it is 8"


def test_where_nothing_is_new_nothing_is_called(sealed, runner):
    samples = many(sealed, 400)
    known = proved(sealed, samples, runner)
    assert (known.new, known.rows) == (0, ())
    report = run_checks(
        str(sealed / "rewards.py"), samples, select=["RW110"], quick=True, runner=runner, proved=known
    )
    assert report.ran == (("RW110", report.ran[0][1]),)
    assert not (sealed / "seen.txt").exists()


def test_a_new_row_of_an_old_prompt_makes_its_group_new(sealed, runner):
    rows = (sealed / "s.jsonl").read_text() + '{"prompt": "0 + 1", "completion": "x", "answer": "1"}\n'
    (sealed / "s.jsonl").write_text(rows)
    assert proved(sealed, read_samples([sealed / "s.jsonl"]), runner).new == 3


def test_all_is_looked_at_again_where_the_seal_says_less(sealed, runner):
    samples = many(sealed, 400, a="it is 7")
    assert proved(sealed, samples, runner, quick=False) is None
    assert proved(sealed, samples, runner, assume_kinds=True) is None
    seal = replace(verify_seal(str(sealed / "rewards.py"), runner=runner), environment={"python": "3.0"})
    assert proved_by(seal, samples, QUICK) is None
    assert proved(sealed, many(sealed, 410), runner) is not None
    assert proved(sealed, many(sealed, 4000), runner) is None


def test_what_found_something_or_rests_on_all_rows_is_run_on_all(sealed, runner):
    seal = verify_seal(str(sealed / "rewards.py"), runner=runner)
    samples = many(sealed, 400, a="it is 7")
    ran = {*seal.checks, SealedCheck("RW213"), SealedCheck("RW601"), SealedCheck("RW303")}
    seal = replace(seal, checks=tuple(ran), skipped=())
    codes = {code for code, _ in proved_by(seal, samples, QUICK).pairs}
    assert "RW303" in codes
    assert "RW110" in codes
    assert not {code for code in codes if code.startswith(("RW6", "RW7", "RW213"))}
    told = replace(seal, findings=({"check": "RW110", "reward": "reward", "also": [{"check": "RW303"}]},))
    assert not {"RW110", "RW303"} & {code for code, _ in proved_by(told, samples, QUICK).pairs}
    older = replace(seal, checks=tuple(replace(check, version=0) for check in seal.checks))
    assert proved_by(older, samples, QUICK).pairs == frozenset()


def test_verifying_loads_no_check_and_no_reward(sealed):
    code = (
        "import sys\nfrom workbench.sealing import verify_seal\n"
        "verify_seal(sys.argv[1])\n"
        "print([n for n in sys.modules if n.startswith('workbench.checks') or n in ('numpy', 'hypothesis')])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(sealed / "rewards.py")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
    assert not (sealed / "seen.txt").exists()
