"""The examples in the library's docstrings are true; every member states its contract."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

import rewards.library
from rewards.marks import mark_of

MODULES = [found.name for found in pkgutil.walk_packages(rewards.library.__path__, "rewards.library.")]


WEIGHTS = {
    "correctness": (2.0, 2.0),
    "format": (0.5, 1.0),
    "length": (0.1, 0.5),
    "style": (0.1, 0.5),
    "diversity": (0.1, 0.5),
}


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert outcome.failed == 0
    assert outcome.attempted > 0


@pytest.mark.parametrize("name", rewards.library.__all__)
def test_each_member_shows_an_example_and_says_what_it_returns(name: str) -> None:
    text = inspect.getdoc(getattr(rewards.library, name)) or ""
    assert f">>> {name}(" in text
    assert "Returns:" in text
    assert "Args:" in text


@pytest.mark.guide("G4")
@pytest.mark.parametrize("name", rewards.library.__all__)
def test_each_member_is_marked_with_kind_range_and_the_weight_of_its_kind(name: str) -> None:
    mark = mark_of(getattr(rewards.library, name))
    low, high = WEIGHTS[mark["kind"]]
    assert low <= mark["weight"] <= high
    assert mark["range"] in ((0.0, 1.0), (-1.0, 0.0))


@pytest.mark.parametrize("name", rewards.library.__all__)
def test_each_member_has_the_call_form_of_trl(name: str) -> None:
    parameters = inspect.signature(getattr(rewards.library, name)).parameters
    assert next(iter(parameters)) == "completions"
    assert [p.name for p in parameters.values() if p.kind is p.VAR_KEYWORD] == ["columns"]
    assert all(p.default is not p.empty for p in parameters.values() if p.kind is p.KEYWORD_ONLY)
