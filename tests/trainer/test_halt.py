"""The setting `halt`: yes, no, or names of diagnoses that can stop a run."""

from __future__ import annotations

import inspect

import pytest

from rewards.errors import UsageError
from trainer.diagnoses import RULES
from trainer.watching.halt import CRITICAL, HALTING, check_halt, halting


def test_the_setting_halt_is_yes_no_or_names() -> None:
    assert halting(False) == ()
    assert halting(True) == HALTING
    assert halting(["kl"]) == halting("kl") == ("kl",)


def test_a_name_that_stops_no_run_is_refused_with_the_likely_one_and_what_is_allowed() -> None:
    with pytest.raises(
        UsageError, match=r"halt='trunctation' stops no run; did you mean 'truncation'\?; halt is"
    ):
        check_halt(["kl", "trunctation"])
    with pytest.raises(UsageError, match="halt='yes' stops no run; halt is false, true"):
        check_halt("yes")


def test_a_diagnosis_that_is_never_critical_is_refused() -> None:
    with pytest.raises(UsageError, match="halt='stuck' stops no run"):
        halting(["stuck"])


def test_the_names_are_those_of_the_rules_that_can_be_critical() -> None:
    sources = {name: inspect.getsource(inspect.getmodule(rule) or rule) for name, rule in RULES.items()}
    assert list(CRITICAL) == [name for name, source in sources.items() if '"critical"' in source]
    assert set(HALTING) <= set(CRITICAL)
