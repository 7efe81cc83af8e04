"""The credits found are those a reader would name: line, points, condition and matched text."""

from __future__ import annotations

import pytest

from tests.rewards.tracing.keys import FUNCTIONS, all_keys, explainer, found_in, keys_of, sample_of


@pytest.mark.parametrize(("file", "name"), all_keys())
def test_credits_are_those_of_the_key(file: str, name: str) -> None:
    path = FUNCTIONS / file
    sample = sample_of(path)
    explanation = explainer(path).explain(name, sample.batch(), 0)
    found = found_in(explanation, sample.completion)
    order = sorted(keys_of(path)[name], key=lambda key: (key.line, key.points, key.matched))
    assert sorted(found, key=lambda key: (key.line, key.points, key.matched)) == order
    assert explanation.exact
