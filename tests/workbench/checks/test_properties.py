"""The search for completions that break a property: how much is drawn does not depend on the machine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import strategies as st

from workbench.checks.properties import SMALLER_S, falsify

Items = Sequence[tuple[int, str]]


@pytest.fixture
def subject() -> Any:
    return SimpleNamespace(name="reward", options=SimpleNamespace(seed=0, examples=100, memory=None))


def test_as_many_are_drawn_where_each_call_takes_longer(subject: Any) -> None:
    def drawn(seconds_a_call: float) -> list[list[tuple[int, str]]]:
        calls: list[list[tuple[int, str]]] = []

        def broken(items: Items) -> list[bool]:
            calls.append(list(items))
            time.sleep(seconds_a_call)
            return [False] * len(items)

        strategy = st.tuples(st.just(0), st.text(min_size=1, max_size=8))
        assert falsify(subject, strategy, broken, key="k", rows=[0]) is None
        return calls

    assert drawn(0.15) == drawn(0.0)


def test_what_is_found_is_made_smaller_for_a_short_time_only(subject: Any) -> None:
    def broken(items: Items) -> list[bool]:
        time.sleep(0.2)
        return [len(text) > 3 for _, text in items]

    began = time.monotonic()
    found = falsify(
        subject, st.tuples(st.just(0), st.text(max_size=400)), broken, key="k", rows=[0], seconds=60
    )
    assert found is not None
    assert time.monotonic() - began < SMALLER_S + 8.0
