"""The fences round math-verify: what is refused, and what is stopped."""

from __future__ import annotations

import gc
import sys
import threading
import time

import pytest

from rewards.library.symbolic import can_help, equal, is_bounded, parsed, within


def spin() -> None:
    while True:
        pass


def spin_and_swallow() -> None:
    while True:
        try:
            spin()
        except Exception:  # noqa: BLE001  # as sympy does in many places
            continue


@pytest.mark.parametrize("work", [spin, spin_and_swallow])
def test_work_that_takes_too_long_is_stopped_in_any_thread(work: object) -> None:
    results: list[object] = []
    before = threading.active_count()
    thread = threading.Thread(target=lambda: results.append(within(0.1, work)))  # type: ignore[arg-type]
    thread.start()
    thread.join()
    assert results == [None]
    assert within(0.1, work) is None  # type: ignore[arg-type]
    assert threading.active_count() == before


def test_an_interruption_inside_the_garbage_collection_is_not_reported() -> None:
    seen: list[str] = []

    def callback(phase: str, info: dict[str, int]) -> None:
        for _ in range(1_000):
            pass

    def collect() -> None:
        while True:
            gc.collect(0)

    before = sys.unraisablehook
    sys.unraisablehook = lambda unraisable: seen.append(str(unraisable.exc_type))
    gc.callbacks.append(callback)
    try:
        assert within(0.05, collect) is None
    finally:
        gc.callbacks.remove(callback)
        sys.unraisablehook = before
    assert seen == []


def test_work_in_time_gives_its_result_and_its_errors() -> None:
    assert within(5.0, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(5.0, lambda: 1 / 0)


def test_many_deadlines_one_after_another_disturb_nothing() -> None:
    assert [within(0.5, lambda: 7) for _ in range(200)] == [7] * 200


@pytest.mark.parametrize(
    "text",
    ["9^{9^{9^9}}", "2^{10000}", "2^99999", "10000000!", "(n^2)!", r"\sum_{k=1}^{99999} k", "x" * 301,
     "(" * 13 + ")" * 13, "9" * 41, r"\binom{99999}{3}", "2^{3^{4^5}}", r"\int_0^{123456} x dx"],
)  # fmt: skip
def test_what_could_take_for_ever_is_never_asked(text: str) -> None:
    assert not is_bounded(text)
    assert parsed(text) == ()


def test_only_what_we_cannot_read_ourselves_is_asked() -> None:
    assert can_help(r"\sum_{k=1}^{n} k")
    assert not can_help(r"x^2 + 1")
    assert not can_help(r"The sum is \sum_{k=1}^{n} k. It grows")


def test_unequal_and_unreadable_is_not_equal() -> None:
    assert equal(r"\sum_{k=1}^{3} k", "6")
    assert not equal(r"\sum_{k=1}^{3} k", "7")
    assert not equal(r"\sum_{k=1}^{3} k", r"\frac{")


def test_a_long_computation_of_sympy_ends() -> None:
    start = time.process_time()
    equal(r"\int_0^1 \sin(\sin(\sin(x))) \cos(\cos(x)) e^{x^2} \ln(1+x^7) dx", "1")
    assert time.process_time() - start < 15
