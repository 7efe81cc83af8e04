"""A run that goes on with other rewards than it began with says so, in everything that speaks of its rewards."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rewards.errors import UsageError
from rewards.rewardset import RewardSet
from trainer.job import Request
from trainer.reports.card import card, write_card
from trainer.reports.report import report
from trainer.reports.stretches import Stretch, read_stretches, sentences
from trainer.run import _go_on_under, _jobs_of, train
from trainer.rundir import RunDir
from trainer.runfiles import RunFacts, read_facts


@pytest.fixture(scope="module")
def reference(sealed_project: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """A finished run of six steps under a seal."""
    return train(Request(str(sealed_project), run=tmp_path_factory.mktemp("reference") / "run")).run


@pytest.fixture
def stopped(reference: RunDir, tmp_path: Path) -> RunDir:
    """The same run, killed after its checkpoint at step 4."""
    run = RunDir(tmp_path / "run")
    shutil.copytree(reference.path, run.path)
    shutil.rmtree(run.adapter)
    shutil.rmtree(run.checkpoints / "checkpoint-6")
    run.update_stage(0, status="running")
    return run


@pytest.fixture
def other(sealed_project: Path, tmp_path: Path) -> Path:
    """The project with one reward weighed otherwise, and its old seal beside it."""
    project = tmp_path / "other"
    shutil.copytree(sealed_project, project, ignore=shutil.ignore_patterns("runs"))
    manifest = project / "rewardset.toml"
    manifest.write_text(
        manifest.read_text().replace('kind = "correctness"', 'kind = "correctness"\nweight = 3.0')
    )
    return project


def go_on(run: RunDir, project: Path, step: int) -> RunFacts:
    """What a resume writes down before it trains."""
    request = Request(str(project), run=run.path, resume=True, allow_unsealed=True)
    facts = read_facts(run)
    return _go_on_under(run, _jobs_of(run, request, facts), facts, step)


def files(run: RunDir) -> dict[str, bytes]:
    names = ("run.json", "manifest.toml", "seal.json", "reproduce.sh")
    return {name: (run.path / name).read_bytes() for name in names}


def test_a_run_resumed_on_other_rewards_is_sealed_no_longer(stopped: RunDir, other: Path) -> None:
    old, new = read_facts(stopped).fingerprint, RewardSet.load(other).fingerprint
    train(Request(str(other), run=stopped.path, resume=True, allow_unsealed=True))
    facts = read_facts(stopped)
    assert (facts.sealed, facts.allow_unsealed, facts.fingerprint) == (False, True, new)
    assert facts.unsealed_because[0] == f"steps 1 to 4 under seal {old[:12]}"
    assert facts.unsealed_because[1].startswith(
        f"from step 5 on other rewards, not sealed (fingerprint {new[:12]}: "
    )
    assert not stopped.seal_path.exists()
    assert stopped.manifest()["reward"][1]["weight"] == 3.0
    text = (stopped.path / "README.md").read_text()
    assert f"**Not sealed as a whole**: steps 1 to 4 under seal {old[:12]}; from step 5 on other" in text
    assert "| right | correctness | 3 | not declared |" in text
    assert "Steps 1 to 4 were paid by:" in text
    assert "| right | correctness | 1 | not declared |" in text
    assert "Steps 1 to 4: mean total reward" in text
    assert "Steps 5 to 6: mean total reward" in text
    assert "sealed to step 4 only" in (stopped.path / "report.html").read_text()


def test_the_script_of_such_a_run_says_that_it_makes_another(stopped: RunDir, other: Path) -> None:
    facts = go_on(stopped, other, 4)
    text = (stopped.path / "reproduce.sh").read_text()
    assert "# The run changed its rewards on the way, which this script does not" in text
    assert f"# - {facts.unsealed_because[0]}\n" in text
    assert f"# The reward set is the last one, fingerprint {facts.fingerprint}" in text


def test_a_run_that_goes_on_with_the_same_rewards_is_left_as_it_was(
    stopped: RunDir, sealed_project: Path
) -> None:
    before = files(stopped)
    for step in (0, 4):
        go_on(stopped, sealed_project, step)
    assert files(stopped) == before
    assert not (stopped.path / "rewards.json").exists()


def test_a_change_that_was_undone_before_it_counted_is_forgotten(
    stopped: RunDir, other: Path, sealed_project: Path
) -> None:
    first = read_facts(stopped)
    go_on(stopped, other, 4)
    again = go_on(stopped, sealed_project, 4)
    assert (again.fingerprint, again.sealed, again.unsealed_because) == (first.fingerprint, True, ())
    assert stopped.seal_path.is_file()
    assert "weight" not in stopped.manifest()["reward"][1] or stopped.manifest()["reward"][1]["weight"] == 1.0
    assert "Sealed (`" in card(stopped)


def test_a_change_that_a_kill_cut_short_is_undone_too(
    stopped: RunDir, other: Path, sealed_project: Path
) -> None:
    before = (stopped.path / "run.json").read_bytes()
    go_on(stopped, other, 4)
    (stopped.path / "run.json").write_bytes(before)  # which is written last
    go_on(stopped, sealed_project, 4)
    assert stopped.seal_path.is_file()
    assert len(read_stretches(stopped, read_facts(stopped))) == 1


def test_a_run_of_which_no_step_is_left_is_one_of_the_new_rewards_alone(stopped: RunDir, other: Path) -> None:
    facts = go_on(stopped, other, 0)
    assert not facts.sealed
    assert not any("steps 1" in why for why in facts.unsealed_because)
    assert not (stopped.path / "rewards.json").exists()


def test_rewards_that_paid_no_step_are_not_the_runs(reference: RunDir, other: Path, tmp_path: Path) -> None:
    run = RunDir(tmp_path / "run")
    shutil.copytree(reference.path, run.path)
    before = files(run)
    go_on(run, other, 6)
    assert files(run) == before


def test_other_code_under_the_same_names_is_told_as_that(
    stopped: RunDir, other: Path, sealed_project: Path
) -> None:
    shutil.copy(sealed_project / "rewardset.toml", other / "rewardset.toml")
    (other / "rewards.py").write_text((other / "rewards.py").read_text().replace("1.0 if", "0.5 if"))
    go_on(stopped, other, 4)
    write_card(stopped)
    sentence = "Steps 1 to 4 were paid by rewards of the same names, weights and ranges, in other code."
    assert sentence in card(stopped)
    assert sentence in report(stopped)


def test_a_damaged_seal_or_record_is_one_sentence_or_none(stopped: RunDir) -> None:
    stopped.seal_path.write_text("{")
    assert "Sealed (`" in card(stopped)
    (stopped.path / "rewards.json").write_text('{"stretches": [{"first": 1}]}')
    with pytest.raises(UsageError, match=r"rewards\.json lacks a part or has one too many"):
        card(stopped)


def test_three_sets_are_told_with_their_steps_and_evidence() -> None:
    told = sentences(
        [
            Stretch(1, "a" * 64, (), "weak"),
            Stretch(5, "b" * 64, ("its code changed",), None),
            Stretch(9, "c" * 64, (), "strong"),
        ]
    )
    assert told == [
        "steps 1 to 4 under seal aaaaaaaaaaaa, on weak evidence",
        "steps 5 to 8 on other rewards, not sealed (fingerprint bbbbbbbbbbbb: its code changed)",
        "from step 9 on other rewards, under seal cccccccccccc",
    ]
