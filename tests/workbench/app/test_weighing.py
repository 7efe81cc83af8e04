from __future__ import annotations

from typing import Any

import pytest

from rewards.errors import UsageError
from workbench.app.weighing import Weighing, weighing_of


def test_a_muted_reward_counts_nothing_and_a_solo_one_alone() -> None:
    names = ["a", "b", "c"]
    assert Weighing({"a": 3.0}, muted=frozenset({"b"})).factors(names) == {"a": 3.0, "b": 0.0}
    assert Weighing(solo=frozenset({"c"})).factors(names) == {"a": 0.0, "b": 0.0}
    assert Weighing(muted=frozenset({"c"}), solo=frozenset({"c"})).factors(names) == dict.fromkeys(names, 0.0)


def test_a_solo_reward_that_is_gone_silences_nobody() -> None:
    assert Weighing(solo=frozenset({"gone"})).factors(["a"]) == {}


@pytest.mark.parametrize(
    "asked",
    [{"typed": {"a": "2"}}, {"typed": {"a": True}}, {"typed": {"a": 1e9}}, {"typed": []}, {"muted": "a"}],
)
def test_a_weighing_that_is_none_is_one_sentence(asked: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        weighing_of(asked)
