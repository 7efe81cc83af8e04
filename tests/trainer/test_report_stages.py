"""Card and report tell of every stage what is so in that stage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trainer.reports.card import card, proof_text
from trainer.reports.report import report
from trainer.reports.stages import Weight, courses, settings_rows, watched_rewards, weights_of_stages
from trainer.rundir import RunDir, Stage

PROVED = {"proved": True, "checks": [{"name": "keys", "passed": True, "sentence": "all there"}]}


def staged(path: Path, *tables: str) -> RunDir:
    """The run with these `[[train.stage]]` tables, two steps in each."""
    run = RunDir.open(path)
    text = "".join(f"[[train.stage]]\n{table}\n" for table in tables)
    run.manifest_path.write_text(run.manifest_path.read_text() + text)
    entries = run.manifest()["train"]["stage"]
    run.write_stages(
        [Stage(one["name"], tuple(one["rewards"]), one.get("max_steps", 2), 2, "done") for one in entries]
    )
    return run


def log(run: RunDir, *lines: Mapping[str, Any]) -> None:
    text = "".join(json.dumps({"step": step, **line}) + "\n" for step, line in enumerate(lines, 1))
    run.metrics_path.write_text(text)


@pytest.fixture
def two(tiny_run: Path) -> RunDir:
    """Two stages of other rewards, weights and settings."""
    run = staged(
        tiny_run,
        'name = "format"\nrewards = ["tagged"]\nmax_steps = 2\ntemperature = 0.5\ntop_p = 0.9',
        'name = "answers"\nrewards = ["tagged", "right"]\nweights = { right = 2.0 }\nmax_steps = 4\ntemperature = 1.0',
    )
    log(
        run,
        {"stage": "format", "reward": 0.1},
        {"stage": "format", "reward": 0.9},
        {"stage": "answers", "reward": 0.3, "rewards/right/weight": 2.0},
        {"stage": "answers", "reward": 0.4, "rewards/right/weight": 2.4},
    )
    return run


def test_one_stage_is_told_with_the_rewards_and_weights_it_used(tiny_run: Path) -> None:
    run = staged(tiny_run, 'name = "main"\nrewards = ["right"]\nweights = { right = 0.5 }')
    text = card(run)
    assert "| right | correctness | 0.5 | not declared |" in text
    assert "| tagged |" not in text
    assert "In the set, but not used in this run: tagged." in text
    assert "No reward only watched" in text  # its weight of 0 is the set's, not this run's
    page = report(run)
    assert "<td>right</td><td>correctness</td><td>0.5</td>" in page
    assert "<td>tagged</td>" not in page


def test_a_filter_of_rows_is_told_of_one_stage_too(tiny_run: Path) -> None:
    run = staged(tiny_run, 'name = "main"\nrewards = ["right"]\nwhere = { level = "easy" }')
    assert "| main | right | level in easy | 2 of 2 |  |" in card(run)


def test_weights_that_differ_are_told_with_their_stage(two: RunDir) -> None:
    text = card(two)
    assert "| tagged | format | 1 | 0 to 1 |" in text
    assert "| right | correctness | 2, adapted to 2.4 | not declared |" in text
    assert "| answers | tagged, right (weight 2, adapted to 2.4) | all | 2 of 4 |  |" in text
    assert "tagged, right (weight 2, adapted to 2.4)</td>" in report(two)


def test_a_weight_that_is_other_in_each_stage_names_the_stages(tiny_run: Path) -> None:
    run = staged(
        tiny_run,
        'name = "a"\nrewards = ["tagged", "right"]\nweights = { tagged = 0.5 }',
        'name = "b"\nrewards = ["tagged", "right"]',
    )
    assert "| tagged | format | 0.5 in a; 1 in b | 0 to 1 |" in card(run)
    assert watched_rewards(run, run.manifest()) == ["right"]


def test_an_adaptive_weight_that_never_moved_is_the_declared_one(two: RunDir) -> None:
    log(two, {"stage": "answers", "rewards/right/weight": 2.0})
    assert weights_of_stages(two, two.manifest())[1]["right"] == Weight(2.0)


def test_a_reward_that_the_record_knows_by_another_name_is_found(tiny_run: Path) -> None:
    run = RunDir.open(tiny_run)
    run.manifest_path.write_text(run.manifest_path.read_text().replace('name = "tagged"', 'name = "step"'))
    run.write_stages([Stage("main", ("step",), 2, 2, "done")])
    log(run, {"rewards/step_reward/weight": 1.0}, {"rewards/step_reward/weight": 1.5})
    assert "| step | format | 1, adapted to 1.5 | 0 to 1 |" in card(run)


def test_the_course_of_the_reward_is_told_stage_by_stage(two: RunDir) -> None:
    text = card(two)
    assert (
        "Stage 'format': mean total reward of the first 1 logged steps 0.100, of the last 1 0.900.\n" in text
    )
    moved = "Weights adapted in between, so the two are not weighed alike."
    assert (
        f"Stage 'answers': mean total reward of the first 1 logged steps 0.300, of the last 1 0.400. {moved}"
        in (text)
    )
    page = report(two)
    assert "<b>0.10 → 0.90</b><span>reward, first to last, stage &#x27;format&#x27;</span>" in page
    assert "0.10 → 0.40" not in page


def test_lines_without_a_stages_name_are_told_apart_by_their_step(two: RunDir) -> None:
    log(two, *({"reward": value} for value in (0.0, 0.5, 1.0, 1.5)))
    assert [(one.first, one.last) for one in courses(two, two.manifest())] == [(0.0, 0.5), (1.0, 1.5)]


def test_settings_that_differ_are_told_with_their_stage(two: RunDir) -> None:
    text = card(two)
    assert "| temperature | 0.5 (format), 1.0 (answers) |" in text
    assert "| top_p | 0.9 (format), default (answers) |" in text
    assert "| max_steps | 2 (format), 4 (answers) |" in text
    assert "| learning_rate | 0.0002 |" in text
    assert "<td>temperature</td><td>0.5 (format), 1.0 (answers)</td>" in report(two)


def test_a_setting_that_was_set_to_none_is_told_as_none() -> None:
    rows = dict(settings_rows({"train": {"preset": "small-gpu", "model": "m"}}))
    assert rows["max_prompt_length"] == "none"


def test_after_full_fine_tuning_nothing_is_said_of_an_adapter(two: RunDir) -> None:
    assert proof_text({**PROVED, "adapter": "/a"}).startswith("Base plus adapter and nothing else: all 1")
    assert proof_text({**PROVED, "adapter": None}) == (
        "Full fine-tuning: there was no adapter to merge. The weights are those that were trained: all 1 checks of "
        "`merge-proof.json` passed."
    )
    (two.path / "merge-proof.json").write_text(json.dumps({**PROVED, "adapter": None}))
    assert "Base plus adapter" not in card(two)
    page = report(two)
    assert "Full fine-tuning: whether the weights are those that were trained." in page
    assert "base plus adapter" not in page


def evaluation(step: int, **more: Any) -> dict[str, Any]:
    pair = {"base": 0.2, "now": 0.6, "mean": 0.4, "low": 0.1, "high": 0.7, "verdict": "better"}
    return {"step": step, "prompts": 3, "rewards": {"total": pair}, **more}


def test_evaluations_are_told_stage_by_stage_with_what_they_are_paired_with(two: RunDir) -> None:
    lines = [evaluation(2, stage="format"), evaluation(4, stage="answers", base_step=2)]
    two.evaluations_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = report(two)
    assert "At step 2, 3 prompts, paired with the untrained model:" in page
    assert "At step 4, 3 prompts, paired with the model as it was after step 2:" in page
    assert "<th>after step 2</th>" in page


def ask(run: RunDir, every: int) -> None:
    text = run.manifest_path.read_text()
    run.manifest_path.write_text(text.replace("[train]\n", f"[train]\nheld_out_every = {every}\n"))


def test_evaluations_that_had_no_rows_are_told_as_that(tiny_run: Path) -> None:
    run = RunDir.open(tiny_run)
    ask(run, 5)
    facts = json.loads((tiny_run / "run.json").read_text())
    (tiny_run / "run.json").write_text(json.dumps({**facts, "holdout_prompts": 0}))
    page = report(run)
    assert "None could be made: held_out_every = 5 asked for it, but no rows are held out" in page
    assert "None was asked for" not in page
    assert (
        "No prompts were held out, so the evaluations asked for (`held_out_every` = 5) could not be"
        in card(run)
    )


def test_evaluations_that_are_not_made_yet_are_told_as_that(tiny_run: Path) -> None:
    run = RunDir.open(tiny_run)
    ask(run, 5)
    assert "None was made: held_out_every = 5 asked for it, but no such step has been made yet" in report(run)
