"""The examples in docstrings of the bench hold."""

from __future__ import annotations

import doctest
import importlib

import pytest

import workbench

MODULES = (
    "workbench.api", "workbench.inline", "workbench.reports.svg", "workbench.reports.score_text", "workbench.kinds",
)  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name))
    assert (outcome.failed, outcome.attempted > 0) == (0, True)


@pytest.mark.parametrize("name", workbench.__all__)
def test_every_exported_name_is_there_and_says_what_it_is(name: str) -> None:
    assert getattr(workbench, name).__doc__
