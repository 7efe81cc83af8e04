"""The probes, called as a worker calls them but in this process: only with harmless rewards."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from rewards.contract import Batch
from workbench.checks.observing import observe, reseeds, state_changes


@dataclass
class Context:
    """Stands in for a worker's context: one reward and its rows."""

    function: Any
    batch: Batch

    @property
    def rewardset(self) -> Any:
        entry = SimpleNamespace(params={})
        return SimpleNamespace(function=lambda name: self.function, entry=lambda name: entry)

    def rows(self, rows: list[int] | None) -> Batch:
        return self.batch if rows is None else self.batch.rows(rows)


def context(function: Any) -> Context:
    return Context(function, Batch(["p", "p"], ["a", "bb"], [], {"answer": ["1", "2"]}, ["g", "g"]))


def test_quiet_reward_leaves_no_trace():
    seen = observe(context(lambda completions, **_: [float(len(c)) for c in completions]), reward="r")
    assert seen["scores"].tolist() == [1.0, 2.0]
    assert seen["mutated"] == seen["changed"] == seen["threads"] == []
    assert (seen["printed"], seen["children"], seen["open_files"]) == ("", 0, 0)


def test_samples_themselves_stay_unchanged():
    def shortens(completions: list[str], **_: Any) -> list[float]:
        completions[0] = "changed"
        return [0.0, 0.0]

    subject = context(shortens)
    seen = observe(subject, reward="r")
    assert subject.batch.completions == ["a", "bb"]
    assert [(change["what"], change["row"], change["after"]) for change in seen["mutated"]] == [
        ("completions", 0, "changed")
    ]


def test_call_in_a_thread_gives_the_same_scores():
    subject = context(lambda completions, **_: np.ones(len(completions)))
    assert observe(subject, reward="r", in_thread=True)["scores"].tolist() == [1.0, 1.0]


def test_async_reward_is_awaited():
    async def later(completions: list[str], **_: Any) -> list[float]:
        return [0.5 for _ in completions]

    assert observe(context(later), reward="r")["scores"].tolist() == [0.5, 0.5]


def test_reward_that_reads_token_ids_gets_lists():
    seen = observe(
        context(lambda completion_ids, **_: [float(type(i) is list) for i in completion_ids]), reward="r"
    )
    assert seen["scores"].tolist() == [1.0, 1.0]


def test_values_of_the_environment_never_leave_the_worker():
    before, after = {"the environment": {"A": "1"}}, {"the environment": {"A": "1", "TOKEN": "secret"}}
    assert state_changes(before, after) == [["the environment", "TOKEN"]]


def test_drawing_does_not_reseed():
    import random

    assert reseeds(context(lambda completions, **_: [random.random() for _ in completions]), reward="r") == []
