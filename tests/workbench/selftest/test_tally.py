"""Counting: a finding about something else is no find, and any loud finding on a sound reward is an alarm."""

import math

from workbench.selftest.measuring import Result, Said
from workbench.selftest.tally import Count, markdown, tally


def result(ident: str, kind: str | None, *codes: str, declared: bool = True, **more: object) -> Result:
    loud = tuple(Said(code, "error", "text") for code in codes)
    known = {"zoo": "z", "severity": "high" if kind else None, "seconds": 2.0, **more}
    return Result(id=ident, kind=kind, declared=declared, loud=loud, **known)  # type: ignore[arg-type]


RESULTS = [
    result("a", "bad-count", "RW104", severity="critical"),
    result("b", "bad-count", "RW402"),
    result("c", "slow", problem="not finished after 120 s", seconds=120.0),
    result("d", None),
    result("e", None, "RW301"),
    result("a", "bad-count", "RW104", declared=False),
]


def test_only_findings_that_name_the_defect_count():
    counted = tally(RESULTS, declared=True)
    assert counted is not None
    assert (counted.found.hits, counted.found.of) == (1, 3)
    assert (counted.critical.hits, counted.critical.of) == (1, 1)
    assert [missed.id for missed in counted.missed] == ["b", "c"]
    assert str(counted.kinds["bad-count"]) == "1 of 2"
    assert counted.longest_s == 120.0


def test_loud_finding_on_a_sound_reward_is_an_alarm():
    counted = tally(RESULTS, declared=True)
    assert counted is not None
    assert str(counted.alarms) == "1 of 2"
    assert [alarmed.id for alarmed in counted.alarmed] == ["e"]


def test_ways_are_counted_apart_and_none_of_none_is_nothing():
    bare = tally(RESULTS, declared=False)
    assert bare is not None
    assert bare.found.share == 1.0
    assert math.isnan(bare.alarms.share)
    assert tally(RESULTS[:5], declared=False) is None
    assert Count(0, 50).interval[1] < 0.08


def test_document_names_every_miss_and_every_false_alarm():
    text = markdown(RESULTS)
    assert "- missed `z/b` (bad-count); said instead: RW402" in text
    assert "- missed `z/c` (slow): not finished after 120 s" in text
    assert "- false alarm `z/e`: RW301" in text
    assert "| bad-count | 1 of 2 | 1 of 1 |" in text
    assert text.endswith("## Bare: missed and false alarms\n\nNone.\n")
