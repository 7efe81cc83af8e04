"""The monitor tells a finding when it appears or gets worse, and remembers what it told."""

from __future__ import annotations

import json
import math

from trainer.diagnoses import Facts
from trainer.watching.halt import HALTING
from trainer.watching.monitor import Monitor, Told, watch_over

FACTS = Facts(total_steps=40, weights={"a": 1.0}, ranges={"a": (0.0, 1.0)})


def flat(share: float) -> dict[str, float]:
    return {"groups/zero_spread": share, "reward": 0.5, "reward_std": 0.4}


def told(monitor: Monitor, first: int, last: int, share: float) -> list[tuple[int, str]]:
    return [
        (step, one.severity) for step in range(first, last + 1) for one in monitor.observe(step, flat(share))
    ]


def test_a_finding_is_told_when_it_appears_and_when_it_gets_worse_and_never_between() -> None:
    monitor = Monitor(FACTS)
    assert told(monitor, 1, 15, 0.6) == [(6, "warning")]
    assert [severity for _, severity in told(monitor, 16, 40, 0.95)] == ["critical"]
    assert told(monitor, 41, 60, 0.6) == []


def test_one_odd_batch_says_nothing() -> None:
    monitor = Monitor(Facts(total_steps=20))
    odd = {"completions/clipped_ratio": 1.0, "groups/zero_spread": 1.0, "kl": 9.0}
    usual = {"completions/clipped_ratio": 0.02, "groups/zero_spread": 0.1, "kl": 0.01}
    assert [one for step in range(1, 20) for one in monitor.observe(step, odd if step == 19 else usual)] == []


def test_a_restored_monitor_does_not_repeat_itself_and_goes_on_counting() -> None:
    first, whole = Monitor(FACTS), Monitor(FACTS)
    told(first, 1, 10, 0.6)
    second = Monitor(FACTS)
    second.restore(json.loads(json.dumps(first.to_json())))
    told(whole, 1, 10, 0.6)
    assert told(second, 11, 40, 0.9) == told(whole, 11, 40, 0.9) != []


def test_nan_is_told_on_the_very_step() -> None:
    monitor = Monitor(Facts(total_steps=5000))
    assert monitor.observe(1, {"grad_norm": 0.1}) == []
    (found,) = monitor.observe(2, {"grad_norm": math.nan})
    assert (found.name, found.severity) == ("non-finite", "critical")


def test_halting_is_asked_for_and_waits_for_a_second_window() -> None:
    assert told(idle := Monitor(FACTS), 1, 40, 0.95) != []
    assert idle.must_halt() is None
    monitor = Monitor(FACTS, halt=HALTING)
    halts = [step for step in range(1, 30) if (monitor.observe(step, flat(0.95)), monitor.must_halt())[1]]
    assert halts[0] == 9
    assert monitor.must_halt() == "no-signal"


def halted_at(monitor: Monitor, cut_off: list[float], window: int = 1) -> int | None:
    """The step at which a run halts whose batches, one a window, have these shares cut off."""
    for step in range(1, window * len(cut_off) + 1):
        if step % window == 1 % window:
            monitor.observe(step, {"completions/clipped_ratio": cut_off[(step - 1) // window]})
        monitor.observe(step, {"step/seconds": 1.0})
        if monitor.must_halt():
            return step
    return None


def test_truncation_halts_only_where_nearly_all_is_cut_off() -> None:
    assert halted_at(Monitor(FACTS, halt=HALTING), [0.6] * 30) is None
    assert halted_at(Monitor(FACTS, halt=HALTING), [0.85] * 10 + [1.0] * 20) is not None
    assert halted_at(Monitor(FACTS, halt=HALTING), [0.95] * 30) == 2


def test_the_second_look_at_truncation_is_at_a_second_batch() -> None:
    assert halted_at(Monitor(FACTS, halt=HALTING), [0.95] * 9, window=3) == 4
    assert halted_at(Monitor(FACTS, halt=HALTING), [0.95, *[0.1] * 8], window=3) is None


def test_a_run_resumed_after_a_halt_is_not_halted_for_the_same_again() -> None:
    monitor = Monitor(FACTS, halt=["no-signal"])
    told(monitor, 1, 20, 0.95)
    resumed = Monitor(FACTS, halt=["no-signal"])
    resumed.restore(json.loads(json.dumps(monitor.to_json())))
    told(resumed, 21, 40, 0.95)
    assert (monitor.must_halt(), resumed.must_halt()) == ("no-signal", None)


def test_a_told_diagnosis_is_one_line_and_can_be_read_back() -> None:
    (one,) = watch_over([{"step": step, **flat(0.6)} for step in range(1, 12)], FACTS)
    assert Told.from_json({**json.loads(json.dumps(one.to_json())), "stage": "main"}) == one
    assert one.diagnosis.sentence().startswith("warning no-signal: 60% of the groups earn the same")
