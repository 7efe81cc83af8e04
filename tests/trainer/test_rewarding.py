"""The rewards as TRL gets them: isolated, recorded, named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rewards.conditions import call_where
from rewards.contract import Batch, CallResult, Status, TrainerState, failed_result
from rewards.manifest import RewardEntry
from rewards.repeating import call_rows_apart
from rewards.running import Crew
from trainer.rewarding.completions import ScoredBatch
from trainer.rewarding.wrapped import Bound, Scoring, TooManyFailures, bind, distinct

TEXTS = ["a", "bb", "ccc", "dddd"]


@dataclass(frozen=True)
class Given:
    """A reward and the function behind it."""

    bound: Bound
    function: Callable[..., Any]

    def call(self, batch: Batch, state: Any) -> CallResult:
        entry = self.bound.entry
        return call_where(
            entry.when,
            batch,
            lambda rows: call_rows_apart(self.function, rows, params=entry.params, trainer_state=state),
        )


def bound(function: Callable[..., Any], name: str = "", **entry: Any) -> Given:
    name = name or function.__name__
    return Given(Bound(name, RewardEntry(function=f"r.py::{name}", name=name, **entry)), function)


def length(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(len(text)) for text in completions]


def test_that_rows_were_scored_without_one_that_failed_is_told_once() -> None:
    call = Call(bound(raises_on_ccc))
    note = "1 of 4 rows failed, and the others were scored in a call without it"
    batch = Batch(["p"] * 4, TEXTS, groups=["g"] * 4)
    for _ in range(2):
        result = replace(failed_result(4, Status.RAISED, "no"), notes=(note,))
        call.scoring.read(batch, [result], step=1, split="train")
    assert call.printed == [f"reward 'raises_on_ccc': {note}\n"]


def raises_on_ccc(completions: list[str], **kwargs: Any) -> list[float]:
    return [1.0 if text != "ccc" else 1 / 0 for text in completions]


class Call:
    """Calls the wrapped rewards as TRL does and keeps what came of it; the functions run in this process."""

    def __init__(self, *rewards: Given, group: int = 2, training: bool = True, **options: Any) -> None:
        self.recorded: list[ScoredBatch] = []
        self.extra: dict[str, list[Any]] = {}
        self.metrics: list[tuple[str, float]] = []
        self.printed: list[str] = []
        self.warnings: list[str] = []
        self.scoring = Scoring(
            [reward.bound for reward in rewards],
            lambda batch, state: [reward.call(batch, state) for reward in rewards],
            warn=self.warnings.append,
            group=group,
            record=self.recorded.append,
            printed=self.printed.append,
            is_training=lambda: training,
            **options,
        )

    def __call__(
        self, texts: list[Any] = TEXTS, step: int = 0, **columns: list[Any]
    ) -> list[list[float | None]]:
        keywords: dict[str, Any] = {
            "prompts": ["p"] * len(texts),
            "completions": texts,
            "completion_ids": [[1]] * len(texts),
            "trainer_state": TrainerState(step, 10),
            "log_extra": lambda column, values: self.extra.update({column: values}),
            "log_metric": lambda name, value: self.metrics.append((name, value)),
            **columns,
        }
        return [function(**keywords) for function in self.scoring.functions()]


def test_scores_reach_trl_as_the_functions_gave_them() -> None:
    assert Call(bound(length))() == [[1.0, 2.0, 3.0, 4.0]]


def test_a_failing_row_is_left_out_of_all_rewards_and_never_becomes_zero() -> None:
    call = Call(bound(length), bound(raises_on_ccc), failure_share=1.0)
    assert call() == [[1.0, 2.0, None, 4.0], [1.0, 1.0, None, 1.0]]
    [scored] = call.recorded
    assert scored.errors[2]["raises_on_ccc"].startswith(
        "ZeroDivisionError: division by zero (test_rewarding.py:"
    )
    assert np.isnan(scored.totals[2])
    assert scored.advantages[2] == 0


def test_a_shadow_that_fails_blanks_only_itself() -> None:
    call = Call(bound(length), bound(raises_on_ccc, weight=0.0), failure_share=0.0)
    assert call() == [[1.0, 2.0, 3.0, 4.0], [1.0, 1.0, None, 1.0]]
    assert 2 in call.recorded[0].errors


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (float("inf"), "returned inf, which is beyond what TRL's numbers hold"),
        (1e39, "returned 1e+39, which is beyond what TRL's numbers hold"),
        (float("nan"), "returned NaN; return None where there is no opinion"),
        ("1", "score is str '1', not a number"),
    ],
)
def test_a_score_that_would_poison_training_is_kept_out(value: Any, why: str) -> None:
    def reward(completions: list[str], **kwargs: Any) -> list[Any]:
        return [value, *[0.5] * (len(completions) - 1)]

    call = Call(bound(reward), failure_share=1.0)
    assert call() == [[None, 0.5, 0.5, 0.5]]
    assert call.recorded[0].errors == {0: {"reward": why}}


def test_none_is_an_abstention_not_a_failure() -> None:
    def sometimes(completions: list[str], **kwargs: Any) -> list[float | None]:
        return [None, 1.0, None, 1.0]

    call = Call(bound(length), bound(sometimes), failure_share=0.0)
    assert call() == [[1.0, 2.0, 3.0, 4.0], [None, 1.0, None, 1.0]]
    assert call.recorded[0].errors == {}


def test_the_run_stops_when_too_many_rows_fail_and_says_why() -> None:
    call = Call(bound(raises_on_ccc), failure_share=0.2, failure_window=8)
    call()
    with pytest.raises(TooManyFailures) as caught:
        call(step=1)
    assert str(caught.value).startswith(
        "stopped at step 2: 2 of the last 8 completions could not be scored, more than failure_share=0.2 of 8 allows; "
        "most often (2) reward 'raises_on_ccc': ZeroDivisionError"
    )
    assert len(call.recorded) == 2  # the batch that stopped it is in the record


def test_sys_exit_of_a_reward_does_not_end_the_run() -> None:
    def leaves(completions: list[str], **kwargs: Any) -> list[float]:
        raise SystemExit(3)

    assert Call(bound(leaves), failure_share=1.0)() == [[None] * 4]


def test_advantages_and_groups_are_recorded_as_trl_computes_them() -> None:
    call = Call(bound(length))
    call()
    [scored] = call.recorded
    assert scored.groups == ["1-0", "1-0", "1-1", "1-1"]
    assert scored.advantages == pytest.approx([-0.7070, 0.7070, -0.7070, 0.7070], abs=1e-4)


def test_evaluation_is_recorded_apart_and_does_not_count() -> None:
    call = Call(bound(raises_on_ccc), training=False, eval_group=4, failure_share=0.0)
    call(step=5)
    assert (call.recorded[0].split, call.recorded[0].step, set(call.recorded[0].groups)) == (
        "eval",
        5,
        {"5-0"},
    )
    assert call.scoring.drain() == {}


def test_params_are_bound_and_win_over_a_column() -> None:
    def scaled(completions: list[str], factor: float, **kwargs: Any) -> list[float]:
        return [factor for _ in completions]

    assert Call(bound(scaled, params={"factor": 3.0}))(factor=[1, 2, 3, 4]) == [[3.0] * 4]


def test_a_reward_abstains_where_its_when_does_not_hold() -> None:
    call = Call(bound(length, when={"task": "maths"}))
    assert call(task=["maths", "maths", "code", "code"]) == [[1.0, 2.0, None, None]]


def test_trainer_state_and_both_callbacks_pass_through() -> None:
    def logging(
        completions: list[str], trainer_state: Any, log_extra: Any, log_metric: Any, **kw: Any
    ) -> list[float]:
        log_extra("seen", [trainer_state.global_step] * len(completions))
        log_metric("mine", 2.5)
        print("hello")  # noqa: T201
        return [1.0] * len(completions)

    call = Call(bound(logging))
    call(step=7)
    assert call.extra == {"seen": [7] * 4}
    assert call.metrics == [("mine", 2.5)]
    assert call.printed == ["hello\n"]
    assert call.recorded[0].columns["seen"] == [7] * 4


RUN = """
import time
from pathlib import Path

HERE = Path(__file__).parent

def met(own, other):
    (HERE / own).touch()
    for _ in range(3000):
        if (HERE / other).exists():
            return 1.0
        time.sleep(0.01)
    return 0.0

def first(completions, **_):
    return [met("first", "second")] * len(completions)

def second(completions, **_):
    return [met("second", "first")] * len(completions)

def hangs(completions, **_):
    while "ccc" in completions:
        pass
    return [float(len(text)) for text in completions]

def exits(completions, **_):
    import os
    if "bb" in completions:
        os._exit(3)
    return [float(len(text)) for text in completions]
"""


def crew_call(
    folder: Path, *names: str, timeout_s: float = 0.5, **options: Any
) -> tuple[list[list[float | None]], list[ScoredBatch]]:
    """One call of TRL's to rewards that run in processes of their own."""
    (folder / "r.py").write_text(RUN)
    (folder / "rewardset.toml").write_text(
        "".join(f'[[reward]]\nfunction = "r.py::{name}"\ntimeout_s = {timeout_s}\n' for name in names)
    )
    recorded: list[ScoredBatch] = []
    with Crew(folder) as crew:
        scoring = Scoring(
            bind(crew.description),
            crew.call_all,
            group=2,
            record=recorded.append,
            failure_share=1.0,
            **options,
        )
        keywords: dict[str, Any] = {
            "prompts": ["p"] * 4, "completions": TEXTS, "completion_ids": [[1]] * 4,
            "trainer_state": TrainerState(0, 10), "log_extra": lambda *_: None, "log_metric": lambda *_: None,
        }  # fmt: skip
        returned = [function(**keywords) for function in scoring.functions()]
        return returned, recorded


def test_rewards_run_at_the_same_time_in_processes_of_their_own(tmp_path: Path) -> None:
    returned, [_] = crew_call(tmp_path, "first", "second", timeout_s=30)
    assert returned == [[1.0] * 4] * 2


def test_a_hanging_row_and_a_deadly_row_leave_their_groups_and_the_run_goes_on(tmp_path: Path) -> None:
    returned, [scored] = crew_call(tmp_path, "hangs", "exits")
    assert returned == [[1.0, None, None, 4.0]] * 2
    assert scored.errors[2]["hangs"] == "took over 0.5 s and was ended"
    assert scored.errors[1]["exits"] == "ended its process: exit code 3"


def test_a_deadline_that_drops_more_than_one_in_a_hundred_rows_is_told_once() -> None:
    call = Call(bound(length), failure_share=1.0)
    late = failed_result(1, Status.TIMEOUT, "took over 5 s and was ended")
    for _ in range(70):
        call.scoring._deadlines.count([late])
    assert len(call.warnings) == 1
    assert "the deadline of reward 'length' dropped 64 of 64 rows" in call.warnings[0]


def test_a_reward_that_edits_completions_changes_neither_the_record_nor_trl() -> None:
    def edits(completions: list[Any], **kwargs: Any) -> list[float]:
        for completion in completions:
            completion[0]["content"] = "edited"
        return [1.0] * len(completions)

    texts = [[{"role": "assistant", "content": "mine"}] for _ in range(2)]
    Call(bound(edits))(texts)
    assert texts[0][0]["content"] == "mine"


def test_metrics_of_ours_cover_spread_failures_abstentions_and_time() -> None:
    call = Call(bound(length), bound(raises_on_ccc), failure_share=1.0)
    call()
    metrics = call.scoring.drain()
    assert (metrics["rows/scored"], metrics["rows/failed"]) == (3.0, 1.0)
    assert metrics["groups/zero_spread"] == 0.5  # the second group has one scorable row left
    assert metrics["rewards/length/abstained"] == 0.25
    assert metrics["rewards/length/seconds"] >= 0
    assert call.scoring.drain() == {}


def test_equal_and_reserved_names_are_made_distinct() -> None:
    taken = {"prompt", "format"}
    assert distinct("format", taken) == "format_2"
    assert distinct("prompt", taken) == "prompt_reward"
    assert distinct("my reward!", taken) == "my_reward_"
    names = [
        function.__name__ for function in Call(bound(length, "a"), bound(length, "b")).scoring.functions()
    ]
    assert names == ["a", "b"]
