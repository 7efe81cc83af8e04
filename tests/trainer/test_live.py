"""The monitor in a run that goes on, and what else listens to one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rewards.contract import Batch
from rewards.errors import UsageError
from tests.trainer.batches import scored
from trainer.diagnoses import Facts
from trainer.models.generation import Completion
from trainer.rewarding.wrapped import batch_metrics
from trainer.watching import evaluation
from trainer.watching.clock import Clock
from trainer.watching.evaluation import compare
from trainer.watching.listener import Listener, restore_states, save_states
from trainer.watching.live import LiveMonitor, length_metrics
from trainer.watching.samples import Samples


class Ticks:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_time_of_a_step_is_told_apart() -> None:
    ticks = Ticks()
    clock = Clock(ticks)
    ticks.now = 100.0
    clock.step_begins()
    ticks.now = 103.0
    clock.scoring_begins()
    ticks.now = 104.0
    clock.scoring_ended()
    assert clock.phase == "update"
    ticks.now = 106.0
    assert clock.read() == {
        "step/seconds": 6.0,
        "step/generation_seconds": 3.0,
        "step/rewards_seconds": 1.0,
        "step/update_seconds": 2.0,
    }


def live(tmp_path: Path, said: list[str], **options: Any) -> LiveMonitor:
    monitor = LiveMonitor(
        Facts(total_steps=40, weights={"a": 1.0}, ranges={"a": (0.0, 1.0)}),
        tmp_path / "diagnoses.jsonl",
        ends=[9],
        say=said.append,
        **options,
    )
    monitor.begin(None)
    return monitor


def told(tmp_path: Path) -> list[tuple[int, str]]:
    lines = (tmp_path / "diagnoses.jsonl").read_text().splitlines()
    return [(json.loads(line)["step"], json.loads(line)["name"]) for line in lines]


@pytest.mark.guide("G14")
def test_flat_groups_are_seen_at_every_step_though_nothing_is_logged(tmp_path: Path) -> None:
    said: list[str] = []
    monitor = live(tmp_path, said, offset=100, stage="second")
    for step in range(101, 112):
        monitor.scored(scored([[0.5]] * 8, step=step), [[1, 9]] * 8)
        monitor.step_ended(step)
    monitor.end()
    assert (106, "no-signal") in told(tmp_path)
    assert said[0].startswith("step 106: critical")
    assert '"stage": "second"' in (tmp_path / "diagnoses.jsonl").read_text()


def test_a_gradient_that_is_not_finite_is_told_on_its_step_and_halts_where_asked(tmp_path: Path) -> None:
    said: list[str] = []
    monitor = live(tmp_path, said, halt=True)
    monitor.gradient(1, 0.3)
    assert monitor.reason_to_stop() is None
    monitor.gradient(2, math.inf)
    monitor.end()
    assert told(tmp_path) == [(2, "non-finite")]
    assert monitor.reason_to_stop() == "halted by the monitor: non-finite"


def test_cut_off_completions_are_those_without_an_end_token(tmp_path: Path) -> None:
    assert length_metrics([[1, 2, 9], [1, 2, 3], []], [9]) == {
        "completions/mean_length": 2.0,
        "completions/clipped_ratio": pytest.approx(2 / 3),
    }
    assert "completions/clipped_ratio" not in length_metrics([[1]], [])
    said: list[str] = []
    monitor = live(tmp_path, said)
    monitor.scored(scored([[0.0], [1.0]] * 4), [[1, 2]] * 8)
    monitor.end()
    assert "truncation" in said[0]


def test_what_a_log_line_repeats_of_the_batches_is_not_counted_twice(tmp_path: Path) -> None:
    monitor = live(tmp_path, [])
    monitor.scored(scored([[0.0], [1.0]] * 4), [[9]] * 8)
    monitor.logged(1, {"reward": 0.5, "entropy": 1.0})
    course = monitor.monitor.course
    assert (len(course.series("reward")), len(course.series("entropy"))) == (1, 1)
    monitor.end()


def test_a_name_to_halt_for_that_is_no_diagnosis_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="halt='yes' stops no run"):
        live(tmp_path, [], halt=["yes"])


def test_a_weight_that_was_moved_is_no_progress_to_the_monitor(tmp_path: Path) -> None:
    monitor = live(tmp_path, [])
    for step in range(1, 13):
        moved = 1.2 ** (step // 2)
        monitor.scored(scored([[0.0], [1.0]] * 4, step=step, weights=[moved]), [[9]] * 8)
    monitor.end()
    course = monitor.monitor.course
    assert set(course.series("reward").values) == {0.5}
    assert set(course.series("groups/highest").values) == {1.0}
    assert (course.place(), course.at_ceiling()) == (0.5, False)


def test_a_batch_as_metrics_has_trls_names_and_skips_what_has_no_score() -> None:
    batch = scored([[1.0, None], [0.0, 0.5], [1.0, None], [1.0, None]], names=("a", "b"), weights=[1.0, 2.0])
    metrics = batch_metrics(batch)
    assert metrics["reward"] == 1.0
    assert metrics["rewards/b/mean"] == 0.5
    assert metrics["rewards/b/std"] == 0.0
    assert (metrics["groups/highest"], metrics["groups/lowest"]) == (1.0, 1.0)
    assert (metrics["rows/failed"], metrics["rows/scored"]) == (0.0, 4.0)
    failed = scored([[None], [1.0]], errors={0: {"a": "boom"}})
    assert batch_metrics(failed)["rows/failed"] == 1.0


@pytest.mark.guide("G22")
def test_samples_are_two_groups_of_the_first_step_and_every_so_many(tmp_path: Path) -> None:
    samples = Samples(tmp_path / "samples", 10, offset=5)
    for step in range(6, 31):
        samples.scored(scored([[0.0], [None]] * 6, step=step, columns={"answer": [1] * 12}), [])
    names = sorted(file.name for file in (tmp_path / "samples").iterdir())
    assert names == ["step_00006.jsonl", "step_00010.jsonl", "step_00020.jsonl", "step_00030.jsonl"]
    rows = [json.loads(line) for line in (tmp_path / "samples" / names[1]).read_text().splitlines()]
    assert len(rows) == 8
    assert rows[1]["scores"] == {"a": None}
    assert (rows[1]["total"], rows[1]["answer"]) == (None, 1)


def test_samples_come_also_where_only_every_other_step_is_scored_and_after_a_resume(tmp_path: Path) -> None:
    first, second = Samples(tmp_path / "samples", 10), Samples(tmp_path / "samples", 10)
    for step in range(1, 10, 2):
        first.scored(scored([[0.0], [1.0]] * 4, step=step), [])
    save_states([first], tmp_path)
    restore_states([second], tmp_path)
    for step in range(11, 24, 2):
        second.scored(scored([[0.0], [1.0]] * 4, step=step), [])
    names = sorted(file.name for file in (tmp_path / "samples").iterdir())
    assert names == ["step_00001.jsonl", "step_00011.jsonl", "step_00021.jsonl"]


@pytest.mark.guide("G22")
def test_an_evaluation_is_paired_and_totals_use_the_declared_weights() -> None:
    base = scored([[0.0, 1.0], [0.0, None], [1.0, 0.0]], names=("a", "b"))
    now = scored([[1.0, 1.0], [1.0, None], [1.0, 0.0]], names=("a", "b"), weights=[5.0, 5.0])
    lines = compare(base, now, [1.0, 0.0])
    assert lines["a"]["mean"] == pytest.approx(2 / 3)
    assert lines["total"]["now"] == 1.0
    assert (lines["b"]["base"], lines["b"]["mean"]) == (0.5, 0.0)
    assert (lines["b"]["pairs"], lines["b"]["unscored"]) == (2, [1, 1])


def test_an_evaluation_withholds_a_verdict_that_hangs_on_answers_without_a_score() -> None:
    base, now = scored([[0.5]] * 12), scored([[0.9], [None]] * 6)
    line = compare(base, now, [1.0], [(0.0, 1.0)])["total"]
    assert (line["verdict"], line["low"], line["high"]) == ("withheld", None, None)
    assert (line["pairs"], line["unscored"]) == (6, [0, 6])


def test_what_the_untrained_model_answered_is_read_back_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text may hold ends of lines of other kinds than a file's."""
    texts = ["two\u2028lines", "next\x85line", "plain"]
    monkeypatch.setattr(
        evaluation, "complete", lambda *_, **__: [[Completion(text, [1], ended=True)] for text in texts]
    )
    model = SimpleNamespace(training=True, train=lambda mode: None)
    trainer = SimpleNamespace(model=model, accelerator=SimpleNamespace(unwrap_model=lambda one: one))
    seen: list[list[str]] = []

    def score(batch: Batch, **_: Any) -> None:
        seen.append(batch.completions)

    scoring = SimpleNamespace(weights=[1.0], score=score)
    for _ in range(2):  # written first, read when the run is resumed
        held_out = evaluation.HeldOut(
            tmp_path, [{"prompt": text} for text in texts], scoring, None, every=1, last=1, length=1, seed=0
        )  # type: ignore[arg-type]  # no more of it is asked for
        held_out.begin(trainer)
    assert seen == [texts, texts]


def test_states_are_kept_with_a_checkpoint_by_name(tmp_path: Path) -> None:
    class Counter(Listener):
        name = "counter"
        count = 0

        def state(self) -> Any:
            return {"count": self.count}

        def restore(self, values: Any) -> None:
            self.count = values["count"]

    first, second = Counter(), Counter()
    first.count = 7
    save_states([first, Listener()], tmp_path)
    restore_states([Listener(), second], tmp_path)
    assert second.count == 7
    restore_states([second], tmp_path / "elsewhere")
    assert second.count == 7
